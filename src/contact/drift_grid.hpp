// The displacement that a list of pairs drifts by (drift.hpp), as functions of bare arrays.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "math/number.hpp"
#include "math/vec3.hpp"

namespace osier::contact {

OSIER_FN double component(const Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/// Quadratic B-splines of vectors at the nodes of a coarse grid.
struct DriftGrid {
  std::array<std::size_t, 3> nodes{};
  Vec3d origin;
  double cell = 1;  ///< [m]

  struct Weights {
    std::size_t first;  ///< node
    std::array<std::array<double, 3>, 3> along;
  };
  OSIER_FN std::size_t step_along(std::size_t axis) const { return axis == 0 ? 1 : axis == 1 ? nodes[0] : nodes[0] * nodes[1]; }
  OSIER_FN std::size_t count() const { return nodes[0] * nodes[1] * nodes[2]; }
  OSIER_FN Weights weights_at(const Vec3d& x) const {
    Weights w{0, {}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double most = static_cast<double>(nodes[axis] - 3), place = component(x - origin, axis) / cell;
      const double at = place > 0 ? smaller(std::floor(place), most) : 0, t = place > at ? smaller(place - at, 1.0) : 0;
      w.first += static_cast<std::size_t>(at) * step_along(axis);
      w.along[axis] = {0.5 * (1 - t) * (1 - t), 0.5 + t * (1 - t), 0.5 * t * t};
    }
    return w;
  }
  /// Calls f(node, weight).
  template <class F>
  OSIER_FN void each_weight(const Weights& w, const F& f) const {
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t j = 0; j < 3; ++j) {
        const std::size_t row = w.first + j * step_along(1) + k * step_along(2);
        const double weight = w.along[1][j] * w.along[2][k];
        for (std::size_t i = 0; i < 3; ++i) f(row + i, weight * w.along[0][i]);
      }
  }
  OSIER_FN Vec3d at(const Vec3d& x, const Vec3d* node) const {
    Vec3d sum;
    each_weight(weights_at(x), [&](std::size_t n, double weight) { sum += weight * node[n]; });
    return sum;
  }

  /// Where a node is: nodes of an affine U are its values there, half a cell before the cell that they begin.
  OSIER_FN Vec3d place_of(std::size_t node) const {
    const auto along = [&](std::size_t axis) {
      return (static_cast<double>(node / step_along(axis) % nodes[axis]) - 0.5) * cell;
    };
    return origin + Vec3d{along(0), along(1), along(2)};
  }

  /// In every cell each derivative of U is between the least and the largest of the differences that it is a mean of. The largest
  /// eigenvalue of -(grad U + its transpose)/2 is at most the largest sum over a row of sizes.
  struct Bounds {
    double compression = 0;  ///< S times the width of a cell [m]
    double second = 0;       ///< largest second difference [m]
  };
  OSIER_FN Bounds bounds_in(std::size_t cell_number, const Vec3d* node) const {
    const std::size_t a = nodes[0] - 2, b = nodes[1] - 2;
    const std::size_t first = cell_number % a + cell_number / a % b * step_along(1) + cell_number / (a * b) * step_along(2);
    Bounds bounds;
    double low[3][3], high[3][3];  // of component j along i
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        low[i][j] = std::numeric_limits<double>::infinity(), high[i][j] = -std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n < 27; ++n) {
      const std::array<std::size_t, 3> at{n % 3, n / 3 % 3, n / 9};
      const std::size_t here = first + at[0] + at[1] * step_along(1) + at[2] * step_along(2);
      for (std::size_t i = 0; i < 3; ++i) {
        if (at[i] == 2) continue;
        const Vec3d d = node[here + step_along(i)] - node[here];
        for (std::size_t j = 0; j < 3; ++j)
          low[i][j] = smaller(low[i][j], component(d, j)), high[i][j] = larger(high[i][j], component(d, j));
        for (std::size_t j = 0; j < 3; ++j) {
          if (at[j] + (i == j ? 2 : 1) > 2) continue;
          const std::size_t next = here + step_along(j);
          bounds.second = larger(bounds.second, norm(node[next + step_along(i)] - node[next] - d));
        }
      }
    }
    for (int i = 0; i < 3; ++i) {
      double row = -low[i][i];
      for (int j = 0; j < 3; ++j)
        if (j != i) row += 0.5 * larger(high[i][j] + high[j][i], -low[i][j] - low[j][i]);
      bounds.compression = larger(bounds.compression, row);
    }
    return bounds;
  }
  OSIER_FN std::size_t cells() const { return (nodes[0] - 2) * (nodes[1] - 2) * (nodes[2] - 2); }

  /// The least ratio of a distance to what it was, after `times` this displacement: sqrt(1 - 2 S); 0 where there is no bound.
  OSIER_FN double least_ratio(const Bounds& b, double times) const {
    const double rest = 1 - 2 * times * b.compression / cell;
    return rest > 0 ? std::sqrt(rest) : 0;
  }
  /// How far a point between two others that are `length` apart is at most from where it would be between these.
  OSIER_FN double most_bend(const Bounds& b, double times, double length) const {
    return length * length / 8 * times * 3 * b.second / (cell * cell);  // over all directions: (|d1| + |d2| + |d3|)^2 <= 3
  }
};

/// An affine displacement, from the normal equations of a fit.
struct AffineMotion {
  std::array<std::array<double, 4>, 4> matrix{};
  std::array<Vec3d, 4> value{};

  OSIER_FN static std::array<double, 4> coordinates(const Vec3d& x) { return {1, x.x, x.y, x.z}; }
  OSIER_FN void add(const std::array<double, 4>& at, const Vec3d& motion) {
    for (std::size_t i = 0; i < 4; ++i) {
      value[i] += at[i] * motion;
      for (std::size_t j = 0; j < 4; ++j) matrix[i][j] += at[i] * at[j];
    }
  }
  void add(const AffineMotion& o) {
    for (std::size_t i = 0; i < 4; ++i) {
      value[i] += o.value[i];
      for (std::size_t j = 0; j < 4; ++j) matrix[i][j] += o.matrix[i][j];
    }
  }
  /// Gaussian elimination; directions in which points do not extend get nothing. Afterwards `value` are the coefficients.
  void solve() {
    auto& a = matrix;
    auto& b = value;
    const double rounding = 1e-9 * a[0][0];
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t i = k + 1; i < 4 && a[k][k] > rounding; ++i) {
        const double share = a[i][k] / a[k][k];
        for (std::size_t j = k; j < 4; ++j) a[i][j] -= share * a[k][j];
        b[i] -= share * b[k];
      }
    for (std::size_t k = 4; k-- > 0;) {
      for (std::size_t j = k + 1; j < 4; ++j) b[k] -= a[k][j] * b[j];
      b[k] = a[k][k] > rounding ? (1 / a[k][k]) * b[k] : Vec3d{};
    }
  }
  OSIER_FN Vec3d at(const Vec3d& x) const { return value[0] + x.x * value[1] + x.y * value[2] + x.z * value[3]; }
};

/// How far from its centre a vertex may be while a list holds that was made with a ball. A pair that is not on it was further
/// apart than the reaches and balls of both, and what drifts keeps `ratio` of that.
OSIER_FN double room_in_drift(double ball, double reach, double ratio, double bend) {
  return ratio * ball - (1 - ratio) * reach - bend;
}
OSIER_FN double ball_for_drift(double room, double reach, double ratio, double bend) {
  return (room + (1 - ratio) * reach + bend) / ratio;
}

}  // namespace osier::contact
