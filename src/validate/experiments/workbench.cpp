#include "validate/experiments/workbench.hpp"

#include <algorithm>

#include "energies/bend_twist.hpp"
#include "solvers/local_problem.hpp"
#include "validate/trial.hpp"

namespace osier::validate {

Workbench::Workbench(const Json& json, const std::filesystem::path& folder) : scene(Scene::parse(json.dump(), "case", folder)) {
  Simulation simulation(scene);
  if (simulation.is_static()) throw RunError("this experiment needs a dynamic scene");
  h = simulation.time_step();
  simulation.step();
  control = simulation.control();
  model = scene.model();
  state = scene.initial_state();
}

State Workbench::run(int steps, const SolverSettings& settings) const {
  State s = state;
  const auto made = settings.make(model);
  for (int i = 0; i < steps; ++i) {
    const StepReport report = made->step(input(), s);
    if (report.non_finite || report.not_converged) throw RunError("a step did not converge");
  }
  return s;
}

static double shortest_segment(const Model& m) {
  return *std::min_element(m.segment_rest_length.begin(), m.segment_rest_length.end());
}

bool Workbench::is_free(Index s) const { return control.frame_control[s] == FrameControl::free; }

void Workbench::shake(double strain, Random& random) {
  const double size = strain * shortest_segment(model);
  for (Index v = 0; v < model.vertex_count(); ++v) {
    if (control.vertex_fixed[v]) continue;
    state.vertex_position[v] += size * random.in_cube();
    state.vertex_velocity[v] += (10 * size) * random.in_cube();
  }
  state.vertex_velocity_previous = state.vertex_velocity;
  for (Index s = 0; s < model.segment_count(); ++s)
    if (is_free(s)) state.frame_rotation[s] = normalized(rotation_exp(strain * random.in_cube()) * state.frame_rotation[s]);
}

Place Workbench::nearby(double strain, Random& random) const {
  Place at{state.vertex_position, state.frame_rotation};
  const double size = strain * shortest_segment(model);
  for (Index v = 0; v < model.vertex_count(); ++v)
    if (!control.vertex_fixed[v]) at.x[v] += size * random.in_cube();
  for (Index s = 0; s < model.segment_count(); ++s) {
    if (is_free(s)) at.q[s] = normalized(rotation_exp(strain * random.in_cube()) * at.q[s]);
    if (flip(random)) at.q[s] = -at.q[s];
  }
  return at;
}

double Workbench::least_cosine(const Place& at) const {
  double least = 1;
  for (Index j = 0; j < model.joint_count(); ++j) {
    const auto [a, b] = model.joint_frames[j];
    const Quatd previous = conj(state.frame_rotation[a]) * state.frame_rotation[b];
    for (const Quatd& rest : {model.joint_rest_rotation[j], previous})
      least = std::min(least, std::abs(bend_twist::deviation(at.q[a], at.q[b], rest).w));
  }
  return least;
}

StepPotential Workbench::potential(const Place& at) const {
  StepPotential p;
  p.begin(model, control, state, h);
  p.set_torque_point(at.q);
  return p;
}

Unknowns Workbench::unknowns(const Place& at) const {
  Unknowns z{at.x, at.q};
  for (std::size_t v = 0; v < z.u.size(); ++v) z.u[v] -= state.vertex_position[v];
  return z;
}

OrientationProblem<double> Workbench::local_problem(const Place& at, Index s) const {
  return osier::local_problem(model, control, state, h, at.x, at.q, s);
}

State final_state(const Scene& scene) {
  Simulation simulation(scene);
  for (long k = step_count(scene.setup()); k > 0; --k)
    if (simulation.step().not_converged) throw RunError("a step did not converge");
  return simulation.state();
}

double largest(const std::vector<Vec3d>& list) {
  double size = 0;
  for (const Vec3d& g : list) size = std::max(size, norm(g));
  return size;
}

double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, norm(a[i] - b[i]));
  return worst;
}

double farthest(const std::vector<Quatd>& a, const std::vector<Quatd>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::min(norm(a[i] - b[i]), norm(a[i] + b[i])));
  return worst;
}

double extent(const std::vector<Vec3d>& x) {
  double size = 0;
  for (const Vec3d& p : x) size = std::max(size, norm(p - x[0]));
  return size;
}

bool flip(Random& random) { return random.symmetric() > 0; }

}  // namespace osier::validate
