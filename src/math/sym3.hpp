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

template <class T>
OSIER_FN Sym3<T> operator+(const Sym3<T>& a, const Sym3<T>& b) {
  return {a.xx + b.xx, a.yx + b.yx, a.yy + b.yy, a.zx + b.zx, a.zy + b.zy, a.zz + b.zz};
}

template <class T>
OSIER_FN Sym3<T> operator*(T s, const Sym3<T>& a) {
  return {s * a.xx, s * a.yx, s * a.yy, s * a.zx, s * a.zy, s * a.zz};
}

template <class T>
OSIER_FN Sym3<T> packed(const Mat3<T>& m) {
  return {m.m[0][0], m.m[1][0], m.m[1][1], m.m[2][0], m.m[2][1], m.m[2][2]};
}
template <class T>
OSIER_FN Mat3<T> full(const Sym3<T>& a) {
  return {{{a.xx, a.yx, a.zx}, {a.yx, a.yy, a.zy}, {a.zx, a.zy, a.zz}}};
}

/// Of a matrix that is symmetric but for rounding.
template <class T>
OSIER_FN Sym3<T> lower_triangle(const Mat3<double>& m) {
  return {static_cast<T>(m.m[0][0]), static_cast<T>(m.m[1][0]), static_cast<T>(m.m[1][1]),
          static_cast<T>(m.m[2][0]), static_cast<T>(m.m[2][1]), static_cast<T>(m.m[2][2])};
}

}  // namespace osier
