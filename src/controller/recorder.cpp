// SPDX-License-Identifier: Apache-2.0
#include "controller/recorder.hpp"

#include "base/hash.hpp"
#include "formats/definition_json.hpp"
#include "formats/solution_files.hpp"
#include "formats/verdict_json.hpp"
#include "os/cpu.hpp"
#include "os/random.hpp"

#include <fmt/format.h>
#include <span>
#include <sys/utsname.h>

namespace kw {

std::string seed_hex(const Seed& seed) {
  std::string out;
  for (const std::uint8_t byte : seed)
    out += fmt::format("{:02x}", byte);
  return out;
}

std::string seed_commitment(const Seed& seed) {
  return sha256_hex("kernwright.seed/1 " + seed_hex(seed));
}

Result<Seed> seed_from_hex(std::string_view hex) {
  Seed seed{};
  if (hex.size() != 2 * seed.size() ||
      hex.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return fail(ErrorKind::invalid_input, "a seed is 32 lower-case hex digits",
                "copy it from `kernwright archive show`");
  for (std::size_t i = 0; i < seed.size(); ++i)
    seed[i] = static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(2 * i, 2)), nullptr, 16));
  return seed;
}

Seed fresh_seed() {
  Seed seed{};
  fill_random(std::as_writable_bytes(std::span(seed)));
  return seed;
}

Environment describe_environment() {
  Environment out;
  out.hardware = cpu_info().describe();
  utsname name{};
  if (uname(&name) == 0)
    out.kernel = name.release;
  out.version = KW_VERSION;
  return out;
}

Recorder::Recorder(Archive& archive, const Clock& clock, Environment environment,
                   const Definition& definition)
    : archive_(archive), clock_(clock), environment_(std::move(environment)),
      definition_(definition), definition_hash_(kw::definition_hash(definition)) {}

std::string Recorder::hash_of(const Solution& solution) const {
  return full_hash(solution, definition_,
                   {.compiler = environment_.compiler, .flags = environment_.flags});
}

Probe Recorder::open(const Solution& solution, const Seed& seed) const {
  Probe probe;
  probe.run = run;
  probe.definition = definition_.name;
  probe.definition_hash = definition_hash_;
  probe.solution = solution;
  probe.solution_hash = hash_of(solution);
  probe.seed_commitment = seed_commitment(seed);
  probe.environment = environment_;
  probe.started_at = clock_.wall_iso8601();
  return probe;
}

Status Recorder::store(Probe& probe, const TargetBuild& build, const Seed& seed) const {
  probe.seed = seed_hex(seed);
  if (!build.key.empty())
    probe.environment.more["build_key"] = build.key;
  probe.id.clear();
  probe.id = sha256_hex(encode_probe(probe));
  return archive_.put_probe(probe, encode_probe(probe));
}

Result<Record> Recorder::promote(const Probe& probe, const std::string& baseline) const {
  KW_ASSERT(probe.verdict.accepted && probe.verdict.times.has_value());
  Record record;
  record.probe = probe.id;
  record.definition = probe.definition;
  record.solution_name = probe.solution.name;
  record.speedup = probe.verdict.times->speedup;
  record.low = probe.verdict.times->low;
  record.high = probe.verdict.times->high;
  record.baseline = baseline;
  record.sealed_at = clock_.wall_iso8601();
  return archive_.seal(record);
}

} // namespace kw
