#include "solvers/stable_cosserat/graph_regions.hpp"

#include <algorithm>
#include <cstdlib>

#include "model/breadth_first.hpp"

namespace osier::stable_cosserat {

namespace {

struct Layer {
  Index vertices = 0, frames = 0, joints = 0;
  Index most() const { return std::max({vertices, frames, joints}); }
  Layer& operator+=(const Layer& b) { return vertices += b.vertices, frames += b.frames, joints += b.joints, *this; }
};

}  // namespace

GraphRegions regions_of(const Model& m, std::span<const std::uint8_t> taken, Index capacity) {
  // Layers first, part by part. A segment belongs to the nearer of its ends: segments that meet are at most one layer apart.
  GraphRegions r{1, std::vector<Index>(m.vertex_count(), -1), std::vector<Index>(m.frame_count(), -1)};
  std::vector<Layer> layers;
  BreadthFirst search(m);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (r.vertex[v] >= 0 || taken[v] || !m.vertex_alive[v]) continue;
    const auto first = static_cast<Index>(layers.size());
    for (Index w : search.search_from_end(v)) {
      r.vertex[w] = first + search.depth(w);
      layers.resize(static_cast<std::size_t>(r.vertex[w] + 1));
      ++layers.back().vertices;
    }
  }
  const auto put_frame = [&](Index f, Index layer) { r.frame[f] = layer, ++layers[layer].frames; };
  for (Index s = 0; s < m.segment_count(); ++s) {
    const auto [a, b] = m.segment_vertices[s];
    if (!m.segment_alive[s] || r.vertex[a] < 0) continue;
    put_frame(s, std::min(r.vertex[a], r.vertex[b]));
    for (Index e : m.frame_joints.of(s))
      if (owns_joint(e, m.joint_frames[e / 2][0], m.segment_count())) ++layers[r.frame[s]].joints;
  }
  for (Index f = m.segment_count(); f < m.frame_count(); ++f)
    for (Index e : m.frame_joints.of(f))
      if (const Index s = m.joint_frames[e / 2][1 - e % 2]; !m.is_anchor(s) && r.frame[s] >= 0) {
        put_frame(f, r.frame[s]);
        break;
      }

  std::vector<Index> region(layers.size(), 0);
  Layer sum;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer more = sum;
    more += layers[i];
    const bool full = i > 0 && more.most() > capacity;
    region[i] = i == 0 ? 0 : region[i - 1] + (full ? 1 : 0);
    sum = full ? layers[i] : more;
  }
  r.count = region.empty() ? 1 : region.back() + 1;
  for (Index& at : r.vertex) at = at < 0 ? -1 : region[at];
  for (Index& at : r.frame) at = at < 0 ? -1 : region[at];
  for (Index j = 0; j < m.joint_count(); ++j) {
    const Index a = r.of_frame(m.joint_frames[j][0]), b = r.of_frame(m.joint_frames[j][1]);
    if (m.joint_alive[j] && a >= 0 && b >= 0 && std::abs(a - b) > 1) return {};
  }
  return r;
}

}  // namespace osier::stable_cosserat
