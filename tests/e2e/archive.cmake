# SPDX-License-Identifier: Apache-2.0
# The archive under kill -9, concurrent writers, a full disk and a read-only folder.
add_executable(archive_kill_e2e ${CMAKE_CURRENT_LIST_DIR}/archive_kill_e2e.cpp)
target_link_libraries(archive_kill_e2e PRIVATE kw_warnings kw_archive fmt::fmt GTest::gtest GTest::gmock)

add_test(NAME e2e.archive_kill COMMAND archive_kill_e2e --kills=20)
set_tests_properties(e2e.archive_kill PROPERTIES LABELS e2e TIMEOUT 120)

# Only `make check-long` selects this label.
add_test(NAME long.archive_kill COMMAND archive_kill_e2e --kills=200)
set_tests_properties(long.archive_kill PROPERTIES LABELS long TIMEOUT 900)
