# SPDX-License-Identifier: Apache-2.0
# Replays recorded tuning spaces through the tuner: kw_tuner_bench FOLDER
find_package(ZLIB QUIET)
add_executable(kw_tuner_bench ${CMAKE_CURRENT_LIST_DIR}/tuner_bench.cpp)
target_link_libraries(kw_tuner_bench PRIVATE kw_warnings kw_search fmt::fmt)
if(ZLIB_FOUND)
  target_link_libraries(kw_tuner_bench PRIVATE ZLIB::ZLIB)
  target_compile_definitions(kw_tuner_bench PRIVATE KW_HAVE_ZLIB=1)
endif()
# Planning a round from 10,000 archived attempts.
add_executable(kw_controller_bench ${CMAKE_CURRENT_LIST_DIR}/controller_bench.cpp)
target_link_libraries(kw_controller_bench PRIVATE kw_warnings kw_controller kw_search fmt::fmt)
