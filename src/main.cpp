// SPDX-License-Identifier: Apache-2.0
#include "face/cli/main.hpp"

int main(int argc, char** argv) {
  return kw::cli::main(argc, argv);
}
