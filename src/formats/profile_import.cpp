// SPDX-License-Identifier: Apache-2.0
#include "formats/profile_import.hpp"

#include "base/strings.hpp"
#include "formats/csv.hpp"

namespace kw {

Result<Profile> read_profile_export(std::string_view text, const std::string& file) {
  if (text.find('\0') != std::string_view::npos || text.starts_with("\x1f\x8b"))
    return fail(ErrorKind::unsupported, "this is a binary or packed file, not an export",
                "unpack a packed trace; of a report: `ncu --import FILE --csv --page raw`, "
                "`nsys stats --format csv --report cuda_gpu_trace FILE`",
                file);
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);
  const std::string_view body = trim(text);
  if (body.starts_with('{') || body.starts_with("[{") || body.starts_with("[\n"))
    return read_torch_trace(text, file);
  for (CsvReader lines(text, file); lines.more(); lines.skip_line()) {
    const std::string_view line = lines.line();
    if (is_ncu_header(line))
      return read_ncu_csv(text, file);
    if (trim(line).starts_with("Section: "))
      return read_ncu_text(text, file);
    if (line.find("Total Time (") != std::string_view::npos ||
        line.find("Duration (") != std::string_view::npos)
      return read_nsys_csv(text, file);
  }
  return fail(ErrorKind::unsupported, "no export of a profiler that is known",
              "known are: ncu --csv (raw or details page), ncu's details page as text, nsys stats "
              "as CSV (cuda_gpu_kern_sum, cuda_gpu_trace), Chrome traces of torch.profiler",
              file);
}

} // namespace kw
