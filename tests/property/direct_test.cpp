// One step by the direct solver against Newton's method, on random graphs.
#include <gtest/gtest.h>

#include "solvers/direct/direct_solver.hpp"
#include "solvers/newton/newton.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

TEST(DirectStep, ArrivesWhereNewtonDoesOnRandomGraphs) {
  for (int i = 0; i < 24; ++i) {
    StepProblem p = random_problem(
        1900 + static_cast<std::uint64_t>(i),
        {.damping = static_cast<Damping>(i % 4), .torque = i % 3 == 0, .held = i % 2 == 0, .broken = i % 5 == 0, .strain = 0.1});
    Random random(1950 + static_cast<std::uint64_t>(i));
    if (i % 4 >= 2) make_anisotropic(p, 3, random);
    if (i % 6 >= 3) make_inertial(p, random);
    newton::Settings exact;
    exact.tolerance = 1e-12;
    State by_newton = p.state;
    ASSERT_FALSE(exact.make(p.model)->step(p.model, p.control, by_newton, p.h).not_converged) << i;
    direct::DirectSolver direct(p.model, {.tolerance = 1e-10, .max_iterations = 200});
    State by_direct = p.state;
    const StepReport report = direct.step(p.model, p.control, by_direct, p.h);
    double error = 0;
    for (Index v = 0; v < p.model.vertex_count(); ++v)
      error = std::max(error, norm(by_direct.vertex_position[v] - by_newton.vertex_position[v]));
    EXPECT_LE(report.iterations, 60) << i;
    EXPECT_LT(error, 1e-8) << i;
  }
}

/// Cantilever of the method notes: E = 1e7 or 1e9, r = 1 cm, L = 1 m, swinging from horizontal.
StepProblem cantilever(int n, double young, double h) {
  StepProblem p;
  std::vector<Index> path;
  for (int i = 0; i <= n; ++i) path.push_back(p.graph.add_vertex({static_cast<double>(i) / n, 0, 0}));
  const double area = std::numbers::pi * 1e-4;
  p.graph.add_chain("rod", path,
                    {.stretch_shear = young * area, .bend_twist = young * area * 1e-4 / 4, .line_density = 1000 * area});
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  p.state.frame_rotation.push_back(add_clamp(p.model, p.graph, p.state, 0).rotation);
  p.state.frame_velocity.resize(p.state.frame_rotation.size());
  update_topology(p.model);
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed[0] = 1;
  for (Index v = 0; v <= n; ++v) p.control.vertex_force[v] = {0, -9.81 * p.model.vertex_mass[v], 0};
  p.h = h;
  return p;
}

TEST(DirectStep, ConvergesInOneOrTwoIterationsWhereSweepsNeedThousands) {
  for (const auto& [n, young, h] : {std::tuple{20, 1e7, 1e-3},
                                    {100, 1e7, 1e-3},
                                    {100, 1e9, 1e-3},
                                    {1000, 1e9, 1e-3},
                                    {100, 1e7, 1.0 / 30},
                                    {100, 1e9, 1.0 / 30},
                                    {1000, 1e9, 1.0 / 30}}) {
    StepProblem p = cantilever(n, young, h);
    direct::DirectSolver direct(p.model);
    int most = 0;
    for (int i = 0; i < 20; ++i) {  // in motion
      StepReport r = direct.step(p.model, p.control, p.state, p.h);
      most = std::max(most, r.iterations);
    }
    const State start = p.state;
    State exact = start;
    direct::DirectSolver(p.model, {.iterations = 30}).step(p.model, p.control, exact, p.h);
    EXPECT_LE(most, h < 0.01 ? 2 : 6) << "N " << n << ", E " << young << ", h " << h;
    const auto error_after = [&](int iterations) {
      State s = start;
      direct::DirectSolver(p.model, {.iterations = iterations}).step(p.model, p.control, s, p.h);
      double error = 0, motion = 0;
      for (Index v = 0; v <= n; ++v) {
        error = std::max(error, norm(s.vertex_position[v] - exact.vertex_position[v]));
        motion = std::max(motion, norm(start.vertex_position[v] + p.h * start.vertex_velocity[v] - exact.vertex_position[v]));
      }
      return error / motion;
    };
    EXPECT_LT(error_after(2), h < 0.01 ? 1e-6 : 1e-2) << "N " << n << ", E " << young << ", h " << h;
    EXPECT_LT(error_after(4), 1e-6) << "N " << n << ", E " << young << ", h " << h;
  }
}

/// At rest corrections are rounding, and so is the motion they are compared with: an iteration or two say so.
TEST(DirectStep, SettlesAtOnceWhereNothingMoves) {
  StepProblem p = cantilever(20, 1e7, 0.01);
  for (double& c : p.control.vertex_damping) c = 0.055;  // about critical
  direct::DirectSolver direct(p.model);
  StepReport last;
  for (int i = 0; i < 3000; ++i) last = direct.step(p.model, p.control, p.state, p.h);
  double fastest = 0;
  for (const Vec3d& v : p.state.vertex_velocity) fastest = std::max(fastest, norm(v));
  EXPECT_LT(fastest, 1e-9);
  EXPECT_LE(last.iterations, 2);
  EXPECT_FALSE(last.not_converged);
}

/// From anywhere, with the largest steps in use, no iteration raises the incremental potential.
TEST(DirectStep, NeverRaisesTheEnergyFromRandomStarts) {
  for (int i = 0; i < 30; ++i) {
    StepProblem p = random_problem(2100 + static_cast<std::uint64_t>(i),
                                   {.damping = static_cast<Damping>(i % 4), .torque = false, .held = i % 2 == 0, .strain = 3});
    p.h = 1.0 / 30;
    const Phi potential(p);
    double last = std::numeric_limits<double>::infinity();
    for (int n = 1; n <= 8; ++n) {
      State state = p.state;
      const StepReport report = direct::DirectSolver(p.model, {.iterations = n}).step(p.model, p.control, state, p.h);
      ASSERT_FALSE(report.non_finite) << i;
      const EnergyTerms e = potential.value({state.vertex_position, state.frame_rotation});
      ASSERT_LE(e.total(), last + 1e-11 * e.magnitude()) << "problem " << i << ", iteration " << n;
      last = e.total();
    }
  }
}

}  // namespace
}  // namespace osier::test
