// The vocabulary of the public API: 3-vectors and quaternions over any number type.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

// A function that a kernel may call on any backend. Only this macro knows which compiler is looking.
#if defined(__CUDACC__)
#define OSIER_FN __host__ __device__ inline
#else
// Element formulas are small pieces of one kernel: a call would spill everything they share to memory.
#define OSIER_FN [[gnu::always_inline]] inline
#endif

namespace osier {

using Index = std::int32_t;

template <class T>
struct Vec3 {
  T x{}, y{}, z{};
};

/// Quaternion x i + y j + z k + w. A segment's frame maps material axes to the world: d_a = q e_a conj(q).
template <class T>
struct Quat {
  T x{}, y{}, z{}, w{1};
};

using Vec3d = Vec3<double>;
using Quatd = Quat<double>;

}  // namespace osier
