# SPDX-License-Identifier: Apache-2.0
# `make demo` runs the main job, `make check` passes the tests; both do all the set-up on a bare Debian 12.
BUILD := build/release
BIN := $(BUILD)/bin/kernwright
JOBS := $(shell nproc)
export CCACHE_SLOPPINESS := pch_defines,time_macros

.PHONY: help setup build demo check check-long bench profile-corpus fuzz asan fmt clean
help:
	@echo "make demo        build, then optimise softmax and prove the result (about a minute after the build)"
	@echo "make check       all tests: unit, end to end, red team, sanitizers, fuzzers"
	@echo "make check-long  the long repetitions"
	@echo "make bench       one FIGURE line per measured figure (docs/BENCH.md); needs a quiet machine"
	@echo "make profile-corpus  what profiles say of kernels whose bottleneck is known (docs/profile.md); needs a quiet machine"
	@echo "make build       the two binaries in $(BUILD)/bin"
	@echo "make fmt         clang-format"

setup:
	@tools/setup.sh

$(BUILD)/build.ninja: CMakeLists.txt CMakePresets.json src/CMakeLists.txt cmake/kernwright.cmake tests/CMakeLists.txt
	@cmake --preset release > /dev/null

build: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target kernwright kernwright-runner kernwright_nki

demo: build
	@$(BIN) doctor --quick
	@echo
	$(BIN) --state build/demo optimize softmax_f32 --budget 40s --workload rows=128

check: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -L 'unit|e2e' -j 1
	@$(MAKE) --no-print-directory asan fuzz

# Parsers of outside data and everything below them, under address and undefined-behaviour sanitizers.
ASAN_TESTS := kw_base_test kw_formats_test kw_tensor_test kw_archive_test
asan: setup
	@cmake --preset asan > /dev/null
	@cmake --build build/asan -j $(JOBS) --target $(ASAN_TESTS)
	@ctest --test-dir build/asan --output-on-failure --no-tests=error -R '^unit\.(base|formats|tensor|archive)$$'

fuzz: setup
	@cmake --preset fuzz > /dev/null
	@cmake --build build/fuzz -j $(JOBS) --target fuzzers
	@ctest --test-dir build/fuzz --output-on-failure --no-tests=error -L '^fuzz$$' -j $(JOBS)

check-long: check
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -L '^long$$'
	@ctest --test-dir build/fuzz --output-on-failure --no-tests=error -L long_fuzz -j $(JOBS)

bench: build
	@cmake --build $(BUILD) -j $(JOBS) --target kw_tuner_bench kw_sandbox_bench kw_controller_bench
	@/usr/bin/python3 tests/bench/run.py --bin $(BIN) --tuner $(BUILD)/tests/kw_tuner_bench --sandbox $(BUILD)/tests/kw_sandbox_bench --controller $(BUILD)/tests/kw_controller_bench

profile-corpus: build
	@/usr/bin/python3 -B tests/bench/profile_corpus.py --bin $(BIN)

fmt:
	@git ls-files '*.cpp' '*.hpp' | grep -v '^redteam/\|^operators/\|^tests/corpus/' | xargs clang-format-19 -i

clean:
	@rm -rf build
