// SPDX-License-Identifier: Apache-2.0
#include "service/spaces.hpp"

#include "controller/regime.hpp"
#include "os/files.hpp"
#include "search/instantiate.hpp"
#include "search/space_set.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

/// The first seed of one space, built and tried twice on the smallest workload it applies to.
Status run_seed(Judge& judge, const LoadedSpace& loaded, const Bindings& facts,
                std::size_t workload) {
  Bindings names = facts;
  names.insert(judge.workloads()[workload].axes.begin(), judge.workloads()[workload].axes.end());
  KW_TRY(const SpaceSet set, SpaceSet::bind({loaded.space}, names));
  const std::vector<Config> seeds = set.seeds();
  if (seeds.empty())
    return fail(ErrorKind::invalid_input,
                fmt::format("no seed of \"{}\" is legal at {}", loaded.space.name,
                            judge.workloads()[workload].axes_text),
                "add a seed that is", loaded.space.file);
  KW_TRY(const Solution solution,
         instantiate(judge.definition(), {.space = &loaded.space,
                                          .choice = seeds.front().choice,
                                          .template_text = loaded.template_text}));
  Verdict verdict;
  KW_TRY(Subject subject, judge.admit(solution, verdict));
  if (subject.loaded())
    KW_CHECK(judge.verify(subject, "glance", verdict, {workload}));
  if (verdict.finding != Finding::none || !subject.loaded())
    return fail(ErrorKind::invalid_input,
                fmt::format("the first seed ({}) is {} at {}: {}", set.text(seeds.front()),
                            name(verdict.finding), judge.workloads()[workload].axes_text,
                            failed_axis(verdict).summary),
                "correct the template, or the `applies` and `legal` of its space",
                loaded.space.file);
  return {};
}

} // namespace

Result<std::vector<LoadedSpace>> load_spaces(const Definition& definition) {
  std::vector<LoadedSpace> out;
  for (const std::string& relative : definition.ext.templates) {
    const std::string path = join_path(definition.folder, relative);
    KW_TRY(const std::string text, read_file(path, 1 << 20));
    LoadedSpace loaded;
    KW_TRY(loaded.space, parse_space(text, path));
    KW_TRY(loaded.template_text,
           read_file(join_path(parent_path(path), loaded.space.template_file), 1 << 20));
    out.push_back(std::move(loaded));
  }
  return out;
}

Result<std::size_t> run_seeds(Judge& judge, const std::vector<LoadedSpace>& spaces) {
  if (spaces.empty())
    return std::size_t{0};
  std::vector<Space> bare;
  for (const LoadedSpace& loaded : spaces)
    bare.push_back(loaded.space);
  const Bindings facts = machine_facts(judge.definition().ext.threads);
  KW_TRY(const std::vector<Regime> regimes, find_regimes(judge.workloads(), bare, facts));
  std::vector<char> seen(spaces.size(), 0);
  std::size_t right = 0;
  for (const Regime& regime : regimes)
    for (const std::size_t s : regime.spaces) {
      if (seen[s] != 0)
        continue;
      seen[s] = 1;
      KW_CHECK(run_seed(judge, spaces[s], facts, regime.smallest));
      ++right;
    }
  return right;
}

} // namespace kw
