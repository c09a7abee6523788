// Loops of a direct step, closed by columns or by conjugate gradients: the same step. And what they take of memory.
#include <gtest/gtest.h>

#include "osier/osier.hpp"
#include "scene/setup.hpp"
#include "solvers/direct/link_assembly.hpp"
#include "solvers/direct/row_iteration.hpp"
#include "solvers/direct/split_solver.hpp"
#include "solvers/newton/newton.hpp"
#include "support/problem.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

using direct::Loops;

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

/// The linear system of a Gauss-Newton iteration by both, on the same tree: another one would hold frames that hang on rows alone
/// in other places.
void compare_with_columns(const StepProblem& p, const std::string& what) {
  const Executor executor(1);
  direct::StepModel step;
  step.build(p.model, p.control, p.h, Loops::iteration);
  step.begin(p.model, p.control, p.state, p.h, executor);
  direct::Tree whole = step.tree();
  whole.columns = whole.rows.size();
  std::vector<direct::AxisSets> axes;
  for (const direct::TreeNode& n : whole.nodes) axes.push_back(direct::axis_sets(p.model, n));
  std::vector<direct::RootVertex<double>> roots;
  for (Index v : whole.roots) roots.push_back(direct::assemble_root<double>(step, v));
  const auto link = [&](std::size_t i) {
    return direct::assemble_link<double>(step, i, Vec3d{0.1, -0.05, 0.02}, direct::Curvature::positive);
  };
  const auto rows = [&](std::size_t begin, std::size_t end, const auto& put) {
    direct::assemble_rows<double>(step, begin, end, put);
  };
  const auto nothing = [](int, const Vec6<double>&, const Vec3d&) {};
  const auto factored = [&](const direct::Tree& tree) {
    direct::TreeFactor<double> factor;
    factor.plan(tree.parents(), static_cast<int>(tree.roots.size()), tree.row_ends(), axes);
    factor.factor_made(link, roots, rows, &executor);
    return factor;
  };
  direct::TreeFactor<double> by_columns = factored(whole), by_iteration = factored(step.tree());
  by_columns.solve(&executor, nothing);
  direct::RowIteration<double> iteration;
  iteration.plan(step.tree());
  iteration.solve(by_iteration, step.tree(), rows, executor, {.share = 1e-14}, true, nothing);
  double error_x = 0, error_w = 0, x = 0, w = 0;
  for (std::size_t i = 0; i < whole.nodes.size(); ++i) {
    const Vec6<double>&a = by_columns.displacement()[i], &b = by_iteration.displacement()[i];
    error_x = std::max(error_x, norm(a.x - b.x)), error_w = std::max(error_w, norm(a.w - b.w));
    x = std::max(x, norm(a.x)), w = std::max(w, norm(a.w));
  }
  EXPECT_LT(error_x, 1e-10 * x) << what;
  EXPECT_LT(error_w, 1e-10 * w) << what;
}

/// Which are compared with a dense solver elsewhere (TreeFactor.ClosesLoopsExactly).
TEST(DirectLoops, ConjugateGradientsSolveWhatColumnsSolve) {
  int iterated = 0;
  for (int i = 0; i < 24; ++i) {
    StepProblem p = random_problem(
        2700 + static_cast<std::uint64_t>(i),
        {.damping = static_cast<Damping>(i % 4), .torque = i % 3 == 0, .held = i % 2 == 0, .broken = i % 5 == 0, .strain = 0.05});
    Random random(2750 + static_cast<std::uint64_t>(i));
    if (i % 4 >= 2) make_anisotropic(p, 3, random);
    if (i % 6 >= 3) make_inertial(p, random);
    p.h = 1e-3;
    iterated += direct::build_step_tree(p.model, p.control, p.h, Loops::iteration).iterates() ? 1 : 0;
    compare_with_columns(p, "problem " + std::to_string(i));
  }
  EXPECT_GE(iterated, 15);
  for (double stretch : {1.0, 300.0, 1e5}) compare_with_columns(net(6, stretch, 1e-3), "net of " + std::to_string(stretch));
}

TEST(DirectLoops, IterationsArriveWhereNewtonDoes) {
  for (int i = 0; i < 16; ++i) {
    StepProblem p =
        random_problem(2800 + static_cast<std::uint64_t>(i), {.torque = i % 3 == 0, .held = i % 2 == 0, .strain = 0.1});
    Random random(2850 + static_cast<std::uint64_t>(i));
    if (i % 4 >= 2) make_anisotropic(p, 3, random);
    newton::Settings exact;
    exact.tolerance = 1e-12;
    State by_newton = p.state, by_direct = p.state;
    ASSERT_FALSE(exact.make(p.model)->step(p.model, p.control, by_newton, p.h).not_converged) << i;
    const StepReport report =
        direct::DirectSolver(p.model, {.tolerance = 1e-10, .max_iterations = 200, .loops = Loops::iteration})
            .step(p.model, p.control, by_direct, p.h);
    EXPECT_FALSE(report.not_converged) << i;
    EXPECT_LT(farthest(by_direct.vertex_position, by_newton.vertex_position), 1e-8) << i;
  }
}

TEST(DirectLoops, IterationsDoNotDependOnTheNumberOfThreads) {
  const StepProblem p = net(8, 300, 1e-3);
  ASSERT_TRUE(direct::build_step_tree(p.model, p.control, p.h, Loops::automatic).iterates());
  for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
    State alone;
    for (int threads : {1, 2, 3, 7}) {
      State state = p.state;
      direct::DirectSolver solver(p.model, {.precision = precision, .threads = threads});
      for (int i = 0; i < 2; ++i) ASSERT_FALSE(solver.step(p.model, p.control, state, p.h).not_converged);
      if (threads == 1) alone = state;
      EXPECT_TRUE(identical(state, alone)) << threads << " threads";
    }
  }
}

/// Float is enough for them: no column is open long enough for its compliance to drown.
TEST(DirectLoops, IterationsAreAccurateInFloat) {
  for (double h : {1e-3, 4e-3}) {
    const StepProblem p = net(12, 300, h);
    State exact = p.state, state = p.state;
    direct::DirectSolver(p.model, {.iterations = 12, .loops = Loops::columns}).step(p.model, p.control, exact, p.h);
    const StepReport report = direct::DirectSolver(p.model, {.precision = Precision::single_precision, .loops = Loops::iteration})
                                  .step(p.model, p.control, state, p.h);
    EXPECT_FALSE(report.not_converged);
    EXPECT_LT(farthest_step(exact, state, p.state), 1e-3) << h;
  }
}

/// What is cheaper depends on how far a step spreads: few iterations for soft loops, columns for stiff ones.
TEST(DirectLoops, AreIteratedUponWhereThatTakesLessWork) {
  const StepProblem soft = net(12, 300, 1e-3), stiff = net(12, 1e9, 1e-2), small = net(1, 300, 1e-3);
  EXPECT_TRUE(direct::build_step_tree(soft.model, soft.control, soft.h).iterates());
  EXPECT_FALSE(direct::build_step_tree(stiff.model, stiff.control, stiff.h).iterates());
  EXPECT_FALSE(direct::build_step_tree(small.model, small.control, small.h).iterates());
}

/// Of the scenes as they are, in float.
TEST(DirectMemory, IsWhatWasPredictedAndLittle) {
  const auto load = [](const std::string& name) {
    LoadOptions options;
    options.overrides = {R"(/solver={"name": "stable_cosserat", "method": "direct", "precision": "float"})"};
    return Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options);
  };
  for (const auto& [name, most] : {std::pair{"trees", 400.0}, {"bridge", 400.0}, {"net", 1000.0}}) {
    Simulation simulation(load(name));
    const Model& m = simulation.model();
    const Control& c = simulation.control();
    const double h = simulation.time_step();
    direct::DirectSolver solver(m, {.precision = Precision::single_precision});
    State state = simulation.state();
    for (int i = 0; i < 2; ++i) solver.step(m, c, state, h);
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
