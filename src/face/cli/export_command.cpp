// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "service/ship.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {

void add_export(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("export", "ship a promoted kernel, or write a FlashInfer-Bench trace set");
  struct Options {
    std::string id, out;
    bool trace_set = false, traces = false;
  };
  auto o = std::make_shared<Options>();
  command->add_option("record", o->id, "record or probe id (a unique prefix is enough)");
  command->add_option("-o,--out", o->out, "folder to write (must be empty or absent)")->required();
  command->add_flag("--trace-set", o->trace_set,
                    "write definitions, workloads and solutions as a trace set instead");
  command->add_flag("--traces", o->traces,
                    "with --trace-set: the archive's probes as traces, and the side-car");
  command->footer("  kernwright export 7f3a91 -o shipped/          kernel.cpp, header, .so with a "
                  "C API, torch custom op\n"
                  "  kernwright export --trace-set -o set/ --traces");
  command->callback([&context, o] {
    context.run = [&context, o]() -> int {
      if (!o->trace_set && o->id.empty())
        return report_error(context,
                            {ErrorKind::invalid_input, "name a record, or give --trace-set",
                             "`kernwright archive list` shows the records", ""});
      const Result<Workspace> workspace = open_workspace(context.workspace);
      if (!workspace)
        return report_error(context, workspace.error());
      const Result<std::vector<std::string>> files =
          o->trace_set ? ship_trace_set(*workspace, o->out, o->traces)
                       : ship_record(*workspace, o->id, o->out);
      if (!files)
        return report_error(context, files.error());
      if (context.json)
        fmt::print("{}\n", nlohmann::ordered_json{{"files", *files}}.dump(2));
      else
        for (const std::string& f : *files)
          fmt::print("wrote {}\n", f);
      return holds;
    };
  });
}

} // namespace kw::cli
