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

/// One value for each material axis: (shear 1, shear 2, stretch) or (bend about d1, bend about d2, twist about d3). A single
/// number stands for three equal ones, the paper's isotropic law.
struct PerAxis {
  double d1 = 0, d2 = 0, d3 = 0;
  constexpr PerAxis() = default;
  constexpr PerAxis(double all) : d1(all), d2(all), d3(all) {}
  constexpr PerAxis(double a, double b, double c) : d1(a), d2(b), d3(c) {}
  constexpr bool uniform() const { return d1 == d2 && d2 == d3; }
  constexpr double smallest() const { return d1 < d2 ? (d1 < d3 ? d1 : d3) : (d2 < d3 ? d2 : d3); }
  constexpr double largest() const { return d1 > d2 ? (d1 > d3 ? d1 : d3) : (d2 > d3 ? d2 : d3); }
  constexpr bool any() const { return d1 > 0 || d2 > 0 || d3 > 0; }
  constexpr bool operator==(const PerAxis&) const = default;
};
constexpr PerAxis operator*(double s, const PerAxis& a) { return {s * a.d1, s * a.d2, s * a.d3}; }
constexpr PerAxis operator*(const PerAxis& a, const PerAxis& b) { return {a.d1 * b.d1, a.d2 * b.d2, a.d3 * b.d3}; }
constexpr PerAxis operator+(const PerAxis& a, const PerAxis& b) { return {a.d1 + b.d1, a.d2 + b.d2, a.d3 + b.d3}; }

}  // namespace osier
