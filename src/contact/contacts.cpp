#include "contact/contacts.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "contact/segment_gap.hpp"
#include "math/vec3.hpp"

namespace osier::contact {

Contacts::Contacts(const Model& m, const State& initial, const Settings& settings, FrictionTable table,
                   std::vector<Index> segment_material)
    : active_(true), settings_(settings), table_(std::move(table)), segment_material_(std::move(segment_material)) {
  segment_radius_.resize(static_cast<std::size_t>(m.segment_count()));
  for (Index s = 0; s < m.segment_count(); ++s) {
    const auto [a, b] = m.segment_vertices[s];
    segment_radius_[s] = settings.thickness * std::max(m.vertex_radius[a], m.vertex_radius[b]);
  }
  friction_ = std::any_of(table_.value.begin(), table_.value.end(), [](double f) { return f > 0; });
  find_neighbours(m, initial);
}

void Contacts::add(std::shared_ptr<Obstacle> obstacle, std::size_t material) {
  friction_ = friction_ || obstacle->friction > 0;
  obstacles_.push_back(std::move(obstacle));
  obstacle_material_.push_back(material);
}

SegmentStrength Contacts::strength(const Model& m, Index s) const {
  const auto [a, b] = m.segment_vertices[s];
  double bending = 0;
  for (const Index e : m.frame_joints.of(s))
    bending = std::max(bending, 0.25 * m.joint_stiffness[e / 2].largest() * m.joint_length[e / 2]);
  return {.range = 2 * range(s),
          .radius = radius(s),
          .length = m.segment_rest_length[s],
          .mean_mass = 0.5 * (m.vertex_mass[a] + m.vertex_mass[b]),
          .largest_mass = std::max(m.vertex_mass[a], m.vertex_mass[b]),
          .stretch = m.segment_stiffness[s].largest(),
          .bending = bending};
}

double Contacts::friction_with(Index segment, std::size_t obstacle) const {
  if (obstacles_[obstacle]->friction >= 0) return obstacles_[obstacle]->friction;
  return table_.of(material(segment), obstacle_material_[obstacle]);
}

const Neighbour* Contacts::neighbour(Index a, Index b) const {
  const auto list = neighbours(a);
  const auto found = std::lower_bound(list.begin(), list.end(), b, [](const Neighbour& n, Index s) { return n.segment < s; });
  return found != list.end() && found->segment == b ? &*found : nullptr;
}

/// A tube of radius r that is bent as far as it goes, with a curvature of 1/r, has chords shorter than 2 r for arcs shorter than
/// pi r: segments that are nearer to each other along the rods than kArc r are not meant to repel each other.
void Contacts::find_neighbours(const Model& m, const State& initial) {
  constexpr double kArc = 3.2;
  neighbour_start_.assign(1, 0);
  std::vector<double> distance(static_cast<std::size_t>(m.vertex_count()), -1);
  std::vector<Index> reached;
  std::vector<Neighbour> own;
  using Entry = std::pair<double, Index>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  double widest = 0;
  for (const double r : segment_radius_) widest = std::max(widest, r);
  for (Index s = 0; s < m.segment_count(); ++s) {
    const double limit = 0.5 * kArc * (radius(s) + widest);
    own.clear();
    reached.clear();
    for (const Index v : m.segment_vertices[s]) queue.emplace(0.0, v);
    while (!queue.empty()) {
      const auto [d, v] = queue.top();
      queue.pop();
      if (distance[v] >= 0) continue;
      distance[v] = d;
      reached.push_back(v);
      for (const Index e : m.vertex_segments.of(v)) {
        const Index t = e / 2;
        if (t == s) continue;
        if (d == 0 || d < 0.5 * kArc * (radius(s) + radius(t))) own.push_back({t, d});
        const double further = d + m.segment_rest_length[t];
        if (further < limit) queue.emplace(further, m.segment_vertices[t][1 - e % 2]);
      }
    }
    for (const Index v : reached) distance[v] = -1;
    std::sort(own.begin(), own.end(), [](const Neighbour& a, const Neighbour& b) {
      return a.segment < b.segment || (a.segment == b.segment && a.core < b.core);
    });
    own.erase(std::unique(own.begin(), own.end(), [](const Neighbour& a, const Neighbour& b) { return a.segment == b.segment; }),
              own.end());
    const auto& x = initial.vertex_position;
    const auto ends = [&](Index i) { return std::array{x[m.segment_vertices[i][0]], x[m.segment_vertices[i][1]]}; };
    for (Neighbour& n : own) {
      if (n.core == 0) {
        n.core = -1;
        continue;
      }
      n.core = std::min(core(s, n.segment), 0.5 * nearest_points({ends(s), ends(n.segment)}, 0, 0).distance);
    }
    neighbour_.insert(neighbour_.end(), own.begin(), own.end());
    neighbour_start_.push_back(neighbour_.size());
  }
}

}  // namespace osier::contact
