// Direct steps of graphs with loops, by columns or by conjugate gradients on blocks: the same step. And what they take of memory.
#include <gtest/gtest.h>
#include <numbers>
#include <optional>

#include "osier/osier.hpp"
#include "scene/setup.hpp"
#include "solvers/direct/direct_solver.hpp"
#include "solvers/direct/split_solver.hpp"
#include "solvers/direct/step_plan.hpp"
#include "solvers/newton/newton.hpp"
#include "solvers/systems/blocks/block_system.hpp"
#include "support/problem.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

using systems::Loops;

/// A square net of lines that are knotted where they cross, out of its plane, held at two corners.
StepProblem net(int cells, double stretch, double h) {
  StepProblem p;
  Random random(2700);
  RodGraph& g = p.graph;
  const Section section{
      .stretch_shear = stretch, .bend_twist = 1e-4 * stretch, .line_density = 0.03, .tau_stretch = 1e-3, .tau_bend = 1e-3};
  const auto n = static_cast<std::size_t>(cells) + 1;
  std::vector<std::vector<Index>> knots(n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      knots[j].push_back(g.add_vertex(0.1 * Vec3d{static_cast<double>(i), 0.2 * random.in_cube().x, static_cast<double>(j)}));
  std::vector<std::vector<Index>> rows, columns;
  for (std::size_t j = 0; j < n; ++j) rows.push_back(g.rods[g.add_chain("row", knots[j], section)].segments);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<Index> path;
    for (std::size_t j = 0; j < n; ++j) path.push_back(knots[j][i]);
    columns.push_back(g.rods[g.add_chain("column", path, section)].segments);
  }
  for (std::size_t j = 0; j + 1 < n; ++j)
    for (std::size_t i = 0; i + 1 < n; ++i) g.add_joint(rows[j][i], columns[i][j]);
  p.model = compile_graph(g);
  p.state = initial_state(g, p.model);
  for (Vec3d& v : p.state.vertex_velocity) v = random.in_cube();
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed[knots[0][0]] = p.control.vertex_fixed[knots[0][n - 1]] = 1;
  p.state.vertex_velocity[knots[0][0]] = p.state.vertex_velocity[knots[0][n - 1]] = {};
  for (Index v = 0; v < p.model.vertex_count(); ++v) p.control.vertex_force[v] = {0, -9.81 * p.model.vertex_mass[v], 0};
  p.h = h;
  return p;
}

double farthest_step(const State& a, const State& b, const State& start) {
  return farthest(a.vertex_position, b.vertex_position) / farthest(a.vertex_position, start.vertex_position);
}

StepProblem random_graph(int i) {
  StepProblem p = random_problem(
      2700 + static_cast<std::uint64_t>(i),
      {.damping = static_cast<Damping>(i % 4), .torque = i % 3 == 0, .held = i % 2 == 0, .broken = i % 5 == 0, .strain = 0.1});
  Random random(2750 + static_cast<std::uint64_t>(i));
  if (i % 4 >= 2) make_anisotropic(p, 3, random);
  if (i % 6 >= 3) make_inertial(p, random);
  return p;
}

TEST(DirectLoops, BlocksArriveWhereNewtonDoes) {
  for (int i = 0; i < 24; ++i) {
    StepProblem p = random_graph(i);
    newton::Settings exact;
    exact.tolerance = 1e-12;
    State by_newton = p.state, by_blocks = p.state;
    ASSERT_FALSE(exact.make(p.model)->step(p.input(), by_newton).not_converged) << i;
    const StepReport report = direct::DirectSolver(p.model, {.tolerance = 1e-10, .max_iterations = 200, .loops = Loops::blocks})
                                  .step(p.input(), by_blocks);
    EXPECT_FALSE(report.not_converged) << i;
    EXPECT_LT(farthest(by_blocks.vertex_position, by_newton.vertex_position), 1e-8) << i;
  }
}

/// Their curvature is the exact one once the strains of the step are known: what an iteration leaves is the square of what it
/// found.
TEST(DirectLoops, BlocksConvergeQuadratically) {
  for (bool anisotropic : {false, true}) {
    StepProblem p = net(6, 300, 4e-3);
    Random random(2760);
    if (anisotropic) make_anisotropic(p, 3, random);
    newton::Settings newton;
    newton.tolerance = 1e-13;
    State exact = p.state;
    ASSERT_FALSE(newton.make(p.model)->step(p.input(), exact).not_converged);
    std::vector<double> error;
    for (int n : {2, 3, 4}) {
      State state = p.state;
      direct::DirectSolver(p.model, {.iterations = n, .loops = Loops::blocks, .loop_share = 1e-12}).step(p.input(), state);
      error.push_back(farthest_step(exact, state, p.state));
    }
    EXPECT_LT(error[0], 0.05);
    EXPECT_LT(error[1], 30 * error[0] * error[0]) << error[0];
    EXPECT_LT(error[2], std::max(30 * error[1] * error[1], 1e-11)) << error[1];
  }
}

/// What the choice between blocks and columns rests upon.
TEST(DirectLoops, IterationsAreAsManyAsExpected) {
  for (double h : {1e-3, 4e-3}) {
    LoadOptions options;
    options.overrides = {R"(/solver={"name": "direct"})", "/analysis/step=" + std::to_string(h), "/analysis/fps=25"};
    Simulation simulation(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/net.json", options));
    for (int i = 0; i < 20; ++i) simulation.step();
    const Model& m = simulation.model();
    const Subset whole = whole_of(m);
    StepPotential potential;
    potential.begin(m, simulation.control(), simulation.state(), h);
    Unknowns z{{}, simulation.state().frame_rotation};
    for (const Vec3d& v : simulation.state().vertex_velocity) z.u.push_back(h * v);
    systems::BlockSystem<double> blocks(Simd::automatic, 1);
    blocks.bind(m, simulation.control(), whole, h);
    blocks.linearise(potential, z, {.curvature = systems::Curvature::exact});
    ASSERT_TRUE(blocks.step({}));
    const double expected = direct::plan_step(m, simulation.control(), h).iterations;
    EXPECT_GT(blocks.iterations(), 0.5 * expected) << h;
    EXPECT_LT(blocks.iterations(), 2 * expected) << h;
  }
}

TEST(DirectLoops, BlocksDoNotDependOnTheNumberOfThreads) {
  const StepProblem p = net(16, 300, 1e-3);
  ASSERT_EQ(direct::plan_step(p.model, p.control, p.h).loops, Loops::blocks);
  for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
    State alone;
    for (int threads : {1, 2, 3, 7}) {
      State state = p.state;
      direct::DirectSolver solver(p.model, {.precision = precision, .threads = threads});
      for (int i = 0; i < 2; ++i) ASSERT_FALSE(solver.step(p.input(), state).not_converged);
      if (threads == 1) alone = state;
      EXPECT_TRUE(identical(state, alone)) << threads << " threads";
    }
  }
}

/// The same formulas for every number of lanes; random graphs have tiles that are not full.
TEST(DirectLoops, BlocksAreTheSameByEveryInstructionSet) {
  for (int i = 0; i < 8; ++i) {
    const StepProblem p = i < 7 ? random_graph(i) : net(8, 300, 4e-3);
    std::optional<State> first;
    for (Simd simd : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512}) {
      if (!simd_available(simd)) continue;
      State state = p.state;
      direct::DirectSolver(p.model, {.iterations = 5, .simd = simd, .loops = Loops::blocks, .loop_share = 1e-10})
          .step(p.input(), state);
      if (!first) first = state;
      EXPECT_LT(farthest_step(*first, state, p.state), 1e-7) << i << ", " << simd_name(simd);
    }
  }
}

TEST(DirectLoops, BlocksAreAccurateInFloat) {
  for (double h : {1e-3, 4e-3, 16e-3}) {
    const StepProblem p = net(12, 300, h);
    State exact = p.state, state = p.state;
    direct::DirectSolver(p.model, {.iterations = 12, .loops = Loops::columns}).step(p.input(), exact);
    const StepReport report =
        direct::DirectSolver(p.model, {.precision = Precision::single_precision, .loops = Loops::blocks}).step(p.input(), state);
    EXPECT_FALSE(report.not_converged);
    EXPECT_LT(farthest_step(exact, state, p.state), 1e-3) << h;
  }
}

/// Stiff modes have all of the energy and soft ones the displacements: an error that is small by the energy may be all of a
/// motion.
TEST(DirectLoops, BlocksOfStiffGraphsDoNotStopEarly) {
  for (double stretch : {1e7, 1e9}) {
    const StepProblem p = net(4, stretch, 1e-3);
    newton::Settings newton;
    newton.tolerance = 1e-12;
    State exact = p.state;
    ASSERT_FALSE(newton.make(p.model)->step(p.input(), exact).not_converged);
    for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
      State state = p.state;
      const StepReport report =
          direct::DirectSolver(p.model, {.precision = precision, .loops = Loops::blocks}).step(p.input(), state);
      EXPECT_FALSE(report.not_converged);
      EXPECT_LT(farthest_step(exact, state, p.state), 1e-3) << stretch;
    }
  }
}

/// What is not a number must be told, not taken for a step that has nothing to do; and the next step knows nothing of it.
TEST(DirectLoops, BlocksTellWhatIsNotANumber) {
  const StepProblem good = net(6, 300, 1e-3);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Precision precision : {Precision::double_precision, Precision::single_precision})
    for (double force : {nan, std::numeric_limits<double>::infinity(), 1e39}) {
      direct::DirectSolver solver(good.model, {.precision = precision, .loops = Loops::blocks});
      StepProblem p = good;
      p.control.vertex_force[20].y = force;
      State state = p.state;
      const StepReport report = solver.step(p.input(), state);
      EXPECT_TRUE(report.non_finite || report.not_converged) << force;
      if (std::isnan(force)) {
        EXPECT_EQ(report.worst_vertex, 20);
      }
      State after = good.state, alone = good.state;
      EXPECT_FALSE(solver.step(constant_input(good.model, good.control, good.h), after).not_converged);
      direct::DirectSolver(good.model, {.precision = precision, .loops = Loops::blocks})
          .step(constant_input(good.model, good.control, good.h), alone);
      EXPECT_LT(farthest_step(alone, after, good.state), 1e-3) << force;
    }
}

/// A broken model that is mended, with inertia: nothing is left of the smaller one.
TEST(DirectLoops, BlocksFollowTheModel) {
  StepProblem p = net(5, 300, 1e-3), broken = p;
  Random random(2780);
  make_inertial(p, random);
  broken.model.segment_inertia = p.model.segment_inertia;
  broken.state = p.state, broken.control = p.control;
  for (Index s = 5; s < broken.model.segment_count(); ++s) broken.model.segment_alive[s] = s % 3 == 0;
  update_topology(broken.model);
  direct::DirectSolver solver(broken.model, {.loops = Loops::blocks});
  State state = broken.state;
  ASSERT_FALSE(solver.step(constant_input(broken.model, broken.control, p.h), state).non_finite);
  State after = p.state, alone = p.state;
  solver.rebind(p.model, after);
  solver.step(p.input(), after);
  direct::DirectSolver(p.model, {.loops = Loops::blocks}).step(p.input(), alone);
  EXPECT_LT(farthest_step(alone, after, p.state), 1e-4);
}

/// As many neighbours as one likes.
TEST(DirectLoops, BlocksHaveHubs) {
  StepProblem p;
  const Section section{.stretch_shear = 10, .bend_twist = 0.1, .line_density = 0.1};
  const Index hub = p.graph.add_vertex({0, 0, 0});
  constexpr int kSpokes = 70000;
  for (int i = 0; i < kSpokes; ++i) {
    const double a = 2 * std::numbers::pi * i / kSpokes;
    p.graph.add_segment(hub, p.graph.add_vertex({std::cos(a), std::sin(a), 0}), section);
  }
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  p.control = still_control(p.model, p.state);
  for (Index v = 1; v < p.model.vertex_count(); ++v) p.control.vertex_fixed[v] = 1;
  p.control.vertex_force[hub] = {0, 0, 100};
  State state = p.state;
  const StepReport report = direct::DirectSolver(p.model, {.loops = Loops::blocks}).step(p.input(), state);
  EXPECT_FALSE(report.non_finite || report.not_converged);
  EXPECT_GT(state.vertex_position[hub].z, 0);
}

/// Parts of a model that are solved apart do not take each other's supports for motion.
TEST(DirectLoops, AreNotDisturbedByWhatIsFarAway) {
  const auto with_chain = [](double far) {
    StepProblem p = net(6, 300, 4e-3);
    std::vector<Index> path;
    for (int i = 0; i < 12; ++i) path.push_back(p.graph.add_vertex({far + 0.1 * i, 5, 0}));
    p.graph.add_chain("rope", path, {.stretch_shear = 300, .bend_twist = 0.03, .line_density = 0.03});
    const State start = p.state;
    p.model = compile_graph(p.graph);
    p.state = initial_state(p.graph, p.model);
    p.control = still_control(p.model, p.state);
    std::copy(start.vertex_velocity.begin(), start.vertex_velocity.end(), p.state.vertex_velocity.begin());
    for (Index v : {Index{0}, Index{6}, path[0]}) p.control.vertex_fixed[v] = 1, p.state.vertex_velocity[v] = {};
    for (Index v = 0; v < p.model.vertex_count(); ++v) p.control.vertex_force[v] = {0, -9.81 * p.model.vertex_mass[v], 0};
    return p;
  };
  const auto stepped = [](const StepProblem& p, double tolerance) {
    State s = p.state;
    direct::make_solver(p.model, {.tolerance = tolerance})->step(p.input(), s);
    s.vertex_position.resize(49);  // those of the net
    return s;
  };
  const StepProblem near = with_chain(2), far = with_chain(1e4);
  const State exact = stepped(near, 1e-8), other = stepped(far, 1e-3);
  State start = near.state;
  start.vertex_position.resize(49);
  EXPECT_LT(farthest_step(exact, other, start), 1e-3);
}

/// Twist has no inertia: it goes around at once, however far that is, and no vertex tells.
TEST(DirectLoops, BlocksLetTwistSpread) {
  StepProblem p;
  std::vector<Index> path;
  for (int i = 0; i < 60; ++i) {
    const double a = 2 * std::numbers::pi * i / 60;
    path.push_back(p.graph.add_vertex({std::cos(a), std::sin(a), 0}));
  }
  Random random(2770);
  add_twisted_chain(p.graph, path, {.stretch_shear = 200, .bend_twist = 0.05, .line_density = 0.05}, true, 0, random);
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed.assign(path.size(), 1);
  p.control.frame_control[0] = p.control.frame_control[20] = FrameControl::fixed;
  p.control.frame_target[0] = p.state.frame_rotation[0] * axis_angle(Vec3d{0, 0, 1}, 0.8);
  p.h = 1e-3;
  newton::Settings newton;
  newton.tolerance = 1e-12;
  State exact = p.state;
  ASSERT_FALSE(newton.make(p.model)->step(p.input(), exact).not_converged);
  const auto spin = [&](const State& a, Index s) { return norm(a.frame_rotation[s] - p.state.frame_rotation[s]); };
  ASSERT_GT(spin(exact, 40), 0.03);
  for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
    State state = p.state;
    direct::DirectSolver(p.model, {.precision = precision, .loops = Loops::blocks}).step(p.input(), state);
    for (Index s = 0; s < 60; ++s) EXPECT_NEAR(spin(state, s), spin(exact, s), 1e-3) << s;
  }
}

/// What is cheaper depends on how far a step spreads: few iterations for soft loops, columns along a stiff one.
TEST(DirectLoops, AreIteratedUponWhereThatTakesLessTime) {
  const StepProblem soft = net(12, 300, 1e-3);
  EXPECT_EQ(direct::plan_step(soft.model, soft.control, soft.h).loops, Loops::blocks);
  LoadOptions options;
  options.overrides = {"/materials/band/stretch_shear=2e7"};
  Simulation stiff(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/ring.json", options));
  EXPECT_EQ(direct::plan_step(stiff.model(), stiff.control(), stiff.time_step()).loops, Loops::columns);
}

/// Of the scenes as they are, in float.
TEST(DirectMemory, IsWhatWasPredictedAndLittle) {
  const auto load = [](const std::string& name) {
    LoadOptions options;
    options.overrides = {R"(/solver={"name": "direct", "precision": "float"})"};
    return Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options);
  };
  for (const auto& [name, most] :
       {std::pair{"trees", 400.0}, {"bridge", 400.0}, {"net", 400.0}, {"dome", 400.0}, {"ring", 400.0}}) {
    Simulation simulation(load(name));
    const Model& m = simulation.model();
    const Control& c = simulation.control();
    const double h = simulation.time_step();
    direct::DirectSolver solver(m, {.precision = Precision::single_precision});
    State state = simulation.state();
    for (int i = 0; i < 2; ++i) solver.step(constant_input(m, c, h), state);
    const double used = static_cast<double>(solver.bytes());
    const auto predicted = static_cast<double>(direct::bytes(m, c, h, {.precision = Precision::single_precision}));
    EXPECT_NEAR(predicted, used, 0.1 * used) << name;
    EXPECT_LE(used, most * m.vertex_count()) << name;
  }
  for (const char* name : {"slinky", "hair_wisp"}) {
    Simulation simulation(load(name));
    const Model& m = simulation.model();
    const auto predicted = static_cast<double>(
        direct::bytes(m, simulation.control(), simulation.time_step(), {.precision = Precision::single_precision}));
    EXPECT_LE(predicted, 400.0 * m.vertex_count()) << name;
  }
}

}  // namespace
}  // namespace osier::test
