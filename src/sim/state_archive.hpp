// What of a model and of a state goes into a checkpoint.
#pragma once

#include "core/archive.hpp"
#include "core/digest.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

inline void carry_state(Archive& a, State& s) {
  a(s.time, s.step_index, s.vertex_position, s.vertex_velocity, s.vertex_velocity_previous, s.frame_rotation, s.frame_velocity);
  std::uint64_t count = s.memory.size();
  a(count);
  if (a.reads()) s.memory.assign(static_cast<std::size_t>(count), {});
  for (SolverMemory& m : s.memory) a(m.name, m.kind, m.components, m.values);
}

/// Everything that a run may change; what follows from it is made again by update_topology().
inline void carry_model(Archive& a, Model& m) {
  a(m.vertex_mass, m.vertex_radius, m.vertex_alive);
  a(m.segment_vertices, m.segment_rest_length, m.segment_stiffness, m.segment_tau, m.segment_inertia, m.segment_strain_limit,
    m.segment_alive);
  a(m.joint_frames, m.joint_rest_rotation, m.joint_stiffness, m.joint_length, m.joint_tau, m.joint_bend_limit,
    m.joint_twist_limit, m.joint_is_clamp, m.joint_alive);
}

inline void add_to(Digest& d, const State& s) {
  d.add(s.time), d.add(static_cast<double>(s.step_index));
  d.add(s.vertex_position), d.add(s.vertex_velocity), d.add(s.vertex_velocity_previous);
  d.add(s.frame_rotation), d.add(s.frame_velocity);
  for (const SolverMemory& m : s.memory) d.add(m.name), d.add(m.values);
}

inline void add_to(Digest& d, const Model& m) {
  d.add(m.vertex_mass), d.add(m.vertex_radius), d.add(m.vertex_alive);
  d.add(m.segment_vertices), d.add(m.segment_rest_length), d.add(m.segment_stiffness), d.add(m.segment_tau);
  d.add(m.segment_inertia), d.add(m.segment_strain_limit), d.add(m.segment_alive), d.add(m.anchor_vertex);
  d.add(m.joint_frames), d.add(m.joint_rest_rotation), d.add(m.joint_stiffness), d.add(m.joint_length), d.add(m.joint_tau);
  d.add(m.joint_bend_limit), d.add(m.joint_twist_limit), d.add(m.joint_is_clamp), d.add(m.joint_alive);
}

}  // namespace osier
