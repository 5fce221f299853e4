// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "service/scaffold.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {

void add_init(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("init", "scaffold an operator of your own");
  command->require_subcommand(1);
  CLI::App* op = command->add_subcommand(
      "op",
      "write a definition, reference, baseline, workloads and tolerance that `check` accepts");
  auto name = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  auto reference = std::make_shared<std::string>("c++");
  op->add_option("name", *name, "name of the operator, e.g. my_scale_add")->required();
  op->add_option("--dir", *folder, "folder to create (default: ./<name>)");
  op->add_option("--reference", *reference, "language of the trusted reference")
      ->check(CLI::IsMember({"c++", "python"}));
  op->callback([&context, name, folder, reference] {
    context.run = [&context, name, folder, reference]() -> int {
      const std::string where = folder->empty() ? *name : *folder;
      const Result<std::vector<std::string>> files = scaffold_operator(where, *name, *reference);
      if (!files)
        return report_error(context, files.error());
      if (context.json) {
        fmt::print("{}\n", nlohmann::ordered_json{{"files", *files}}.dump(2));
        return holds;
      }
      for (const std::string& f : *files)
        fmt::print("wrote {}\n", f);
      fmt::print("next: kernwright check {0}\n"
                 "      kernwright check --lint {0}\n"
                 "      kernwright --operators {0} evaluate {0}/baseline.cpp -d {1}\n",
                 where, *name);
      return holds;
    };
  });
}

} // namespace kw::cli
