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

// A function that a kernel may call on any backend, like OSIER_FN, but one that is a call of its own: what is large and called
// from few places.
#if defined(__CUDACC__)
#define OSIER_CALL __host__ __device__
#else
#define OSIER_CALL
#endif
