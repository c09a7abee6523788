#include "validate/instruments/knot.hpp"

#include <algorithm>
#include <cmath>

#include "math/quat.hpp"

namespace osier::validate {

namespace {

struct OverUnder {
  double over, under;  ///< places along the curve, in segments
};

/// Crossings of two pieces of the projection on the xy plane.
std::vector<OverUnder> crossings_of(const std::vector<Vec3d>& x, bool closed) {
  std::vector<OverUnder> list;
  const std::size_t corners = x.size(), segments = closed ? corners : corners - 1;
  const auto end = [&](std::size_t s) { return x[(s + 1) % corners]; };
  for (std::size_t i = 0; i < segments; ++i)
    for (std::size_t j = i + 2; j < segments; ++j) {
      if (closed && i == 0 && j + 1 == segments) continue;  // neighbours, too
      const Vec3d u = end(i) - x[i], v = end(j) - x[j], w = x[j] - x[i];
      const double det = u.x * v.y - u.y * v.x;
      if (det == 0) continue;
      const double s = (w.x * v.y - w.y * v.x) / det, t = (w.x * u.y - w.y * u.x) / det;
      if (!(s >= 0 && s < 1 && t >= 0 && t < 1)) continue;
      const double at_i = static_cast<double>(i) + s, at_j = static_cast<double>(j) + t;
      const bool i_over = x[i].z + s * u.z > x[j].z + t * v.z;
      list.push_back(i_over ? OverUnder{at_i, at_j} : OverUnder{at_j, at_i});
    }
  return list;
}

/// By Gauss elimination with pivots.
double determinant(std::vector<std::vector<double>> a) {
  double product = 1;
  for (std::size_t k = 0; k < a.size(); ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < a.size(); ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (a[pivot][k] == 0) return 0;
    std::swap(a[pivot], a[k]);
    product *= a[k][k];
    for (std::size_t i = k + 1; i < a.size(); ++i) {
      const double share = a[i][k] / a[k][k];
      for (std::size_t j = k; j < a.size(); ++j) a[i][j] -= share * a[k][j];
    }
  }
  return std::abs(product);
}

}  // namespace

double knot_determinant(const std::vector<Vec3d>& corners, bool closed) {
  // The ends of an open rod have to be outermost in the projection: across the line between them.
  const Vec3d irregular{0.183, -0.377, 0.541};
  const Vec3d along = closed ? normalized(Vec3d{0.875, 0.241, -0.113}) : normalized(corners.back() - corners.front());
  const Vec3d view = normalized(cross(along, irregular)), up = cross(view, along);
  std::vector<Vec3d> x(corners.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = {dot(corners[i], along), dot(corners[i], up), dot(corners[i], view)};
  std::vector<OverUnder> crossings = crossings_of(x, closed);
  const std::size_t n = crossings.size();
  if (n < 3) return 1;
  std::sort(crossings.begin(), crossings.end(), [](const OverUnder& a, const OverUnder& b) { return a.under < b.under; });
  // Strand k ends under crossing k, strand k + 1 begins there; after the last one comes the first again.
  const auto strand_at = [&](double place) {
    const auto next =
        std::lower_bound(crossings.begin(), crossings.end(), place, [](const OverUnder& c, double p) { return c.under < p; });
    return static_cast<std::size_t>(next - crossings.begin()) % n;
  };
  std::vector<std::vector<double>> equations(n - 1, std::vector<double>(n - 1, 0));
  const auto add = [&](std::size_t row, std::size_t strand, double number) {
    if (row < n - 1 && strand < n - 1) equations[row][strand] += number;
  };
  for (std::size_t k = 0; k < n; ++k) {
    add(k, strand_at(crossings[k].over), 2);
    add(k, k, -1);
    add(k, (k + 1) % n, -1);
  }
  return determinant(equations);
}

void Knot::prepare(const Scene& scene, Problems& problems) {
  if (const RodInfo* r = find_rod(scene, rod, where + "/rod", problems)) vertices_ = r->vertices, closed_ = r->closed;
}

std::vector<double> Knot::finish(const Simulation& simulation) {
  std::vector<Vec3d> corners;
  for (const Index v : vertices_) corners.push_back(simulation.state().vertex_position[v]);
  return {std::round(knot_determinant(corners, closed_))};
}

}  // namespace osier::validate
