// What `auto` chooses, what it keeps its promise about, and how it goes over from sweeps to direct solves.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "bench/step_problem.hpp"
#include "osier/simulation.hpp"
#include "solvers/stable_cosserat/method_cost.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "solvers/stable_cosserat/sweep_error.hpp"

namespace osier {
namespace {

const std::string kAuto = R"("name": "stable_cosserat")", kFloat = R"("name": "stable_cosserat", "precision": "float")";

Scene scene_with(const std::string& name, const std::string& solver, std::vector<std::string> overrides = {}) {
  overrides.insert(overrides.begin(), "/solver={" + solver + "}");
  LoadOptions options;
  options.overrides = std::move(overrides);
  return Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options);
}

MethodChoice choice_of(const Scene& scene) {
  const Simulation simulation(scene);
  return scene.setup().spec.solver->choose(scene.model(), simulation.control(), simulation.time_step());
}
MethodChoice choice_of(const std::string& name, const std::string& solver, std::vector<std::string> overrides = {}) {
  return choice_of(scene_with(name, solver, std::move(overrides)));
}
std::string method_of(const std::string& name, const std::string& solver, std::vector<std::string> overrides = {}) {
  return choice_of(name, solver, std::move(overrides)).method;
}

/// The instruction sets of this machine, narrow to wide: `off` and `sse2` everywhere.
std::vector<Simd> available() {
  std::vector<Simd> sets{Simd::off, Simd::sse2, Simd::avx2, Simd::avx512};
  std::erase_if(sets, [](Simd simd) { return !simd_available(simd); });
  return sets;
}
std::string with(const std::string& solver, Simd simd) { return solver + R"(, "simd": ")" + simd_name(simd) + "\""; }

constexpr const char* kOneTree = "/structures/0/count=1";
constexpr const char* kRough = "/solver/tolerance=0.07";
/// A tree that is held twice does not go into lanes.
constexpr const char* kHeldTip = R"(/constraints/2={"type": "pin", "vertices": [3000]})";

TEST(MethodChoice, ChainsAreSolvedDirectly) {
  for (const char* simd : {"auto", "off"}) {
    const std::string solver = kFloat + R"(, "simd": ")" + simd + "\"";
    EXPECT_EQ(method_of("hair_wisp", solver, {"/structures/0/strands=64"}), "direct") << simd;
    EXPECT_EQ(method_of("grass", solver, {"/structures/0/blades=64"}), "direct") << simd;
    EXPECT_EQ(method_of("cantilever", solver), "direct") << simd;
  }
  // R = 0.7 would do for sweeps; its joints are a thousand times stiffer than what ties its frames to its edges.
  const MethodChoice slinky = choice_of("slinky", kFloat);
  EXPECT_EQ(slinky.method, "direct");
  EXPECT_GT(slinky.costs->sweeps, 1000);
}

/// Conjugate gradients beat sweeps wherever more than some thirty of these are needed.
TEST(MethodChoice, NetsAreSolvedDirectly) {
  for (const std::string& solver : {kFloat, kAuto}) EXPECT_EQ(method_of("net", solver), "direct") << solver;
}
/// A handful of sweeps gets near, and is cheaper with any instructions; with the widest so are some twenty, to a thousandth.
TEST(MethodChoice, SoftLoopsAreSwept) {
  for (const Simd simd : available())
    for (const std::string& solver : {kFloat, kAuto})
      for (const char* name : {"bridge", "net"}) {
        std::vector<std::string> set{"/analysis/step=1e-4", kRough};
        if (simd == Simd::avx512) set.pop_back();
        const MethodChoice choice = choice_of(name, with(solver, simd), set);
        EXPECT_EQ(choice.method, "sweep") << name << " " << simd_name(simd) << ": " << choice.why;
      }
}

/// Held by a twig a tree is not for lanes, and node by node it takes as long as some hundred sweeps.
TEST(MethodChoice, WhatIsSoftAndDearIsSwept) {
  if (!simd_available(Simd::avx2)) GTEST_SKIP() << "without lanes direct solves may win";
  EXPECT_EQ(method_of("trees", kFloat + R"(, "simd": "avx2")", {kOneTree, kHeldTip}), "sweep");
}

/// In lanes a direct solve takes what some fifteen sweeps do, and a step of these trees asks for more.
TEST(MethodChoice, TreesAreSolvedDirectly) {
  for (const char* simd : {"auto", "off"}) {
    EXPECT_EQ(method_of("trees", kFloat + R"(, "simd": ")" + simd + "\"", {kOneTree}), "direct") << simd;
    EXPECT_EQ(method_of("trees", kAuto + R"(, "simd": ")" + simd + "\"", {kOneTree}), "direct") << simd;
  }
}

/// Lanes make sweeps more than three times as fast, and conjugate gradients, which gather and add up, about twice: what is a
/// little too dear to be swept one number at a time is swept in lanes.
TEST(MethodChoice, KnowsTheInstructions) {
  const MethodChoice off = choice_of("net", with(kFloat, Simd::off), {kRough});
  EXPECT_EQ(off.method, "direct") << off.why;
  for (const Simd simd : available()) {
    if (simd == Simd::off) continue;
    const MethodChoice lanes = choice_of("net", with(kFloat, simd), {kRough});
    EXPECT_EQ(lanes.method, "sweep") << simd_name(simd) << ": " << lanes.why;
    EXPECT_EQ(lanes.costs->sweeps, off.costs->sweeps);
    EXPECT_GT(off.costs->sweep_seconds, 3 * lanes.costs->sweep_seconds) << simd_name(simd);
    EXPECT_GT(off.costs->direct_seconds, 1.5 * lanes.costs->direct_seconds) << simd_name(simd);
  }
}

/// Sweeps grow with the square of the step, direct solves do not: R = 316 at a whole frame.
TEST(MethodChoice, LongStepsAndStiffNetsAreSolvedDirectly) {
  EXPECT_EQ(method_of("trees", kFloat, {"/analysis/step=0.0333333333"}), "direct");
  const MethodChoice stiff = choice_of("net", kFloat, {"/analysis/step=0.0333333333"});
  EXPECT_EQ(stiff.method, "direct") << stiff.why;
  EXPECT_GT(stiff.costs->sweeps, 10000);
}

TEST(MethodChoice, FixedIterationsAreSweepsOnlyWhereTheyConverge) {
  EXPECT_EQ(method_of("trees", kFloat + R"(, "iterations": 4)", {kOneTree}), "direct");
  EXPECT_EQ(method_of("trees", kFloat + R"(, "iterations": 400)", {kOneTree}), "sweep");
}

TEST(MethodChoice, DoesNotDependOnThreads) {
  for (const char* name : {"trees", "bridge", "ring"}) {
    const MethodChoice one = choice_of(name, kFloat), seven = choice_of(name, kFloat + R"(, "threads": 7)");
    EXPECT_EQ(one.method, seven.method) << name;
    EXPECT_EQ(one.costs->sweeps_seconds(), seven.costs->sweeps_seconds()) << name;
    EXPECT_EQ(one.costs->direct_seconds, seven.costs->direct_seconds) << name;
  }
}

TEST(MethodChoice, SaysWhyInNumbers) {
  const MethodChoice choice = choice_of("net", kFloat);
  for (const char* part : {"sweeps", "conjugate gradients because of loops", "2400 of 2400 segments in SIMD lanes"})
    EXPECT_NE(choice.why.find(part), std::string::npos) << choice.why;
}

/// kappa of a chain of equal segments: 1 + 2R inside, 1 + 2R at an end that carries half the mass.
TEST(SweepRatios, OfAChainAreThoseOfTheTheory) {
  const Scene scene = bench::load(bench::cantilever("beam", 100, 1e7), bench::direct(1), ".");
  const Simulation simulation(scene);
  const double h = simulation.time_step(), R = scene.model().stiffness_ratio(h), l = 0.01, r = 0.01;
  const stable_cosserat::SweepRatios ratios = stable_cosserat::sweep_ratios(scene.model(), simulation.control(), h);
  EXPECT_NEAR(ratios.vertex, 1 + 2 * R, 1e-9 * R);
  const double inside = 1 + 2 * (r * r / 4) / (l * l);  // B/S = EI/(EA l^2)
  EXPECT_NEAR(ratios.frame, inside, 0.01 * inside);     // the last frame has one joint only
}

// --- The estimate of what is left ---------------------------------------------------------------------------------------------

/// Feeds it the moves of an iteration whose error after n sweeps is error(n), and compares at the end. Returns the sweeps.
template <class Error>
int expect_honest(const Error& error, double motion = 1) {
  stable_cosserat::SweepError estimate(1e-3, 1e-8, 0, 0, 16);
  double before = error(0);
  for (;;) {
    const int n = estimate.next();
    if (n > 1000000) break;
    const bool done = estimate.settled({before - error(n), motion - error(n)}, [&] { return motion; });
    before = error(n);
    if (!done) continue;
    EXPECT_LE(error(n), 1e-3 * motion) << "after " << n << " sweeps";
    return n;
  }
  ADD_FAILURE() << "does not end";
  return 0;
}

TEST(SweepError, IsHonestAboutDecay) {
  for (double kappa : {1.0, 3.0, 30.0, 300.0, 3000.0}) {
    const int sweeps = expect_honest([&](double n) { return std::exp(-2 * n / kappa); });
    EXPECT_LE(sweeps, 10 + 6 * kappa) << "more than half too many: " << kappa;  // 3.45 kappa are enough
  }
  for (double power : {1.0, 1.5, 3.0}) expect_honest([&](double n) { return std::pow(1 + n, -power); });
  // A slow mode behind a fast one.
  for (double share : {0.3, 0.03})
    expect_honest([&](double n) { return (1 - share) * std::exp(-n) + share * std::exp(-n / 30); });
}

// --- The promise --------------------------------------------------------------------------------------------------------------

/// One step taken out of a run that is solved well.
struct Step {
  State start;
  Control control;
  double h;
};
Step step_of(const Scene& scene, int steps) {
  Simulation simulation(scene);
  for (int i = 0; i < steps; ++i) simulation.step();
  Step s{simulation.state(), {}, simulation.time_step()};
  simulation.step();
  s.control = simulation.control();
  return s;
}
std::vector<Vec3d> solved(const Scene& by, const Step& s) {
  State state = s.start;
  const StepReport report = by.setup().spec.solver->make(by.model())->step(constant_input(by.model(), s.control, s.h), state);
  EXPECT_FALSE(report.not_converged);
  EXPECT_EQ(report.sweeps_given_up, 0);
  return state.vertex_position;
}

/// Trees by sweeps, loops by whichever this machine does sooner.
class AutoPromise : public testing::TestWithParam<std::tuple<const char*, double, int>> {};
TEST_P(AutoPromise, ErrorsOfAStepAreBelowAThousandthOfItsMotion) {
  if (!simd_available(Simd::avx2)) GTEST_SKIP() << "without lanes direct solves may win";
  const auto [name, h, steps] = GetParam();
  std::vector<std::string> set{"/analysis/step=" + std::to_string(h)};
  if (std::string(name) == "trees") set.push_back(kOneTree), set.push_back(kHeldTip);
  const Scene exact = scene_with(name, R"("name": "stable_cosserat", "method": "direct", "tolerance": 1e-5)", set);
  const Step s = step_of(exact, steps);
  const std::vector<Vec3d> x = solved(exact, s);
  const double motion = bench::farthest(x, s.start.vertex_position);
  // Float sweeps add what rounding makes of frames: units in the last place, seen at the end of a segment.
  const std::vector<double>& lengths = exact.model().segment_rest_length;
  const double rounding = 1e-6 * *std::max_element(lengths.begin(), lengths.end());
  for (const std::string& solver : {kAuto, kFloat}) {
    const Scene scene = scene_with(name, solver, set);
    if (std::string(name) == "trees" && solver == kFloat) {
      ASSERT_EQ(choice_of(scene).method, "sweep");
    }
    EXPECT_LE(bench::farthest(solved(scene, s), x), 1e-3 * motion + (solver == kFloat ? rounding : 0))
        << name << " " << solver << ", a motion of " << motion << " m";
  }
}
INSTANTIATE_TEST_SUITE_P(Scenes, AutoPromise,
                         testing::Values(std::tuple{"trees", 1e-3, 5}, std::tuple{"trees", 1e-3, 60},
                                         std::tuple{"bridge", 1e-3, 5}, std::tuple{"bridge", 1e-3, 12},
                                         std::tuple{"net", 1e-3, 3}),
                         [](const auto& given) {
                           return std::string(std::get<0>(given.param)) + "_after_" + std::to_string(std::get<2>(given.param));
                         });

// --- Going over ---------------------------------------------------------------------------------------------------------------

TEST(AutoGivesUp, TakesTheSameStepDirectlyAndStaysWithIt) {
  if (!simd_available(Simd::avx2)) GTEST_SKIP() << "without lanes direct solves may win";
  // As many sweeps as are predicted, fewer than are needed once the wind has built up.
  const std::vector<std::string> set{kOneTree, kHeldTip};
  const std::string automatic = kFloat + R"(, "simd": "avx2")";
  const MethodChoice choice = choice_of("trees", automatic, set);
  const std::string limit = R"(, "tolerance": 1e-3, "max_iterations": )" + std::to_string(std::lround(choice.costs->sweeps));
  const Scene scene = scene_with("trees", automatic + limit, set),
              direct = scene_with("trees", automatic + R"(, "method": "direct")" + limit, set);
  ASSERT_EQ(choice_of(scene).method, "sweep");
  const auto solver = scene.setup().spec.solver->make(scene.model()), other = direct.setup().spec.solver->make(direct.model());
  Simulation loads(direct);
  State state = loads.state();
  int given_up = 0, after = 0;
  for (int i = 0; i < 200 && after < 3; ++i) {
    loads.step();
    State expected = state;
    const StepReport report = solver->step(constant_input(scene.model(), loads.control(), loads.time_step()), state);
    EXPECT_FALSE(report.not_converged) << i;
    EXPECT_FALSE(report.non_finite) << i;
    if (report.sweeps_given_up > 0) {
      EXPECT_EQ(report.sweeps_given_up, std::lround(choice.costs->sweeps));
      other->step(constant_input(direct.model(), loads.control(), loads.time_step()), expected);
      for (std::size_t v = 0; v < expected.vertex_position.size(); ++v)
        ASSERT_EQ(norm(expected.vertex_position[v] - state.vertex_position[v]), 0) << v;
      ++given_up;
    } else if (given_up > 0) {
      EXPECT_LT(report.iterations, 10) << i;  // Gauss-Newton
      ++after;
    }
  }
  EXPECT_EQ(given_up, 1);
}

TEST(AutoSweeps, AreTheSameOnAnyNumberOfThreads) {
  std::vector<Vec3d> first;
  for (int threads : {1, 2, 3, 7}) {
    Simulation simulation(scene_with("bridge", kFloat + R"(, "threads": )" + std::to_string(threads), {}));
    for (int i = 0; i < 10; ++i) simulation.step();
    const std::vector<Vec3d>& x = simulation.state().vertex_position;
    if (first.empty()) first = x;
    for (std::size_t v = 0; v < x.size(); ++v) ASSERT_EQ(norm(x[v] - first[v]), 0) << threads << " threads, vertex " << v;
  }
}

}  // namespace
}  // namespace osier
