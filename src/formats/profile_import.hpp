// SPDX-License-Identifier: Apache-2.0
// Exports of GPU profilers as a profile: of the kernel with most time, figures without a verdict.
// All readers take any bytes; what they cannot read is an error with file, line and remedy.
#pragma once

#include "base/result.hpp"
#include "model/profile.hpp"

#include <string>
#include <string_view>

namespace kw {

/// `ncu --csv`, pages raw (a column for each metric) and details (a row for each metric).
Result<Profile> read_ncu_csv(std::string_view text, const std::string& file);
/// `ncu --page details` as it appears on a terminal.
Result<Profile> read_ncu_text(std::string_view text, const std::string& file);
/// `nsys stats --format csv`, reports cuda_gpu_kern_sum and cuda_gpu_trace, one or both.
Result<Profile> read_nsys_csv(std::string_view text, const std::string& file);
/// Chrome trace of torch.profiler (`export_chrome_trace`).
Result<Profile> read_torch_trace(std::string_view text, const std::string& file);

/// One of these, told by its looks. Error unsupported: none of them (binary reports included).
Result<Profile> read_profile_export(std::string_view text, const std::string& file);

/// Whether a line is the header of ncu's CSV.
[[nodiscard]] bool is_ncu_header(std::string_view line);

} // namespace kw
