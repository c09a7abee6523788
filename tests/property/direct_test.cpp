// One step by the direct solver against Newton's method, on random graphs.
#include <gtest/gtest.h>

#include "solvers/direct/split_solver.hpp"
#include "solvers/newton/newton.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

TEST(DirectStep, ArrivesWhereNewtonDoesOnRandomGraphs) {
  for (int i = 0; i < 48; ++i) {
    StepProblem p = random_problem(
        1900 + static_cast<std::uint64_t>(i),
        {.damping = static_cast<Damping>(i % 4), .torque = i % 3 == 0, .held = i % 2 == 0, .broken = i % 5 == 0, .strain = 0.1});
    Random random(1950 + static_cast<std::uint64_t>(i));
    if (i % 4 >= 2) make_anisotropic(p, i < 24 ? 3 : 10, random);
    if (i % 6 >= 3) make_inertial(p, random);
    newton::Settings exact;
    exact.tolerance = 1e-12;
    State by_newton = p.state;
    ASSERT_FALSE(exact.make(p.model)->step(p.input(), by_newton).not_converged) << i;
    direct::DirectSolver direct(p.model, {.tolerance = 1e-10, .max_iterations = 200, .loops = systems::Loops::columns});
    State by_direct = p.state;
    const StepReport report = direct.step(p.input(), by_direct);
    double error = 0;
    for (Index v = 0; v < p.model.vertex_count(); ++v)
      error = std::max(error, norm(by_direct.vertex_position[v] - by_newton.vertex_position[v]));
    // Stiffnesses a hundredfold apart on strongly curved joints: the Gauss-Newton rate is linear, and slower.
    EXPECT_LE(report.iterations, i < 24 ? 60 : 120) << i;
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
      StepReport r = direct.step(p.input(), p.state);
      most = std::max(most, r.iterations);
    }
    const State start = p.state;
    State exact = start;
    direct::DirectSolver(p.model, {.iterations = 30}).step(p.input(), exact);
    EXPECT_LE(most, h < 0.01 ? 2 : 6) << "N " << n << ", E " << young << ", h " << h;
    const auto error_after = [&](int iterations) {
      State s = start;
      direct::DirectSolver(p.model, {.iterations = iterations}).step(p.input(), s);
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
  for (int i = 0; i < 3000; ++i) last = direct.step(p.input(), p.state);
  double fastest = 0;
  for (const Vec3d& v : p.state.vertex_velocity) fastest = std::max(fastest, norm(v));
  EXPECT_LT(fastest, 1e-9);
  EXPECT_LE(last.iterations, 2);
  EXPECT_FALSE(last.not_converged);
}

/// Largest distance from `exact` over the motion of the step.
double position_error(const State& state, const State& exact, const State& start) {
  double error = 0, motion = 0;
  for (std::size_t v = 0; v < start.vertex_position.size(); ++v) {
    error = std::max(error, norm(state.vertex_position[v] - exact.vertex_position[v]));
    motion = std::max(motion, norm(start.vertex_position[v] - exact.vertex_position[v]));
  }
  return error / motion;
}

/// With state and strains in double, a recursion in float costs no accuracy that anybody would miss.
TEST(DirectStep, IsAccurateWithARecursionInFloat) {
  for (const auto& [n, young, h] : {std::tuple{100, 1e7, 1e-3},
                                    {100, 1e9, 1e-3},
                                    {1000, 1e9, 1e-3},
                                    {100, 1e7, 1.0 / 30},
                                    {100, 1e9, 1.0 / 30},
                                    {1000, 1e9, 1.0 / 30}}) {
    StepProblem p = cantilever(n, young, h);
    direct::DirectSolver direct(p.model);
    for (int i = 0; i < 20; ++i) direct.step(p.input(), p.state);
    const auto after = [&](Precision precision) {
      State s = p.state;
      direct::DirectSolver(p.model, {.iterations = 8, .precision = precision}).step(p.input(), s);
      return s;
    };
    EXPECT_LT(position_error(after(Precision::single_precision), after(Precision::double_precision), p.state), 1e-5)
        << "N " << n << ", E " << young << ", h " << h;
  }
}

TEST(DirectStep, IsTheSameForAnyNumberOfThreads) {
  // Many rods that are not tied together, and one graph with loops.
  StepProblem p = random_problem(2300, {.torque = false, .held = true});
  RodGraph& g = p.graph;
  Random random(2301);
  for (int i = 0; i < 40; ++i) {
    std::vector<Index> path{g.add_vertex({0.1 * i, 1, 0})};
    for (Index v : random_walk(g, g.vertices[path[0]].rest, 12, 0.1, random)) path.push_back(v);
    add_twisted_chain(g, path, random_section(random, Damping::both), false, 0.3, random);
  }
  p.model = compile_graph(g);
  p.state = initial_state(g, p.model);
  p.control = still_control(p.model, p.state);
  for (Vec3d& f : p.control.vertex_force) f = random.in_cube();
  State states[3];
  for (int k = 0; k < 3; ++k) {
    states[k] = p.state;
    direct::DirectSolver direct(p.model, {.threads = 1 + k});
    for (int i = 0; i < 5; ++i) direct.step(p.input(), states[k]);
  }
  for (int k = 1; k < 3; ++k)
    for (std::size_t v = 0; v < states[0].vertex_position.size(); ++v)
      ASSERT_EQ(norm(states[k].vertex_position[v] - states[0].vertex_position[v]), 0) << k + 1 << " threads";
}

TEST(DirectStep, NeedsTheMemoryThatWasPredicted) {
  for (int i = 0; i < 8; ++i) {
    StepProblem p =
        i < 4 ? random_problem(2400 + static_cast<std::uint64_t>(i), {.held = i % 2 == 0}) : cantilever(100, 1e7, 0.01);
    Random random(2450);
    if (i % 4 == 3) make_inertial(p, random);
    const Precision precision = i % 2 == 0 ? Precision::double_precision : Precision::single_precision;
    const systems::Options options{
        .tolerance = 1e-9, .precision = precision, .loops = i % 4 < 2 ? systems::Loops::columns : systems::Loops::automatic};
    direct::DirectSolver direct(p.model, options);
    for (int k = 0; k < 3; ++k) direct.step(p.input(), p.state);
    const double used = static_cast<double>(direct.bytes());
    const double predicted =
        static_cast<double>(direct::DirectSolver::bytes(p.model, whole_of(p.model), p.control, p.h, options));
    EXPECT_NEAR(predicted, used, 0.1 * used) << i;
  }
}

/// From anywhere, with the largest steps in use, no iteration raises the incremental potential.
TEST(DirectStep, NeverRaisesTheEnergyFromRandomStarts) {
  for (int i = 0; i < 30; ++i) {
    StepProblem p = random_problem(2100 + static_cast<std::uint64_t>(i),
                                   {.damping = static_cast<Damping>(i % 4), .torque = false, .held = i % 2 == 0, .strain = 3});
    p.h = 1.0 / 30;
    const Phi potential(p);
    for (systems::Loops loops : {systems::Loops::columns, systems::Loops::blocks}) {
      double last = std::numeric_limits<double>::infinity();
      for (int n = 1; n <= 8; ++n) {
        State state = p.state;
        const StepReport report = direct::DirectSolver(p.model, {.iterations = n, .loops = loops}).step(p.input(), state);
        ASSERT_FALSE(report.non_finite) << i;
        const EnergyTerms e = potential.value({state.vertex_position, state.frame_rotation});
        ASSERT_LE(e.total(), last + 1e-11 * e.magnitude) << "problem " << i << ", iteration " << n;
        last = e.total();
      }
    }
  }
}

/// A heavy cantilever, a chain clamped at both ends, graphs with loops: the same equilibria as Newton's method finds.
TEST(DirectStatics, FindsTheEquilibriaThatNewtonFinds) {
  for (int i = 0; i < 14; ++i) {
    StepProblem p = i == 0 ? cantilever(50, 1e7, 1)
                    : i == 1
                        ? cantilever(50, 1e9, 1)
                        : random_problem(2500 + static_cast<std::uint64_t>(i), {.torque = false, .held = true, .strain = 0.05});
    if (i > 1)
      for (Vec3d& f : p.control.vertex_force) f = 0.2 * f;
    State by_newton = p.state, by_direct = p.state;
    const StepReport exact = newton::Settings{}.make(p.model)->solve_static(p.static_input(), by_newton, {.tolerance = 1e-10});
    direct::DirectSolver direct(p.model);
    const StepReport report = direct.solve_static(p.static_input(), by_direct, {.tolerance = 1e-8});
    ASSERT_FALSE(exact.not_converged || report.not_converged) << i;
    EXPECT_LE(report.residual_relative, 1e-8) << i;
    EXPECT_EQ(report.unstable_modes, exact.unstable_modes) << i;
    if (exact.unstable_modes > 0) continue;
    double error = 0;
    for (Index v = 0; v < p.model.vertex_count(); ++v)
      error = std::max(error, norm(by_direct.vertex_position[v] - by_newton.vertex_position[v]));
    EXPECT_LT(error, 1e-5) << i;
  }
}

/// Positions torn apart by five segment lengths, frames at random: everything there is to come back from.
void expect_descent_from_garbage(StepProblem p, double segment, const char* what) {
  p.h = 1.0 / 30;
  Random random(2200);
  State garbage = p.state;
  for (Index v = 0; v < p.model.vertex_count(); ++v)
    if (!p.control.vertex_fixed[v]) garbage.vertex_position[v] += (5 * segment) * random.in_cube();
  for (Index s = 0; s < p.model.segment_count(); ++s)
    if (p.control.frame_control[s] == FrameControl::free) garbage.frame_rotation[s] = random.rotation();
  p.state = garbage;
  const Phi potential(p);
  for (Precision precision : {Precision::double_precision, Precision::single_precision})
    for (bool lanes : {false, true}) {
      double last = potential.value({p.state.vertex_position, p.state.frame_rotation}).total();
      for (int n = 1; n <= 16; ++n) {
        State state = p.state;
        const systems::Options options{.iterations = n, .precision = precision};
        std::unique_ptr<Solver> solver = std::make_unique<direct::DirectSolver>(p.model, options);
        if (lanes) solver = direct::make_solver(p.model, options);
        const StepReport report = solver->step(p.input(), state);
        ASSERT_FALSE(report.non_finite) << what;
        const EnergyTerms e = potential.value({state.vertex_position, state.frame_rotation});
        ASSERT_LE(e.total(), last + 1e-11 * e.magnitude) << what << ", iteration " << n << (lanes ? ", in lanes" : "");
        last = e.total();
      }
    }
}

/// Held at its lowest vertex, or a tree of three generations of branches, each twig from the end of the one before.
StepProblem ring_or_tree(bool ring, double young) {
  StepProblem p;
  const double area = std::numbers::pi * 1e-4;
  const Section section{.stretch_shear = young * area, .bend_twist = young * area * 1e-4 / 4, .line_density = 1000 * area};
  if (ring) {
    std::vector<Index> path;
    for (int i = 0; i < 40; ++i) {
      const double a = 2 * std::numbers::pi * i / 40;
      path.push_back(p.graph.add_vertex({0.13 * std::cos(a), 0.13 * std::sin(a), 0}));
    }
    path.push_back(path.front());
    p.graph.add_chain("ring", path, section);
  } else {
    std::vector<Index> tips{p.graph.add_vertex({0, 0, 0})};
    for (int generation = 0; generation < 3; ++generation) {
      std::vector<Index> next;
      for (Index tip : tips)
        for (int side = -1; side <= 1; side += 2) {
          std::vector<Index> path{tip};
          for (int i = 1; i <= 6; ++i)
            path.push_back(
                p.graph.add_vertex(p.graph.vertices[tip].rest + Vec3d{0.02 * i, 0.012 * side * i, 0.01 * generation * i}));
          p.graph.add_chain("branch" + std::to_string(generation) + "_" + std::to_string(next.size()), path, section);
          next.push_back(path.back());
        }
      tips = next;
    }
  }
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed[0] = 1;
  for (Index v = 0; v < p.model.vertex_count(); ++v) p.control.vertex_force[v] = {0, 0, -9.81 * p.model.vertex_mass[v]};
  return p;
}

/// Six by six cells, held at two corners; joints across every knot.
StepProblem net(double young) {
  StepProblem p;
  constexpr int n = 7;
  const double area = std::numbers::pi * 1e-6;
  const Section section{.stretch_shear = young * area, .bend_twist = young * area * 1e-6 / 4, .line_density = 1000 * area};
  for (int i = 0; i < n * n; ++i) p.graph.add_vertex({0.02 * (i % n), 0.02 * (i / n), 0});
  for (int i = 0; i < n; ++i) {
    std::vector<Index> row, column;
    for (int k = 0; k < n; ++k) row.push_back(n * i + k), column.push_back(n * k + i);
    p.graph.add_chain("row" + std::to_string(i), row, section);
    p.graph.add_chain("column" + std::to_string(i), column, section);
  }
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed[0] = p.control.vertex_fixed[n - 1] = 1;
  for (Index v = 0; v < p.model.vertex_count(); ++v) p.control.vertex_force[v] = {0, 0, -9.81 * p.model.vertex_mass[v]};
  return p;
}

TEST(DirectStep, DescendsFromGarbageOnNets) {
  for (double young : {1e7, 1e9}) expect_descent_from_garbage(net(young), 0.02, "net");
}

TEST(DirectStep, DescendsFromGarbageOnTreesAndRings) {
  for (double young : {1e7, 1e9}) {
    expect_descent_from_garbage(ring_or_tree(true, young), 0.02, "ring");
    expect_descent_from_garbage(ring_or_tree(false, young), 0.025, "tree");
  }
}

TEST(DirectStep, DescendsFromGarbage) {
  expect_descent_from_garbage(cantilever(50, 1e7, 1.0 / 30), 0.02, "soft cantilever");
  expect_descent_from_garbage(cantilever(50, 1e9, 1.0 / 30), 0.02, "stiff cantilever");
  expect_descent_from_garbage(random_problem(2210, {.torque = false}), 0.3, "a graph with a branch and a loop");
  StepProblem helix;
  std::vector<Index> path;
  for (int i = 0; i <= 240; ++i) {
    const double a = 2 * std::numbers::pi * i / 24;
    path.push_back(helix.graph.add_vertex({0.05 * std::cos(a), 0.05 * std::sin(a), 1e-4 * i}));
  }
  helix.graph.add_chain("helix", path, {.stretch_shear = 40, .bend_twist = 2e-3, .line_density = 0.4});
  helix.model = compile_graph(helix.graph);
  helix.state = initial_state(helix.graph, helix.model);
  helix.control = still_control(helix.model, helix.state);
  helix.control.vertex_fixed[0] = 1;
  for (Index v = 0; v <= 240; ++v) helix.control.vertex_force[v] = {0, 0, -9.81 * helix.model.vertex_mass[v]};
  expect_descent_from_garbage(helix, 0.013, "helix");
}

}  // namespace
}  // namespace osier::test
