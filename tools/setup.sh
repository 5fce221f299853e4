#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Kernwright is built from and tested with, on Debian 12. Everything comes from Debian's
# own packages. Run by `make`; does nothing when all packages are there.
set -euo pipefail

packages=(
  g++-12 gcc-12 cmake ninja-build mold ccache make git
  clang-19 llvm-19 libclang-rt-19-dev lld-19 clang-tidy-19 clang-format-19
  nlohmann-json3-dev libcli11-dev libfmt-dev libexpected-dev libtomlplusplus-dev
  libsqlite3-dev libssl-dev libzstd-dev libseccomp-dev zlib1g-dev
  libgtest-dev libgmock-dev
  libopenblas-dev python3 python3-numpy python3-dev pybind11-dev
)

missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: this needs Debian 12 or a relative of it; install by hand: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
# clang-19 is in Debian 12 itself; nothing is downloaded any other way.
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
