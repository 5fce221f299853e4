// SPDX-License-Identifier: Apache-2.0
#include "search/space_set.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace kw {

/// A depth-first walk over one space. Owns the name bindings, so that concurrent walks are safe.
struct SpaceSet::Walk {
  const Space& space;
  const Bound& bound;
  Bindings names;
  std::vector<double*> slot; ///< the value of each parameter inside `names`
  Config config;

  Walk(const SpaceSet& set, std::size_t index)
      : space(set.spaces_[index]), bound(set.bound_[index]), names(bound.names),
        config{index, std::vector<int>(space.parameters.size(), 0)} {
    for (const Parameter& p : space.parameters)
      slot.push_back(&names.find(p.name)->second);
  }

  [[nodiscard]] bool holds(const std::vector<std::size_t>& predicates) const {
    return std::all_of(predicates.begin(), predicates.end(), [&](std::size_t i) {
      const Result<double> value = space.legal[i].eval(names);
      return value && *value != 0;
    });
  }
  /// Sets parameter `at`; true if every predicate that this completes holds.
  bool set(std::size_t at, int choice) {
    config.choice[at] = choice;
    *slot[at] = space.parameters[at].numbers[static_cast<std::size_t>(choice)];
    return holds(bound.ready_after[at]);
  }
  bool all(std::size_t at, const std::function<bool(const Config&)>& visit) {
    if (at == space.parameters.size())
      return visit(config);
    for (int c = 0; c < static_cast<int>(space.parameters[at].values.size()); ++c)
      if (set(at, c) && !all(at + 1, visit))
        return false;
    return true;
  }
  /// First legal leaf in a random order of values.
  bool any(std::size_t at, Random& chance) {
    if (at == space.parameters.size())
      return true;
    std::vector<int> order(space.parameters[at].values.size());
    std::iota(order.begin(), order.end(), 0);
    chance.shuffle(order);
    return std::any_of(order.begin(), order.end(),
                       [&](int c) { return set(at, c) && any(at + 1, chance); });
  }
};

Result<SpaceSet> SpaceSet::bind(std::vector<Space> spaces, const Bindings& context) {
  SpaceSet set;
  const bool any = !spaces.empty();
  for (Space& space : spaces) {
    if (space.applies) {
      Result<double> applies = space.applies->eval(context);
      if (!applies)
        return fail(ErrorKind::invalid_input,
                    fmt::format("`applies` of space \"{}\" cannot be evaluated: {}", space.name,
                                applies.error().message),
                    "use axes of the definition and the machine facts of docs/tuner.md",
                    space.file);
      if (*applies == 0) {
        set.left_out_.push_back(
            fmt::format("{}: applies where {}", space.name, space.applies->text()));
        continue;
      }
    }
    if (std::any_of(set.spaces_.begin(), set.spaces_.end(),
                    [&](const Space& other) { return other.name == space.name; }))
      return fail(ErrorKind::invalid_input, fmt::format("Two spaces are called \"{}\"", space.name),
                  "rename one of them: the name tells their configurations apart", space.file);
    Bound bound;
    bound.names = context;
    bound.ready_after.resize(space.parameters.size());
    for (const Parameter& p : space.parameters) {
      bool fresh = bound.names.emplace(p.name, 0).second;
      for (std::size_t i = 0; p.words && i < p.values.size(); ++i)
        fresh = bound.names.emplace(p.name + "_" + p.values[i], i).second && fresh;
      if (!fresh)
        return fail(
            ErrorKind::invalid_input,
            fmt::format("Parameter \"{}\" of space \"{}\" has the name of an axis, a machine "
                        "fact or another parameter's word",
                        p.name, space.name),
            "rename the parameter", space.file);
    }
    for (std::size_t i = 0; i < space.legal.size(); ++i) {
      std::optional<std::size_t> last;
      for (const std::string& name : space.legal[i].names()) {
        if (!bound.names.contains(name))
          return fail(ErrorKind::invalid_input,
                      fmt::format("\"{}\" of space \"{}\" names \"{}\", which is neither a "
                                  "parameter nor an axis nor a machine fact",
                                  space.legal[i].text(), space.name, name),
                      "correct the name; docs/tuner.md lists the machine facts", space.file);
        for (std::size_t p = 0; p < space.parameters.size(); ++p)
          if (space.parameters[p].name == name)
            last = std::max(last.value_or(0), p);
      }
      (last ? bound.ready_after[*last] : bound.constant).push_back(i);
    }
    set.spaces_.push_back(std::move(space));
    set.bound_.push_back(std::move(bound));
    Walk walk(set, set.spaces_.size() - 1);
    Random chance(0);
    if (!walk.holds(walk.bound.constant) || !walk.any(0, chance)) {
      set.left_out_.push_back(
          fmt::format("{}: no configuration is legal for this workload", set.spaces_.back().name));
      set.spaces_.pop_back();
      set.bound_.pop_back();
    }
  }
  if (set.spaces_.empty() && any)
    return fail(ErrorKind::not_found,
                fmt::format("No schedule space applies to this workload{}{}",
                            set.left_out_.empty() ? "" : ": ", fmt::join(set.left_out_, "; ")),
                "add a template and a space file (docs/tuner.md), or propose kernels another way");
  set.for_each([&](const Config& config) {
    set.listed_.push_back(config);
    return set.listed_.size() <= listed_limit;
  });
  if (set.listed_.size() > listed_limit)
    set.listed_ = {};
  return set;
}

bool SpaceSet::legal(const Config& config) const {
  if (config.space >= spaces_.size() ||
      config.choice.size() != spaces_[config.space].parameters.size())
    return false;
  if (!listed_.empty())
    return std::binary_search(listed_.begin(), listed_.end(), config); // for_each goes in order
  Walk walk(*this, config.space);
  for (std::size_t p = 0; p < config.choice.size(); ++p) {
    const int c = config.choice[p];
    if (c < 0 || c >= static_cast<int>(walk.space.parameters[p].values.size()) || !walk.set(p, c))
      return false;
  }
  return true;
}

void SpaceSet::for_each(const std::function<bool(const Config&)>& visit) const {
  for (std::size_t s = 0; s < spaces_.size(); ++s)
    if (Walk walk(*this, s); !walk.all(0, visit))
      return;
}

std::size_t SpaceSet::count(std::size_t limit) const {
  std::size_t found = 0;
  for_each([&](const Config&) { return ++found < limit; });
  return std::min(found, limit);
}

Config SpaceSet::random(Random& chance) const {
  if (!listed_.empty())
    return listed_[chance.below(listed_.size())];
  constexpr int rejections = 200; // enough where 2 % of the product are legal
  Walk walk(*this, chance.below(spaces_.size()));
  for (int attempt = 0; attempt < rejections; ++attempt) {
    bool good = true;
    for (std::size_t p = 0; p < walk.space.parameters.size() && good; ++p)
      good = walk.set(p, static_cast<int>(chance.below(walk.space.parameters[p].values.size())));
    if (good)
      return walk.config;
  }
  KW_ASSERT(walk.any(0, chance)); // bind() made sure that there is one
  return walk.config;
}

std::vector<Config> SpaceSet::neighbours(const Config& config) const {
  std::vector<Config> near, far;
  const Space& space = spaces_[config.space];
  for (std::size_t p = 0; p < space.parameters.size(); ++p)
    for (int c = 0; c < static_cast<int>(space.parameters[p].values.size()); ++c) {
      const int distance = std::abs(c - config.choice[p]);
      if (distance == 0)
        continue;
      Config other = config;
      other.choice[p] = c;
      if (legal(other))
        (space.parameters[p].ordered && distance > 1 ? far : near).push_back(std::move(other));
    }
  near.insert(near.end(), far.begin(), far.end());
  return near;
}

std::vector<Config> SpaceSet::seeds() const {
  std::vector<Config> found;
  for (std::size_t s = 0; s < spaces_.size(); ++s)
    for (const std::vector<int>& choice : spaces_[s].seeds)
      if (Config seed{s, choice}; legal(seed))
        found.push_back(std::move(seed));
  return found;
}

std::string SpaceSet::text(const Config& config) const {
  const Space& space = spaces_[config.space];
  std::string out = "space=" + space.name;
  for (std::size_t p = 0; p < space.parameters.size(); ++p)
    out += fmt::format(" {}={}", space.parameters[p].name,
                       space.parameters[p].values[static_cast<std::size_t>(config.choice[p])]);
  return out;
}

Result<Config> SpaceSet::parse(std::string_view text) const {
  const auto bad = [&](std::string message) {
    return fail(ErrorKind::invalid_input, std::move(message),
                "write \"space=NAME PARAMETER=VALUE ...\" with every parameter of that space");
  };
  std::map<std::string, std::string, std::less<>> given;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty())
      continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return bad(fmt::format("\"{}\" is not of the form name=value", word));
    if (!given.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      return bad(fmt::format("\"{}\" is given twice", word.substr(0, equals)));
  }
  Config config;
  if (const auto name = given.find("space"); name != given.end()) {
    const auto space = std::find_if(spaces_.begin(), spaces_.end(),
                                    [&](const Space& s) { return s.name == name->second; });
    if (space == spaces_.end())
      return bad(fmt::format("There is no space \"{}\" here", name->second));
    config.space = static_cast<std::size_t>(space - spaces_.begin());
    given.erase(name);
  } else if (spaces_.size() != 1) {
    return bad("The configuration does not say of which space it is");
  }
  for (const Parameter& p : spaces_[config.space].parameters) {
    const auto value = given.find(p.name);
    if (value == given.end())
      return bad(fmt::format("Parameter \"{}\" is missing", p.name));
    const auto listed = std::find(p.values.begin(), p.values.end(), value->second);
    if (listed == p.values.end())
      return bad(fmt::format("{} is no value of \"{}\"", value->second, p.name));
    config.choice.push_back(static_cast<int>(listed - p.values.begin()));
    given.erase(value);
  }
  if (!given.empty())
    return bad(fmt::format("\"{}\" is no parameter of this space", given.begin()->first));
  return config;
}

std::uint64_t SpaceSet::hash(const Config& config) const {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text(config))
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

} // namespace kw
