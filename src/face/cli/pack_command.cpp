// SPDX-License-Identifier: Apache-2.0
#include "face/cli/command.hpp"
#include "report/escape.hpp"
#include "service/packing.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {

void add_pack(CLI::App& app, Context& context) {
  struct Options {
    std::string from, to, definition, entry, author, name;
  };
  auto o = std::make_shared<Options>();
  CLI::App* pack = app.add_subcommand(
      "pack", "make a solution.json from a folder with config.toml, or from sources");
  pack->add_option("from", o->from, "folder or source file")->required();
  pack->add_option("-o,--out", o->to, "solution.json to write")->required();
  pack->add_option("-d,--definition", o->definition, "definition, where config.toml does not say");
  pack->add_option("--entry", o->entry, "file::function, or the function alone");
  pack->add_option("--author", o->author, "author");
  pack->add_option("--name", o->name, "name of the solution");
  pack->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<Packed> packed = pack_to_file(
          o->from, o->to,
          {.name = o->name, .definition = o->definition, .author = o->author, .entry = o->entry});
      if (!packed)
        return report_error(context, packed.error());
      if (context.json)
        fmt::print("{}\n", nlohmann::ordered_json{{"file", o->to},
                                                  {"name", packed->name},
                                                  {"sha1", packed->fib_hash},
                                                  {"sources", packed->sources}}
                               .dump(2));
      else
        fmt::print("wrote {}: `{}`, {} source file(s), FlashInfer-Bench hash {}\n", o->to,
                   packed->name, packed->sources, packed->fib_hash);
      return holds;
    };
  });
  CLI::App* unpack =
      app.add_subcommand("unpack", "write the sources of a solution.json into a folder");
  unpack->add_option("from", o->from, "solution.json")->required();
  unpack->add_option("-o,--out", o->to, "folder")->required();
  unpack->callback([&context, o] {
    context.run = [&context, o]() -> int {
      const Result<Packed> packed = unpack_to_folder(o->from, o->to);
      if (!packed)
        return report_error(context, packed.error());
      if (context.json)
        fmt::print("{}\n", nlohmann::ordered_json{{"folder", o->to},
                                                  {"name", packed->name},
                                                  {"sources", packed->sources}}
                               .dump(2));
      else
        fmt::print("wrote {} file(s) of `{}` into {}\n", packed->sources,
                   terminal_text(packed->name), o->to);
      return holds;
    };
  });
}

} // namespace kw::cli
