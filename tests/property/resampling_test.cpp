// The same rod with more segments is the same rod (V26i), and twists as V18a says.
#include <gtest/gtest.h>
#include <numbers>
#include <numeric>

#include "support/scenes.hpp"

namespace osier::test {
namespace {

std::string rod_scene(int segments, const std::string& rest) {
  return R"({"materials": {"m": {"young": 1e6, "density": 1000, "radius": 0.003}},
    "rods": [{"name": "r", "material": "m", "segments": )" +
         std::to_string(segments) + R"(, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
    "solver": {"name": "newton"}, )" +
         rest + "}";
}

constexpr double kPi = std::numbers::pi;
constexpr double kArea = kPi * 0.003 * 0.003;

TEST(Resampling, TotalMassDoesNotDependOnTheSegmentCount) {
  for (int n : {1, 20, 200, 1999}) {
    const Scene scene = Scene::parse(rod_scene(n, R"("analysis": {"type": "dynamic"})"));
    const auto& mass = scene.model().vertex_mass;
    EXPECT_NEAR(std::accumulate(mass.begin(), mass.end(), 0.0), 1000 * kArea, 1e-13 * 1000 * kArea * n) << n;
    EXPECT_NEAR(mass.front(), 500 * kArea / n, 1e-12 * mass.front()) << "an end vertex carries half a segment";
  }
}

TEST(Resampling, EndToEndStiffnessOfAStraightRodDoesNotDependOnTheSegmentCount) {
  const double force = 0.5, EA = 1e6 * kArea;
  for (int n : {20, 200}) {
    Simulation sim(Scene::parse(rod_scene(n, R"("constraints": [{"type": "clamp", "vertices": "r:start"}],
      "forces": [{"type": "force", "vertices": "r:end", "force": [0.5, 0, 0]}], "analysis": {"type": "static", "tolerance": 1e-12})")));
    sim.step();
    const Vec3d tip = sim.state().vertex_position.back();
    EXPECT_NEAR(tip.x - 1, force / EA, 1e-9 * force / EA) << n;
    EXPECT_NEAR(tip.y, 0, 1e-12);
    EXPECT_NEAR(tip.z, 0, 1e-12);
  }
}

/// V18a: 360 degrees of twist between two clamps. The table's errors, to the two digits it has, and their order.
TEST(Resampling, TwistEnergyOfAFullTurnFollowsTheTableOfV18a) {
  const int count[4] = {20, 50, 100, 200};
  const double table[4] = {-2.0e-3, -3.2e-4, -8.2e-5, -2.0e-5};
  const double exact = 0.5 * 1e6 * kPi / 4 * std::pow(0.003, 4) * 4 * kPi * kPi;
  EXPECT_NEAR(exact, 1.255754e-3, 1e-9);
  double error[4];
  for (int i = 0; i < 4; ++i) {
    Simulation sim(Scene::parse(rod_scene(count[i], R"("constraints": [{"type": "clamp", "vertices": "r:start"},
        {"type": "clamp", "vertices": "r:end", "motion": {"rotate": {"axis": [1, 0, 0], "angle": {"keys": [[0, 0], [1, 360]]}}}}],
      "analysis": {"type": "static", "load_steps": 12, "tolerance": 1e-10})")));
    for (int f = 0; f < sim.frame_count(); ++f) sim.step();
    const Diagnostics d = sim.diagnostics();
    error[i] = d.bend_twist / exact - 1;
    EXPECT_LT(d.stretch_shear, 1e-9 * d.bend_twist) << "the rod stays straight";
    // Two digits of the table, so half a unit of the second; its own rounding at N = 20 is 2.06e-3 -> 2.0e-3.
    EXPECT_NEAR(error[i], table[i], 0.05 * std::abs(table[i])) << count[i];
  }
  EXPECT_NEAR(std::log(error[1] / error[3]) / std::log(4), 2, 0.02) << "second order";
}

}  // namespace
}  // namespace osier::test
