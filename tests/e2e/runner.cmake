# SPDX-License-Identifier: Apache-2.0
# Real arms, real kernels compiled at test time, real sandboxes.
add_executable(runner_e2e ${CMAKE_CURRENT_LIST_DIR}/runner_e2e.cpp ${CMAKE_CURRENT_LIST_DIR}/runner_sandbox_e2e.cpp
               ${CMAKE_CURRENT_LIST_DIR}/runner_takeover_e2e.cpp ${CMAKE_CURRENT_LIST_DIR}/runner_trusted_e2e.cpp)
target_link_libraries(runner_e2e PRIVATE kw_warnings kw_runner fmt::fmt GTest::gtest_main)
target_compile_definitions(runner_e2e PRIVATE KW_RUNNER="$<TARGET_FILE:kernwright-runner>")
add_dependencies(runner_e2e kernwright-runner)
add_test(NAME e2e.runner COMMAND runner_e2e)
set_tests_properties(e2e.runner PROPERTIES LABELS e2e TIMEOUT 300)
