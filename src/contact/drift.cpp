#include "contact/drift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace osier::contact {

namespace {

constexpr double kCells = 12;           ///< along the longest side
constexpr std::size_t kSamples = 1024;  ///< points that are fitted to
constexpr double kSmooth = 1e-2;        ///< weight of differences between nodes, against that of samples per node
constexpr int kIterations = 24;

double component(const Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/// The weight of differences between nodes.
double smoothness(std::size_t samples, std::size_t nodes) {
  return kSmooth * static_cast<double>(samples) / static_cast<double>(nodes);
}

/// Gaussian elimination of normal equations; directions in which points do not extend get nothing.
void solve(std::array<std::array<double, 4>, 4>& a, std::array<Vec3d, 4>& b) {
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

}  // namespace

void Drift::lay(const std::vector<Vec3d>& points, const std::vector<std::uint8_t>& alive) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3d low{kFar, kFar, kFar}, high{-kFar, -kFar, -kFar};
  std::size_t count = 0;
  for (std::size_t v = 0; v < points.size(); ++v) {
    if (!alive[v]) continue;
    const Vec3d& x = points[v];
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    ++count;
  }
  const Vec3d size = count > 0 ? high - low : Vec3d{};
  const double longest = std::max({size.x, size.y, size.z});
  origin_ = low;
  cell_ = longest > 0 && std::isfinite(longest) ? longest / kCells : 1;
  std::size_t all = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double cells = std::clamp(std::ceil(component(size, axis) / cell_), 1.0, kCells);
    nodes_[axis] = static_cast<std::size_t>(cells) + 2;
    all *= nodes_[axis];
  }
  node_.assign(all, {});
  ratio_ = 1, second_ = 0;
  sample_.clear();
  const std::size_t stride = std::max<std::size_t>(1, count / kSamples);
  for (std::size_t v = 0; v < points.size(); v += stride)
    if (alive[v]) sample_.push_back({v, weights_at(points[v]), {}});
}

Drift::Weights Drift::weights_at(const Vec3d& x) const {
  Weights w{0, {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double most = static_cast<double>(nodes_[axis] - 3), place = component(x - origin_, axis) / cell_;
    const double cell = place > 0 ? std::min(std::floor(place), most) : 0, t = place > cell ? std::min(place - cell, 1.0) : 0;
    w.first += static_cast<std::size_t>(cell) * step_along(axis);
    w.along[axis] = {0.5 * (1 - t) * (1 - t), 0.5 + t * (1 - t), 0.5 * t * t};
  }
  return w;
}

/// Calls f(node, weight).
template <class F>
void Drift::each_weight(const Weights& w, const F& f) const {
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t row = w.first + j * step_along(1) + k * step_along(2);
      const double weight = w.along[1][j] * w.along[2][k];
      for (std::size_t i = 0; i < 3; ++i) f(row + i, weight * w.along[0][i]);
    }
}

Vec3d Drift::at(const Vec3d& x) const {
  Vec3d sum;
  each_weight(weights_at(x), [&](std::size_t node, double weight) { sum += weight * node_[node]; });
  return sum;
}

/// Calls f(node, axis, next) for every node that has two others after it along an axis.
template <class F>
void Drift::each_difference(const F& f) const {
  std::array<std::size_t, 3> at{};
  for (at[2] = 0; at[2] < nodes_[2]; ++at[2])
    for (at[1] = 0; at[1] < nodes_[1]; ++at[1])
      for (at[0] = 0; at[0] < nodes_[0]; ++at[0]) {
        const std::size_t node = at[0] + at[1] * step_along(1) + at[2] * step_along(2);
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (at[axis] + 2 < nodes_[axis]) f(node, axis, node + step_along(axis));
      }
}

/// The normal equations: samples, and second differences between nodes where there are none, so that turns go on there.
void Drift::multiply(const std::vector<Vec3d>& p, std::vector<Vec3d>& image) const {
  image.assign(p.size(), {});
  for (const Sample& s : sample_) {
    Vec3d here;
    each_weight(s.weights, [&](std::size_t node, double weight) { here += weight * p[node]; });
    each_weight(s.weights, [&](std::size_t node, double weight) { image[node] += weight * here; });
  }
  const double smooth = smoothness(sample_.size(), node_.size());
  each_difference([&](std::size_t node, std::size_t axis, std::size_t next) {
    const std::size_t last = next + step_along(axis);
    const Vec3d pull = smooth * (p[last] - 2.0 * p[next] + p[node]);
    image[last] += pull;
    image[next] -= 2.0 * pull;
    image[node] += pull;
  });
}

/// Conjugate gradients, from the affine U that fits best: with nodes half a cell before the cell that they begin, nodes of an
/// affine U are its values there.
void Drift::fit_samples() {
  const auto coordinates = [&](std::size_t node) {
    const auto along = [&](std::size_t axis) {
      const std::size_t i = node / step_along(axis) % nodes_[axis];
      return (2 * static_cast<double>(i) - 1) / static_cast<double>(nodes_[axis] - 2) - 1;
    };
    return std::array<double, 4>{1, along(0), along(1), along(2)};
  };
  std::array<std::array<double, 4>, 4> matrix{};
  std::array<Vec3d, 4> affine{};
  for (const Sample& s : sample_) {
    std::array<double, 4> here{};
    each_weight(s.weights, [&](std::size_t node, double weight) {
      const std::array<double, 4> c = coordinates(node);
      for (std::size_t i = 0; i < 4; ++i) here[i] += weight * c[i];
    });
    for (std::size_t i = 0; i < 4; ++i) {
      affine[i] += here[i] * s.displacement;
      for (std::size_t j = 0; j < 4; ++j) matrix[i][j] += here[i] * here[j];
    }
  }
  solve(matrix, affine);
  for (std::size_t n = 0; n < node_.size(); ++n) {
    const std::array<double, 4> c = coordinates(n);
    node_[n] = affine[0] + c[1] * affine[1] + c[2] * affine[2] + c[3] * affine[3];
  }
  multiply(node_, image_);
  left_.assign(node_.size(), {});
  for (const Sample& s : sample_)
    each_weight(s.weights, [&](std::size_t node, double weight) { left_[node] += weight * s.displacement; });
  for (std::size_t i = 0; i < left_.size(); ++i) left_[i] -= image_[i];
  // Nodes at the rim have little weight: each by its own.
  std::vector<double> weight(node_.size(), 0);
  for (const Sample& s : sample_) each_weight(s.weights, [&](std::size_t node, double w) { weight[node] += w * w; });
  const double smooth = smoothness(sample_.size(), node_.size());
  each_difference([&](std::size_t node, std::size_t axis, std::size_t next) {
    weight[node] += smooth, weight[next] += 4 * smooth, weight[next + step_along(axis)] += smooth;
  });
  const auto weighed = [&](std::size_t i) { return weight[i] > 0 ? (1 / weight[i]) * left_[i] : Vec3d{}; };
  const auto size_left = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < left_.size(); ++i) sum += dot(left_[i], weighed(i));
    return sum;
  };
  direction_.resize(node_.size());
  for (std::size_t i = 0; i < node_.size(); ++i) direction_[i] = weighed(i);
  double size = size_left();
  for (int n = 0; n < kIterations && size > 0; ++n) {
    multiply(direction_, image_);
    double curved = 0;
    for (std::size_t i = 0; i < node_.size(); ++i) curved += dot(direction_[i], image_[i]);
    if (!(curved > 0)) break;
    const double a = size / curved;
    for (std::size_t i = 0; i < node_.size(); ++i) node_[i] += a * direction_[i], left_[i] -= a * image_[i];
    const double next = size_left();
    for (std::size_t i = 0; i < node_.size(); ++i) direction_[i] = weighed(i) + (next / size) * direction_[i];
    size = next;
  }
  find_bounds();
}

/// In every cell each derivative of U is between the least and the largest of the differences that it is a mean of. The largest
/// eigenvalue of -(grad U + its transpose)/2 is at most the largest sum over a row of sizes.
void Drift::find_bounds() {
  struct Range {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  };
  double most = 0, second = 0;
  std::array<std::size_t, 3> cell{};
  for (cell[2] = 0; cell[2] + 2 < nodes_[2]; ++cell[2])
    for (cell[1] = 0; cell[1] + 2 < nodes_[1]; ++cell[1])
      for (cell[0] = 0; cell[0] + 2 < nodes_[0]; ++cell[0]) {
        const std::size_t first = cell[0] + cell[1] * step_along(1) + cell[2] * step_along(2);
        std::array<std::array<Range, 3>, 3> slope;  // of component j along i
        for (std::size_t n = 0; n < 27; ++n) {
          const std::array<std::size_t, 3> at{n % 3, n / 3 % 3, n / 9};
          const std::size_t node = first + at[0] + at[1] * step_along(1) + at[2] * step_along(2);
          for (std::size_t i = 0; i < 3; ++i) {
            if (at[i] == 2) continue;
            const Vec3d d = node_[node + step_along(i)] - node_[node];
            for (std::size_t j = 0; j < 3; ++j) {
              Range& range = slope[i][j];
              range.low = std::min(range.low, component(d, j)), range.high = std::max(range.high, component(d, j));
            }
            for (std::size_t j = 0; j < 3; ++j) {
              if (at[j] + (i == j ? 2 : 1) > 2) continue;
              const std::size_t next = node + step_along(j);
              second = std::max(second, norm(node_[next + step_along(i)] - node_[next] - d));
            }
          }
        }
        for (std::size_t i = 0; i < 3; ++i) {
          double row = -slope[i][i].low;
          for (std::size_t j = 0; j < 3; ++j)
            if (j != i) row += 0.5 * std::max(slope[i][j].high + slope[j][i].high, -slope[i][j].low - slope[j][i].low);
          most = std::max(most, row);
        }
      }
  const double rest = 1 - 2 * most / cell_;
  ratio_ = rest > 0 ? std::sqrt(rest) : 0;
  second_ = 3 * second / (cell_ * cell_);  // over all directions: (|d1| + |d2| + |d3|)^2 <= 3
}

}  // namespace osier::contact
