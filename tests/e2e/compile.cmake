# SPDX-License-Identifier: Apache-2.0
# Tests that start real processes: the compiler in its sandbox, and children in general.
add_executable(kw_compile_e2e ${PROJECT_SOURCE_DIR}/tests/e2e/compile_e2e.cpp ${PROJECT_SOURCE_DIR}/tests/e2e/dispatch_e2e.cpp
               ${PROJECT_SOURCE_DIR}/tests/e2e/admit_e2e.cpp ${PROJECT_SOURCE_DIR}/tests/e2e/process_e2e.cpp)
target_link_libraries(kw_compile_e2e PRIVATE kw_warnings kw_compile kw_search kw_target_cpu kw_os kw_base fmt::fmt
                      GTest::gtest_main GTest::gmock)
target_compile_definitions(kw_compile_e2e PRIVATE KW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_test(NAME e2e.compile COMMAND kw_compile_e2e)
set_tests_properties(e2e.compile PROPERTIES LABELS e2e TIMEOUT 300)
