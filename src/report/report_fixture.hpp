// SPDX-License-Identifier: Apache-2.0
// Sample records and a small well-formedness check for the tests of this folder.
#pragma once

#include "report/evaluate_report.hpp"
#include "report/optimize_report.hpp"

#include <string>
#include <string_view>

namespace kw {

/// A plausible finished run: 86 probes, 8 workloads, two peers.
OptimizeReport sample_report();
/// Every text is an attack: markup, scripts, escape sequences, bidirectional overrides, bad UTF-8.
OptimizeReport hostile_report();

Verdict accepted_verdict();
Verdict wrong_verdict();
Verdict build_failure();

/// "" for well-formed XML, else what is wrong and where. Knows elements, attributes, the five
/// entities and numeric references; that is all our writers produce.
std::string xml_problem(std::string_view text);

/// Compares with tests/golden/report/<file>. With KW_UPDATE_GOLDEN set, writes the file instead.
std::string golden_difference(const std::string& file, const std::string& actual);

} // namespace kw
