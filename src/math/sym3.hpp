// Symmetric 3x3 matrices by their lower triangle.
#pragma once

#include "math/mat3.hpp"

namespace osier {

template <class T>
struct Sym3 {
  T xx, yx, yy, zx, zy, zz;
};

template <class T>
OSIER_FN Vec3<T> operator*(const Sym3<T>& a, const Vec3<T>& v) {
  return {a.xx * v.x + a.yx * v.y + a.zx * v.z, a.yx * v.x + a.yy * v.y + a.zy * v.z, a.zx * v.x + a.zy * v.y + a.zz * v.z};
}

/// Of a matrix that is symmetric but for rounding.
template <class T>
OSIER_FN Sym3<T> lower_triangle(const Mat3<double>& m) {
  return {static_cast<T>(m.m[0][0]), static_cast<T>(m.m[1][0]), static_cast<T>(m.m[1][1]),
          static_cast<T>(m.m[2][0]), static_cast<T>(m.m[2][1]), static_cast<T>(m.m[2][2])};
}

}  // namespace osier
