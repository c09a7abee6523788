#include "solvers/projective/rod_memory.hpp"

#include <algorithm>

namespace osier::projective {

void FrameTerms::find(const Model& m, const Control& c, const State& state, double h) {
  direction_terms(m, c, state, h, terms);
  most = 0;
  start.assign(static_cast<std::size_t>(m.segment_count()) + 1, 0);
  for (const DirectionTerm& t : terms) ++start[t.frame + 1];
  for (const Index count : start) most = std::max(most, count);
  for (std::size_t s = 1; s < start.size(); ++s) start[s] += start[s - 1];
}

Quatd paper_prediction(const Model& m, const State& state, double h, Index s) {
  const Quatd& u = state.frame_rotation[s];
  const Vec3d J = cast<double>(m.segment_inertia[s]), w = rotate(conj(u), state.frame_velocity[s]);
  const Vec3d gyroscopic = cross(w, times(J, w));
  const Vec3d ws{w.x - h * gyroscopic.x / J.x, w.y - h * gyroscopic.y / J.y, w.z - h * gyroscopic.z / J.z};
  return normalized(u + (0.5 * h) * (u * ws));
}

}  // namespace osier::projective
