// The loads and holds of a step as kernels for strands see them: by arrays of the control, or by a script.
#pragma once

#include "forces/step_script.hpp"
#include "solvers/lanes/step_view.hpp"

namespace osier::systems {

struct StepOrders {
  lanes::StepView step;  ///< arrays in memory of the backend
  // Of a script; null: the arrays of `step` say it, for one step.
  const FieldLoads* loads = nullptr;  ///< step by step
  const WindMoment* winds = nullptr;  ///< step by step
  Index winds_per_step = 0;
  const Mover* movers = nullptr;  ///< step by step
  Index movers_per_step = 0;
  const HeldVertex* held_vertices = nullptr;
  const HeldFrame* held_frames = nullptr;
  const Index *vertex_hold = nullptr, *frame_hold = nullptr;  ///< the hold of every vertex and of every frame, or -1
  const Index *segment_start = nullptr, *segment = nullptr;   ///< Model::vertex_segments
  const std::array<Index, 2>* segment_vertices = nullptr;
  const double* radius = nullptr;  ///< of vertices

  /// The force on a vertex in step n, and its drag; for wind, positions and velocities of `step` have to be those of its start.
  OSIER_FN Vec3d force_on(Index v, Index n, double& damping) const {
    if (loads == nullptr) {
      damping = step.damping[v];
      return step.force[v];
    }
    const FieldLoads& field = loads[n];
    const double mass = step.mass[v];
    double length = 0;
    if (field.damping_per_length > 0)
      for (Index i = segment_start[v]; i < segment_start[v + 1]; ++i) length += 0.5 * step.rest_length[segment[i] / 2];
    damping = field.damping(mass, length);
    Vec3d force = field.force(mass);
    for (Index w = 0; w < winds_per_step; ++w)
      force += push(v, winds[static_cast<std::ptrdiff_t>(n) * winds_per_step + w], damping);
    return force;
  }
  /// Whether a vertex is held in step n, and where it is to be at its end.
  OSIER_FN bool holds(Index v, Index n, Vec3d& target) const {
    if (loads == nullptr) {
      target = step.vertex_target[v];
      return step.vertex_fixed[v] != 0;
    }
    const Index hold = vertex_hold[v];
    if (hold < 0) return false;
    const HeldVertex& h = held_vertices[hold];
    target = movers[static_cast<std::ptrdiff_t>(n) * movers_per_step + h.mover].place(h.place);
    return true;
  }
  OSIER_FN bool holds_frame(Index f, Index n, Quatd& target) const {
    if (loads == nullptr) {
      target = step.frame_target[f];
      return step.frame_control[f] == FrameControl::fixed;
    }
    const Index hold = frame_hold[f];
    if (hold < 0) return false;
    const HeldFrame& h = held_frames[hold];
    target = movers[static_cast<std::ptrdiff_t>(n) * movers_per_step + h.mover].frame(h.rotation);
    return true;
  }

 private:
  OSIER_FN Vec3d push(Index v, const WindMoment& wind, double& damping) const {
    WindOnVertex<double> on(wind, step.position[v], step.velocity[v]);
    for (Index i = segment_start[v]; i < segment_start[v + 1]; ++i) {
      const Index s = segment[i] / 2, a = segment_vertices[s][0], b = segment_vertices[s][1];
      const double diameter = !wind.physical ? 0 : wind.diameter > 0 ? wind.diameter : radius[a] + radius[b];
      on.add(step.position[b] - step.position[a], step.rest_length[s], diameter);
    }
    double K;
    const Vec3d force = on.force(step.mass[v], K);
    damping += K;
    return force;
  }
};

}  // namespace osier::systems
