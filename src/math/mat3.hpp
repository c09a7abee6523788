// 3x3 matrices, row major, for Hessian blocks.
#pragma once

#include "math/number.hpp"
#include "math/vec3.hpp"

namespace osier {

template <class T>
struct Mat3 {
  T m[3][3]{};
};

template <class T>
OSIER_FN Mat3<T> operator+(const Mat3<T>& a, const Mat3<T>& b) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r.m[i][j] = a.m[i][j] + b.m[i][j];
  return r;
}

template <class T>
OSIER_FN Mat3<T> operator*(T s, const Mat3<T>& a) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r.m[i][j] = s * a.m[i][j];
  return r;
}

template <class T>
OSIER_FN Vec3<T> operator*(const Mat3<T>& a, const Vec3<T>& v) {
  return {a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z, a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
          a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}

template <class T>
OSIER_FN Mat3<T> identity3(T s = T(1)) {
  return {{{s, T(0), T(0)}, {T(0), s, T(0)}, {T(0), T(0), s}}};
}

/// [a]x, so that [a]x b = a x b.
template <class T>
OSIER_FN Mat3<T> skew(const Vec3<T>& a) {
  return {{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

/// a b^T
template <class T>
OSIER_FN Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b) {
  return {{{a.x * b.x, a.x * b.y, a.x * b.z}, {a.y * b.x, a.y * b.y, a.y * b.z}, {a.z * b.x, a.z * b.y, a.z * b.z}}};
}

/// a b
template <class T>
OSIER_FN Mat3<T> operator*(const Mat3<T>& a, const Mat3<T>& b) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
  return r;
}

template <class T>
OSIER_FN Mat3<T> transposed(const Mat3<T>& a) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r.m[i][j] = a.m[j][i];
  return r;
}

}  // namespace osier
