// SPDX-License-Identifier: Apache-2.0
#include "controller/command_proposer.hpp"

#include "controller/effect_result.hpp"
#include "controller/solution_folder.hpp"
#include "os/files.hpp"
#include "os/process.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kw {
namespace {

std::string filled_in(std::string word, std::string_view placeholder, const std::string& value) {
  for (std::size_t at = word.find(placeholder); at != std::string::npos;
       at = word.find(placeholder, at + value.size()))
    word.replace(at, placeholder.size(), value);
  return word;
}

/// An optional JSON file of the program's: absent is fine, damaged is a problem to mention.
Json optional_json(const std::string& path, std::vector<std::string>& problems) {
  if (!is_file(path))
    return Json::object();
  const Result<std::string> text = read_file(path, 1 << 20);
  const Result<Json> json =
      text ? parse_json({.file = path, .text = *text}) : Result<Json>(fail(text.error()));
  if (json && json->is_object())
    return *json;
  problems.push_back(
      fmt::format("{}: {}", path, json ? "it is no JSON object" : json.error().message));
  return Json::object();
}

class CommandProposer : public Proposer {
 public:
  CommandProposer(CommandOptions options, std::vector<std::string> words)
      : options_(std::move(options)), words_(std::move(words)) {}

  [[nodiscard]] std::string_view name() const override { return "command"; }
  [[nodiscard]] std::string where() const override { return options_.command; }
  [[nodiscard]] bool follows_directions() const override { return true; }

  Result<Proposals> propose(const ProposalRequest& request) override {
    std::string folder;
    do
      folder = join_path(options_.folder, fmt::format("call-{:04}", ++calls_));
    while (is_dir(folder));
    const std::string file = join_path(folder, "request.json"), out = join_path(folder, "out");
    KW_CHECK(make_dirs(out));
    KW_CHECK(write_file_atomic(file, dump_json(request_json(request), 2) + "\n"));
    ChildSpec child{.program = words_.front(), .cwd = folder, .cancel = options_.cancel};
    for (std::size_t i = 1; i < words_.size(); ++i)
      child.args.push_back(filled_in(filled_in(words_[i], "{request}", file), "{out}", out));
    for (char** variable = environ; *variable != nullptr; ++variable)
      child.environment.emplace_back(*variable);
    child.environment.push_back("KERNWRIGHT_REQUEST=" + file);
    child.environment.push_back("KERNWRIGHT_OUT=" + out);
    const double seconds = std::max(1.0, std::min(options_.most_seconds, request.seconds_left));
    child.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * seconds));
    KW_TRY(const ChildReport report, run_child(child));
    KW_CHECK(write_file_atomic(join_path(folder, "stdout.txt"), report.out));
    KW_CHECK(write_file_atomic(join_path(folder, "stderr.txt"), report.err));
    if (report.cancelled)
      return fail(ErrorKind::interrupted, "the proposer was interrupted", "resume the run");
    KW_TRY(Proposals found, collect(folder, out, request));
    if (!report.ok() && found.proposals.empty())
      return fail(ErrorKind::infrastructure,
                  fmt::format("`{}` gave nothing: {}", options_.command, report.ending()),
                  fmt::format("see stdout.txt and stderr.txt in {}", folder));
    if (!report.ok())
      found.problems.push_back(fmt::format("`{}`: {}", options_.command, report.ending()));
    return found;
  }

 private:
  static Result<Proposals> collect(const std::string& folder, const std::string& out,
                                   const ProposalRequest& request) {
    Proposals found;
    const Json says = optional_json(join_path(folder, "proposal.json"), found.problems);
    found.usage = {.tokens = std::max(0.0, number_in(says, "tokens").value_or(0)),
                   .cost_usd = std::max(0.0, number_in(says, "cost_usd").value_or(0))};
    const auto described = says.find("hypotheses");
    KW_TRY(const std::vector<FoundSolution> all, solutions_in(out, request.definition.name));
    for (const FoundSolution& one : all) {
      const std::string path = join_path(out, one.name);
      if (!one.solution) {
        found.problems.push_back(fmt::format("{}: {}", path, one.solution.error().message));
        continue;
      }
      if (static_cast<int>(found.proposals.size()) == request.count) {
        found.problems.push_back(
            fmt::format("{}: more than the {} asked for", path, request.count));
        break;
      }
      const std::string said =
          described == says.end() ? std::string{} : text_in(*described, one.name.c_str());
      found.proposals.push_back({.solution = *one.solution,
                                 .hypothesis = said.empty() ? one.name : said,
                                 .source = path});
    }
    return found;
  }

  CommandOptions options_;
  std::vector<std::string> words_;
  int calls_ = 0;
};

} // namespace

Result<std::vector<std::string>> split_command(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false; // a word has begun, if only with an empty pair of quotes
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size())
      word += text[++i], inside = true;
    else if (quote != 0 ? c == quote : c == '"' || c == '\'')
      quote = quote != 0 ? 0 : c, inside = true;
    else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (inside)
        words.push_back(std::move(word));
      word.clear(), inside = false;
    } else
      word += c, inside = true;
  }
  if (quote != 0)
    return fail(ErrorKind::invalid_input, fmt::format("A quote is not closed in `{}`", text),
                "close it");
  if (inside)
    words.push_back(std::move(word));
  if (words.empty())
    return fail(ErrorKind::invalid_input, "The command of a proposer is empty",
                "give a program and its arguments");
  return words;
}

Result<std::unique_ptr<Proposer>> make_command_proposer(CommandOptions options) {
  KW_TRY(std::vector<std::string> words, split_command(options.command));
  const std::string program = find_program(words.front());
  if (program.empty())
    return fail(ErrorKind::not_found,
                fmt::format("The proposer's program `{}` was not found", words.front()),
                "give its path, or one that PATH finds");
  words.front() = program;
  return std::make_unique<CommandProposer>(std::move(options), std::move(words));
}

} // namespace kw
