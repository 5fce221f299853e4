// SPDX-License-Identifier: Apache-2.0
// Figures for people: three significant digits and always a unit. Non-finite or absent values
// (<= 0 where that is impossible) print as "-".
#pragma once

#include <cstdint>
#include <string>

namespace kw {

[[nodiscard]] std::string duration_text(double nanoseconds);      ///< "812 ns", "3.42 us", "118 ms"
[[nodiscard]] std::string ratio_text(double ratio);               ///< "1.32x"
[[nodiscard]] std::string interval_text(double low, double high); ///< "[1.28, 1.36]"
[[nodiscard]] std::string percent_text(double fraction);          ///< "78 %", "4.95 %", "0.65 %"
[[nodiscard]] std::string share_text(double fraction);            ///< two digits: "78 %", "6.9 %"
[[nodiscard]] std::string count_text(std::uint64_t n);            ///< "24,576"
[[nodiscard]] std::string value_text(double value);               ///< "31.97", "2e-05", "nan"
[[nodiscard]] std::string clock_text(double seconds);             ///< "5:00", "1:02:03"

} // namespace kw
