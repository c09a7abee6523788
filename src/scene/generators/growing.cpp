#include "scene/generators/growing.hpp"

#include <cmath>

namespace osier {

Vec3d any_across(const Vec3d& n) { return normalized(std::abs(n.x) < 0.9 ? cross(n, Vec3d{1, 0, 0}) : cross(n, Vec3d{0, 1, 0})); }

Vec3d leaning(const Vec3d& n, double angle, Random& random) {
  const Vec3d disc = random.in_unit_disc(), u = any_across(n), v = cross(n, u);
  const double r = norm(disc), tilt = angle * r;
  if (r == 0) return n;
  return normalized(std::cos(tilt) * n + (std::sin(tilt) / r) * (disc.x * u + disc.z * v));
}

RootGroup::RootGroup(RodGraph& graph, const std::string& prefix, int count, int vertices) : graph_(graph), prefix_(prefix) {
  const auto n = static_cast<std::size_t>(count), each = static_cast<std::size_t>(vertices);
  graph.vertices.reserve(graph.vertices.size() + n * each);
  graph.segments.reserve(graph.segments.size() + n * (each - 1));
  graph.joints.reserve(graph.joints.size() + n * (each - std::min<std::size_t>(each, 2)));
  graph.rods.reserve(graph.rods.size() + n + 1);
  roots_.name = prefix + ".roots";
  roots_.vertices.reserve(n);
  roots_.segments.reserve(n);
  path_.reserve(each);
}

void RootGroup::grow(std::span<const Vec3d> points, std::span<const Section> sections) {
  path_.clear();
  for (const Vec3d& p : points) path_.push_back(graph_.add_vertex(p));
  const RodInfo& rod = graph_.rods[graph_.add_chain(prefix_ + std::to_string(grown_++), path_, sections)];
  roots_.vertices.push_back(rod.vertices.front());
  roots_.segments.push_back(rod.segments.front());
}

RootGroup::~RootGroup() { graph_.rods.push_back(std::move(roots_)); }

}  // namespace osier
