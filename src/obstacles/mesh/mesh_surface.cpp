#include "obstacles/mesh/mesh_surface.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "obstacles/rigid.hpp"

namespace osier {

namespace {

/// Nearest point of a triangle [Ericson, Real-Time Collision Detection, 5.1.5], with what the distance does near it.
DistanceField triangle_field(const std::array<Vec3d, 3>& t, const Vec3d& p) {
  const Vec3d ab = t[1] - t[0], ac = t[2] - t[0];
  enum class Part : std::uint8_t { corner, edge, face } part = Part::face;
  Vec3d q, along;
  const auto at_corner = [&](const Vec3d& c) { q = c, part = Part::corner; };
  const auto at_edge = [&](const Vec3d& c, const Vec3d& e, double s) { q = c + s * e, along = normalized(e), part = Part::edge; };
  const Vec3d ap = p - t[0], bp = p - t[1], cp = p - t[2];
  const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp), d6 = dot(ac, cp);
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  if (d1 <= 0 && d2 <= 0) at_corner(t[0]);
  else if (d3 >= 0 && d4 <= d3) at_corner(t[1]);
  else if (d6 >= 0 && d5 <= d6) at_corner(t[2]);
  else if (vc <= 0 && d1 >= 0 && d3 <= 0) at_edge(t[0], ab, d1 / (d1 - d3));
  else if (vb <= 0 && d2 >= 0 && d6 <= 0) at_edge(t[0], ac, d2 / (d2 - d6));
  else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) at_edge(t[1], t[2] - t[1], (d4 - d3) / ((d4 - d3) + (d5 - d6)));
  else q = t[0] + (vb / (va + vb + vc)) * ab + (vc / (va + vb + vc)) * ac;
  const Vec3d normal = normalized(cross(ab, ac));
  DistanceField f;
  if (part == Part::face) {  // by the normal: differences of nearly equal points say little about a small distance
    const double height = dot(normal, ap);
    f.distance = std::abs(height);
    f.normal = height < 0 ? -1.0 * normal : normal;
    return f;
  }
  f.distance = norm(p - q);
  if (!(f.distance > 0)) {
    f.normal = normal;
    return f;
  }
  f.normal = (1 / f.distance) * (p - q);
  f.curvature = identity3(1.0) + -1.0 * outer(f.normal, f.normal);
  if (part == Part::edge) f.curvature = f.curvature + -1.0 * outer(along, along);
  f.curvature = (1 / f.distance) * f.curvature;
  return f;
}

void include(contact::Box& box, const Vec3d& x) {
  box.low = {std::min(box.low.x, x.x), std::min(box.low.y, x.y), std::min(box.low.z, x.z)};
  box.high = {std::max(box.high.x, x.x), std::max(box.high.y, x.y), std::max(box.high.z, x.z)};
}
constexpr double kFar = std::numeric_limits<double>::infinity();
contact::Box nothing() { return {{kFar, kFar, kFar}, {-kFar, -kFar, -kFar}}; }
bool overlap(const contact::Box& a, const contact::Box& b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y && a.low.z <= b.high.z &&
         b.low.z <= a.high.z;
}

}  // namespace

void MeshFrames::at(double time, std::vector<Vec3d>& out) const {
  const double place = std::clamp(time * fps, 0.0, static_cast<double>(points.size() - 1));
  const auto first = std::min(static_cast<std::size_t>(place), points.size() - 1), next = std::min(first + 1, points.size() - 1);
  const double s = place - static_cast<double>(first);
  out = points[first];
  if (s > 0)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] + s * (points[next][i] - out[i]);
}

MeshSurface::MeshSurface(std::shared_ptr<const MeshFrames> frames, Motion motion)
    : frames_(std::move(frames)), motion_(std::move(motion)) {
  place(0, from_, center_from_);
  center_to_ = center_from_;
  order_.resize(frames_->triangles.size());
  std::iota(order_.begin(), order_.end(), 0);
  build(0, static_cast<Index>(order_.size()));
  fit();
}

void MeshSurface::place(double time, std::vector<Vec3d>& points, Vec3d& center) const {
  frames_->at(time, points);
  const Carriage carried = carriage(motion_, frames_->center, time);
  for (Vec3d& p : points) p = carried(p);
  center = carried.center;
}

void MeshSurface::set_step(double start, double end) {
  const bool still = frames_->points.size() == 1 && !motion_.moves_places() && !motion_.orientation.given();
  if (still || (start == start_ && end == end_ && moving_)) return;
  start_ = start, end_ = end;
  place(start, from_, center_from_);
  place(end, to_, center_to_);
  settle();
}

void MeshSurface::settle() {
  moving_ = false;
  for (std::size_t i = 0; i < to_.size() && !moving_; ++i) moving_ = norm2(to_[i] - from_[i]) > 0;
  fit();
}

void MeshSurface::place_points(const std::vector<Vec3d>&, double share, std::vector<Vec3d>& points) const {
  points = from_;
  if (moving_)
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = share < 1 ? from_[i] + share * (to_[i] - from_[i]) : to_[i];
}

void MeshSurface::save_place(double share, std::vector<double>& place) const {
  const Vec3d c = center(share);
  place.insert(place.end(), {c.x, c.y, c.z});
  for (std::size_t i = 0; i < from_.size(); ++i) {
    const Vec3d x = moving_ ? from_[i] + share * (to_[i] - from_[i]) : from_[i];
    place.insert(place.end(), {x.x, x.y, x.z});
  }
}

void MeshSurface::start_from(std::span<const double> p) {
  center_from_ = {p[0], p[1], p[2]};
  if (to_.empty()) to_ = from_;
  for (std::size_t i = 0; i < from_.size(); ++i) from_[i] = {p[3 + 3 * i], p[4 + 3 * i], p[5 + 3 * i]};
  start_ = std::numeric_limits<double>::quiet_NaN();  // the next set_step() starts anew
  settle();
}

/// Halves at the median of the middles, along the axis on which they are spread most.
void MeshSurface::build(Index first, Index count) {
  constexpr Index kLeaf = 4;
  const auto self = nodes_.size();
  nodes_.push_back({.box = {}, .first = first, .count = count, .other = 0});
  if (count <= kLeaf) return;
  const auto middle = [&](Index t) {
    const auto& [a, b, c] = frames_->triangles[t];
    return from_[a] + from_[b] + from_[c];
  };
  contact::Box box = nothing();
  for (Index i = first; i < first + count; ++i) include(box, middle(order_[i]));
  const Vec3d size = box.high - box.low;
  const auto along = [&](const Vec3d& x) { return size.x >= size.y && size.x >= size.z ? x.x : size.y >= size.z ? x.y : x.z; };
  const Index half = count / 2;
  std::nth_element(order_.begin() + first, order_.begin() + first + half, order_.begin() + first + count, [&](Index s, Index t) {
    const double x = along(middle(s)), y = along(middle(t));
    return x < y || (x == y && s < t);
  });
  nodes_[self].count = 0;
  build(first, half);
  nodes_[self].other = static_cast<Index>(nodes_.size());
  build(first + half, count - half);
}

void MeshSurface::fit() {
  for (std::size_t n = nodes_.size(); n-- > 0;) {
    Node& node = nodes_[n];
    node.box = nothing();
    for (Index i = node.first; i < node.first + node.count; ++i)
      for (const Index v : frames_->triangles[order_[i]]) {
        include(node.box, from_[v]);
        if (moving_) include(node.box, to_[v]);
      }
    if (node.count > 0) continue;
    for (const std::size_t child : {n + 1, static_cast<std::size_t>(node.other)})
      include(node.box, nodes_[child].box.low), include(node.box, nodes_[child].box.high);
  }
}

void MeshSurface::features_near(const contact::Box& box, std::vector<Index>& features) const {
  const auto begin = static_cast<std::ptrdiff_t>(features.size());
  std::array<std::size_t, 64> open{};  // halves of halves: never deeper than that
  std::size_t count = 1;
  while (count > 0) {
    const std::size_t n = open[--count];
    const Node& node = nodes_[n];
    if (!overlap(node.box, box)) continue;
    if (node.count == 0) {
      open[count++] = n + 1, open[count++] = static_cast<std::size_t>(node.other);
      continue;
    }
    for (Index i = node.first; i < node.first + node.count; ++i) {
      contact::Box own = nothing();
      for (const Index v : frames_->triangles[order_[i]]) {
        include(own, from_[v]);
        if (moving_) include(own, to_[v]);
      }
      if (overlap(own, box)) features.push_back(order_[i]);
    }
  }
  std::sort(features.begin() + begin, features.end());
}

std::array<Vec3d, 3> MeshSurface::corners(Index triangle, double share) const {
  std::array<Vec3d, 3> t;
  const auto& v = frames_->triangles[triangle];
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3d& x = from_[v[k]];
    t[k] = !moving_ ? x : share < 1 ? x + share * (to_[v[k]] - x) : to_[v[k]];
  }
  return t;
}

contact::ObstaclePoint MeshSurface::nearest(Index feature, const Vec3d& a, const Vec3d& b, double share, double regular) const {
  const std::array<Vec3d, 3> t = corners(feature, share);
  return nearest_on_segment([&](const Vec3d& x) { return triangle_field(t, x); }, a, b, regular);
}

double MeshSurface::reach(Index feature, double from, double to) const {
  if (!moving_) return 0;
  double most = 0;
  for (const Index v : frames_->triangles[feature]) most = std::max(most, norm2(to_[v] - from_[v]));
  return std::abs(to - from) * std::sqrt(most);
}

double MeshSurface::support(Index feature, const Vec3d& n, double share) const {
  double most = -kFar;
  for (const Vec3d& x : corners(feature, share)) most = std::max(most, dot(n, x));
  return most;
}

/// The point of the triangle that is there now, where it was at the start.
Vec3d MeshSurface::moved(Index feature, const Vec3d& point, double share) const {
  if (!moving_) return {};
  const std::array<Vec3d, 3> t = corners(feature, share), before = corners(feature, 0);
  const Vec3d u = t[1] - t[0], v = t[2] - t[0], w = point - t[0];
  const double uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), det = uu * vv - uv * uv;
  if (!(det > 0)) return t[0] - before[0];
  const double b = (vv * dot(u, w) - uv * dot(v, w)) / det, c = (uu * dot(v, w) - uv * dot(u, w)) / det;
  const auto gone = [&](std::size_t k) { return t[k] - before[k]; };
  return (1 - b - c) * gone(0) + b * gone(1) + c * gone(2);
}

}  // namespace osier
