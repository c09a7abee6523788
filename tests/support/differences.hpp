// Central differences of fourth order: truncation e^4, rounding eps/e.
#pragma once

#include <array>

#include "math/mat3.hpp"
#include "math/quat.hpp"

namespace osier::test {

inline constexpr std::array<double, 4> kOffset{-2, -1, 1, 2};
inline constexpr std::array<double, 4> kWeight{1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};

inline Vec3d unit3(int i) { return {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0}; }
inline double component(const Vec3d& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

/// d f(t)/dt at 0.
template <class F>
double derivative(F&& f, double e) {
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) sum += kWeight[i] * f(kOffset[i] * e);
  return sum / e;
}

/// Gradient of f(Vec3d) at zero.
template <class F>
Vec3d gradient_of(F&& f, double e = 1e-3) {
  const auto along = [&](int i) { return derivative([&](double t) { return f(t * unit3(i)); }, e); };
  return {along(0), along(1), along(2)};
}

/// d2 f(a, b)/(da db) at zero.
template <class F>
Mat3<double> mixed_of(F&& f, double e = 5e-3) {
  Mat3<double> m;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      m.m[i][j] = derivative([&](double s) { return derivative([&](double t) { return f(s * unit3(i), t * unit3(j)); }, e); }, e);
  return m;
}

/// d2 f(w)/dw2 at zero, w one vector: symmetric because both increments go into the same argument.
template <class F>
Mat3<double> hessian_of(F&& f, double e = 5e-3) {
  return mixed_of([&](const Vec3d& a, const Vec3d& b) { return f(a + b); }, e);
}

inline double largest(const Mat3<double>& a) {
  double size = 0;
  for (const auto& row : a.m)
    for (double x : row) size = std::max(size, std::abs(x));
  return size;
}
inline double largest_difference(const Mat3<double>& a, const Mat3<double>& b) { return largest(a + -1.0 * b); }

/// q turned by the rotation vector w in the world.
inline Quatd turned(const Vec3d& w, const Quatd& q) { return normalized(rotation_exp(w) * q); }

}  // namespace osier::test
