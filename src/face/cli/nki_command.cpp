// SPDX-License-Identifier: Apache-2.0
#include "base/strings.hpp"
#include "face/cli/command.hpp"
#include "os/files.hpp"
#include "report/table.hpp"
#include "service/nki_inspect.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace kw::cli {
namespace {

using Json = nlohmann::ordered_json;

struct NkiOptions {
  std::string file, kernel, target = "gen2", dialect = "0.1", mode = "trace", out;
  std::vector<std::string> arguments;
  std::vector<std::int64_t> grid;
  double timeout_s = 300;
};

/// x=float32[128,512], x=float32[128,512]:x.bin, eps=1e-6, causal=true
Result<std::pair<std::string, Json>> argument_of(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorKind::invalid_input, fmt::format("--arg {}: {}", text, why),
                "write NAME=float32[128,512], NAME=float32[128,512]:FILE or NAME=NUMBER");
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return wrong("there is no `=`");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  const std::size_t open = value.find('['), close = value.find(']');
  if (open == std::string::npos) {
    Json parsed = Json::parse(value, nullptr, false);
    if (parsed.is_discarded() || parsed.is_object() || parsed.is_array())
      return std::pair(name, Json(value));
    return std::pair(name, parsed);
  }
  if (close == std::string::npos || close < open)
    return wrong("the shape has no `]`");
  std::vector<std::int64_t> shape;
  const std::string inside = value.substr(open + 1, close - open - 1);
  for (std::size_t at = 0; at <= inside.size() && !inside.empty();) {
    const std::size_t end = std::min(inside.find(',', at), inside.size());
    std::int64_t size = 0;
    const auto [stop, error] = std::from_chars(inside.data() + at, inside.data() + end, size);
    if (error != std::errc{} || stop != inside.data() + end || size <= 0 || size > (1LL << 40))
      return wrong("sizes are positive integers, with commas between them");
    shape.push_back(size);
    at = end + 1;
  }
  Json tensor = {{"dtype", value.substr(0, open)}, {"shape", shape}};
  if (close + 1 < value.size() && value[close + 1] == ':')
    tensor["data"] = value.substr(close + 2);
  return std::pair(name, tensor);
}

Result<Json> request_of(const NkiOptions& o) {
  KW_TRY(const std::string text, read_file(o.file));
  Json request = {{"file", o.file},
                  {"text", text},
                  {"target", o.target},
                  {"dialect", o.dialect},
                  {"mode", o.mode}};
  if (!o.kernel.empty())
    request["kernel"] = o.kernel;
  if (!o.grid.empty())
    request["grid"] = o.grid;
  if (!o.out.empty())
    request["out"] = o.out;
  Json& arguments = request["arguments"] = Json::object();
  for (const std::string& a : o.arguments) {
    KW_TRY(auto named, argument_of(a));
    arguments[named.first] = std::move(named.second);
  }
  return request;
}

void print_results(const Json& answer) {
  Table table({{"result"},
               {"type"},
               {"shape"},
               {"min", Align::right},
               {"max", Align::right},
               {"mean", Align::right},
               {"NaN", Align::right},
               {"file"}});
  for (const Json& r : answer.value("results", Json::array())) {
    const auto number = [&](const char* key) {
      return r[key].is_number() ? fmt::format("{:.6g}", r[key].get<double>()) : std::string("-");
    };
    table.row({r.value("name", ""), r.value("dtype", ""),
               fmt::format("[{}]", fmt::join(r["shape"].get<std::vector<std::int64_t>>(), ", ")),
               number("min"), number("max"), number("mean"), fmt::format("{}", r.value("nan", 0)),
               r.value("file", "")});
  }
  if (!table.empty())
    fmt::print("{}", table.text(coloured()));
}

void print_cost(const Json& answer) {
  if (!answer.contains("cost"))
    return;
  const Json& c = answer["cost"];
  fmt::print("modelled latency  {:.1f} us, bound by {}\n", c["latency_us"].get<double>(),
             c["bound"].get<std::string>());
  Table table({{"engine"}, {"active", Align::right}});
  for (const auto& [engine, share] : c["active"].items())
    table.row({engine, fmt::format("{:.1f} %", 100 * share.get<double>())});
  fmt::print("{}", table.text(coloured()));
  fmt::print("HBM {:.3g} MB read, {:.3g} MB written; {:.2f} times the least\n",
             c["hbm_read_bytes"].get<double>() / 1e6, c["hbm_write_bytes"].get<double>() / 1e6,
             c["waste"].get<double>());
  fmt::print("A model of a NeuronCore, not a measurement.\n");
}

int run_nki(const Context& context, const NkiOptions& options, const std::string& what) {
  Result<Json> request = request_of(options);
  if (!request)
    return report_error(context, request.error());
  (*request)["cost"] = what == "cost";
  if (what == "cost")
    (*request)["twice"] = false;
  NkiInspection how;
  how.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000));
  const Result<Json> answer = inspect_nki(how, *request);
  if (!answer)
    return report_error(context, answer.error());
  const bool ok = answer->value("ok", false);
  if (context.json) {
    fmt::print("{}\n", answer->dump(2));
    return ok ? holds : does_not_hold;
  }
  fmt::print("{}", answer->value("text", ""));
  if (what == "run")
    print_results(*answer);
  if (what == "cost")
    print_cost(*answer);
  if (what != "run" && ok && what == "check")
    fmt::print("{}: `{}` holds: {} instructions, SBUF {} of {} bytes per partition\n", options.file,
               answer->value("kernel", ""), answer->value("instructions", 0),
               (*answer)["memory"]["SBUF"].value("most", 0),
               (*answer)["memory"]["SBUF"].value("limit", 0));
  return ok ? holds : does_not_hold;
}

} // namespace

void add_nki(CLI::App& app, Context& context) {
  CLI::App* nki =
      app.add_subcommand("nki", "AWS Trainium kernels without a Trainium: check, run, estimate");
  nki->require_subcommand(1);
  for (const auto& [name, help] :
       {std::pair("check",
                  "rules, memory, races: everything that would not compile or not be right"),
        {"run", "simulate, and say what comes out"},
        {"cost", "a modelled latency, engine by engine"}}) {
    CLI::App* command = nki->add_subcommand(name, help);
    auto o = std::make_shared<NkiOptions>();
    command->add_option("file", o->file, "Python file with a kernel decorated by @nki.jit")
        ->required();
    command->add_option("--kernel", o->kernel, "which one (default: `kernel`, else the last)");
    command->add_option("--arg", o->arguments,
                        "argument: x=float32[128,512], x=float32[128,512]:FILE (raw elements), "
                        "eps=1e-6 (repeatable)");
    command->add_option("--grid", o->grid, "launch grid, e.g. 2,4")->delimiter(',');
    command->add_option("--target", o->target, "gen2 (Trn1, Inf2) or gen3 (Trn2)")
        ->capture_default_str();
    command->add_option("--dialect", o->dialect, "generation of NKI: 0.1 (Neuron SDK 2.24)")
        ->capture_default_str();
    command
        ->add_option("--mode", o->mode,
                     "trace: bodies of loops once, as the compiler does; eager: every iteration")
        ->check(CLI::IsMember({"trace", "eager"}))
        ->capture_default_str();
    command->add_option("--timeout", o->timeout_s, "seconds")
        ->check(at_most(86400))
        ->capture_default_str();
    if (std::string(name) == "run")
      command->add_option("--out", o->out, "folder for the raw results");
    command->footer("  kernwright nki check softmax.py --arg x=float32[128,512]");
    command->callback([&context, o, what = std::string(name)] {
      context.run = [&context, o, what]() -> int { return run_nki(context, *o, what); };
    });
  }
}

} // namespace kw::cli
