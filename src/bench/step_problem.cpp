#include "bench/step_problem.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "core/json_reader.hpp"
#include "math/vec3.hpp"
#include "osier/simulation.hpp"

namespace osier::bench {

double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = norm(a[i] - b[i]);
    if (!(d <= worst)) worst = d;  // a NaN stays
  }
  return worst;
}

StepProblem::StepProblem(const Subject& subject, int steps, const std::filesystem::path& folder)
    : scene_(load(subject, {.role = SolverRole::converging, .tolerance = 1e-8}, folder)) {
  try {
    prepare(steps);
  } catch (const RunError&) {  // a graph that the direct solver does not take
    scene_ = load(subject, reference(1e-8), folder);
    prepare(steps);
  }
}

void StepProblem::prepare(int steps) {
  Simulation simulation(scene_);
  h_ = simulation.time_step();
  for (int i = 0; i < steps; ++i) simulation.step();
  start_ = simulation.state();
  simulation.step();
  control_ = simulation.control();
}

std::unique_ptr<SolverSettings> StepProblem::settings(const Variant& variant) const {
  const Json json = variant.solver_json();
  Problems problems;
  JsonReader reader(json, "/solver", problems);
  std::unique_ptr<SolverSettings> made;
  reader.read(json, "/solver", made, {});
  if (made && problems.empty()) {
    made->execution = variant.execution();
    made->execution.check(problems);
    made->check(model(), false, problems);
  }
  problems.throw_if_any();
  return made;
}

StepProblem::Solved StepProblem::solve(const Variant& variant) const {
  const auto solver = settings(variant)->make(model());
  Solved s{start_, {}};
  s.report = solver->step(input(), s.state);
  return s;
}

StepProblem::Repeated::Repeated(const StepProblem& problem, std::unique_ptr<Solver> solver)
    : problem_(problem), solver_(std::move(solver)) {
  rewind();
  step();
}

StepProblem::Timed StepProblem::time(const Variant& variant, double budget) const {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); };
  Repeated steps = repeat(variant);
  std::vector<double> times;
  Timed timed;
  for (const Clock::time_point begin = Clock::now(); times.size() < 3 || seconds(begin) < budget;) {
    steps.rewind();
    const Clock::time_point start = Clock::now();
    timed.iterations = steps.step().iterations;
    times.push_back(seconds(start));
  }
  std::sort(times.begin(), times.end());
  timed.least = times.front();
  timed.median = times[times.size() / 2];
  return timed;
}

const std::vector<Vec3d>& StepProblem::solution() {
  if (solution_.empty()) {
    Solved s = solve(reference(1e-12));
    if (s.report.not_converged && s.report.residual_relative > 1e-9)
      throw RunError(fmt::format("the reference of {} has not converged", scene_.name()));
    solution_ = std::move(s.state.vertex_position);
  }
  return solution_;
}

double StepProblem::first_error() {
  std::vector<Vec3d> y = start_.vertex_position;
  for (std::size_t v = 0; v < y.size(); ++v) {
    const double m = model().vertex_mass[v];
    if (control_.vertex_fixed[v]) y[v] = control_.vertex_target[v];
    else y[v] += h_ * start_.vertex_velocity[v] + (h_ * h_ / m) * control_.vertex_force[v];
  }
  return farthest(y, solution());
}

double StepProblem::error_after(Variant variant, int iterations) {
  const auto [place, fresh] = errors_.try_emplace({variant.role, variant.precision, iterations}, 0);
  if (fresh) {
    variant.iterations = iterations;
    place->second = farthest(solve(variant).state.vertex_position, solution()) / first_error();
  }
  return place->second;
}

std::optional<int> StepProblem::iterations_to(const Variant& variant, double goal, int cap) {
  int low = 0, high = 1;  // low: not enough
  while (!(error_after(variant, high) <= goal)) {
    if (high >= cap) return {};
    low = high;
    high = std::min(2 * high, cap);
  }
  while (high - low > std::max(1, high / 100)) {
    const int middle = low + (high - low) / 2;
    (error_after(variant, middle) <= goal ? high : low) = middle;
  }
  return high;
}

}  // namespace osier::bench
