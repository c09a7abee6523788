#include "sim/memory.hpp"

#include "scene/setup.hpp"

namespace osier {

namespace {

/// What an allocation of this size takes from the heap of the C library: a header, and whole units of 16 bytes.
std::size_t heap(std::size_t bytes) { return bytes == 0 ? 0 : std::max<std::size_t>(32, (bytes + 8 + 15) / 16 * 16); }

template <class... T>
std::size_t bytes_of(const std::vector<T>&... lists) {
  return (heap(lists.capacity() * sizeof(T)) + ...);
}

std::size_t bytes_of(const Model& m) {
  std::size_t sum = bytes_of(m.vertex_mass, m.vertex_radius, m.vertex_alive, m.segment_vertices, m.segment_rest_length,
                             m.segment_stiffness, m.segment_tau, m.segment_inertia, m.segment_strain_limit, m.segment_alive) +
                    bytes_of(m.anchor_vertex, m.joint_frames, m.joint_rest_rotation, m.joint_stiffness, m.joint_length,
                             m.joint_tau, m.joint_bend_limit, m.joint_twist_limit, m.joint_is_clamp, m.joint_alive, m.rods) +
                    bytes_of(m.vertex_segments.start, m.vertex_segments.entry, m.frame_joints.start, m.frame_joints.entry) +
                    bytes_of(m.vertex_colors.start, m.vertex_colors.element, m.segment_colors.start, m.segment_colors.element);
  for (const RodInfo& r : m.rods) sum += bytes_of(r.vertices, r.segments, r.joints);
  return sum;
}

std::size_t bytes_of(const State& s) {
  std::size_t sum =
      bytes_of(s.vertex_position, s.vertex_velocity, s.vertex_velocity_previous, s.frame_rotation, s.frame_velocity);
  for (const SolverMemory& array : s.memory) sum += bytes_of(array.values);
  return sum;
}

/// The sizes that Simulation::prepare_control gives.
std::size_t control_bytes(std::size_t vertices, std::size_t frames) {
  return vertices * (2 * sizeof(Vec3d) + sizeof(double) + 1) +
         frames * (sizeof(FrameControl) + sizeof(Quatd) + 3 * sizeof(Vec3d) + sizeof(double));
}

/// What `trajectory.h5` takes to shuffle and compress a frame: its arrays (positions, velocities, frames) twice.
std::size_t trajectory_bytes(std::size_t vertices, std::size_t segments) {
  return 2 * (vertices * 2 * sizeof(Vec3d) + segments * sizeof(Quatd));
}

/// The unknowns and the two gradients that measuring a residual takes.
std::size_t residual_bytes(std::size_t vertices, std::size_t frames) {
  return vertices * 2 * sizeof(Vec3d) + frames * (sizeof(Vec3d) + sizeof(Quatd));
}

/// While a checkpoint is made: the simulation as bytes, beside those of the last one, and the image of its file, whose room doubles as
/// it grows.
std::size_t checkpoint_bytes(const Simulation& simulation) {
  constexpr double kCopies = 3.5;
  return static_cast<std::size_t>(kCopies * static_cast<double>(simulation.save().size()));
}

}  // namespace

MemoryEstimate estimate_memory(const Scene& scene, const Simulation& simulation) {
  const Setup& setup = scene.setup();
  const Model& m = setup.model;
  const auto nv = static_cast<std::size_t>(m.vertex_count()), nf = static_cast<std::size_t>(m.frame_count());
  MemoryEstimate e;
  e.scene = bytes_of(m) + bytes_of(setup.initial);
  std::size_t controls = setup.spec.solver->traits().control_at_start ? 2 : 1;
  std::size_t states = 2;
  if (setup.spec.dynamic()) {
    if (!setup.spec.integrator().is_implicit_euler()) ++controls;  // what is held at the end of a step, beside its stage
    if (setup.spec.output.diagnostics != Rate::none) {
      ++states;  // where the step that is measured began
      e.simulation += residual_bytes(nv, nf);
    }
  }
  e.simulation += states * bytes_of(simulation.state()) + controls * control_bytes(nv, nf);
  const auto& formats = setup.spec.output.formats;
  if (std::any_of(formats.begin(), formats.end(), [](const FormatName& f) { return f.name == "hdf5"; }))
    e.output = trajectory_bytes(nv, static_cast<std::size_t>(m.segment_count()));
  if (!setup.spec.output.checkpoint.off) e.output += checkpoint_bytes(simulation);
  e.solver = setup.spec.solver->bytes(m, simulation.control(), simulation.time_step());
  return e;
}

}  // namespace osier
