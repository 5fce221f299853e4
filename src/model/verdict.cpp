// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.hpp"

namespace kw {

std::string name(Finding f) {
  switch (f) {
  case Finding::none:
    return "NONE";
  case Finding::build:
    return "REJECT_BUILD";
  case Finding::admission:
    return "REJECT_STATIC";
  case Finding::sandbox:
    return "REJECT_SANDBOX";
  case Finding::protocol:
    return "REJECT_PROTOCOL";
  case Finding::crash:
    return "CRASH";
  case Finding::wrong:
    return "REJECT_WRONG";
  case Finding::state:
    return "REJECT_STATE";
  case Finding::nondeterminism:
    return "REJECT_NONDET";
  case Finding::timing:
    return "REJECT_TIMING";
  case Finding::resource:
    return "REJECT_RESOURCE";
  case Finding::sanitizer:
    return "REJECT_SANITIZER";
  }
  return "NONE";
}

std::string name(Outcome o) {
  switch (o) {
  case Outcome::unknown:
    return "unknown";
  case Outcome::pass:
    return "pass";
  case Outcome::fail:
    return "fail";
  }
  return "unknown";
}

const AxisVerdict& failed_axis(const Verdict& v) {
  for (const AxisVerdict* a : {&v.build, &v.sandbox, &v.correctness, &v.timing, &v.merit})
    if (a->outcome == Outcome::fail)
      return *a;
  return v.correctness;
}

} // namespace kw
