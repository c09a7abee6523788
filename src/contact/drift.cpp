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

/// The weight of differences between nodes.
double smoothness(std::size_t samples, std::size_t nodes) {
  return kSmooth * static_cast<double>(samples) / static_cast<double>(nodes);
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
  grid_.origin = low;
  grid_.cell = longest > 0 && std::isfinite(longest) ? longest / kCells : 1;
  std::size_t all = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double cells = std::clamp(std::ceil(component(size, axis) / grid_.cell), 1.0, kCells);
    grid_.nodes[axis] = static_cast<std::size_t>(cells) + 2;
    all *= grid_.nodes[axis];
  }
  node_.assign(all, {});
  bounds_ = {};
  sample_.clear();
  const std::size_t stride = std::max<std::size_t>(1, count / kSamples);
  for (std::size_t v = 0; v < points.size(); v += stride)
    if (alive[v]) sample_.push_back({v, grid_.weights_at(points[v]), {}});
}

Vec3d Drift::at(const Vec3d& x) const { return grid_.at(x, node_.data()); }

/// Calls f(node, axis, next) for every node that has two others after it along an axis.
template <class F>
void Drift::each_difference(const F& f) const {
  std::array<std::size_t, 3> at{};
  for (at[2] = 0; at[2] < grid_.nodes[2]; ++at[2])
    for (at[1] = 0; at[1] < grid_.nodes[1]; ++at[1])
      for (at[0] = 0; at[0] < grid_.nodes[0]; ++at[0]) {
        const std::size_t node = at[0] + at[1] * grid_.step_along(1) + at[2] * grid_.step_along(2);
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (at[axis] + 2 < grid_.nodes[axis]) f(node, axis, node + grid_.step_along(axis));
      }
}

/// The normal equations: samples, and second differences between nodes where there are none, so that turns go on there.
void Drift::multiply(const std::vector<Vec3d>& p, std::vector<Vec3d>& image) const {
  image.assign(p.size(), {});
  for (const Sample& s : sample_) {
    Vec3d here;
    grid_.each_weight(s.weights, [&](std::size_t node, double weight) { here += weight * p[node]; });
    grid_.each_weight(s.weights, [&](std::size_t node, double weight) { image[node] += weight * here; });
  }
  const double smooth = smoothness(sample_.size(), node_.size());
  each_difference([&](std::size_t node, std::size_t axis, std::size_t next) {
    const std::size_t last = next + grid_.step_along(axis);
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
      const std::size_t i = node / grid_.step_along(axis) % grid_.nodes[axis];
      return (2 * static_cast<double>(i) - 1) / static_cast<double>(grid_.nodes[axis] - 2) - 1;
    };
    return std::array<double, 4>{1, along(0), along(1), along(2)};
  };
  AffineMotion fit;
  for (const Sample& s : sample_) {
    std::array<double, 4> here{};
    grid_.each_weight(s.weights, [&](std::size_t node, double weight) {
      const std::array<double, 4> c = coordinates(node);
      for (std::size_t i = 0; i < 4; ++i) here[i] += weight * c[i];
    });
    fit.add(here, s.displacement);
  }
  fit.solve();
  const std::array<Vec3d, 4>& affine = fit.value;
  for (std::size_t n = 0; n < node_.size(); ++n) {
    const std::array<double, 4> c = coordinates(n);
    node_[n] = affine[0] + c[1] * affine[1] + c[2] * affine[2] + c[3] * affine[3];
  }
  multiply(node_, image_);
  left_.assign(node_.size(), {});
  for (const Sample& s : sample_)
    grid_.each_weight(s.weights, [&](std::size_t node, double weight) { left_[node] += weight * s.displacement; });
  for (std::size_t i = 0; i < left_.size(); ++i) left_[i] -= image_[i];
  // Nodes at the rim have little weight: each by its own.
  std::vector<double> weight(node_.size(), 0);
  for (const Sample& s : sample_) grid_.each_weight(s.weights, [&](std::size_t node, double w) { weight[node] += w * w; });
  const double smooth = smoothness(sample_.size(), node_.size());
  each_difference([&](std::size_t node, std::size_t axis, std::size_t next) {
    weight[node] += smooth, weight[next] += 4 * smooth, weight[next + grid_.step_along(axis)] += smooth;
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

void Drift::find_bounds() {
  bounds_ = {};
  for (std::size_t cell = 0; cell < grid_.cells(); ++cell) {
    const DriftGrid::Bounds here = grid_.bounds_in(cell, node_.data());
    bounds_.compression = std::max(bounds_.compression, here.compression), bounds_.second = std::max(bounds_.second, here.second);
  }
}

}  // namespace osier::contact
