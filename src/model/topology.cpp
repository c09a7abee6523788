// Incidence lists and colours of a Model, from its alive flags.
#include <algorithm>

#include "osier/model.hpp"

namespace osier {

namespace {

/// Counting sort of (row, value) pairs into compressed rows; values stay in the order they come.
template <class Each>
Incidence build_incidence(Index rows, Each each) {
  Incidence inc;
  inc.start.assign(rows + 1, 0);
  each([&](Index row, Index) { ++inc.start[row + 1]; });
  for (Index i = 0; i < rows; ++i) inc.start[i + 1] += inc.start[i];
  inc.entry.resize(inc.start[rows]);
  std::vector<Index> next(inc.start.begin(), inc.start.end() - 1);
  each([&](Index row, Index value) { inc.entry[next[row]++] = value; });
  return inc;
}

/// First-fit colouring in index order: deterministic, two colours on a chain, few on a graph of small degree.
/// Skipped elements get no colour at all.
template <class Skip, class Neighbours>
Coloring color_elements(Index n, Skip skip, Neighbours neighbours) {
  std::vector<Index> color(n, -1);
  std::vector<Index> used;
  Index colors = 0;
  for (Index i = 0; i < n; ++i) {
    if (skip(i)) continue;
    used.clear();
    neighbours(i, [&](Index j) {
      if (color[j] >= 0) used.push_back(color[j]);
    });
    std::sort(used.begin(), used.end());
    Index c = 0;
    for (Index u : used) {
      if (u == c) ++c;
      else if (u > c) break;
    }
    color[i] = c;
    colors = std::max(colors, c + 1);
  }
  Coloring result;
  result.start.push_back(0);
  for (Index c = 0; c < colors; ++c) {
    for (Index i = 0; i < n; ++i)
      if (color[i] == c) result.element.push_back(i);
    result.start.push_back(static_cast<Index>(result.element.size()));
  }
  return result;
}

}  // namespace

void update_topology(Model& m) {
  for (Index j = 0; j < m.joint_count(); ++j)
    for (Index f : m.joint_frames[j])
      if (!m.is_anchor(f) && !m.segment_alive[f]) m.joint_alive[j] = 0;

  m.vertex_segments = build_incidence(m.vertex_count(), [&](auto&& put) {
    for (Index s = 0; s < m.segment_count(); ++s)
      if (m.segment_alive[s])
        for (Index e = 0; e < 2; ++e) put(m.segment_vertices[s][e], 2 * s + e);
  });
  m.frame_joints = build_incidence(m.frame_count(), [&](auto&& put) {
    for (Index j = 0; j < m.joint_count(); ++j)
      if (m.joint_alive[j])
        for (Index e = 0; e < 2; ++e) put(m.joint_frames[j][e], 2 * j + e);
  });
  for (Index v = 0; v < m.vertex_count(); ++v) m.vertex_alive[v] = m.vertex_segments.of(v).empty() ? 0 : 1;

  m.vertex_colors = color_elements(
      m.vertex_count(), [&](Index v) { return !m.vertex_alive[v]; },
      [&](Index v, auto&& see) {
        for (Index e : m.vertex_segments.of(v)) see(m.segment_vertices[e / 2][1 - e % 2]);
      });
  m.segment_colors = color_elements(
      m.segment_count(), [&](Index s) { return !m.segment_alive[s]; },
      [&](Index s, auto&& see) {
        for (Index e : m.frame_joints.of(s)) {
          const Index t = m.joint_frames[e / 2][1 - e % 2];
          if (!m.is_anchor(t)) see(t);
        }
      });
}

double Model::stiffness_ratio(double h) const {
  double worst = 0;
  for (Index s = 0; s < segment_count(); ++s) {
    const auto [a, b] = segment_vertices[s];
    const double l = segment_rest_length[s];
    const double m = std::max(vertex_mass[a], vertex_mass[b]);  // an end vertex carries only half a segment
    if (m > 0) worst = std::max(worst, segment_stiffness[s].largest() / (l * l) / (m / (h * h)));
  }
  return worst;
}

bool Model::has_damping() const {
  const auto any = [](const PerAxis& t) { return t.any(); };
  return std::any_of(segment_tau.begin(), segment_tau.end(), any) || std::any_of(joint_tau.begin(), joint_tau.end(), any);
}

bool Model::has_inertia() const {
  return std::any_of(segment_inertia.begin(), segment_inertia.end(), [](const PerAxis& j) { return j.any(); });
}

bool Model::is_isotropic() const {
  for (const auto* list : {&segment_stiffness, &segment_tau, &joint_stiffness, &joint_tau})
    for (const PerAxis& k : *list)
      if (!k.uniform()) return false;
  return true;
}

}  // namespace osier
