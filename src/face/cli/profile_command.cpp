// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "face/cli/duration.hpp"
#include "face/cli/judging_flags.hpp"
#include "formats/verdict_json.hpp"
#include "os/interrupt.hpp"
#include "report/profile_text.hpp"
#include "report/verdict_text.hpp"
#include "service/profiling.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {
namespace {

void print_profile_json(const nlohmann::ordered_json& out) {
  fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int show_import(const Context& context, const std::string& path) {
  const Result<Profile> profile = import_profile(path);
  if (!profile)
    return report_error(context, profile.error());
  if (context.json)
    print_profile_json({{"profile", profile_to_json(*profile)}});
  else
    fmt::print("{}", render_profile(*profile, coloured()));
  return holds;
}

} // namespace

void add_profile(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "profile", "say what bounds a kernel on one workload, and what usually helps");
  struct Options {
    std::string path, imported;
    ProfileOptions profile;
    double least_window_ms = 0;
    std::string budget;
  };
  auto o = std::make_shared<Options>();
  CLI::Option* file =
      command->add_option("file", o->path, "a C++ source, a solution.json, or a folder of one");
  command
      ->add_option(
          "--import", o->imported,
          "instead of measuring: what ncu (--csv, or its details page as text), nsys stats "
          "(CSV) or torch.profiler (Chrome trace) exported")
      ->excludes(file);
  command->add_option("-d,--definition", o->profile.definition,
                      "the definition that a bare source solves");
  command->add_option("--entry", o->profile.entry,
                      "its extern \"C\" function, where it has several");
  command->add_option("--sweep", o->profile.sweep_axis,
                      "also call it at sizes of this variable axis that step over the caches");
  command->add_flag("--scaling", o->profile.scaling,
                    "also call it with 1, 2, 4, ... threads, up to this machine's");
  command->add_option("--budget", o->budget,
                      "time for --sweep and --scaling together: 90, 30s, 2m (default: 30s)");
  add_judging_flags(*command, o->profile.judging, o->least_window_ms);
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      if (!o->imported.empty())
        return show_import(context, o->imported);
      if (o->path.empty())
        return report_error(context, {ErrorKind::invalid_input, "there is no file to profile",
                                      "name a kernel, or an export with --import FILE", ""});
      if (!o->budget.empty()) {
        const Result<double> seconds = parse_duration(o->budget);
        if (!seconds)
          return report_error(context, seconds.error());
        o->profile.sweep_seconds = *seconds;
      }
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      o->profile.judging.stop = [] { return interrupted(); };
      if (!context.json)
        o->profile.judging.note = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
      const Result<Profiled> done = profile(*workspace, o->path, o->profile);
      if (!done)
        return report_error(context, done.error());
      if (context.json) {
        print_profile_json({{"profile", profile_to_json(done->profile)},
                            {"verdict", verdict_to_json(done->verdict)}});
      } else if (!done->ok()) {
        fmt::print("{}", render_verdict(done->verdict, {.name = done->profile.solution,
                                                        .next_command = "",
                                                        .colour = coloured()}));
      } else {
        fmt::print("{}", render_profile(done->profile, coloured()));
      }
      return done->ok() ? holds : does_not_hold;
    };
  });
}

} // namespace kw::cli
