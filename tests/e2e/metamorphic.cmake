# SPDX-License-Identifier: Apache-2.0
# What mathematics says about oracles and baselines, and that a broken one is seen.
set(metamorphic /usr/bin/python3 -B ${PROJECT_SOURCE_DIR}/tests/reference/metamorphic.py)
add_test(NAME e2e.metamorphic COMMAND ${metamorphic})
add_test(NAME long.metamorphic.mutants COMMAND ${metamorphic} --mutants)
set_tests_properties(e2e.metamorphic PROPERTIES LABELS e2e TIMEOUT 300)
set_tests_properties(long.metamorphic.mutants PROPERTIES LABELS long TIMEOUT 600)
