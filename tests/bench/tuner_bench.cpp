// SPDX-License-Identifier: Apache-2.0
// How good is the tuner's best configuration after N evaluations? Replays fully measured GPU tuning
// spaces (CSV, gzip: parameter columns, time_ms, status; every row one configuration) from the
// folder given as argument. An invalid run costs an evaluation. The figure is 100 * best recorded
// time / best time found so far, averaged over seeds; 0 while nothing valid was found. Besides, per
// space, how many of the seeds are still below 95 % after 400 and 800 evaluations: a search that is
// stuck keeps its number, one that restarts loses it.
#include "search/tuner.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <string>
#include <vector>
#ifdef KW_HAVE_ZLIB
#include <zlib.h>
#endif

namespace {

using namespace kw;

/// Which combinations a recorded space consists of. Checked against the rows, never trusted.
struct Rule {
  std::string_view file_prefix;
  std::vector<std::string> legal;
};
const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"convolution",
       {"block_size_x * block_size_y <= 1024", "use_padding == 0 or block_size_x % 32 != 0",
        "use_padding == 0 or use_shmem == 1",
        // 48 KiB of shared memory hold the tile and the halo of the filter, 4 bytes each
        "use_shmem == 0 or 4 * (block_size_x * tile_size_x + filter_width - 1) * "
        "(block_size_y * tile_size_y + filter_height - 1) <= 49152"}},
      {"pnpoly", {}}};
  return all;
}

struct Recorded {
  std::string name;
  SpaceSet set;
  std::map<Config, Observation> measured;
  double best = 0;
};

#ifdef KW_HAVE_ZLIB
Result<std::string> read_gzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr)
    return fail(ErrorKind::not_found, "The file cannot be opened", "check the folder", path);
  std::string text;
  std::array<char, 65536> block{};
  int got = 0;
  while ((got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0)
    text.append(block.data(), static_cast<std::size_t>(got));
  gzclose(file);
  if (got < 0)
    return fail(ErrorKind::invalid_input, "The file is not gzip", "fetch it again", path);
  return text;
}
#else
Result<std::string> read_gzip(const std::string& path) {
  return fail(ErrorKind::unsupported, "This build has no zlib", "install zlib1g-dev", path);
}
#endif

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Result<Recorded> load(const std::filesystem::path& path) {
  KW_TRY(const std::string text, read_gzip(path.string()));
  std::vector<std::vector<std::string>> rows;
  for (std::string& line : split(text, '\n')) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (!line.empty())
      rows.push_back(split(line, ','));
  }
  if (rows.size() < 2 || rows[0].size() < 3)
    return fail(ErrorKind::invalid_input, "No rows", "expected a CSV with a header", path.string());
  const std::size_t parameters = rows[0].size() - 2; // then time_ms and status
  Space space;
  space.name = path.filename().string().substr(0, path.filename().string().find('.'));
  space.entry = "kernel";
  for (std::size_t p = 0; p < parameters; ++p) {
    Parameter parameter;
    parameter.name = rows[0][p];
    for (std::size_t r = 1; r < rows.size(); ++r)
      if (rows[r].size() == rows[0].size() &&
          std::find(parameter.values.begin(), parameter.values.end(), rows[r][p]) ==
              parameter.values.end())
        parameter.values.push_back(rows[r][p]);
    std::sort(parameter.values.begin(), parameter.values.end(),
              [](const auto& a, const auto& b) { return std::stod(a) < std::stod(b); });
    for (const std::string& value : parameter.values)
      parameter.numbers.push_back(std::stod(value));
    space.parameters.push_back(std::move(parameter));
  }
  for (const Rule& rule : rules())
    if (space.name.starts_with(rule.file_prefix))
      for (const std::string& legal : rule.legal) {
        KW_TRY(Expr expression, Expr::parse(legal));
        space.legal.push_back(std::move(expression));
      }
  const std::string name = space.name;
  KW_TRY(SpaceSet set, SpaceSet::bind({std::move(space)}, {}));
  Recorded recorded{name, std::move(set), {}, 0};
  for (std::size_t r = 1; r < rows.size(); ++r) {
    Config config;
    for (std::size_t p = 0; p < parameters; ++p) {
      const auto& values = recorded.set.spaces()[0].parameters[p].values;
      config.choice.push_back(static_cast<int>(
          std::find(values.begin(), values.end(), rows[r].at(p)) - values.begin()));
    }
    Observation seen;
    seen.valid = rows[r].at(parameters + 1) == "ok";
    if (seen.valid) {
      seen.cost = std::stod(rows[r][parameters]);
      if (recorded.best == 0 || *seen.cost < recorded.best)
        recorded.best = *seen.cost;
    }
    if (!recorded.set.legal(config))
      return fail(ErrorKind::invalid_input, fmt::format("Row {} is not legal by our rule", r),
                  "correct the rule in tuner_bench.cpp", path.string());
    recorded.measured[config] = seen;
  }
  if (recorded.set.count(1'000'000) != recorded.measured.size())
    return fail(ErrorKind::invalid_input,
                fmt::format("The rule allows {} configurations, the file has {}",
                            recorded.set.count(1'000'000), recorded.measured.size()),
                "correct the rule in tuner_bench.cpp", path.string());
  return recorded;
}

constexpr std::array<int, 6> marks = {25, 50, 100, 200, 400, 800};
constexpr std::size_t stuck_from = 4; // index into marks: 400 evaluations
constexpr double good_enough = 95;    // percent of the best

/// Percent of the best at each mark.
std::array<double, marks.size()> run_once(const Recorded& space, Algorithm algorithm,
                                          std::uint64_t seed) {
  TunerOptions options;
  options.algorithm = algorithm;
  options.seed = seed;
  Tuner tuner(space.set, std::move(options));
  std::array<double, marks.size()> found{};
  for (int evaluation = 1; evaluation <= marks.back(); ++evaluation) {
    const std::optional<Config> config = tuner.ask();
    if (!config)
      break;
    tuner.tell(*config, space.measured.at(*config));
    for (std::size_t m = 0; m < marks.size(); ++m)
      if (evaluation <= marks[m] && tuner.best() != nullptr)
        found[m] = 100 * space.best / *tuner.best()->observation.cost;
  }
  return found;
}

struct Row {
  std::array<double, marks.size()> mean{};  ///< percent of the best
  std::array<double, marks.size()> below{}; ///< seeds below good_enough
};

Row run(const Recorded& space, Algorithm algorithm, int seeds, std::uint64_t first) {
  Row row;
  for (int s = 0; s < seeds; ++s) {
    const auto found = run_once(space, algorithm, first + static_cast<std::uint64_t>(s));
    for (std::size_t m = 0; m < marks.size(); ++m) {
      row.mean[m] += found[m] / seeds;
      row.below[m] += found[m] < good_enough ? 1 : 0;
    }
  }
  return row;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print("usage: {} FOLDER [SEEDS=20] [FIRST_SEED=1]\n"
               "FOLDER holds recorded tuning spaces, *.csv.gz\n",
               argv[0]);
    return 2;
  }
#ifndef KW_HAVE_ZLIB
  fmt::print("SKIP tuner: this build has no zlib; install zlib1g-dev and configure again\n");
  return 0;
#endif
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 20;
  const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  std::error_code missing;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], missing))
    if (entry.path().string().ends_with(".csv.gz"))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty() || seeds < 1) {
    fmt::print("SKIP tuner: no recorded spaces (*.csv.gz) in {}\n", argv[1]);
    return 0;
  }
  constexpr std::array<Algorithm, 5> algorithms = {Algorithm::random, Algorithm::annealing,
                                                   Algorithm::hill_climb, Algorithm::tpe,
                                                   Algorithm::hybrid};
  std::map<Algorithm, Row> average;
  const auto report = [](std::string_view space, Algorithm algorithm, const Row& row,
                         const Row& peer) {
    for (std::size_t m = 0; m < marks.size(); ++m)
      fmt::print("FIGURE tuner.{}.{}.at{} {:.1f} percent{}\n", space, name(algorithm), marks[m],
                 row.mean[m],
                 algorithm == Algorithm::random ? "" : fmt::format(" peer {:.1f}", peer.mean[m]));
    for (std::size_t m = stuck_from; m < marks.size(); ++m)
      fmt::print("FIGURE tuner.{}.{}.below95_at{} {:.0f} seeds{}\n", space, name(algorithm),
                 marks[m], row.below[m],
                 algorithm == Algorithm::random ? "" : fmt::format(" peer {:.0f}", peer.below[m]));
  };
  for (const std::filesystem::path& file : files) {
    Result<Recorded> space = load(file);
    if (!space) {
      fmt::print(stderr, "{}\n", space.error().text());
      return 1;
    }
    Row random;
    for (const Algorithm algorithm : algorithms) {
      const Row row = run(*space, algorithm, seeds, first);
      if (algorithm == Algorithm::random)
        random = row;
      report(space->name, algorithm, row, random);
      Row& sum = average[algorithm];
      for (std::size_t m = 0; m < marks.size(); ++m) {
        sum.mean[m] += row.mean[m] / static_cast<double>(files.size());
        sum.below[m] += row.below[m];
      }
    }
  }
  for (const Algorithm algorithm : algorithms)
    report("average", algorithm, average[algorithm], average[Algorithm::random]);
  return 0;
}
