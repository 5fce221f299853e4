// SPDX-License-Identifier: Apache-2.0
#include "report/verdict_text.hpp"

#include "report/escape.hpp"
#include "report/fib_text.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace kw {
namespace {

// "correctness  " and "unknown" fill these; everything else hangs below the summary.
constexpr std::size_t axis_width = 13, outcome_width = 7;
constexpr std::size_t indent = axis_width + outcome_width;
constexpr std::size_t max_diagnostics = 8, max_details = 12, max_workloads = 24;

struct Word {
  const char* text;
  Colour colour;
};

Word word_of(Outcome outcome) {
  switch (outcome) {
  case Outcome::pass:
    return {"pass", Colour::good};
  case Outcome::fail:
    return {"FAIL", Colour::bad};
  case Outcome::unknown:
    return {"-", Colour::dim};
  }
  return {"-", Colour::dim};
}

Colour colour_of(const std::string& verdict_word) {
  if (verdict_word == "ACCEPTED" || verdict_word == "CORRECT")
    return Colour::good;
  return verdict_word == "REJECTED" ? Colour::bad : Colour::warn;
}

class Screen {
 public:
  explicit Screen(const VerdictView& view) : view_(view) {}

  void axis(std::string_view name, Word word, std::string_view summary) {
    out += fmt::format("{:<{}}", name, axis_width) + paint(word.text, word.colour, view_.colour);
    std::string pad(outcome_width - std::string_view(word.text).size(), ' ');
    for (const std::string& line : wrap(terminal_text(summary), width())) {
      out += line.empty() ? "" : pad + line;
      out += "\n";
      pad.assign(indent, ' ');
    }
  }
  /// Wrapped below the summary.
  void note(std::string_view text, Colour colour = Colour::none) {
    for (const std::string& line : wrap(terminal_text(text), width()))
      out += std::string(indent, ' ') + paint(line, colour, view_.colour) + "\n";
  }
  /// Kept as it is, since columns matter (source lines, carets).
  void verbatim(std::string_view text, Colour colour = Colour::none) {
    const std::string safe = terminal_text(text);
    for (std::size_t at = 0; at < safe.size();) {
      const std::size_t end = std::min(safe.find('\n', at), safe.size());
      out +=
          std::string(indent, ' ') + paint(safe.substr(at, end - at), colour, view_.colour) + "\n";
      at = end + 1;
    }
  }

  /// A word of any length, what follows hangs behind it.
  void closing(std::string_view name, const std::string& word, Colour colour,
               std::string_view text) {
    out += fmt::format("{:<{}}", name, axis_width) + paint(word, colour, view_.colour);
    const std::size_t column = axis_width + display_width(word) + 2;
    const std::vector<std::string> lines =
        wrap(terminal_text(text), std::max(view_.width, column + 20) - column);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (!lines[i].empty())
        out += (i == 0 ? "  " : "\n" + std::string(column, ' ')) + lines[i];
    out += "\n";
  }

  std::string out;

 private:
  [[nodiscard]] std::size_t width() const {
    return std::max<std::size_t>(view_.width, indent + 20) - indent;
  }
  const VerdictView& view_;
};

void details(Screen& screen, const AxisVerdict& axis) {
  for (std::size_t i = 0; i < axis.details.size() && i < max_details; ++i)
    screen.note(axis.details[i]);
  if (axis.details.size() > max_details)
    screen.note(fmt::format("and {} more lines, all in --json", axis.details.size() - max_details),
                Colour::dim);
}

bool of_sanitizer(const Diagnostic& d) {
  return d.code.starts_with("-fsanitize=");
}

/// The compiler's below the build, a sanitizer's below what it decided.
void diagnostics(Screen& screen, std::vector<Diagnostic> all, bool sanitizers) {
  std::erase_if(all, [&](const Diagnostic& d) { return of_sanitizer(d) != sanitizers; });
  std::size_t shown = 0;
  for (const Diagnostic& d : all) {
    if (shown++ == max_diagnostics)
      break;
    std::string place = d.file;
    if (d.line > 0)
      place += fmt::format(":{}", d.line);
    if (d.line > 0 && d.column > 0)
      place += fmt::format(":{}", d.column);
    screen.verbatim(fmt::format("{}{}{}: {}{}", place, place.empty() ? "" : ": ", d.severity,
                                d.message, d.code.empty() ? "" : " [" + d.code + "]"),
                    d.severity == "error"     ? Colour::bad
                    : d.severity == "warning" ? Colour::warn
                                              : Colour::none);
    screen.verbatim(d.excerpt);
  }
  if (all.size() > max_diagnostics)
    screen.note(fmt::format("and {} more, all in --json", all.size() - max_diagnostics),
                Colour::dim);
}

void mismatch(Screen& screen, const Verdict& v, const VerdictView& view) {
  if (!v.mismatch)
    return;
  const Mismatch& m = *v.mismatch;
  const auto axes = view.workload_axes.find(m.workload);
  std::string place = axes != view.workload_axes.end() ? axes->second : m.workload;
  if (!m.input_class.empty())
    place += fmt::format(", inputs of class `{}`", m.input_class);
  // The judge's own summary names the first bad element: once is enough.
  if (v.correctness.summary.find("first at [") == std::string::npos) {
    screen.note(fmt::format("workload {}: {}", place, mismatch_sentence(m)));
    screen.note(mismatch_figures(m));
  } else {
    screen.note(fmt::format("trial {}: {}", m.trial, mismatch_figures(m)));
  }
  for (const std::string& more : {mismatch_parts(m), mismatch_hint(m)})
    if (!more.empty())
      screen.note(more, Colour::dim);
}

/// Times per workload: of the confirmation where there is one, since only that is reported.
void times(Screen& screen, const Verdict& v, const VerdictView& view) {
  if (!v.times)
    return;
  const TimingEvidence& t = *v.times;
  const std::vector<PairedTiming>& rows = t.confirmation.empty() ? t.gate : t.confirmation;
  if (rows.empty())
    return;
  Table table({{"workload", Align::left, 34},
               {"against", Align::left, 18},
               {"baseline", Align::right},
               {"candidate", Align::right},
               {"speed-up", Align::right},
               {"95 %", Align::left},
               {"of bound", Align::right},
               {"", Align::left, 16}});
  const auto median = [](std::vector<double> values) {
    if (values.empty())
      return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
  };
  for (std::size_t i = 0; i < rows.size() && i < max_workloads; ++i) {
    const PairedTiming& p = rows[i];
    const double candidate = median(p.candidate_ns);
    const auto axes = view.workload_axes.find(p.uuid);
    const Colour tint = p.decision == "faster"       ? Colour::good
                        : p.decision == "not faster" ? Colour::bad
                                                     : Colour::warn;
    table.row({axes != view.workload_axes.end() ? axes->second : p.uuid,
               p.baseline,
               duration_text(median(p.baseline_ns)),
               duration_text(candidate),
               {ratio_text(p.speedup), tint},
               interval_text(p.low, p.high),
               p.floor_ns > 0 && candidate > 0 ? share_text(p.floor_ns / candidate) : "-",
               {p.decision, tint}});
  }
  screen.out += table.text(view.colour, indent);
  if (rows.size() > max_workloads)
    screen.note(fmt::format("and {} more workloads, all in --json", rows.size() - max_workloads),
                Colour::dim);
}

/// What the tier was found by, in one line; what failed says how.
void facilities(Screen& screen, const Verdict& v) {
  std::string text;
  bool all = true;
  for (const SandboxFacility& f : v.facilities) {
    text += fmt::format("{}{} {}", text.empty() ? "probed: " : " · ", f.facility,
                        f.works ? "works" : "fails (" + f.happened + ")");
    all = all && f.works;
  }
  if (!text.empty())
    screen.note(text, all ? Colour::dim : Colour::warn);
}

/// One line per build with sanitizers; what one found is the correctness axis's own summary.
void sanitized(Screen& screen, const Verdict& v) {
  for (const SanitizedRun& run : v.sanitized) {
    if (run.outcome == Outcome::fail)
      continue;
    const std::string cost =
        run.calls > 0 ? fmt::format(" ({:.1f} s)", (run.build_ms + run.run_ms) / 1e3) : "";
    screen.note(fmt::format("sanitizers {}: {}{}", run.sanitizers, run.summary, cost),
                run.outcome == Outcome::pass ? Colour::dim : Colour::warn);
  }
}

/// The candidate's errors beside the baseline's; only a coarser arithmetic is worth colour.
void precision(Screen& screen, const Verdict& v) {
  if (v.precision)
    screen.note(precision_sentence(v), is_reduced(v) ? Colour::warn : Colour::dim);
}

std::string conclusion(const Verdict& v) {
  if (v.word == "INFRASTRUCTURE")
    return "our side failed, which says nothing about the candidate: " + v.infrastructure_error;
  std::vector<std::string> parts;
  if (v.finding != Finding::none)
    parts.push_back(name(v.finding));
  if (v.times && v.times->speedup > 0 && v.finding == Finding::none)
    parts.push_back(fmt::format("{} {}", ratio_text(v.times->speedup),
                                interval_text(v.times->low, v.times->high)));
  if (const std::string evidence = evidence_sentence(v);
      !evidence.empty() && v.correctness.outcome == Outcome::pass)
    parts.push_back(evidence);
  if (is_reduced(v) && v.finding == Finding::none)
    parts.emplace_back(reduced_precision);
  std::string out;
  for (const std::string& part : parts)
    out += (out.empty() ? "" : " · ") + part;
  return out;
}

} // namespace

std::string render_verdict(const Verdict& v, const VerdictView& view) {
  Screen screen(view);
  if (!view.name.empty())
    screen.out += paint(terminal_text(view.name), Colour::bold, view.colour) + "\n";
  screen.axis("build", word_of(v.build.outcome), v.build.summary);
  diagnostics(screen, v.diagnostics, false);
  details(screen, v.build);
  const std::string sandbox =
      !v.sandbox.summary.empty() || v.tier.empty() ? v.sandbox.summary : v.tier;
  screen.axis("sandbox", word_of(v.sandbox.outcome), sandbox);
  facilities(screen, v);
  if (v.tainted)
    screen.note(
        "weaker than the task demands (--allow-weak-sandbox): this verdict is marked tainted "
        "and cannot be promoted",
        Colour::warn);
  details(screen, v.sandbox);
  screen.axis("correctness", word_of(v.correctness.outcome), v.correctness.summary);
  mismatch(screen, v, view);
  precision(screen, v);
  sanitized(screen, v);
  diagnostics(screen, v.diagnostics, true);
  details(screen, v.correctness);
  screen.axis("timing", word_of(v.timing.outcome), v.timing.summary);
  times(screen, v, view);
  details(screen, v.timing);
  if (v.merit.outcome != Outcome::unknown || !v.merit.summary.empty()) {
    screen.axis("merit", word_of(v.merit.outcome), v.merit.summary);
    details(screen, v.merit);
  }
  screen.closing("verdict", v.word.empty() ? "NO VERDICT" : terminal_text(v.word),
                 colour_of(v.word), conclusion(v));
  if (fib_differs(v))
    screen.closing("fib-compat", terminal_text(v.fib->status), Colour::warn, fib_sentence(v));
  if (!view.next_command.empty())
    screen.out += fmt::format("{:<{}}", v.accepted ? "next" : "reproduce", axis_width) +
                  paint(terminal_text(view.next_command), Colour::accent, view.colour) + "\n";
  return screen.out;
}

std::string render_verdict(const Verdict& verdict, std::string_view name) {
  return render_verdict(verdict, VerdictView{.name = std::string(name), .next_command = {}});
}

} // namespace kw
