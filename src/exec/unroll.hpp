// Loops whose number of passes is known and small, written out in full: kernels keep small arrays in registers that way. The two
// compilers spell the same wish differently.
#pragma once

#define OSIER_PRAGMA(text) _Pragma(#text)
#if defined(__CUDACC__)
/// Before a loop that is to be unrolled at least `n` times.
#define OSIER_UNROLL(n) OSIER_PRAGMA(unroll)
#elif defined(__clang__)
#define OSIER_UNROLL(n) OSIER_PRAGMA(clang loop unroll_count(n))
#else
#define OSIER_UNROLL(n) OSIER_PRAGMA(GCC unroll n)
#endif
