# SPDX-License-Identifier: Apache-2.0
# No shipped kernel may give a sanitizer anything to say: a false alarm here would be one everywhere.
add_executable(sanitize_e2e ${CMAKE_CURRENT_LIST_DIR}/sanitize_e2e.cpp)
target_link_libraries(sanitize_e2e PRIVATE kw_warnings kw_service fmt::fmt GTest::gtest_main)
add_dependencies(sanitize_e2e kernwright kernwright-runner)
target_compile_definitions(sanitize_e2e PRIVATE KW_RUNNER="$<TARGET_FILE:kernwright-runner>"
                           KW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_test(NAME e2e.sanitize COMMAND sanitize_e2e)
set_tests_properties(e2e.sanitize PROPERTIES LABELS e2e TIMEOUT 600)
