#include "sub/x.h" // comment
#include <immintrin.h>
%:pragma GCC unroll 4
#define P(x) _Pragma(#x)
asm(".inc"
    "bin \"x\"");
const char* s = R"d(a)")d";
__attribute__((optimize(3))) int f\
oo;
