# SPDX-License-Identifier: Apache-2.0
# One static library and one unit-test binary per folder. Sources are globbed: a folder is its list.

add_library(kw_warnings INTERFACE)
target_compile_options(kw_warnings INTERFACE -Wall -Wextra -Wconversion -Werror
                       # several files in one unit shadow each other's names, which means nothing
                       $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
                       # std::stable_sort of libstdc++ 12 uses a function that it deprecates itself; GCC looks away
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
                       -Wno-missing-field-initializers) # members have defaults; designated initialisers rely on them
target_include_directories(kw_warnings INTERFACE ${PROJECT_SOURCE_DIR}/src)

set(kw_cold $<$<AND:$<CONFIG:Release>,$<NOT:$<COMPILE_LANGUAGE:ASM>>>:-O1>)

# kw_library(<folder> [COLD] [UNITY] [DEPS <folder>...] [LINK <target>...])
# Defines kw_<name> from src/<folder>/*.cpp, and the test kw_<name>_test from *_test.cpp beside it.
# DEPS is the folder's row in the dependency table of ARCHITECTURE.md. COLD folders never run while
# something is measured; like the tests they are compiled with -O1 in a release. UNITY folders are
# compiled eight files at a time in a release, because the headers they share cost more than they do:
# names in their unnamed namespaces must be unique within the folder. Together that halves the build.
function(kw_library folder)
  cmake_parse_arguments(A "COLD;UNITY" "" "DEPS;LINK" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp
       ${PROJECT_SOURCE_DIR}/src/${folder}/*.S)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(unity OFF)
  if(A_UNITY AND CMAKE_BUILD_TYPE STREQUAL Release)
    set(unity ON)
  endif()
  list(TRANSFORM A_DEPS PREPEND kw_)
  list(TRANSFORM A_DEPS REPLACE "/" "_")
  if(sources)
    add_library(kw_${name} STATIC ${sources})
    target_link_libraries(kw_${name} PRIVATE kw_warnings ${A_LINK} fmt::fmt)
    target_link_libraries(kw_${name} PUBLIC ${A_DEPS})
    set_target_properties(kw_${name} PROPERTIES UNITY_BUILD ${unity})
    if(A_COLD)
      target_compile_options(kw_${name} PRIVATE ${kw_cold})
    endif()
  else()
    add_library(kw_${name} INTERFACE)
  endif()
  if(tests)
    add_executable(kw_${name}_test ${tests})
    target_link_libraries(kw_${name}_test PRIVATE kw_warnings kw_${name} ${A_LINK} fmt::fmt GTest::gtest_main
                          GTest::gmock)
    target_compile_options(kw_${name}_test PRIVATE ${kw_cold})
    set_target_properties(kw_${name}_test PROPERTIES UNITY_BUILD ${unity} CXX_CLANG_TIDY "")
    target_compile_definitions(kw_${name}_test PRIVATE KW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_test(NAME unit.${name} COMMAND kw_${name}_test)
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()
