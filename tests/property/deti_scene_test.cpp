// The solver `deti` keeps the contract of solvers: memory, restarts, threads and lanes, and refusals with their reasons.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/scenes.hpp"

namespace osier::test {
namespace {

/// Rods of 9 and of 14 segments, hanging in the wind.
std::string hair(int rods, const std::string& execution = "{}", double h = 0.004) {
  std::string list;
  for (int i = 0; i < rods; ++i)
    list += fmt::format(
        R"({}{{"name": "r{}", "material": "m", "segments": {}, "shape": {{"type": "line", "from": [0, {}, 0], "to": [0.3, {}, {}]}}}})",
        i ? ", " : "", i, i % 3 == 0 ? 14 : 9, 0.01 * i, 0.01 * i, 0.01 * i);
  std::string clamps;
  for (int i = 0; i < rods; ++i) clamps += fmt::format(R"({}{{"type": "clamp", "vertices": "r{}:start"}})", i ? ", " : "", i);
  return fmt::format(
      R"({{"materials": {{"m": {{"young": 1e8, "poisson": 0.3, "density": 1200, "radius": 0.001, "tau_bend": 0.001}}}},
    "rods": [{}], "constraints": [{}], "execution": {},
    "forces": [{{"type": "gravity"}}, {{"type": "drag", "rate": 1}}, {{"type": "wind", "direction": [0, 1, 0], "speed": 3, "wavelength": 1, "coefficient": 0.01}}],
    "analysis": {{"type": "dynamic", "step": {}, "duration": 10, "steps_per_frame": 1}}}})",
      list, clamps, execution, h);
}
const char* kDeti = R"({"name": "deti"})";

TEST(DetiContract, ThreadsDoNotChangeABit) {
  Simulation one(scene_with(hair(20), kDeti)), three(scene_with(hair(20, R"({"threads": 3})"), kDeti));
  for (int i = 0; i < 50; ++i) one.step(), three.step();
  EXPECT_TRUE(identical(one.state(), three.state()));
}

TEST(DetiContract, LanesDoWhatSingleFibresDo) {
  for (const char* variant : {"double_pole", "complex_pair"}) {
    const std::string solver = fmt::format(R"({{"name": "deti", "variant": "{}"}})", variant);
    Simulation lanes(scene_with(hair(7), solver)), single(scene_with(hair(7, R"({"simd": "off"})"), solver));
    const State start = lanes.state();
    for (int i = 0; i < 50; ++i) lanes.step(), single.step();
    EXPECT_LE(farthest(lanes.state().vertex_position, single.state().vertex_position), 1e-9);
    EXPECT_GT(farthest(lanes.state().vertex_position, start.vertex_position), 0.05) << "something must happen";
  }
}

TEST(DetiContract, LanczosMethodMovesFibresLikeTheFactorisation) {
  const std::string still = R"({"materials": {"m": {"young": 1e8, "poisson": 0.3, "density": 1200, "radius": 0.001}},
    "rods": [{"name": "a", "material": "m", "segments": 12, "shape": {"type": "line", "from": [0, 0, 0], "to": [0.3, 0, 0]}}],
    "constraints": [{"type": "clamp", "vertices": "a:start"}], "forces": [{"type": "gravity"}, {"type": "drag", "rate": 1}],
    "analysis": {"type": "dynamic", "step": 0.002, "duration": 10, "steps_per_frame": 1}})";
  Simulation own(scene_with(still, R"({"name": "deti", "functions": "krylov", "krylov_tolerance": 1e-9})")),
      other(scene_with(still, kDeti));
  for (int i = 0; i < 100; ++i) own.step(), other.step();
  EXPECT_LE(farthest(own.state().vertex_position, other.state().vertex_position), 1e-6);
}

TEST(DetiContract, AStateThatIsPutBackGoesOnAsBefore) {
  Simulation whole(scene_with(hair(5), kDeti)), copy(scene_with(hair(5), kDeti));
  for (int i = 0; i < 20; ++i) whole.step();
  ASSERT_TRUE(copy.continue_from(whole));
  for (int i = 0; i < 20; ++i) whole.step(), copy.step();
  EXPECT_TRUE(identical(whole.state(), copy.state()));
}

TEST(DetiContract, AStateOfAnotherSolverIsTakenOver) {
  Simulation direct(scene_with(hair(2), R"({"name": "direct"})")), whole(scene_with(hair(2), R"({"name": "direct"})"));
  for (int i = 0; i < 20; ++i) direct.step(), whole.step();
  Simulation own(scene_with(hair(2), kDeti));
  for (int i = 0; i < 3; ++i) own.step();
  ASSERT_TRUE(own.continue_from(direct));
  for (int i = 0; i < 25; ++i) own.step(), whole.step();
  EXPECT_LE(farthest(own.state().vertex_position, whole.state().vertex_position), 0.02 * extent(whole.state()));
}

TEST(DetiContract, AnotherLengthOfStepGoesOnFromTheVelocity) {
  Simulation coarse(scene_with(hair(2), kDeti)), fine(scene_with(hair(2, "{}", 0.002), kDeti)), other(scene_with(hair(2), kDeti));
  for (int i = 0; i < 20; ++i) coarse.step(), other.step();
  ASSERT_TRUE(fine.continue_from(other));
  for (int i = 0; i < 20; ++i) coarse.step(), fine.step(), fine.step();
  EXPECT_LE(farthest(fine.state().vertex_position, coarse.state().vertex_position), 0.01 * extent(coarse.state()));
}

TEST(DetiContract, AVelocityThatIsSetFromOutsideCounts) {
  Simulation pushed(scene_with(hair(1), kDeti)), free(scene_with(hair(1), kDeti));
  for (int i = 0; i < 5; ++i) pushed.step(), free.step();
  for (Vec3d& v : pushed.mutable_state().vertex_velocity) v.z += 2;
  pushed.step(), free.step();
  EXPECT_GT(pushed.state().vertex_position.back().z - free.state().vertex_position.back().z, 0.003);
}

std::string refusals(const std::string& text, const std::string& solver = kDeti) {
  std::string all;
  try {
    scene_with(text, solver);
  } catch (const InputError& e) {
    for (const Problem& p : e.problems()) all += p.where + ": " + p.what + "; " + p.remedy + "\n";
  }
  return all;
}
std::string rod_with(const std::string& material, const std::string& more = "", int segments = 10) {
  return fmt::format(
      R"({{"rods": [{{"name": "a", "segments": {}, "material": {}, "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}}}],
    "analysis": {{"type": "dynamic", "step": 0.01, "duration": 1}}{}}})",
      segments, material, more);
}
const std::string kRound = R"({"young": 1e8, "poisson": 0.3, "density": 1000, "radius": 0.002})";

TEST(DetiContract, WhatItCannotDoIsRefusedWithTheReason) {
  EXPECT_EQ(refusals(rod_with(kRound)), "");
  EXPECT_NE(
      refusals(
          rod_with(
              R"({"young": 1e8, "poisson": 0.3, "density": 1000, "section": {"type": "rectangle", "width": 0.004, "height": 0.002}})"))
          .find("bends about its axes with different stiffnesses"),
      std::string::npos);
  EXPECT_EQ(refusals(rod_with(kRound, R"(, "contact": {})")), "");
  EXPECT_NE(refusals(rod_with(kRound, R"(, "contact": {})"), R"({"name": "deti", "scheme": "paper"})").find("let rods touch"),
            std::string::npos);
  EXPECT_NE(refusals(rod_with(kRound, R"(, "constraints": [{"type": "spring", "vertices": "a:end", "stiffness": 1}])"),
                     R"({"name": "deti", "variant": "complex_pair"})")
                .find("take springs"),
            std::string::npos);
  EXPECT_NE(refusals(rod_with(kRound, R"(, "rotational_inertia": true)")).find("give frames inertia"), std::string::npos);
  EXPECT_NE(refusals(rod_with(kRound, R"(, "execution": {"precision": "float"})")).find("work in float"), std::string::npos);
  EXPECT_NE(refusals(rod_with(kRound, R"(, "constraints": [{"type": "hinge", "vertex": "a:start", "axis": [0, 0, 1]}])"))
                .find("about one axis"),
            std::string::npos);
  EXPECT_NE(refusals(rod_with(kRound, R"(, "forces": [{"type": "torque", "segments": "a:end", "torque": [1, 0, 0]}])"))
                .find("take torques"),
            std::string::npos);
  EXPECT_NE(refusals(rod_with(R"({"young": 1e8, "poisson": 0.3, "density": 1000, "radius": 0.002, "curvature_limit": 3})"))
                .find("cannot break joints"),
            std::string::npos);
  const std::string ring =
      R"({"rods": [{"name": "r", "segments": 12, "material": )" + kRound +
      R"(, "shape": {"type": "circle", "radius": 0.3}}], "analysis": {"type": "dynamic", "step": 0.01, "duration": 1}})";
  EXPECT_NE(refusals(ring).find("loops"), std::string::npos);
  const std::string branch = R"({"materials": {"m": )" + kRound + R"(}, "rods": [
    {"name": "a", "segments": 4, "material": "m", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}},
    {"name": "b", "segments": 4, "material": "m", "shape": {"type": "line", "from": [0.5, 0, 0], "to": [0.5, 1, 0]}}],
    "welds": [{"vertices": ["a:2", "b:start"]}], "analysis": {"type": "dynamic", "step": 0.01, "duration": 1}})";
  EXPECT_NE(refusals(branch).find("belongs to 3 segments"), std::string::npos);
}

TEST(DetiContract, APathOfEquilibriaIsRefused) {
  const std::string text = R"({"rods": [{"name": "a", "segments": 10, "material": )" + kRound +
                           R"(, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
    "constraints": [{"type": "clamp", "vertices": "a:start"}], "forces": [{"type": "gravity"}], "analysis": )";
  for (const char* path : {R"("branch": "follow")", R"("stop_at_instability": true)", R"("control": "arc_length")"}) {
    const std::string said = refusals(text + R"({"type": "static", )" + path + "}}", kDeti);
    EXPECT_NE(said.find("/analysis/"), std::string::npos) << path << said;
    EXPECT_NE(said.find("`deti` cannot"), std::string::npos) << path << said;
  }
  EXPECT_EQ(refusals(text + R"({"type": "static"}})", kDeti), "");
}

TEST(DetiContract, ThePrintedNetworkIsRefusedWhereItsSpringsWouldPush) {
  const std::string paper = R"({"name": "deti", "network": "paper"})";
  // E/G = 2.6: cuboids up to 1.5 times as long as wide.
  const std::string slender = refusals(rod_with(kRound), paper);
  EXPECT_NE(slender.find("the paper's springs would be negative"), std::string::npos);
  EXPECT_NE(slender.find("E/G = 2.6"), std::string::npos) << slender;
  EXPECT_EQ(refusals(rod_with(R"({"young": 1e8, "poisson": 0.3, "density": 1000, "radius": 0.05})"), paper), "");
  const std::string given = R"({"name": "deti", "network": "paper", "aspect": 1})";
  EXPECT_NE(refusals(rod_with(R"({"young": 1e8, "poisson": 0.3, "density": 1000, "radius": 0.05})"), given)
                .find("applies only to `network` scaffold"),
            std::string::npos);
}

TEST(DetiContract, CuboidsThatWouldNeedNegativeSpringsAreRefused) {
  const std::string slender = R"({"name": "deti", "aspect": 3})";
  EXPECT_NE(refusals(rod_with(kRound), slender).find("use a smaller `aspect`"), std::string::npos);
  const std::string thick = R"({"name": "deti", "aspect": 1.5})";
  EXPECT_NE(refusals(rod_with(R"({"young": 1e8, "poisson": 0.3, "density": 1000, "radius": 0.1})"), thick)
                .find("springs of stretching would be negative"),
            std::string::npos);
}

}  // namespace
}  // namespace osier::test
