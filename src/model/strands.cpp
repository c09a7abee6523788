#include "model/strands.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace osier {

std::vector<Index> Strand::vertices(const Model& model) const {
  std::vector<Index> list;
  for (std::size_t i = 0; i < segments.size(); ++i) list.push_back(model.segment_vertices[segments[i]][reversed[i]]);
  if (!segments.empty()) list.push_back(model.segment_vertices[segments.back()][1 - reversed.back()]);
  return list;
}

std::vector<Index> rod_of_segments(const Model& model) {
  std::vector<Index> of_segment(model.segment_vertices.size(), -1), of_vertex(model.vertex_radius.size(), -1);
  for (std::size_t r = 0; r < model.rods.size(); ++r) {
    for (const Index s : model.rods[r].segments)
      if (of_segment[s] < 0) of_segment[s] = static_cast<Index>(r);
    for (const Index v : model.rods[r].vertices)
      if (of_vertex[v] < 0) of_vertex[v] = static_cast<Index>(r);
  }
  for (std::size_t s = 0; s < of_segment.size(); ++s)
    if (of_segment[s] < 0) of_segment[s] = of_vertex[model.segment_vertices[s][0]];
  return of_segment;
}

namespace {

constexpr Index kNone = -1;

/// next[2 s + e]: the end (as 2 segment + end) that end e of segment s goes on to, or none.
std::vector<Index> paired_ends(const Model& model, std::span<const std::uint8_t> alive, const std::vector<Index>& rod) {
  const auto segments = static_cast<std::size_t>(model.segment_count());
  // The model's own incidence is that of the last frame; a broken segment may still be whole in this one.
  std::vector<Index> start(model.vertex_radius.size() + 1, 0), ends(2 * segments), next(2 * segments, kNone);
  for (std::size_t s = 0; s < segments; ++s)
    if (alive[s])
      for (const Index v : model.segment_vertices[s]) ++start[v + 1];
  for (std::size_t v = 1; v < start.size(); ++v) start[v] += start[v - 1];
  std::vector<Index> fill(start.begin(), start.end() - 1);
  for (std::size_t s = 0; s < segments; ++s)
    if (alive[s])
      for (int e = 0; e < 2; ++e) ends[fill[model.segment_vertices[s][e]]++] = static_cast<Index>(2 * s) + e;

  std::vector<std::array<Index, 3>> pairs;  // distance in building order, two ends
  for (std::size_t v = 0; v + 1 < start.size(); ++v) {
    pairs.clear();
    for (Index i = start[v]; i < start[v + 1]; ++i)
      for (Index j = i + 1; j < start[v + 1]; ++j)
        if (rod[ends[i] / 2] == rod[ends[j] / 2]) pairs.push_back({std::abs(ends[i] / 2 - ends[j] / 2), ends[i], ends[j]});
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [distance, a, b] : pairs)
      if (next[a] == kNone && next[b] == kNone) next[a] = b, next[b] = a;
  }
  return next;
}

}  // namespace

std::vector<Strand> find_strands(const Model& model, std::span<const std::uint8_t> alive, const std::vector<Index>& rod) {
  const std::vector<Index> next = paired_ends(model, alive, rod);
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(model.segment_count()), 0);
  std::vector<Strand> strands;
  const auto walk = [&](Index entered) {  // the end at which the first segment is entered
    Strand strand;
    for (Index end = entered; end != kNone && !seen[end / 2]; end = next[end ^ 1]) {
      seen[end / 2] = 1;
      strand.segments.push_back(end / 2);
      strand.reversed.push_back(end & 1);
    }
    strand.closed = strand.segments.size() > 2 && next[entered] != kNone;
    strands.push_back(std::move(strand));
  };
  for (Index s = 0; s < model.segment_count(); ++s)
    for (Index e = 0; e < 2; ++e)
      if (alive[s] && !seen[s] && next[2 * s + e] == kNone) walk(2 * s + e);
  for (Index s = 0; s < model.segment_count(); ++s)  // what is left runs in circles
    if (alive[s] && !seen[s]) walk(2 * s);
  return strands;
}

}  // namespace osier
