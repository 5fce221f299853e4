// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kw::cli {

/// The whole command line. Returns the exit code.
int main(int argc, char** argv);

} // namespace kw::cli
