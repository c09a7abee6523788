#include "validate/experiments/descent.hpp"

#include <limits>

#include "validate/experiments/workbench.hpp"

namespace osier::validate {

namespace {

/// A step from w.state that ends at `at`, all of it prescribed: what is then set free is the only unknown.
void prescribe(Workbench& w, const Place& at) {
  w.control.vertex_fixed.assign(at.x.size(), 1);
  w.control.vertex_target = at.x;
  w.control.frame_control.assign(at.q.size(), FrameControl::fixed);
  w.control.frame_target = at.q;
}

/// |v| + |b| of a frame's local problem, from above.
double largest_moment(const Workbench& w, const Place& at, Index s) {
  const Model& m = w.model;
  const auto [a, b] = m.segment_vertices[s];
  const PerAxis k = m.segment_stiffness[s];
  double sum = 2 * k.largest() * (1 + m.segment_tau[s].largest() / w.h) * norm(at.x[b] - at.x[a]) / m.segment_rest_length[s];
  for (Index e : m.frame_joints.of(s)) sum += m.joint_stiffness[e / 2].largest() * (1 + m.joint_tau[e / 2].largest() / w.h);
  return sum;
}

/// The frame where it wants to be, given that it was there before: a few exact updates, then a small turn.
Quatd near_minimum(Workbench w, Index s, double off, Random& random) {
  const auto exact = make_settings(solver_with(SolverRole::sweeps));
  exact->set_goal({.iterations = 1, .tolerance = {}, .max_iterations = {}});
  for (int i = 0; i < 8; ++i) w.state.frame_rotation[s] = normalized(w.run(1, *exact).frame_rotation[s]);
  return normalized(rotation_exp(off * normalized(random.in_unit_ball())) * w.state.frame_rotation[s]);
}

/// The scene's solver. Sweeps update a frame from where it is; other solvers begin a step with a prediction, so that near the
/// minimum only the step's solution can be lower.
std::unique_ptr<SolverSettings> update_of(const Workbench& w, bool near) {
  constexpr double kSolved = 1e-10;
  const SolverSettings& own = *w.scene.setup().spec.solver;
  if (!near || own.role() == SolverRole::sweeps || own.role() == SolverRole::reference) return nullptr;
  std::unique_ptr<SolverSettings> solver = make_settings(own.name());
  solver->execution = own.execution;
  solver->set_goal({.iterations = {}, .tolerance = kSolved, .max_iterations = {}});
  return solver;
}

}  // namespace

std::vector<double> Descent::examine(const Json& json, const std::filesystem::path& folder) {
  const Workbench scene(json, folder);
  if (scene.control.has_torque) throw RunError("torques have no potential; use a scene without them");
  const bool single = scene.scene.setup().spec.execution.in_float();
  const double eps = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const std::unique_ptr<SolverSettings> solved = update_of(scene, off.has_value());
  const SolverSettings& update = solved ? *solved : *scene.scene.setup().spec.solver;
  Random random(seed);
  double rise = 0, lowered = 0, updates = 0;
  for (int i = 0; i < samples; ++i) {
    Workbench w = scene;
    w.shake(strain, random);
    prescribe(w, w.nearby(strain, random));
    for (Index s = 0; s < w.model.segment_count(); ++s) {
      w.control.frame_control[s] = FrameControl::free;
      if (off) w.state.frame_rotation[s] = near_minimum(w, s, *off, random);
      const State end = w.run(1, update);
      Place after{end.vertex_position, end.frame_rotation}, before;
      for (Quatd& q : after.q) q = normalized(q);  // float keeps |q| = 1 to its own rounding only
      before = after;
      before.q[s] = w.state.frame_rotation[s];
      const StepPotential potential = w.potential(before);
      const EnergyTerms e0 = potential.value(w.unknowns(before)), e1 = potential.value(w.unknowns(after));
      const double rounding = 16 * eps * largest_moment(w, before, s) + 1e-14 * e0.magnitude, change = e1.total() - e0.total();
      rise = std::max(rise, change / rounding);
      lowered += change < -rounding ? 1 : 0, ++updates;
      w.control.frame_control[s] = FrameControl::fixed;
    }
  }
  return {rise, lowered / updates, updates};
}

}  // namespace osier::validate
