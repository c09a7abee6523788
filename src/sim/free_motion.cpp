#include "sim/free_motion.hpp"

#include <fmt/format.h>
#include <numeric>
#include <vector>

#include "math/mat3.hpp"

namespace osier {
namespace {

/// Vertices that segments and springs connect, as trees of parents.
class Pieces {
 public:
  explicit Pieces(const Model& m) : parent_(static_cast<std::size_t>(m.vertex_count())) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (Index s = 0; s < m.segment_count(); ++s)
      if (m.segment_alive[s]) connect(m.segment_vertices[s][0], m.segment_vertices[s][1]);
  }
  void connect(Index a, Index b) { parent_[root(a)] = root(b); }
  Index root(Index v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

 private:
  std::vector<Index> parent_;
};

/// The part of p that is across everything that is held: directions are made perpendicular to each other first.
Vec3d across_all(const std::vector<Vec3d>& held, const Vec3d& p) {
  std::vector<Vec3d> base;
  for (Vec3d axis : held) {
    for (const Vec3d& b : base) axis -= dot(b, axis) * b;
    if (norm(axis) > 1e-6) base.push_back(normalized(axis));
  }
  Vec3d rest = p;
  for (const Vec3d& b : base) rest -= dot(b, rest) * b;
  return rest;
}

}  // namespace

std::string free_motion(const Model& m, const Control& c) {
  constexpr double kNothing = 1e-9;  // of all forces on the piece
  Pieces pieces(m);
  for (const Spring& s : c.springs)
    if (s.b >= 0) pieces.connect(s.a, s.b);
  const auto n = static_cast<std::size_t>(m.vertex_count());
  std::vector<Vec3d> sum(n);
  std::vector<double> size(n);
  std::vector<std::uint8_t> held(n);
  std::vector<std::vector<Vec3d>> axes(n);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v]) continue;
    const Index piece = pieces.root(v);
    sum[piece] += c.vertex_force[v];
    size[piece] += norm(c.vertex_force[v]);
    if (c.vertex_fixed[v]) held[piece] = 1;
  }
  for (const Spring& s : c.springs)
    if (s.b < 0) held[pieces.root(s.a)] = 1;
  for (const HeldAxes& h : c.held_axes)
    for (int i = 0; i < h.count; ++i) axes[pieces.root(h.vertex)].push_back(h.axis[static_cast<std::size_t>(i)]);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v] || pieces.root(v) != v || held[v]) continue;
    const Vec3d push = across_all(axes[v], sum[v]);
    if (!(norm(push) > kNothing * size[v])) continue;
    const Vec3d d = normalized(push);
    return fmt::format(
        "the piece with vertex {} is free to move along ({:.3g}, {:.3g}, {:.3g}), where its loads push it; hold it there, by a "
        "`pin`, a `clamp` or a `roller`",
        v, d.x, d.y, d.z);
  }
  return {};
}

}  // namespace osier
