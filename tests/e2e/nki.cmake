# SPDX-License-Identifier: Apache-2.0
foreach(part corpus correct)
  add_test(NAME e2e.nki.${part} COMMAND /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/nki/${part}.py ${PROJECT_BINARY_DIR}/lib/kernwright)
  set_tests_properties(e2e.nki.${part} PROPERTIES LABELS e2e TIMEOUT 120)
endforeach()
