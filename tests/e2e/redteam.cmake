# SPDX-License-Identifier: Apache-2.0
# The corpus against the judge, in the sandbox this machine offers and in the next weaker one. Cases that judge speed
# need a quiet machine to say anything: with the long repetitions.
function(kw_redteam name label timeout)
  add_test(NAME redteam.${name} COMMAND kernwright --operators ${PROJECT_SOURCE_DIR}/operators redteam
                                        --corpus ${PROJECT_SOURCE_DIR}/redteam ${ARGN})
  set_tests_properties(redteam.${name} PROPERTIES LABELS ${label} TIMEOUT ${timeout}
                       ENVIRONMENT XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/redteam-cache)
endfunction()
kw_redteam(corpus e2e 600 --no-timing --jobs 2)
kw_redteam(repeated long 7200 --no-timing --jobs 2 --repeats 0)
kw_redteam(repeated_t2 long 7200 --no-timing --jobs 2 --repeats 0 --tier T2)
kw_redteam(timing long 7200 --only-timing --repeats 20)
