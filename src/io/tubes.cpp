#include "io/tubes.hpp"

#include <cmath>
#include <numbers>

#include "math/quat.hpp"

namespace osier {

double usual_width(const CurveSet& curves) {
  double length = 0;
  std::size_t count = 0;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const auto x = curves.curve(k);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) length += norm(x[i + 1] - x[i]);
    if (x.size() > 1) ++count;
  }
  return count > 0 && length > 0 ? 0.01 * length / static_cast<double>(count) : 0.01;
}

namespace {

class TubeBuilder {
 public:
  TubeBuilder(const CurveFrame& frame, int sides, double width)
      : frame_(frame),
        sides_(static_cast<std::uint32_t>(sides)),
        width_(width),
        tangent_(tangents(frame.curves)),
        normal_(frame.normals.empty() ? untwisted_normals(frame.curves) : frame.normals) {}

  TubeMesh build() {
    for (std::size_t k = 0; k < frame_.curves.size(); ++k) add_curve(k);
    return std::move(mesh_);
  }

 private:
  double radius(std::size_t p) const { return 0.5 * (frame_.curves.widths.empty() ? width_ : frame_.curves.widths[p]); }
  std::uint32_t next() const { return static_cast<std::uint32_t>(mesh_.positions.size()); }

  struct Axes {
    Vec3d d1, d2;
  };
  /// d1 made normal to the tangent of the centre line: a sheared rod is drawn unsheared.
  Axes axes(std::size_t p) const {
    const Vec3d& t = tangent_[p];
    Vec3d d1 = normalized(normal_[p] - dot(normal_[p], t) * t);
    if (norm2(d1) < 0.5) d1 = normalized(cross(t, std::abs(t.x) < 0.7 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}));
    return {d1, cross(t, d1)};
  }

  /// The seam is there twice: its two sides differ in u.
  void add_ring(std::size_t p, double v) {
    const Axes a = axes(p);
    for (std::uint32_t j = 0; j <= sides_; ++j) {
      const double u = static_cast<double>(j) / sides_, angle = 2 * std::numbers::pi * (j % sides_) / sides_;
      const Vec3d out = std::cos(angle) * a.d1 + std::sin(angle) * a.d2;
      mesh_.positions.push_back(frame_.curves.points[p] + radius(p) * out);
      mesh_.normals.push_back(out);
      mesh_.uvs.push_back({u, v});
    }
  }

  void add_cap(std::size_t p, bool end) {
    const Axes a = axes(p);
    const Vec3d outward = end ? tangent_[p] : -tangent_[p];
    const std::uint32_t centre = next();
    mesh_.positions.push_back(frame_.curves.points[p]);
    mesh_.normals.push_back(outward);
    mesh_.uvs.push_back({0.5, 0.5});
    for (std::uint32_t j = 0; j < sides_; ++j) {
      const double angle = 2 * std::numbers::pi * j / sides_;
      mesh_.positions.push_back(frame_.curves.points[p] + radius(p) * (std::cos(angle) * a.d1 + std::sin(angle) * a.d2));
      mesh_.normals.push_back(outward);
      mesh_.uvs.push_back({0.5 + 0.5 * std::cos(angle), 0.5 + 0.5 * std::sin(angle)});
    }
    for (std::uint32_t j = 0; j < sides_; ++j) {
      const std::uint32_t a0 = centre + 1 + j, b0 = centre + 1 + (j + 1) % sides_;
      mesh_.triangles.push_back(end ? std::array{centre, a0, b0} : std::array{centre, b0, a0});
    }
  }

  void add_curve(std::size_t k) {
    const CurveSet& c = frame_.curves;
    const std::size_t n = c.curve(k).size(), first = c.start[k];
    if (n < 2) return;
    add_tube(k, n, first);
    mesh_.curve.resize(mesh_.positions.size(), static_cast<std::uint32_t>(k));
  }

  void add_tube(std::size_t k, std::size_t n, std::size_t first) {
    const CurveSet& c = frame_.curves;
    const bool closed = c.closed[k] && n > 2;
    double thickness = 0;
    for (std::size_t i = 0; i < n; ++i) thickness += 2 * radius(first + i) / static_cast<double>(n);
    const double circumference = thickness > 0 ? std::numbers::pi * thickness : 1;
    const std::size_t rings = closed ? n + 1 : n;
    const std::uint32_t base = next();
    double s = 0;
    for (std::size_t i = 0; i < rings; ++i) {
      if (i > 0) s += norm(c.points[first + i % n] - c.points[first + i - 1]);
      add_ring(first + i % n, s / circumference);
    }
    const std::uint32_t row = sides_ + 1;
    for (std::uint32_t i = 0; i + 1 < rings; ++i)
      for (std::uint32_t j = 0; j < sides_; ++j) {
        const std::uint32_t a = base + i * row + j, b = a + 1, d = a + row, e = d + 1;
        mesh_.triangles.push_back({a, b, e});
        mesh_.triangles.push_back({a, e, d});
      }
    if (closed) return;
    add_cap(first, false);
    add_cap(first + n - 1, true);
  }

  const CurveFrame& frame_;
  std::uint32_t sides_;
  double width_;
  std::vector<Vec3d> tangent_, normal_;
  TubeMesh mesh_;
};

}  // namespace

TubeMesh tube_mesh(const CurveFrame& frame, int sides, double width) { return TubeBuilder(frame, sides, width).build(); }

}  // namespace osier
