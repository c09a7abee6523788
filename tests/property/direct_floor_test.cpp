// How far the direct method's iterations go: to the tolerance where the number type can, otherwise to its floor, which is
// converged. The same for chains in lanes and for the recursion over trees.
#include <gtest/gtest.h>

#include "solvers/direct/split_solver.hpp"
#include "support/problem.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

/// Strands of E = 0.1 GPa, r = 1 mm, 0.4 m, clamped at their start and hanging off to the side.
StepProblem strands(double h) {
  StepProblem p;
  p.h = h;
  const double area = std::numbers::pi * 1e-6, young = 1e8;
  const Section section{.stretch_shear = young * area, .bend_twist = young * area * 1e-6 / 4, .line_density = 1000 * area};
  std::vector<Index> roots;
  for (int s = 0; s < 5; ++s) {
    std::vector<Index> path;
    for (int i = 0; i <= 24 - 2 * s; ++i)
      path.push_back(p.graph.add_vertex({0.1 * s + 0.015 * i, 0.003 * std::sin(0.4 * i), 0.008 * std::cos(0.3 * i + s)}));
    p.graph.add_chain("strand" + std::to_string(s), path, section);
    roots.push_back(path.front());
  }
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  for (Index v : roots) p.state.frame_rotation.push_back(add_clamp(p.model, p.graph, p.state, v).rotation);
  p.state.frame_velocity.resize(p.state.frame_rotation.size());
  update_topology(p.model);
  p.control = still_control(p.model, p.state);
  for (Index v : roots) p.control.vertex_fixed[v] = 1;
  for (Index v = 0; v < p.model.vertex_count(); ++v) p.control.vertex_force[v] = {0, 0, -9.81 * p.model.vertex_mass[v]};
  return p;
}

enum class Engine { lanes, tree };

std::unique_ptr<Solver> solver_of(Engine engine, const StepProblem& p, const systems::Options& options) {
  if (engine == Engine::tree) return std::make_unique<direct::DirectSolver>(p.model, options);
  EXPECT_EQ(direct::segments_in_lanes(p.model, p.control), p.model.segment_count());
  return direct::make_solver(p.model, options);
}

/// max |x - x*| over the motion of the step, of the same step by double and as many iterations as it takes.
double error_of(const StepProblem& p, const State& state) {
  State exact = p.state;
  direct::DirectSolver(p.model, {.iterations = 30}).step(p.input(), exact);
  double error = 0, motion = 0;
  for (Index v = 0; v < p.model.vertex_count(); ++v) {
    error = std::max(error, norm(state.vertex_position[v] - exact.vertex_position[v]));
    motion = std::max(motion, norm(exact.vertex_position[v] - p.state.vertex_position[v]));
  }
  return error / motion;
}

class DirectFloor : public testing::TestWithParam<std::tuple<Engine, Precision, double>> {
 protected:
  Engine engine() const { return std::get<0>(GetParam()); }
  Precision precision() const { return std::get<1>(GetParam()); }
  double floor() const { return precision() == Precision::single_precision ? systems::kFloatFloor : systems::kDoubleFloor; }
  /// In motion.
  StepProblem problem() const {
    StepProblem p = strands(std::get<2>(GetParam()));
    direct::DirectSolver solver(p.model, {.tolerance = 1e-7});
    for (int i = 0; i < 20; ++i) solver.step(p.input(), p.state);
    return p;
  }
};

TEST_P(DirectFloor, IsWhereAToleranceBelowItEnds) {
  const StepProblem p = problem();
  State state = p.state;
  const double tolerance = precision() == Precision::single_precision ? 1e-12 : 1e-18;
  const StepReport report = solver_of(engine(), p, {.tolerance = tolerance, .precision = precision()})->step(p.input(), state);
  EXPECT_FALSE(report.not_converged);
  EXPECT_LE(report.iterations, 20);
  EXPECT_LT(error_of(p, state), floor());
}

TEST_P(DirectFloor, IsBelowEveryToleranceThatIsMet) {
  const StepProblem p = problem();
  for (double tolerance : {1e-2, 1e-3, 5 * floor()}) {
    State state = p.state;
    const StepReport report = solver_of(engine(), p, {.tolerance = tolerance, .precision = precision()})->step(p.input(), state);
    EXPECT_FALSE(report.not_converged) << tolerance;
    EXPECT_LT(error_of(p, state), tolerance);
  }
}

/// From rest, where a step's motion is what gravity does in one step: nothing is taken for rounding that is not.
TEST_P(DirectFloor, DoesNotCutTheFirstStepShort) {
  const StepProblem p = strands(std::get<2>(GetParam()));
  State state = p.state;
  const double tolerance = 5 * floor();
  solver_of(engine(), p, {.tolerance = tolerance, .precision = precision()})->step(p.input(), state);
  EXPECT_LT(error_of(p, state), tolerance);
}

/// At rest corrections are rounding, and so is the motion that they are compared with.
TEST_P(DirectFloor, IsReachedAtOnceAtRest) {
  StepProblem p = strands(std::get<2>(GetParam()));
  for (Index v = 0; v < p.model.vertex_count(); ++v) p.control.vertex_damping[v] = 20 * p.model.vertex_mass[v];
  direct::DirectSolver(p.model).solve_static(p.static_input(), p.state, {.tolerance = 1e-10});
  const auto solver = solver_of(engine(), p, {.precision = precision()});
  for (int i = 0; i < 5; ++i) {
    const StepReport report = solver->step(p.input(), p.state);
    EXPECT_FALSE(report.not_converged) << i;
    EXPECT_LE(report.iterations, 4) << i;
  }
  double fastest = 0;
  for (const Vec3d& v : p.state.vertex_velocity) fastest = std::max(fastest, norm(v));
  EXPECT_LT(fastest, 1e-3);
}

/// Most steps are left after an iteration whose error nobody looked at. None of them may be worse than the tolerance, not even
/// where forces change from one step to the next. In lanes: as many strands as fit, and two of them.
TEST_P(DirectFloor, IsFarBelowAToleranceThatEveryStepMeets) {
  for (Simd simd : {Simd::automatic, Simd::sse2}) {
    if (!simd_available(simd) || (engine() == Engine::tree && simd != Simd::automatic)) continue;
    StepProblem p = strands(std::get<2>(GetParam()));
    const auto solver = solver_of(engine(), p, {.precision = precision(), .simd = simd});
    constexpr int kSteps = 60;
    int iterations = 0;
    for (int i = 0; i < kSteps; ++i) {
      if (i == kSteps / 2)
        for (Index v = 0; v < p.model.vertex_count(); ++v) p.control.vertex_force[v] = {20 * p.model.vertex_mass[v], 0, 0};
      State state = p.state;
      const StepReport report = solver->step(p.input(), state);
      EXPECT_FALSE(report.not_converged) << i;
      EXPECT_LT(error_of(p, state), 1e-3) << i;
      iterations += report.iterations;
      p.state = state;
    }
    EXPECT_LE(iterations, (p.h > 0.01 ? 4 : engine() == Engine::tree ? 1.5 : 2) * kSteps);
  }
}

/// A tree in the wind: one iteration does for nearly every step, and what it leaves does not add up.
TEST(DirectOutlook, SavesIterationsAndNotAccuracy) {
  const char* scene = R"({"structures": [{"type": "trees", "name": "tree", "count": 1}],
    "constraints": [{"type": "pin", "vertices": "tree.roots:*"}, {"type": "fix", "segments": "tree.roots:*"}],
    "forces": [{"type": "gravity"}, {"type": "wind", "direction": [2, 0, 3], "speed": 15, "wavelength": 20, "coefficient": 3}],
    "analysis": {"type": "dynamic", "step": 0.001, "duration": 1}})";
  Simulation quick(scene_with(scene, R"({"name": "direct", "precision": "float"})"));
  Simulation exact(scene_with(scene, R"({"name": "direct", "tolerance": 1e-9})"));
  const std::vector<Vec3d> start = exact.state().vertex_position;
  constexpr int kSteps = 150;
  int iterations = 0;
  for (int i = 0; i < kSteps; ++i) iterations += quick.step().iterations, exact.step();
  EXPECT_LE(iterations, 1.4 * kSteps);
  const double motion = farthest(exact.state().vertex_position, start);
  EXPECT_GT(motion, 0.05);
  EXPECT_LT(farthest(quick.state().vertex_position, exact.state().vertex_position), 1e-4 * motion);
}

INSTANTIATE_TEST_SUITE_P(Engines, DirectFloor,
                         testing::Combine(testing::Values(Engine::lanes, Engine::tree),
                                          testing::Values(Precision::single_precision, Precision::double_precision),
                                          testing::Values(1e-3, 1.0 / 30)));

}  // namespace
}  // namespace osier::test
