#include "sim/readout.hpp"

#include <cmath>

#include "energies/bend_twist.hpp"
#include "math/quat.hpp"
#include "sim/measure.hpp"

namespace osier {

namespace {

/// One end of a segment, 0 or 1: what the rod meets there.
struct End {
  Index vertex = -1;
  Index next = -1;   ///< the segment into which this one runs on smoothly; -1 at ends, clamps, corners and branches
  Index joint = -1;  ///< to `next`, or a clamp's half-joint
};

End find_end(const Model& m, Index s, Index end) {
  End e{.vertex = m.segment_vertices[s][end]};
  const auto touching = m.vertex_segments.of(e.vertex);
  if (touching.size() == 2)
    for (Index t : touching)
      if (t / 2 != s && t % 2 == 1 - end) e.next = t / 2;
  for (Index entry : m.frame_joints.of(s)) {
    const Index j = entry / 2, other = m.joint_frames[j][1 - entry % 2];
    if (m.is_anchor(other) && m.anchor_vertex[other - m.segment_count()] == e.vertex) return {e.vertex, -1, j};
    if (other != e.next) continue;
    if (is_corner(m, j)) return {.vertex = e.vertex};
    e.joint = j;
  }
  return e;
}

/// value(s) and value(other) mixed, `weight` of the other.
struct Blend {
  Index other = -1;
  double weight = 0;
  template <class Value>
  Vec3d operator()(Index s, Value value) const {
    if (other < 0) return value(s);
    return (1 - weight) * value(s) + weight * value(other);
  }
};

/// From the middles of the segments to `along`. Where the rod does not run on, the line through the last two middles is carried
/// on: a load that is spread along the rod leaves half a segment's share between the last middle and the end, and without it
/// the reaction at a support would be of first order only.
Blend between_middles(const Model& m, Index s, double along, const End ends[2]) {
  const Index near = along < 0.5 ? 0 : 1;
  const double distance = std::abs(along - 0.5) * m.segment_rest_length[s];
  const bool inside = ends[near].next >= 0;
  const Index other = inside ? ends[near].next : ends[1 - near].next;
  if (other < 0) return {};
  const double span = 0.5 * (m.segment_rest_length[s] + m.segment_rest_length[other]);
  return {other, (inside ? 1 : -1) * distance / span};
}

/// The section's frame at an end: the joint's, or else that of the middle turned on by half a joint.
Quatd end_axes(const Model& m, const State& state, Index s, Index end, const End ends[2]) {
  if (ends[end].joint >= 0) return joint_axes(m, state, ends[end].joint);
  const Quatd& q = state.frame_rotation[s];
  const End& far = ends[1 - end];
  if (far.joint < 0) return q;
  const Quatd turn = conj(joint_axes(m, state, far.joint)) * q;  // from the far end to the middle
  return q * turn;
}

/// What lies beyond exerts on what lies before, through all joints at this end.
Vec3d end_moment(const Model& m, const State& state, Index s, Index end, const End ends[2]) {
  Vec3d world;
  for (Index entry : m.frame_joints.of(s)) {
    const Index j = entry / 2, side = entry % 2, other = m.joint_frames[j][1 - side];
    const Index v = ends[end].vertex;
    const bool here = m.is_anchor(other) ? m.anchor_vertex[other - m.segment_count()] == v
                                         : m.segment_vertices[other][0] == v || m.segment_vertices[other][1] == v;
    if (here) world += (side == 1 - end ? 1.0 : -1.0) * joint_moment(m, state, j);
  }
  return rotate(conj(end_axes(m, state, s, end, ends)), world);
}

Vec3d end_curvature(const Model& m, const State& state, const Vec3d& moment, Index s, Index end, const End ends[2]) {
  if (const Index j = ends[end].joint; j >= 0) {
    const bool against = !m.joint_is_clamp[j] && m.joint_frames[j][end == 1 ? 0 : 1] != s;
    return (against ? -1.0 : 1.0) * joint_curvature(m, state, j);
  }
  // Rest curvature and stiffness of the nearest joint; a free end has the former only.
  const Index j = ends[1 - end].joint;
  if (j < 0) return {};
  const bool forward = m.joint_frames[j][end == 0 ? 0 : 1] == s;
  const Quatd& q0 = m.joint_rest_rotation[j];
  Vec3d curvature;
  if (!is_corner(m, j)) curvature = (forward ? 1.0 : -1.0) * bend_twist::curvature(q0, m.joint_length[j]);
  const PerAxis EI = (m.joint_length[j] / 4) * m.joint_stiffness[j];
  const auto divided = [](double a, double b) { return b > 0 ? a / b : 0; };
  return curvature + Vec3d{divided(moment.x, EI.d1), divided(moment.y, EI.d2), divided(moment.z, EI.d3)};
}

}  // namespace

Readout read_out(const Model& m, const State& state, Index s, double along) {
  const auto [a, b] = m.segment_vertices[s];
  const auto direction = [&](Index i) {
    const auto [first, second] = m.segment_vertices[i];
    return normalized(state.vertex_position[second] - state.vertex_position[first]);
  };
  Readout r;
  r.position = (1 - along) * state.vertex_position[a] + along * state.vertex_position[b];
  r.tangent = direction(s);
  if (!m.segment_alive[s]) return r;
  const End ends[2] = {find_end(m, s, 0), find_end(m, s, 1)};
  const Blend blend = between_middles(m, s, along, ends);
  r.tangent = normalized(blend(s, direction));
  r.force = blend(s, [&](Index i) { return section_force_material(m, state, i); });
  r.strain = blend(s, [&](Index i) { return section_strain(m, state, i); });
  const Vec3d m0 = end_moment(m, state, s, 0, ends), m1 = end_moment(m, state, s, 1, ends);
  r.moment = (1 - along) * m0 + along * m1;
  r.curvature = (1 - along) * end_curvature(m, state, m0, s, 0, ends) + along * end_curvature(m, state, m1, s, 1, ends);
  return r;
}

void SectionArrays::measure(const Model& m, const State& state) {
  const auto segments = static_cast<std::size_t>(m.segment_count()), joints = static_cast<std::size_t>(m.joint_count());
  for (auto* list : {&segment_force, &segment_strain, &segment_moment, &segment_curvature}) list->resize(segments);
  for (auto* list : {&joint_moment, &joint_curvature}) list->resize(joints);
  for (Index s = 0; s < m.segment_count(); ++s) {
    const Readout middle = read_out(m, state, s, 0.5);
    segment_force[s] = middle.force;
    segment_strain[s] = middle.strain;
    segment_moment[s] = middle.moment;
    segment_curvature[s] = middle.curvature;
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    joint_moment[j] = joint_moment_material(m, state, j);
    joint_curvature[j] = osier::joint_curvature(m, state, j);
  }
}

}  // namespace osier
