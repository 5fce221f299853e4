// SPDX-License-Identifier: Apache-2.0
// The frame of a page, and the sections of the HTML report in page order. Each returns markup, ""
// where it has nothing to show.
#pragma once

#include "report/optimize_report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kw::html {

std::string header(const OptimizeReport& r);
std::string hero(const OptimizeReport& r);
std::string trajectory(const OptimizeReport& r);
std::string workloads(const OptimizeReport& r);
std::string evidence(const OptimizeReport& r);
std::string rounds(const OptimizeReport& r);
std::string branches(const OptimizeReport& r);
std::string contributions(const OptimizeReport& r);
std::string cost(const OptimizeReport& r);
std::string probes(const OptimizeReport& r);
std::string solution(const OptimizeReport& r);
std::string reproduce(const OptimizeReport& r);

/// The page around `main`, which is markup; title and version are text.
std::string document(std::string_view title, std::string_view version, std::string_view main);

/// Elements with escaped content. `css` may be empty.
std::string element(std::string_view tag, std::string_view css, std::string_view text);
/// A table row of <td> or <th>; the cells are markup made by element() or cell().
std::string cell(std::string_view css, std::string_view text);

} // namespace kw::html
