# SPDX-License-Identifier: Apache-2.0
# The command line, driven as a user would: one test per topic, each with its own state and cache.
add_test(NAME e2e.operators COMMAND kernwright --operators ${PROJECT_SOURCE_DIR}/operators check --run)
set_tests_properties(e2e.operators PROPERTIES LABELS e2e TIMEOUT 600 ENVIRONMENT XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/operators-cache)
add_executable(kw_without ${CMAKE_CURRENT_LIST_DIR}/without.cpp)
target_link_libraries(kw_without PRIVATE kw_warnings seccomp)
# Every file is a topic, so that none can be forgotten.
file(GLOB topics CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_LIST_DIR}/cli ${CMAKE_CURRENT_LIST_DIR}/cli/*.py)
list(TRANSFORM topics REPLACE "\\.py$" "")
list(REMOVE_ITEM topics harness)
foreach(topic ${topics})
  add_test(NAME e2e.cli.${topic}
           COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/cli_e2e.py --bin $<TARGET_FILE:kernwright> ${topic})
  # Timing holds a machine-wide lease, which another process may have for a while.
  set_tests_properties(e2e.cli.${topic} PROPERTIES LABELS e2e TIMEOUT 300
                       ENVIRONMENT KW_WITHOUT=$<TARGET_FILE:kw_without>)
endforeach()
add_test(NAME long.decisions
         COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_LIST_DIR}/cli_e2e.py --bin $<TARGET_FILE:kernwright>
                 optimizing.Optimizing.test_the_same_evaluations_give_the_same_decisions)
set_tests_properties(long.decisions PROPERTIES LABELS long TIMEOUT 600 ENVIRONMENT KW_KILLS=100)
