// What `automatic` chooses, what it keeps its promise about, and what `osier info` says of a solver.
#include <algorithm>
#include <gtest/gtest.h>

#include "bench/step_problem.hpp"
#include "osier/simulation.hpp"

namespace osier {
namespace {

const std::string kDouble = R"("name": "automatic")", kFloat = R"("name": "automatic", "precision": "float")";

Scene scene_with(const std::string& name, const std::string& solver, std::vector<std::string> overrides = {}) {
  overrides.insert(overrides.begin(), {"/execution={}", "/solver={" + solver + "}"});
  LoadOptions options;
  options.overrides = std::move(overrides);
  return Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options);
}

SolverPlan plan_of(const Scene& scene) {
  const Simulation simulation(scene);
  return scene.setup().spec.solver->plan(scene.model(), simulation.control(), simulation.time_step());
}
SolverPlan plan_of(const std::string& name, const std::string& solver, std::vector<std::string> overrides = {}) {
  return plan_of(scene_with(name, solver, std::move(overrides)));
}

/// The instruction sets of this machine, narrow to wide: `off` and `sse2` everywhere.
std::vector<Simd> available() {
  std::vector<Simd> sets{Simd::off, Simd::sse2, Simd::avx2, Simd::avx512};
  std::erase_if(sets, [](Simd simd) { return !simd_available(simd); });
  return sets;
}
std::string with(const std::string& solver, Simd simd) { return solver + R"(, "simd": ")" + simd_name(simd) + "\""; }

constexpr const char* kOneTree = "/structures/0/count=1";
/// A tree that is held twice does not go into lanes.
constexpr const char* kHeldTip = R"(/constraints/2={"type": "pin", "vertices": [3000]})";

struct Chosen {
  const char* scene;
  std::vector<std::string> overrides;
};
const std::vector<Chosen> kScenes{{"hair_wisp", {"/structures/0/strands=64"}},
                                  {"grass", {"/structures/0/blades=64"}},
                                  {"cantilever", {}},
                                  {"slinky", {}},
                                  {"net", {}},
                                  {"net", {"/analysis/step=0.0333333333"}},
                                  {"bridge", {"/analysis/step=1e-4"}},
                                  {"ring", {}},
                                  {"trees", {kOneTree}},
                                  {"trees", {kOneTree, kHeldTip}},
                                  {"trees", {kOneTree, "/analysis/step=0.0333333333"}}};

TEST(MethodChoice, ScenesOfEveryKindAreSolvedDirectlyWithAnyInstructions) {
  for (const Chosen& c : kScenes)
    for (const Simd simd : available())
      for (const std::string& solver : {kFloat, kDouble})
        EXPECT_EQ(plan_of(c.scene, with(solver, simd), c.overrides).solver, "direct") << c.scene << " " << simd_name(simd);
}

/// A fixed number of Gauss-Newton iterations converges.
TEST(MethodChoice, SoAreThoseWithAFixedNumberOfIterations) {
  for (const char* iterations : {"4", "400"})
    EXPECT_EQ(plan_of("trees", kFloat + R"(, "iterations": )" + iterations, {kOneTree}).solver, "direct");
}

TEST(MethodChoice, DoesNotDependOnThreads) {
  for (const char* name : {"trees", "bridge", "ring"}) {
    const SolverPlan one = plan_of(name, kFloat), seven = plan_of(name, kFloat + R"(, "threads": 7)");
    EXPECT_EQ(one.solver, seven.solver) << name;
    EXPECT_EQ(one.why, seven.why) << name;
  }
}

TEST(MethodChoice, SaysHowInNumbers) {
  const SolverPlan net = plan_of("net", kFloat);
  for (const char* part : {"conjugate gradients because of loops, some ", "2400 of 2400 segments in SIMD lanes"})
    EXPECT_NE(net.why.find(part), std::string::npos) << net.why;
  const SolverPlan slinky = plan_of("slinky", kFloat);
  EXPECT_NE(slinky.why.find("as cheap as along a chain"), std::string::npos) << slinky.why;
}

TEST(MethodChoice, OfTheOtherSolversIsThemselves) {
  const SolverPlan sweeps = plan_of("bridge", R"("name": "stable_cosserat", "iterations": 3)");
  EXPECT_EQ(sweeps.solver, "stable_cosserat");
  EXPECT_EQ(sweeps.why, "3 sweeps a step, in SIMD lanes");
  EXPECT_EQ(plan_of("bridge", R"("name": "stable_cosserat", "order": "jacobi")").why, "4 sweeps a step, element by element");
  EXPECT_EQ(plan_of("bridge", R"("name": "direct")").solver, "direct");
}

/// What used to be spelled as a method of stable_cosserat runs the same steps, bit by bit.
TEST(MethodChoice, TakesTheStepsOfTheSolverItChose) {
  for (const char* name : {"trees", "net", "slinky"}) {
    Simulation chosen(scene_with(name, kFloat)), direct(scene_with(name, R"("name": "direct", "precision": "float")")),
        old(scene_with(name, R"("name": "stable_cosserat", "method": "auto", "precision": "float")"));
    for (int i = 0; i < 3; ++i) chosen.step(), direct.step(), old.step();
    const auto &x = chosen.state().vertex_position, &y = direct.state().vertex_position, &z = old.state().vertex_position;
    for (std::size_t v = 0; v < x.size(); ++v) ASSERT_EQ(norm(x[v] - y[v]) + norm(x[v] - z[v]), 0) << name << " " << v;
  }
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
  return state.vertex_position;
}

class AutomaticPromise : public testing::TestWithParam<std::tuple<const char*, double, int>> {};
TEST_P(AutomaticPromise, ErrorsOfAStepAreBelowAThousandthOfItsMotion) {
  const auto [name, h, steps] = GetParam();
  std::vector<std::string> set{"/analysis/step=" + std::to_string(h)};
  if (std::string(name) == "trees") set.push_back(kOneTree), set.push_back(kHeldTip);
  const Scene exact = scene_with(name, R"("name": "direct", "tolerance": 1e-5)", set);
  const Step s = step_of(exact, steps);
  const std::vector<Vec3d> x = solved(exact, s);
  const double motion = bench::farthest(x, s.start.vertex_position);
  // Float adds what rounding makes of frames: units in the last place, seen at the end of a segment.
  const std::vector<double>& lengths = exact.model().segment_rest_length;
  const double rounding = 1e-6 * *std::max_element(lengths.begin(), lengths.end());
  for (const std::string& solver : {kDouble, kFloat})
    EXPECT_LE(bench::farthest(solved(scene_with(name, solver, set), s), x), 1e-3 * motion + (solver == kFloat ? rounding : 0))
        << name << " " << solver << ", a motion of " << motion << " m";
}
INSTANTIATE_TEST_SUITE_P(Scenes, AutomaticPromise,
                         testing::Values(std::tuple{"trees", 1e-3, 5}, std::tuple{"trees", 1e-3, 60},
                                         std::tuple{"bridge", 1e-3, 5}, std::tuple{"bridge", 1e-3, 12},
                                         std::tuple{"net", 1e-3, 3}),
                         [](const auto& given) {
                           return std::string(std::get<0>(given.param)) + "_after_" + std::to_string(std::get<2>(given.param));
                         });

TEST(Automatic, IsTheSameOnAnyNumberOfThreads) {
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
