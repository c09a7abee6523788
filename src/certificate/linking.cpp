#include "certificate/linking.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "math/vec3.hpp"

namespace osier::certificate {

namespace {

/// Signed solid angle of a triangle as seen from the origin.
double solid_angle(const Vec3d& p, const Vec3d& q, const Vec3d& r) {
  const double a = norm(p), b = norm(q), c = norm(r);
  return 2 * std::atan2(dot(p, cross(q, r)), a * b * c + dot(p, q) * c + dot(q, r) * a + dot(r, p) * b);
}

bool is_alive(const Model& m, const RodInfo& rod) {
  return std::all_of(rod.segments.begin(), rod.segments.end(), [&](Index s) { return m.segment_alive[s]; });
}

/// Curves that touch each other are not linked in any number.
bool share_a_vertex(const RodInfo& a, const RodInfo& b) {
  std::vector<Index> known = a.vertices;
  std::sort(known.begin(), known.end());
  return std::any_of(b.vertices.begin(), b.vertices.end(),
                     [&](Index v) { return std::binary_search(known.begin(), known.end(), v); });
}

}  // namespace

double linking_number(const ClosedCurve& a, const ClosedCurve& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Vec3d &a0 = a[i], &a1 = a[(i + 1) % a.size()];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Vec3d &b0 = b[j], &b1 = b[(j + 1) % b.size()];
      const Vec3d r00 = b0 - a0, r01 = b1 - a0, r11 = b1 - a1, r10 = b0 - a1;
      sum += solid_angle(r00, r01, r11) + solid_angle(r00, r11, r10);
    }
  }
  return sum / (4 * std::numbers::pi);
}

Linking::Linking(const Model& m, const std::vector<Vec3d>& x, const Options& options) {
  Vec3d centre;
  for (const Vec3d& p : x) centre += (1.0 / static_cast<double>(x.size())) * p;
  double extent = 0;
  for (const Vec3d& p : x) extent = std::max(extent, norm(p - centre));
  for (std::size_t r = 0; r < m.rods.size(); ++r) {
    const RodInfo& rod = m.rods[r];
    if (rod.vertices.size() < 3 && rod.closed) continue;
    if (!rod.closed && !(options.close_open_rods && rod.vertices.size() > 1)) continue;
    // A direction of its own for every rod, none of which is that of an axis.
    const double turn = 2.399963 * static_cast<double>(r), height = 0.7 - 0.3 * std::sin(1.7 * static_cast<double>(r));
    const double across = std::sqrt(1 - height * height);
    const Vec3d direction{across * std::cos(turn), across * std::sin(turn), height};
    curves_.push_back({.rod = r, .closed = rod.closed, .far = centre + (100 * extent) * direction});
  }
  for (std::size_t i = 0; i < curves_.size(); ++i)
    for (std::size_t j = i + 1; j < curves_.size(); ++j)
      if (!share_a_vertex(m.rods[curves_[i].rod], m.rods[curves_[j].rod])) {
        pairs_.push_back({curves_[i].rod, curves_[j].rod});
        curve_pairs_.emplace_back(i, j);
      }
  const std::vector<long> now = count(m, x);
  for (std::size_t p = 0; p < pairs_.size(); ++p) pairs_[p].number = now[p];
}

ClosedCurve Linking::corners(const Model& m, const std::vector<Vec3d>& x, const Curve& curve) const {
  ClosedCurve list;
  const RodInfo& rod = m.rods[curve.rod];
  if (!is_alive(m, rod)) return list;  // what is broken links nothing any more
  for (const Index v : rod.vertices) list.push_back(x[v]);
  if (!curve.closed) list.push_back(curve.far);
  return list;
}

std::vector<long> Linking::count(const Model& m, const std::vector<Vec3d>& x) const {
  std::vector<ClosedCurve> all;
  for (const Curve& curve : curves_) all.push_back(corners(m, x, curve));
  std::vector<long> numbers;
  for (const auto& [i, j] : curve_pairs_) numbers.push_back(std::lround(linking_number(all[i], all[j])));
  return numbers;
}

std::vector<std::size_t> Linking::update(const Model& m, const std::vector<Vec3d>& x) {
  const std::vector<long> now = count(m, x);
  std::vector<std::size_t> changed;
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const bool broken = !is_alive(m, m.rods[pairs_[p].first]) || !is_alive(m, m.rods[pairs_[p].second]);
    if (!broken && now[p] != pairs_[p].number) changed.push_back(p);
    pairs_[p].number = now[p];
  }
  return changed;
}

}  // namespace osier::certificate
