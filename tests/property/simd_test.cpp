// Every instruction set computes the same, to rounding; so do colours one by one, as the paper's algorithm has them.
#include "exec/simd.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "support/forked_tree.hpp"
#include "support/mixed.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

using stable_cosserat::Lambda, stable_cosserat::Settings;

constexpr double kRounding = 500 * std::numeric_limits<double>::epsilon();

State after(const StepProblem& p, const Settings& settings, int steps) {
  State state = p.state;
  const auto solver = settings.make(p.model);
  for (int i = 0; i < steps; ++i) EXPECT_FALSE(solver->step(p.input(), state).non_finite);
  return state;
}

Settings sweeps(Simd simd, Lambda lambda, Precision number = Precision::double_precision) {
  Settings s;
  s.execution.simd = simd, s.lambda = lambda, s.execution.precision = number, s.iteration_count = 4;
  return s;
}

/// The largest difference in positions, relative to the size of it all, velocities times a step likewise, and frames.
double difference(const StepProblem& p, const State& a, const State& b) {
  const double size = extent(a);
  return std::max({farthest(a.vertex_position, b.vertex_position) / size,
                   p.h * farthest(a.vertex_velocity, b.vertex_velocity) / size, farthest(a.frame_rotation, b.frame_rotation)});
}

template <class F>
void for_each_simd(const F& f) {
  for (Simd simd : {Simd::sse2, Simd::avx2, Simd::avx512})
    if (simd_available(simd)) f(simd);
}

void expect_agreement(const MixedOptions& options, std::uint64_t seed, double tolerance = kRounding) {
  const StepProblem p = mixed_problem(seed, options);
  for (Lambda lambda : {Lambda::approx, Lambda::exact, Lambda::secular}) {
    const State off = after(p, sweeps(Simd::off, lambda), 5);
    for_each_simd([&](Simd simd) {
      EXPECT_LT(difference(p, off, after(p, sweeps(simd, lambda), 5)), tolerance)
          << simd_name(simd) << " lambda " << Choices<Lambda>::names[static_cast<std::size_t>(lambda)] << " seed " << seed;
    });
  }
}

TEST(Simd, GivesTheSameStepsAsOneNumberAtATime) {
  for (std::uint64_t seed : {1, 2, 3}) expect_agreement({}, seed);
}

TEST(Simd, GivesTheSameStepsWhateverIsDamped) {
  for (Damping damping : {Damping::none, Damping::stretch, Damping::bend}) expect_agreement({.damping = damping}, 4);
}

TEST(Simd, GivesTheSameStepsOfFreeUnbrokenRods) { expect_agreement({.torque = false, .held = false, .broken = false}, 5); }

TEST(Simd, GivesTheSameStepsWherePolesDiffer) {
  // Far from rest, rounding grows from step to step.
  expect_agreement({.strain = 1.5}, 6, 20 * kRounding);
}

TEST(Simd, GivesTheSameStepsInFloatToItsRounding) {
  const StepProblem p = mixed_problem(7);
  const State exact = after(p, sweeps(Simd::off, Lambda::secular), 3);
  const auto expect_close = [&](Simd simd) {
    EXPECT_LT(difference(p, exact, after(p, sweeps(simd, Lambda::secular, Precision::single_precision), 3)), 2e-5)
        << simd_name(simd);
  };
  expect_close(Simd::off);
  for_each_simd(expect_close);
}

/// With a stiffness per axis. Axes that differ by the square of the ratio, and far from rest, where Newton steps are refused,
/// hinges turn far and elastic and viscous poles part: rounding grows from step to step.
StepProblem anisotropic_problem(std::uint64_t seed, const MixedOptions& options, double ratio) {
  StepProblem p = mixed_problem(seed, options);
  Random random(seed + 50);
  make_anisotropic(p, ratio, random);
  return p;
}

TEST(Simd, GivesTheSameStepsWithAStiffnessPerAxis) {
  int seed = 20;
  for (Damping damping : {Damping::none, Damping::stretch, Damping::bend, Damping::both})
    for (double strain : {0.1, 1.5}) {
      const StepProblem p = anisotropic_problem(++seed, {.damping = damping, .strain = strain}, 3);
      const State off = after(p, sweeps(Simd::off, Lambda::secular), 5);
      for_each_simd([&](Simd simd) {
        EXPECT_LT(difference(p, off, after(p, sweeps(simd, Lambda::secular), 5)), (strain > 1 ? 200 : 1) * kRounding)
            << simd_name(simd) << " seed " << seed;
        if (strain > 1) return;
        EXPECT_LT(difference(p, off, after(p, sweeps(simd, Lambda::secular, Precision::single_precision), 5)), 5e-5)
            << simd_name(simd) << " seed " << seed;
      });
    }
}

/// Strands and cut chains by themselves, or all of the model in tiles, where somebody has to look at it in between: one order.
TEST(Simd, GivesTheSameStepsInChainsAndInTiles) {
  for (bool anisotropic : {false, true})
    for (Damping damping : {Damping::none, Damping::both}) {
      const StepProblem p =
          anisotropic ? anisotropic_problem(31, {.damping = damping}, 3) : mixed_problem(31, {.damping = damping});
      Settings s = sweeps(Simd::automatic, Lambda::secular);
      const State chains = after(p, s, 3);
      s.tolerance = 1e-300, s.max_iterations = s.iteration_count;
      EXPECT_LT(difference(p, chains, after(p, s, 3)), kRounding) << (anisotropic ? "anisotropic" : "isotropic");
    }
}

/// In double the net takes several regions, in float one (unit/GraphPlan counts them).
TEST(Simd, GivesTheSameStepsInSeveralRegions) {
  const StepProblem p = mixed_problem(10, {.torque = false, .net = 110});
  const State off = after(p, sweeps(Simd::off, Lambda::secular), 3);
  for_each_simd([&](Simd simd) {
    EXPECT_LT(difference(p, off, after(p, sweeps(simd, Lambda::secular), 3)), kRounding) << simd_name(simd);
    EXPECT_LT(difference(p, off, after(p, sweeps(simd, Lambda::secular, Precision::single_precision), 3)), 2e-5)
        << simd_name(simd);
  });
}

TEST(Simd, GivesTheSameStepsWithAStiffnessPerAxisInSeveralRegions) {
  const StepProblem p = anisotropic_problem(10, {.torque = false, .net = 110}, 3);
  const State off = after(p, sweeps(Simd::off, Lambda::secular), 2);
  for_each_simd([&](Simd simd) {
    EXPECT_LT(difference(p, off, after(p, sweeps(simd, Lambda::secular), 2)), kRounding) << simd_name(simd);
  });
}

constexpr const char* kRubber = R"({"young": 1e6, "poisson": 0.3, "density": 1000, "radius": 0.01, "tau_bend": 0.001})";

State swept(const std::string& text, const std::string& solver, int steps) {
  Simulation simulation(scene_with(text, solver));
  for (int i = 0; i < steps; ++i) simulation.step();
  return simulation.state();
}

/// Curved chains clamped at both ends, of lengths of which some leave a single vertex for the last lane.
TEST(Simd, CutsChainsAnywhere) {
  for (int segments : {268, 269, 270, 300}) {
    const std::string text = fmt::format(R"({{
      "materials": {{"m": {}}},
      "rods": [{{"name": "a", "shape": {{"type": "arc", "radius": 0.5, "angle": 180}}, "segments": {}, "material": "m"}}],
      "constraints": [{{"type": "clamp", "vertices": ["a:start", "a:end"]}}], "forces": [{{"type": "gravity"}}],
      "analysis": {{"type": "dynamic", "step": 0.001, "duration": 1}}}})",
                                         kRubber, segments);
    const auto run = [&](Simd simd) {
      return swept(
          text,
          fmt::format(R"({{"name": "stable_cosserat", "iterations": 20, "precision": "float", "simd": "{}"}})", simd_name(simd)),
          40);
    };
    const State off = run(Simd::off);
    for_each_simd([&](Simd simd) {
      EXPECT_LT(farthest(off.vertex_position, run(simd).vertex_position), 2e-6) << segments << " " << simd_name(simd);
    });
  }
}

/// A hinge's frame is done apart from its tile, also where it has fewer joints than others of the tile, and where it is led
/// about.
TEST(Simd, HingesWithAStiffnessPerAxisGoWhereNewtonPutsThem) {
  const auto text = [](const char* motion) {
    return fmt::format(R"({{
      "materials": {{"m": {}}},
      "rods": [{{"name": "a", "shape": {{"type": "line", "from": [0, 0, 0], "to": [0.2, 0, 0]}}, "segments": 2, "material": "m"}},
               {{"name": "b", "shape": {{"type": "line", "from": [0, 1, 0], "to": [1, 1, 0]}}, "segments": 10, "material": "m"}}],
      "constraints": [{{"type": "hinge", "vertex": "a:end", "axis": [0, 0, 1]{}}}, {{"type": "clamp", "vertices": "b:start"}}],
      "forces": [{{"type": "gravity"}}], "analysis": {{"type": "dynamic", "step": 0.002, "duration": 1, "integrator": "implicit_euler"}}}})",
                       kRubber, motion);
  };
  const char* led = R"(, "motion": {"rotate": {"axis": [0, 1, 0], "angle": {"keys": [[0, 0], [0.1, 60]]}}})";
  for (const char* motion : {"", led}) {
    const State exact = swept(text(motion), R"({"name": "newton", "tolerance": 1e-12})", 40);
    const auto expect_exact = [&](const std::string& more) {
      const State state = swept(text(motion), R"({"name": "stable_cosserat", "max_iterations": 100000, )" + more + "}", 40);
      EXPECT_LT(farthest(state.vertex_position, exact.vertex_position), 1e-6) << more;
    };
    const auto expect_in_lanes = [&](Simd simd) {
      expect_exact(fmt::format(R"("tolerance": 1e-9, "simd": "{}")", simd_name(simd)));
    };
    expect_in_lanes(Simd::off);
    for_each_simd(expect_in_lanes);
    expect_exact(R"("order": "gauss_seidel", "tolerance": 1e-9)");
  }
}

/// Indices of 32 bits (unit/GraphPlan), also against sweeps without tiles, which go another way to the same step.
TEST(Simd, GivesTheSameStepsWithLongIndices) {
  const StepProblem p = forked_tree(17);
  const State off = after(p, sweeps(Simd::off, Lambda::secular), 2);
  for_each_simd([&](Simd simd) {
    EXPECT_LT(difference(p, off, after(p, sweeps(simd, Lambda::secular), 2)), kRounding) << simd_name(simd);
    EXPECT_LT(difference(p, off, after(p, sweeps(simd, Lambda::secular, Precision::single_precision), 2)), 2e-5)
        << simd_name(simd);
  });
  Settings s = sweeps(Simd::automatic, Lambda::secular);
  s.iteration_count = 60;
  const State colored = after(p, s, 1);
  s.order = stable_cosserat::Order::gauss_seidel;
  EXPECT_LT(difference(p, after(p, s, 1), colored), 1e-4);
}

TEST(Simd, StopsAtTheSameToleranceAndPlace) {
  const StepProblem p = mixed_problem(8, {.torque = false});
  Settings s = sweeps(Simd::off, Lambda::secular);
  s.tolerance = 1e-6, s.max_iterations = 4000;
  State off = p.state;
  const StepReport want = s.make(p.model)->step(p.input(), off);
  EXPECT_FALSE(want.not_converged);
  for_each_simd([&](Simd simd) {
    s.execution.simd = simd;
    State state = p.state;
    const StepReport got = s.make(p.model)->step(p.input(), state);
    EXPECT_EQ(got.iterations, want.iterations) << simd_name(simd);
    EXPECT_LT(difference(p, off, state), kRounding) << simd_name(simd);
  });
}

/// Sweeps to convergence are the same step in whatever order.
void expect_the_step_of_sequential_sweeps(const StepProblem& p) {
  Settings s = sweeps(Simd::automatic, Lambda::secular);
  s.tolerance = 1e-10, s.max_iterations = 20000;
  State colored = p.state, sequential = p.state;
  EXPECT_FALSE(s.make(p.model)->step(p.input(), colored).not_converged);
  s.order = stable_cosserat::Order::gauss_seidel;
  EXPECT_FALSE(s.make(p.model)->step(p.input(), sequential).not_converged);
  // Frames of cables keep whatever twist they came to on the way.
  EXPECT_LT(farthest(sequential.vertex_position, colored.vertex_position) / extent(sequential), 1e-9);
}
TEST(Simd, ConvergesToTheStepOfSequentialSweeps) {
  expect_the_step_of_sequential_sweeps(mixed_problem(9, {.torque = false, .long_chain = 300}));
  expect_the_step_of_sequential_sweeps(anisotropic_problem(9, {.torque = false, .long_chain = 300}, 1.5));
}

}  // namespace
}  // namespace osier::test
