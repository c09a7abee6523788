// Vibration and buckling modes against Euler and Bernoulli. Sections without rotational inertia and with next to no shear.
#include "sim/modes.hpp"

#include <numbers>

#include "analytic/reference.hpp"

namespace osier::test {
namespace {

constexpr double kPi = std::numbers::pi;

/// EI = 1, mass per length 1, length 1.
std::string beam(int n, const std::string& constraints, const std::string& analysis, const std::string& forces = "") {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {},
      "material": {{"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}}}],
    "constraints": [{}], "forces": [{}], "analysis": {}
  }})",
                     n, constraints, forces, analysis);
}
const std::string kClamped = R"({"type": "clamp", "vertices": "rod:start"})";
const std::string kPinned = R"({"type": "pin", "vertices": ["rod:start", "rod:end"]})";

TEST(VibrationModes, OfACantileverComeInPairs) {
  const double beta[] = {1.8751040687, 4.6940911330, 7.8547574382};
  const std::vector<Mode> modes = vibration_modes(Simulation(Scene::parse(beam(100, kClamped, R"({"type": "dynamic"})"))), 6);
  ASSERT_EQ(modes.size(), 6u);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(std::sqrt(modes[i].value) / (beta[i / 2] * beta[i / 2]), 1, 1e-3) << i;
    EXPECT_NEAR(norm(modes[i].shift.front()), 0, 1e-12);
    EXPECT_NEAR(norm(modes[i].shift.back()), 1, 1e-6) << i;
  }
}

TEST(VibrationModes, OfABeamBetweenPinsAreSines) {
  const std::vector<Mode> modes = vibration_modes(Simulation(Scene::parse(beam(100, kPinned, R"({"type": "dynamic"})"))), 4);
  ASSERT_EQ(modes.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    const double k = (i / 2 + 1) * kPi;
    EXPECT_NEAR(std::sqrt(modes[i].value) / (k * k), 1, 1e-3) << i;
    EXPECT_NEAR(norm(modes[i].shift[25]), std::sin(0.25 * k), 2e-3) << i;
  }
}

// A free rod may move and turn as a whole: five directions that cost nothing (spinning moves no mass), then free-free bending.
TEST(VibrationModes, OfAFreeRodBeginWithItsRigidMotion) {
  const std::vector<Mode> modes = vibration_modes(Simulation(Scene::parse(beam(100, "", R"({"type": "dynamic"})"))), 6);
  ASSERT_EQ(modes.size(), 6u);
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(modes[i].value, 0, 1e-3) << i;
  EXPECT_NEAR(std::sqrt(modes[5].value) / (4.7300407449 * 4.7300407449), 1, 2e-3);
}

// w^2 falls in proportion to the load, to 0 at Euler's.
TEST(VibrationModes, SlowDownTowardsTheBucklingLoad) {
  const double euler = kPi * kPi;
  const std::string held = R"({"type": "hinge", "vertex": "rod:start"}, {"type": "pin", "vertices": "rod:end",
    "motion": {"translate": {"keys": [[0, [0, 0, 0]], [1, [-4e-6, 0, 0]]]}}})";
  Simulation s(Scene::parse(beam(100, held, R"({"type": "static"})")));
  s.step();
  const double load = 4e-6 * 1e6;
  EXPECT_NEAR(vibration_modes(s, 1)[0].value / (euler * (euler - load)), 1, 2e-3);
}

TEST(BucklingModes, AreEulersLoads) {
  const std::string forces = R"({"type": "force", "vertices": "rod:end", "force": [-1, 0, 0]})";
  const Scene scene = Scene::parse(beam(100, kClamped, R"({"type": "static", "load_steps": 1000})", forces));
  Simulation unloaded(scene), loaded(scene);
  loaded.step();
  const std::vector<Mode> modes = buckling_modes(unloaded, loaded, 1e-3, 4);
  ASSERT_EQ(modes.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(modes[i].value / (i < 2 ? 1 : 9) * 4 / (kPi * kPi), 1, 2e-3) << i;
}

TEST(BucklingModes, OfARodUnderTensionThereAreNone) {
  const std::string forces = R"({"type": "force", "vertices": "rod:end", "force": [1, 0, 0]})";
  const Scene scene = Scene::parse(beam(40, kClamped, R"({"type": "static", "load_steps": 1000})", forces));
  Simulation unloaded(scene), loaded(scene);
  loaded.step();
  for (const Mode& mode : buckling_modes(unloaded, loaded, 1e-3, 2)) EXPECT_GT(mode.value, 1e3);
}

}  // namespace
}  // namespace osier::test
