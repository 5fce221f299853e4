// SPDX-License-Identifier: Apache-2.0
#include "report/escape.hpp"
#include "report/html_page.hpp"
#include "report/render.hpp"
#include "report/style.hpp"

#include <fmt/format.h>

namespace kw {

std::string html::document(std::string_view title, std::string_view version,
                           std::string_view main) {
  // Even if an escape were missed, this policy leaves hostile markup nothing to run or to load.
  static constexpr std::string_view policy =
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n";
  out += "<meta charset=\"utf-8\"/>\n";
  out += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n", policy);
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\"/>\n";
  out += fmt::format("<title>{} · Kernwright</title>\n", xml_text(title));
  out += fmt::format("<style>{}{}{}</style>\n</head>\n<body>\n<main>\n", palette_css(), chart_css(),
                     page_css());
  out += main;
  out += fmt::format("<footer>Made by Kernwright {}. This page is complete in itself: it loads and "
                     "runs nothing.</footer>\n</main>\n</body>\n</html>\n",
                     xml_text(version));
  return out;
}

std::string html_report(const OptimizeReport& r) {
  return html::document(r.definition, r.version,
                        html::header(r) + html::hero(r) + html::trajectory(r) + html::workloads(r) +
                            html::branches(r) + html::evidence(r) + html::solution(r) +
                            html::contributions(r) + html::cost(r) + html::rounds(r) +
                            html::probes(r) + html::reproduce(r));
}

} // namespace kw
