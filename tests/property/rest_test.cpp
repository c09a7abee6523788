// What is at rest stays at rest: no linear model, warm start or fixed number of iterations may make energy out of rounding, on
// any path, in either number type. Flat bars that are welded at an angle are the hard case: their stiffnesses differ by the
// square of width over thickness, and about other axes on one side of the weld than on the other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "osier/osier.hpp"
#include "solvers/direct/direct_solver.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

/// A rod of the section `width` x 2 mm.
std::string bar(int k, const Vec3d& from, const Vec3d& to, int segments) {
  return fmt::format(
      R"({{"name": "b{}", "shape": {{"type": "line", "from": [{}, {}, {}], "to": [{}, {}, {}]}}, "segments": {}, "material": "m{}"}})",
      k, from.x, from.y, from.z, to.x, to.y, to.z, segments, k);
}

/// Two to five flat bars of steel that grow out of each other's ends at random angles, sometimes closed to a triangle, sometimes
/// clamped. Nothing acts on them.
std::string random_bars(std::uint64_t seed) {
  Random random(seed);
  const int bars = 2 + random.below(4);
  std::vector<Vec3d> ends{{0, 0, 0}, {0.35, 0, 0}};
  std::vector<std::string> end_names{"b0:start", "b0:end"};
  std::string rods, materials, welds;
  for (int k = 0; k < bars; ++k) {
    materials += fmt::format(
        R"({}"m{}": {{"young": 2e11, "poisson": 0.3, "density": 7850, "section": {{"type": "rectangle", "width": {}, "height": 0.002}}}})",
        k > 0 ? ", " : "", k, 0.002 * random.range(2, 25));
    const auto at = static_cast<std::size_t>(k == 0 ? 0 : random.below(static_cast<int>(ends.size())));
    const Vec3d from = k == 0 ? Vec3d{0, 0, 0} : ends[at];
    const bool closes = k == 2 && seed % 3 == 0;
    const Vec3d to = k == 0 ? Vec3d{0.35, 0, 0} : closes ? ends.back() : from + random.range(0.2, 0.5) * random.direction();
    const Vec3d begin = closes ? ends[0] : from;
    rods += (k > 0 ? ", " : "") + bar(k, begin, to, 3 + random.below(8));
    const auto weld = [&](const std::string& a, const std::string& b) {
      welds += fmt::format(R"({}{{"vertices": ["{}", "{}"]}})", welds.empty() ? "" : ", ", a, b);
    };
    if (k > 0) weld(closes ? end_names[0] : end_names[at], fmt::format("b{}:start", k));
    if (closes) weld(end_names.back(), fmt::format("b{}:end", k));
    if (k > 0 && !closes) {
      ends.push_back(to);
      end_names.push_back(fmt::format("b{}:end", k));
    }
  }
  const std::string held = seed % 2 == 0 ? R"("constraints": [{"type": "clamp", "vertices": "b0:start"}], )" : "";
  return fmt::format(
      R"({{"materials": {{{}}}, "rods": [{}], "welds": [{}], {}"analysis": {{"type": "dynamic", "step": 0.001, "duration": 1}}}})",
      materials, rods, welds, held);
}

struct Path {
  const char* solver;
  double drift;  ///< that rounding is allowed in 1,000 steps [m]
};

LoadOptions with_solver(const std::string& solver) {
  LoadOptions options;
  options.overrides = {"/solver=" + solver};
  return options;
}

/// Farthest that a vertex has got from where it started, over 1,000 steps.
double drift_of(const std::string& scene, const std::string& solver) {
  Simulation simulation(Scene::parse(scene, "bars", ".", with_solver(solver)));
  const std::vector<Vec3d> start = simulation.state().vertex_position;
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    simulation.step();
    for (std::size_t v = 0; v < start.size(); ++v)
      worst = std::max(worst, norm(simulation.state().vertex_position[v] - start[v]));
  }
  return worst;
}

TEST(Rest, FlatBarsWeldedAtAnglesStayWhereTheyAreOnEveryPath) {
  const Path paths[] = {
      {R"({"name": "automatic"})", 1e-9},
      {R"({"name": "automatic", "precision": "float"})", 1e-6},
      {R"({"name": "direct", "iterations": 1})", 1e-9},
      {R"({"name": "direct", "iterations": 1, "precision": "float"})", 1e-6},
      {R"({"name": "direct", "iterations": 4})", 1e-9},
      {R"({"name": "direct", "iterations": 4, "precision": "float"})", 1e-6},
      {R"({"name": "direct", "simd": "off"})", 1e-9},
      {R"({"name": "newton"})", 1e-9},
      {R"({"name": "projective", "iteration": "sweeps"})", 1e-9},
      {R"({"name": "projective", "iteration": "sweeps", "precision": "float"})", 1e-6},
      {R"({"name": "projective", "iteration": "anderson"})", 1e-9},
      {R"({"name": "stable_cosserat", "iterations": 4})", 1e-9},
      {R"({"name": "stable_cosserat", "iterations": 4, "precision": "float"})", 1e-6},
      {R"({"name": "stable_cosserat", "iterations": 4, "order": "gauss_seidel"})", 1e-9},
  };
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string scene = random_bars(seed);
    for (const Path& path : paths) EXPECT_LT(drift_of(scene, path.solver), path.drift) << path.solver << ", bars " << seed;
  }
}

/// The two bars that showed it: 0.2 m in a second, and 4 J.
TEST(Rest, AnLOfTwoSteelStripsMakesNoEnergy) {
  const std::string scene = R"({
    "materials": {"bar": {"young": 2e11, "poisson": 0.3, "density": 7850,
                          "section": {"type": "rectangle", "width": 0.02, "height": 0.002}}},
    "rods": [
      {"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [0.35, 0, 0]}, "segments": 8, "material": "bar"},
      {"name": "b", "shape": {"type": "line", "from": [0.35, 0, 0], "to": [0.35, 0.35, 0]}, "segments": 8, "material": "bar"}],
    "welds": [{"vertices": ["a:end", "b:start"]}],
    "analysis": {"type": "dynamic", "step": 0.001, "duration": 1}})";
  for (const char* precision : {"float", "double"})
    for (const char* iterations : {"", R"(, "iterations": 1)", R"(, "iterations": 4)"}) {
      const std::string solver = fmt::format(R"({{"name": "direct", "precision": "{}"{}}})", precision, iterations);
      Simulation simulation(Scene::parse(scene, "L", ".", with_solver(solver)));
      for (int i = 0; i < 1000; ++i) EXPECT_FALSE(simulation.step().not_converged) << solver;
      EXPECT_LT(simulation.diagnostics().total(), 1e-8) << solver;
    }
}

/// Blocks are asked for by name, since trees are as cheap for so few loops.
TEST(Rest, ConjugateGradientsMakeNoEnergyEither) {
  for (std::uint64_t seed = 3; seed <= 12; seed += 3) {
    const Scene scene = Scene::parse(random_bars(seed));
    for (Precision precision : {Precision::double_precision, Precision::single_precision})
      for (int iterations : {0, 1}) {
        direct::DirectSolver solver(scene.model(),
                                    {.iterations = iterations, .precision = precision, .loops = systems::Loops::blocks});
        State state = scene.initial_state();
        Simulation simulation(scene);
        double worst = 0;
        for (int i = 0; i < 1000; ++i) {
          solver.step(constant_input(scene.model(), simulation.control(), 1e-3), state);
          for (std::size_t v = 0; v < state.vertex_position.size(); ++v)
            worst = std::max(worst, norm(state.vertex_position[v] - scene.initial_state().vertex_position[v]));
        }
        EXPECT_LT(worst, precision == Precision::single_precision ? 1e-6 : 1e-9) << "bars " << seed << ", " << iterations;
      }
  }
}

}  // namespace
}  // namespace osier::test
