// Eigenvalues and eigenvectors of a symmetric 3x3 matrix by Jacobi rotations.
#pragma once

#include "math/mat3.hpp"

namespace osier {

template <class T>
struct Eigen3 {
  Vec3<T> value;
  Mat3<T> vector;  ///< columns: orthonormal, a rotation
};

/// Converges quadratically: six sweeps are enough for any matrix, and those of diagonal ones do nothing.
template <class T>
OSIER_FN Eigen3<T> eigen3(Mat3<T> a) {
  Mat3<T> v = identity3(T(1));
  for (int sweep = 0; sweep < 6; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        const T off = a.m[p][q];
        if (off == T(0)) continue;
        const T theta = (a.m[q][q] - a.m[p][p]) / (T(2) * off);
        const T size = theta < T(0) ? -theta : theta;
        const T t = (theta < T(0) ? T(-1) : T(1)) / (size + root(theta * theta + T(1)));
        const T c = inverse_sqrt(t * t + T(1)), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const T akp = a.m[k][p], akq = a.m[k][q];
          a.m[k][p] = c * akp - s * akq;
          a.m[k][q] = s * akp + c * akq;
        }
        for (int k = 0; k < 3; ++k) {
          const T apk = a.m[p][k], aqk = a.m[q][k];
          a.m[p][k] = c * apk - s * aqk;
          a.m[q][k] = s * apk + c * aqk;
          const T vkp = v.m[k][p], vkq = v.m[k][q];
          v.m[k][p] = c * vkp - s * vkq;
          v.m[k][q] = s * vkp + c * vkq;
        }
      }
    }
  }
  return {{a.m[0][0], a.m[1][1], a.m[2][2]}, v};
}

}  // namespace osier
