// SPDX-License-Identifier: Apache-2.0
// What a target must do for the judge: turn a Solution into something a runner can load, or say why
// not. Nothing outside target/ names a concrete target; main.cpp wires them.
#pragma once

#include "base/result.hpp"
#include "model/definition.hpp"
#include "model/profile.hpp"
#include "model/solution.hpp"
#include "model/verdict.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kw {

/// A built and admitted object, or a rejection with its evidence. A rejection is a value here, an
/// Error only means that our side failed.
struct TargetBuild {
  bool ok = false;
  Finding finding = Finding::none;  ///< build | admission | resource when !ok
  std::string object;               ///< path of the loadable object
  std::string entry;                ///< exported symbol
  std::string summary;              ///< one line for the verdict
  std::vector<std::string> details; ///< refusal with source line and allowed replacement
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> flags_raised; ///< suspicious, not refused (instruction patterns)
  bool cached = false;
  double ms = 0;
  std::string compiler; ///< name and version
  std::string options;  ///< the pinned flags
  std::string key;      ///< build-cache key: identity of this build
};

/// The same sources once more with sanitizers, and the executable to call them in. Not building is
/// a value too: it says nothing about the candidate, whose own build is another.
struct SideBuild {
  bool ok = false;
  std::string object, entry; ///< path of the object, exported symbol
  std::string driver;        ///< path of the executable
  std::string failure;       ///< why not, one sentence
  double ms = 0;
};

/// How a solution's build is changed, to see what its time depends on. Never judged.
enum class BuildVariant { no_vectorize, fast_math };

/// What can be read off a build without running it.
struct Inspection {
  std::vector<LoopRemark> remarks;
  std::vector<ObjectLoop> loops;
  std::vector<std::string> missing; ///< what could not be had, and why
};

class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Languages of BuildSpec::language it accepts.
  [[nodiscard]] virtual bool accepts(const Solution& solution) const = 0;
  virtual Result<TargetBuild> build(const Solution& solution, const Definition& definition) = 0;
  /// `sanitizers`: "address,undefined" or "thread"; `driver`: its sources, the unit first.
  virtual Result<SideBuild> build_side(const Solution& solution, const Definition& definition,
                                       const std::string& sanitizers,
                                       const std::vector<SourceFile>& driver) {
    (void)solution, (void)definition, (void)sanitizers, (void)driver;
    SideBuild none;
    none.failure = "the " + name() + " target has no sanitizers";
    return none;
  }
  /// Errors: unsupported where the target has no variants.
  virtual Result<TargetBuild> build_variant(const Solution& solution, const Definition& definition,
                                            BuildVariant variant) {
    (void)solution, (void)definition, (void)variant;
    return fail(ErrorKind::unsupported, "the " + name() + " target has no variants",
                "profile without them");
  }
  /// `samples`: addresses in the object at which its process was seen, may be none.
  virtual Result<Inspection> inspect(const Solution& solution, const Definition& definition,
                                     const std::vector<std::uint64_t>& samples) {
    (void)solution, (void)definition, (void)samples;
    Inspection none;
    none.missing.push_back("the " + name() + " target cannot look into its builds");
    return none;
  }
};

} // namespace kw
