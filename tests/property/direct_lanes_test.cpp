// The direct method for chains in lanes: every instruction set, every way to hold an end, cut chains, strands of any length.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/simd.hpp"
#include "support/random.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

/// Curved strands of different lengths, each held in another way.
std::string strands(int count, int segments, double tau) {
  std::string rods, constraints;
  const auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ",\n") + item; };
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("s{}", i);
    add(rods, fmt::format(R"({{"name": "{}", "material": "m", "segments": {},
        "shape": {{"type": "helix", "radius": {}, "pitch": 0.1, "turns": 1.5, "center": [{}, 0, 0]}}}})",
                          name, segments - 3 * (i % 4), 0.05 + 0.01 * (i % 3), 0.3 * i));
    const char* ways[] = {R"({{"type": "clamp", "vertices": "{0}:start"}})",
                          R"({{"type": "pin", "vertices": "{0}:start"}}, {{"type": "fix", "segments": "{0}:start"}})",
                          R"({{"type": "pin", "vertices": "{0}:start"}})",
                          R"({{"type": "clamp", "vertices": ["{0}:start", "{0}:end"]}})",
                          R"({{"type": "pin", "vertices": ["{0}:start", "{0}:end"]}},
                             {{"type": "fix", "segments": ["{0}:start", "{0}:end"]}})",
                          R"({{"type": "pin", "vertices": "{0}:end"}})",
                          R"({{"type": "clamp", "vertices": "{0}:end"}})"};
    if (i % 8 != 7) add(constraints, fmt::format(fmt::runtime(ways[i % 8]), name));  // one flies
  }
  return fmt::format(R"({{
    "materials": {{"m": {{"stretch_shear": 2000, "bend_twist": 0.02, "line_density": 0.05, "radius": 0.003, "tau_stretch": {0}, "tau_bend": {0}}}}},
    "rods": [{1}], "constraints": [{2}],
    "forces": [{{"type": "gravity"}}, {{"type": "drag", "rate": 0.3}}],
    "analysis": {{"type": "dynamic", "step": 0.002, "duration": 1}}}})",
                     tau, rods, constraints);
}

std::string direct(const char* precision, Simd simd, const std::string& more = R"("tolerance": 1e-9)") {
  return fmt::format(R"({{"name": "stable_cosserat", "method": "direct", "precision": "{}", "simd": "{}", {}}})", precision,
                     simd_name(simd), more);
}

std::vector<Simd> sets_here() {
  std::vector<Simd> sets;
  for (Simd s : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512})
    if (simd_available(s)) sets.push_back(s);
  return sets;
}

/// Largest distance over what moved, after a few steps.
void compare(const std::string& text, const char* precision, double allowed) {
  Simulation newton(scene_with(text, R"({"name": "newton", "tolerance": 1e-13})"));
  const State start = newton.state();
  constexpr int kSteps = 5;
  for (int i = 0; i < kSteps; ++i) ASSERT_FALSE(newton.step().not_converged);
  const double motion = farthest(newton.state().vertex_position, start.vertex_position);
  ASSERT_GT(motion, 1e-5);
  for (Simd simd : sets_here()) {
    const std::string more = std::string(precision) == "float" ? R"("iterations": 6)" : R"("tolerance": 1e-9)";
    Simulation other(scene_with(text, direct(precision, simd, more)));
    for (int i = 0; i < kSteps; ++i) ASSERT_FALSE(other.step().not_converged) << simd_name(simd);
    EXPECT_LE(farthest(other.state().vertex_position, newton.state().vertex_position), allowed * motion) << simd_name(simd);
    EXPECT_LE(farthest(other.state().vertex_velocity, newton.state().vertex_velocity), 10 * allowed * motion / 0.002)
        << simd_name(simd);
  }
}

TEST(DirectLanes, FindNewtonsStepsHoweverTheEndsAreHeld) {
  compare(strands(17, 24, 0), "double", 1e-7);
  compare(strands(17, 24, 0.003), "double", 1e-7);
}

TEST(DirectLanes, FindNewtonsStepsInFloat) {
  compare(strands(17, 24, 0), "float", 2e-5);
  compare(strands(17, 24, 0.003), "float", 2e-5);
}

/// A chain longer than a few hundred vertices is cut into as many pieces as there are lanes. 8 chains are too few to fill lanes.
TEST(DirectLanes, FindNewtonsStepsForChainsCutIntoPieces) {
  for (int segments : {300, 513}) compare(strands(7, segments, 0.001), "double", 1e-6);
  compare(strands(7, 300, 0), "float", 2e-4);
}

/// Lanes beside a chain with a hinge and one that is pinned in the middle.
TEST(DirectLanes, LeaveTheRestOfTheModelToTheTreeRecursion) {
  std::string text = strands(9, 20, 0.001);
  const std::string hinge =
      R"(, {"type": "hinge", "vertex": "s7:start", "axis": [0, 0, 1]}, {"type": "pin", "vertices": "s2:9"}])";
  const std::size_t at = text.find("],\n    \"forces\"");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 1, hinge);
  compare(text, "double", 1e-7);
}

TEST(DirectLanes, ThreadsDoNotChangeABit) {
  const std::string text = strands(70, 24, 0.001);
  for (const char* precision : {"float", "double"}) {
    const auto run = [&](int threads) {
      LoadOptions options;
      options.overrides.push_back("/solver=" + direct(precision, Simd::automatic, R"("iterations": 2)"));
      options.threads = threads;
      Simulation sim(Scene::parse(text, "strands", ".", options));
      for (int i = 0; i < 5; ++i) sim.step();
      return sim.state();
    };
    const State one = run(1);
    for (int threads : {2, 3, 7}) EXPECT_TRUE(identical(one, run(threads))) << precision << " " << threads;
  }
}

/// The largest steps in use, from wild velocities: nothing is lost, whatever lanes gave up was done otherwise.
TEST(DirectLanes, StayFiniteFromWildVelocities) {
  for (const char* precision : {"float", "double"}) {
    LoadOptions options;
    options.overrides = {"/solver=" + direct(precision, Simd::automatic, R"("tolerance": 1e-3)"), "/analysis/step=0.0333"};
    Simulation sim(Scene::parse(strands(16, 24, 0), "strands", ".", options));
    Random random(7);
    for (Vec3d& v : sim.mutable_state().vertex_velocity) v = 20.0 * random.in_cube();
    for (int i = 0; i < 30; ++i) EXPECT_FALSE(sim.step().non_finite);
    EXPECT_LT(extent(sim.state()), 100);
  }
}

}  // namespace
}  // namespace osier::test
