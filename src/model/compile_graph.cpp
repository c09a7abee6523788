// RodGraph -> Model and its initial State.
#include <algorithm>
#include <cmath>
#include <deque>

#include "model/rod_graph.hpp"

namespace osier {

Model compile_graph(const RodGraph& graph) {
  Model m;
  const std::size_t nv = graph.vertices.size(), ns = graph.segments.size(), nj = graph.joints.size();
  const auto reserve = [](std::size_t n, auto&... lists) { (lists.reserve(n), ...); };
  reserve(nv, m.vertex_mass, m.vertex_radius);
  reserve(ns, m.segment_vertices, m.segment_rest_length, m.segment_stiffness, m.segment_tau, m.segment_strain_limit);
  reserve(nj, m.joint_frames, m.joint_rest_rotation, m.joint_stiffness, m.joint_length, m.joint_tau, m.joint_is_clamp);
  for (const GraphVertex& v : graph.vertices) {
    m.vertex_mass.push_back(v.mass);
    m.vertex_radius.push_back(v.radius);
  }
  m.vertex_alive.assign(graph.vertices.size(), 1);
  for (const GraphSegment& s : graph.segments) {
    m.segment_vertices.push_back({s.a, s.b});
    m.segment_rest_length.push_back(s.rest_length);
    m.segment_stiffness.push_back(s.stretch_stiffness);
    m.segment_tau.push_back(s.section.tau_stretch);
    m.segment_strain_limit.push_back(s.section.strain_limit);
  }
  m.segment_inertia.resize(graph.segments.size());
  m.segment_alive.assign(graph.segments.size(), 1);
  for (const GraphJoint& j : graph.joints) {
    m.joint_frames.push_back({j.a, j.b});
    m.joint_rest_rotation.push_back(j.rest_rotation);
    m.joint_stiffness.push_back(j.stiffness);
    m.joint_length.push_back(j.length);
    m.joint_tau.push_back(j.tau);
    m.joint_is_clamp.push_back(0);
    const Section &a = graph.segments[j.a].section, &b = graph.segments[j.b].section;
    m.joint_bend_limit.push_back(j.length * std::min(a.curvature_limit, b.curvature_limit));
    m.joint_twist_limit.push_back(j.length * std::min(a.twist_limit, b.twist_limit));
  }
  m.joint_alive.assign(graph.joints.size(), 1);
  m.rods = graph.rods;
  update_topology(m);
  return m;
}

static State posed_state(const RodGraph& graph, const Model& model) {
  State state;
  state.vertex_position.reserve(graph.vertices.size());
  state.vertex_velocity.reserve(graph.vertices.size());
  bool posed = false;
  for (const GraphVertex& v : graph.vertices) {
    state.vertex_position.push_back(v.position);
    state.vertex_velocity.push_back(v.velocity);
    posed = posed || norm2(v.position - v.rest) > 0;
  }
  state.vertex_velocity_previous = state.vertex_velocity;
  state.frame_velocity.resize(graph.segments.size());
  state.frame_rotation.resize(graph.segments.size());
  for (std::size_t s = 0; s < graph.segments.size(); ++s) state.frame_rotation[s] = graph.segments[s].rest_frame;
  if (!posed) return state;

  // Walk the joints outwards: each frame follows its neighbour's rest rotation, then tilts as little as possible so that
  // d3 lies along the posed edge. Twist therefore stays at rest wherever the pose allows it.
  const auto posed_direction = [&](Index s) {
    return normalized(state.vertex_position[graph.segments[s].b] - state.vertex_position[graph.segments[s].a]);
  };
  auto aligned = [&](Index s, const Quatd& q) {
    const Vec3d edge = posed_direction(s);
    if (norm2(edge) == 0) return q;
    return normalized(rotation_between(director3(q), edge) * q);
  };
  // The first frame of a piece: turned with a bent neighbour, if there is one, so that a rigid motion strains nothing; a
  // straight piece has no such hint and is tilted as little as possible.
  const auto first_frame = [&](Index root) {
    const auto frame = [](const Vec3d& d, const Vec3d& other) {
      const Vec3d n = normalized(cross(d, other));
      return quat_from_frame(n, cross(d, n), d);
    };
    const Vec3d rest = graph.direction(root), pose = posed_direction(root);
    for (Index e : model.frame_joints.of(root)) {
      const Index t = model.joint_frames[e / 2][1 - e % 2];
      if (model.is_anchor(t)) continue;
      const Vec3d rest_t = graph.direction(t), pose_t = posed_direction(t);
      if (norm(cross(rest, rest_t)) < 1e-6 || norm(cross(pose, pose_t)) < 1e-6) continue;
      return normalized(frame(pose, pose_t) * conj(frame(rest, rest_t)) * graph.segments[root].rest_frame);
    }
    return graph.segments[root].rest_frame;
  };
  std::vector<std::uint8_t> done(graph.segments.size(), 0);
  std::deque<Index> queue;
  for (Index root = 0; root < model.segment_count(); ++root) {
    if (done[root]) continue;
    state.frame_rotation[root] = aligned(root, first_frame(root));
    done[root] = 1;
    queue.push_back(root);
    while (!queue.empty()) {
      const Index s = queue.front();
      queue.pop_front();
      for (Index e : model.frame_joints.of(s)) {
        const Index j = e / 2;
        const Index t = model.joint_frames[j][1 - e % 2];
        if (model.is_anchor(t) || done[t]) continue;
        const Quatd& q0 = model.joint_rest_rotation[j];
        state.frame_rotation[t] = aligned(t, state.frame_rotation[s] * (e % 2 == 0 ? q0 : conj(q0)));
        done[t] = 1;
        queue.push_back(t);
      }
    }
  }
  return state;
}

State initial_state(const RodGraph& graph, const Model& model) {
  State state = posed_state(graph, model);
  for (std::size_t s = 0; s < graph.segments.size(); ++s)
    if (const double twist = graph.segments[s].pose_twist; twist != 0)
      state.frame_rotation[s] = normalized(state.frame_rotation[s] * axis_angle(Vec3d{0, 0, 1}, twist));
  return state;
}

namespace {

/// The segment that follows `s` along its rod, at `vertex` if it lies inside the rod there, else at the far end; -1 where the
/// rod has no other, or turns a corner that is no sampled curve.
Index next_along_rod(const Model& m, const RodGraph& graph, Index s, Index vertex, bool& at_vertex) {
  Index found = -1;
  for (const RodGraph::Place& place : graph.places_of(s)) {
    const RodInfo& rod = graph.rods[place.rod];
    const auto n = static_cast<Index>(rod.segments.size()), i = static_cast<Index>(place.place);
    for (Index k : {i - 1, i + 1}) {
      if (rod.closed) k = (k + n) % n;
      if (k < 0 || k >= n || k == i) continue;
      const Index t = rod.segments[static_cast<std::size_t>(k)];
      for (Index e : m.frame_joints.of(s)) {
        if (m.joint_frames[e / 2][1 - e % 2] != t) continue;
        if (2 * std::acos(std::min(1.0, std::abs(m.joint_rest_rotation[e / 2].w))) > kCornerAngle) continue;
        const auto& sv = m.segment_vertices[t];
        const bool here = sv[0] == vertex || sv[1] == vertex;
        if (found < 0 || here) found = t, at_vertex = here;
      }
    }
  }
  return found;
}

}  // namespace

ClampResult add_clamp(Model& m, const RodGraph& graph, const State& state, Index vertex) {
  ClampResult result;
  std::vector<Index> segments_here;  // cables among them hang freely
  for (Index e : m.vertex_segments.of(vertex))
    if (graph.segments[e / 2].section.bends()) segments_here.push_back(e / 2);
  if (segments_here.empty()) return result;
  result.anchor = m.frame_count();
  m.anchor_count += 1;
  m.anchor_vertex.push_back(vertex);
  // The frame at the vertex itself, half a joint away from the first segment's: halfway to its neighbour at the vertex, or
  // extrapolated from its neighbour beyond. At rest for the joints, in the pose for what is held.
  const Index first = segments_here.front();
  bool at_vertex = false;
  const Index next = next_along_rod(m, graph, first, vertex, at_vertex);
  const auto half_towards = [&](const Quatd& q, const Quatd& q_next) {
    const Quatd turn = conj(q) * q_next;
    return half_rotation(at_vertex ? turn : conj(turn));
  };
  Quatd rest_half, posed_half;
  if (next >= 0) {
    rest_half = half_towards(graph.segments[first].rest_frame, graph.segments[next].rest_frame);
    posed_half = half_towards(state.frame_rotation[first], state.frame_rotation[next]);
  }
  const Quatd rest_vertex = normalized(graph.segments[first].rest_frame * rest_half);
  result.rotation = normalized(state.frame_rotation[first] * posed_half);
  std::vector<Index> joints_here;
  if (segments_here.size() > 1)
    for (const Index s : segments_here)
      for (const Index e : m.frame_joints.of(s)) joints_here.push_back(e / 2);
  std::sort(joints_here.begin(), joints_here.end());
  for (const Index j : joints_here) {
    const auto [a, b] = m.joint_frames[j];
    const auto in = [&](Index f) { return std::find(segments_here.begin(), segments_here.end(), f) != segments_here.end(); };
    if (!m.joint_is_clamp[j] && m.joint_alive[j] && in(a) && in(b)) {
      // Two segments can share both vertices only in a two-segment ring, which validation refuses.
      m.joint_alive[j] = 0;
      result.replaced_joints.push_back(j);
    }
  }
  for (Index s : segments_here) {
    const double length = 0.5 * m.segment_rest_length[s];
    m.joint_frames.push_back({result.anchor, s});
    m.joint_rest_rotation.push_back(normalized(conj(rest_vertex) * graph.segments[s].rest_frame));
    m.joint_stiffness.push_back((4.0 / length) * graph.segments[s].section.bend_twist);
    m.joint_length.push_back(length);
    m.joint_tau.push_back(graph.segments[s].section.tau_bend);
    m.joint_is_clamp.push_back(1);
    m.joint_bend_limit.push_back(length * graph.segments[s].section.curvature_limit);
    m.joint_twist_limit.push_back(length * graph.segments[s].section.twist_limit);
    m.joint_alive.push_back(1);
    result.half_joints.push_back(m.joint_count() - 1);
  }
  return result;
}

}  // namespace osier
