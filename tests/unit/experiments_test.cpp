// The experiments of the catalogue: that they see what they look for, and also when it is not so.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <numbers>

#include "math/quat.hpp"
#include "validate/experiments/descent.hpp"
#include "validate/experiments/gradient_check.hpp"
#include "validate/experiments/lambda_bounds.hpp"
#include "validate/experiments/quaternion_signs.hpp"
#include "validate/experiments/rest_drift.hpp"
#include "validate/experiments/reversal.hpp"
#include "validate/experiments/rigid_motion.hpp"
#include "validate/experiments/rigid_spin.hpp"
#include "validate/experiments/scene_transforms.hpp"
#include "validate/experiments/steady_state.hpp"
#include "validate/instruments/knot.hpp"

namespace osier::validate {
namespace {

/// A bent rod, clamped at its start, under gravity.
Json bent_rod() {
  return Json::parse(R"({"rods": [{"name": "rod", "up": [0, 1, 0],
    "shape": {"type": "points", "points": [[0, 0, 0], [0.2, 0.02, 0.03], [0.38, 0.1, 0.02], [0.5, 0.25, -0.04], [0.6, 0.42, -0.02]]},
    "material": {"stretch_shear": 80, "bend_twist": 0.5, "line_density": 1, "tau_stretch": 0.004, "tau_bend": 0.01}}],
    "constraints": [{"type": "clamp", "vertices": "rod:start"}],
    "forces": [{"type": "gravity", "acceleration": [0, -9.81, 0]}, {"type": "drag", "rate": 2}],
    "solver": {"name": "stable_cosserat", "iterations": 6}, "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.3}})");
}

TEST(MovedScene, TurnsDirectionsAndMovesPoints) {
  const Json moved = moved_scene(bent_rod(), axis_angle(Vec3d{0, 0, 1}, 1.5707963267948966), {1, 0, 0});
  const Json& p = moved["rods"][0]["shape"]["points"][1];
  EXPECT_NEAR(p[0].get<double>(), 1 - 0.02, 1e-15);
  EXPECT_NEAR(p[1].get<double>(), 0.2, 1e-15);
  EXPECT_NEAR(moved["forces"][0]["acceleration"][0].get<double>(), 9.81, 1e-14);
  EXPECT_NEAR(moved["rods"][0]["up"][0].get<double>(), -1, 1e-15);
  EXPECT_EQ(moved["forces"][1], bent_rod()["forces"][1]);
}

TEST(MovedScene, RefusesWhatHasADirectionThatIsNotWrittenOut) {
  Json no_gravity = bent_rod(), no_up = bent_rod(), structure = bent_rod();
  no_gravity["forces"][0].erase("acceleration");
  no_up["rods"][0].erase("up");
  structure["structures"] = {{{"type", "net"}}};
  for (const Json& scene : {no_gravity, no_up, structure}) EXPECT_THROW(moved_scene(scene, {}, {}), RunError);
}

TEST(ReversedScene, CountsFromTheOtherEnd) {
  Json scene = bent_rod();
  scene["rods"][0].erase("up");
  const Json back = reversed_scene(scene);
  EXPECT_EQ(back["constraints"][0]["vertices"], "rod:end");
  EXPECT_EQ(back["rods"][0]["shape"]["points"][0], scene["rods"][0]["shape"]["points"][4]);
  EXPECT_EQ(reversed_scene(back), scene);
  scene["constraints"][0]["vertices"] = "rod:1";
  EXPECT_THROW(reversed_scene(scene), RunError);
  EXPECT_THROW(reversed_scene(bent_rod()), RunError);  // `up` belongs to the first segment
}

TEST(RigidMotion, SeesFrameIndifferenceAndAWindThatIsNot) {
  RigidMotion motion;
  motion.angle = 70, motion.shift = {1, -2, 3};
  const std::vector<double> same = motion.examine(bent_rod(), ".");
  EXPECT_LT(same[0], 1e-12);
  EXPECT_LT(same[1], 1e-12);
  EXPECT_GT(same[2], 0.01);
  // Gusts travel with the world's coordinates, so shifting the scene changes them.
  Json windy = bent_rod();
  windy["forces"].push_back({{"type", "wind"}, {"direction", {1, 0, 0}}, {"speed", 5}});
  EXPECT_GT(motion.examine(windy, ".")[0], 1e-9);
}

TEST(Reversal, GivesTheSameWithJacobiAndAnotherPointOfConvergenceWithSequentialSweeps) {
  Json scene = bent_rod();
  scene["rods"][0].erase("up");
  scene["solver"]["order"] = "jacobi";
  const std::vector<double> jacobi = Reversal().examine(scene, ".");
  EXPECT_LT(jacobi[0], 1e-13);
  EXPECT_LT(std::abs(jacobi[1]) + std::abs(jacobi[2]), 1e-12);
  scene["solver"]["order"] = "gauss_seidel";
  EXPECT_GT(Reversal().examine(scene, ".")[0], 1e-9);
}

TEST(RestDrift, IsNothingAtRestAndSomethingUnderLoad) {
  Json scene = bent_rod();
  RestDrift drift;
  drift.steps = 1000, drift.twist = 57;
  EXPECT_GT(drift.examine(scene, ".")[0], 1e-2);
  scene["forces"] = Json::array();
  EXPECT_LT(drift.examine(scene, ".")[0], 1e-12);
}

TEST(QuaternionSigns, ChangeNothing) {
  const std::vector<double> columns = QuaternionSigns().examine(bent_rod(), ".");
  EXPECT_EQ(columns[0], 0);
  EXPECT_EQ(columns[1], 0);
  EXPECT_GT(columns[2], 10);
}

TEST(GradientCheck, AgreesForEveryTerm) {
  Json scene = bent_rod();
  scene["forces"].push_back({{"type", "torque"}, {"segments", "rod:end"}, {"torque", {0.1, 0.2, -0.1}}});
  const std::vector<double> columns = GradientCheck().examine(scene, ".");
  EXPECT_LT(columns[0], 1e-9);
  EXPECT_LT(columns[1], 1e-9);
}

TEST(DescentExperiment, HoldsForTheExactUpdateAndCatchesTheApproximateOne) {
  Json scene = bent_rod();
  scene["solver"]["iterations"] = 1;
  Descent descent;
  descent.off = 1e-4;
  const std::vector<double> exact = descent.examine(scene, ".");
  EXPECT_LE(exact[0], 1);
  EXPECT_GT(exact[1], 0.9);
  scene["solver"]["lambda"] = "approx";
  EXPECT_GT(descent.examine(scene, ".")[0], 1e3);
}

TEST(LambdaBounds, AreKept) {
  const std::vector<double> columns = LambdaBounds().examine(bent_rod(), ".");
  EXPECT_GT(columns[0], 0);
  EXPECT_LE(columns[1], 1 + 1e-14);
  EXPECT_LT(columns[2], 1e-12);
  Json strip = bent_rod();
  strip["rods"][0]["material"]["twist"] = 0.1;
  EXPECT_THROW(LambdaBounds().examine(strip, "."), RunError);
}

TEST(RigidSpin, IsNotDampedAndNeedsSomethingToDamp) {
  const std::vector<double> columns = RigidSpin().examine(bent_rod(), ".");
  EXPECT_LT(columns[0], 1e-25);
  EXPECT_LT(columns[1], 1e-12);
  EXPECT_GT(columns[3], 0);
  Json elastic = bent_rod();
  elastic["rods"][0]["material"].erase("tau_stretch");
  elastic["rods"][0]["material"].erase("tau_bend");
  EXPECT_THROW(RigidSpin().examine(elastic, "."), RunError);
}

TEST(SteadyState, IsTheMinimumForTheExactMultiplierAndBesideItForTheApproximateOne) {
  Json scene = bent_rod();
  scene["analysis"]["duration"] = 30;
  scene["solver"]["iterations"] = 20;
  SteadyState steady;
  steady.vertex = "rod:end";
  const auto gap = [&] {
    const std::vector<double> c = steady.examine(scene, ".");
    EXPECT_LT(c[6], 1e-10);
    return std::hypot(c[0] - c[3], c[1] - c[4], c[2] - c[5]);
  };
  EXPECT_LT(gap(), 1e-9);
  scene["solver"]["lambda"] = "approx";
  EXPECT_GT(gap(), 1e-6);
}

/// Known determinants of knots, whichever way the curve is seen and wherever it is cut.
TEST(Knot, DeterminantTellsKnotsApart) {
  const auto torus = [](int p, int q) {
    std::vector<Vec3d> x;
    for (int i = 0; i < 90; ++i) {
      const double t = 2 * std::numbers::pi * i / 90, r = 2 + std::cos(q * t);
      x.push_back({r * std::cos(p * t), r * std::sin(p * t), std::sin(q * t)});
    }
    return x;
  };
  std::vector<Vec3d> eight;
  for (int i = 0; i < 120; ++i) {
    const double t = 2 * std::numbers::pi * i / 120, r = 2 + std::cos(2 * t);
    eight.push_back({r * std::cos(3 * t), r * std::sin(3 * t), std::sin(4 * t)});
  }
  const auto turned = [](std::vector<Vec3d> x, const Vec3d& by) {
    for (Vec3d& p : x) p = rotate(rotation_exp(by), p);
    return x;
  };
  for (const Vec3d& by : {Vec3d{}, Vec3d{0.4, 1.1, -0.3}, Vec3d{2, -0.7, 0.5}}) {
    EXPECT_NEAR(knot_determinant(turned(torus(2, 3), by), true), 3, 1e-9);
    EXPECT_NEAR(knot_determinant(turned(torus(2, 5), by), true), 5, 1e-9);
    EXPECT_NEAR(knot_determinant(turned(torus(2, 7), by), true), 7, 1e-9);
    EXPECT_NEAR(knot_determinant(turned(eight, by), true), 5, 1e-9);
    EXPECT_NEAR(knot_determinant(turned(torus(1, 3), by), true), 1, 1e-9);
    EXPECT_NEAR(knot_determinant(turned(torus(1, 5), by), true), 1, 1e-9);
  }
}

}  // namespace
}  // namespace osier::validate
