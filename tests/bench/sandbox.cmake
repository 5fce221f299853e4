# SPDX-License-Identifier: Apache-2.0
add_executable(kw_sandbox_bench EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/sandbox_bench.cpp)
target_link_libraries(kw_sandbox_bench PRIVATE kw_warnings kw_runner fmt::fmt)
target_compile_definitions(kw_sandbox_bench PRIVATE KW_RUNNER="$<TARGET_FILE:kernwright-runner>")
add_dependencies(kw_sandbox_bench kernwright-runner)
