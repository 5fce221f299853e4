// SPDX-License-Identifier: Apache-2.0
// kernwright-runner: the only program that loads candidate code. Started by kernwright with a
// cleared environment; of no use on its own.
#include "zygote.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--zygote") == 0)
    return kw::child::run_zygote(std::atoi(argv[2]),
                                 static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)));
  if (argc == 3 && std::strcmp(argv[1], "--arm") == 0)
    return kw::child::run_trusted_arm(std::atoi(argv[2]));
  std::fputs("kernwright-runner is started by kernwright; run `kernwright doctor` to see how\n",
             stderr);
  return 2;
}
