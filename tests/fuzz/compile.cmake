# SPDX-License-Identifier: Apache-2.0
# libFuzzer targets of the build pipeline; corpora beside them.
if(KW_FUZZ)
  foreach(name elf source)
    add_executable(kw_${name}_fuzz ${PROJECT_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp)
    target_link_libraries(kw_${name}_fuzz PRIVATE kw_warnings kw_compile kw_target_cpu fmt::fmt)
    target_link_options(kw_${name}_fuzz PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz.${name} COMMAND kw_${name}_fuzz -max_total_time=20 -rss_limit_mb=2048
             ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
  endforeach()
endif()
