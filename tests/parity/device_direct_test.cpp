// Direct steps of strands by kernels: those of the twin against the processor's own, and those of a CUDA device, where there is
// one, against the twin's.
#include <gtest/gtest.h>

#include "exec/cuda_device.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

/// Three strands: clamped and swung, pinned and fixed, and free.
std::string strands(const char* material, const char* more = "") {
  const auto rod = [](const char* name, int segments, const char* shape) {
    return std::string(R"({"name": ")") + name + R"(", "material": "m", "segments": )" + std::to_string(segments) +
           R"(, "shape": )" + shape + "}";
  };
  return R"({"materials": {"m": )" + std::string(material) + R"(},
    "analysis": {"type": "dynamic", "step": 0.004, "duration": 1, "integrator": "implicit_euler", "fps": 25},
    "rods": [)" +
         rod("a", 12, R"({"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]})") + "," +
         rod("b", 12, R"({"type": "helix", "radius": 0.2, "pitch": 0.2, "turns": 1})") + "," +
         rod("c", 5, R"({"type": "line", "from": [0, 2, 0], "to": [0.3, 2, 0.1]})") + R"(],
    "constraints": [
      {"type": "clamp", "vertices": "a:start", "motion": {"rotate": {"axis": [0, 1, 0], "angle": {"keys": [[0, 0], [0.2, 60]]}}}},
      {"type": "pin", "vertices": "b:start", "motion": {"translate": {"keys": [[0, [0, 0, 0]], [0.3, [0.1, 0.2, 0]]]}}},
      {"type": "fix", "segments": "b:start", "motion": {"rotate": {"axis": [1, 0, 1], "angle": {"keys": [[0, 0], [0.3, 40]]}}}})" +
         more + R"(],
    "forces": [{"type": "gravity"}, {"type": "drag", "rate": 0.5, "per_length": 0.02}]})";
}
constexpr const char* kMaterials[] = {
    R"({"stretch_shear": 1e5, "bend_twist": 0.4, "line_density": 1})",
    R"({"stretch_shear": 1e5, "bend_twist": 0.4, "line_density": 1, "tau_stretch": 0.002, "tau_bend": 0.01})",
    R"({"young": 1e6, "poisson": 0.3, "density": 1000, "section": {"type": "rectangle", "width": 0.06, "height": 0.03}})",
    R"({"young": 1e6, "poisson": 0.3, "density": 1000, "section": {"type": "rectangle", "width": 0.06, "height": 0.03}, "tau_bend": 0.01})"};

Scene scene_on(const std::string& text, const std::string& solver, const std::string& device, const std::string& precision) {
  LoadOptions options;
  // Kernels take a strand for each thread, as the processor does without SIMD. Steps in lanes that end by a number of iterations,
  // before they have converged, differ from both by some 1e-6.
  options.overrides = {"/solver=" + solver,
                       "/execution={\"device\": \"" + device + "\", \"precision\": \"" + precision + "\", \"simd\": \"off\"}"};
  return Scene::parse(text, "test", ".", options);
}

void expect_alike(const Scene& one, const Scene& other, int steps, int ahead, double allowed) {
  Simulation a(one), b(other);
  for (int i = 0; i < steps; ++i) EXPECT_FALSE(a.step().not_converged);
  for (int i = 0; i < steps;) {
    const int taken = b.run_ahead(std::min(ahead, steps - i));
    if (taken == 0) b.step();
    EXPECT_FALSE(b.last_report().not_converged);
    i += taken > 0 ? taken : 1;
  }
  const double size = extent(a.state());
  EXPECT_LE(farthest(a.state().vertex_position, b.state().vertex_position), allowed * size);
  EXPECT_LE(farthest(a.state().vertex_velocity, b.state().vertex_velocity), 500 * allowed * size);
  EXPECT_LE(farthest(a.state().frame_rotation, b.state().frame_rotation), 10 * allowed);
  EXPECT_GT(farthest(a.state().vertex_position, one.initial_state().vertex_position), 0.01 * size) << "something must happen";
}

constexpr const char* kGoals[] = {R"({"name": "direct", "iterations": 2})", R"({"name": "direct", "tolerance": 1e-4})",
                                  R"({"name": "automatic", "tolerance": 1e-8})"};

TEST(DeviceDirect, TheTwinsStrandsMoveAsTheProcessorsDo) {
  for (const char* material : kMaterials)
    for (const char* goal : kGoals) {
      SCOPED_TRACE(std::string(material) + goal);
      // Where a tolerance ends a step, an iteration more or less is within it.
      const double allowed = std::string(goal).find("1e-4") != std::string::npos ? 1e-5 : 1e-9;
      const std::string text = strands(material);
      const Scene here = scene_on(text, goal, "cpu", "double"), twin = scene_on(text, goal, "cuda_twin", "double");
      for (const int ahead : {1, 7, 30}) expect_alike(here, twin, 30, ahead, allowed);
      expect_alike(scene_on(text, goal, "cpu", "float"), scene_on(text, goal, "cuda_twin", "float"), 30, 30, 2e-4);
    }
}

std::vector<Problem> problems_of(const std::string& text) {
  try {
    scene_on(text, R"({"name": "direct"})", "cuda_twin", "double");
  } catch (const InputError& e) {
    return e.problems();
  }
  return {};
}

TEST(DeviceDirect, WhatIsNoStrandIsRefused) {
  const std::string text = R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}},
    "rods": [{"name": "ring", "material": "m", "segments": 16, "shape": {"type": "circle", "radius": 0.3}}],
    "forces": [{"type": "torque", "segments": "ring:3", "torque": [1, 0, 0]}]})";
  const std::vector<Problem> problems = problems_of(text);
  std::string all;
  for (const Problem& p : problems) all += to_string(p) + "\n";
  EXPECT_NE(all.find("`direct` on `device` cuda_twin cannot solve graphs with loops"), std::string::npos) << all;
  EXPECT_NE(all.find("cannot take torques"), std::string::npos) << all;
  EXPECT_NE(all.find("16 of 16 vertices"), std::string::npos) << all;
  EXPECT_NE(all.find("`stable_cosserat`"), std::string::npos) << all;
}

/// Rods that are too long for a thread each, clamped at both ends and moved, pinned and fixed inside, and free.
std::string long_rods(const char* material) {
  const auto rod = [](const char* name, int segments, const char* shape) {
    return std::string(R"({"name": ")") + name + R"(", "material": "m", "segments": )" + std::to_string(segments) +
           R"(, "shape": )" + shape + "}";
  };
  return R"({"materials": {"m": )" + std::string(material) + R"(},
    "analysis": {"type": "dynamic", "step": 0.004, "duration": 1, "integrator": "implicit_euler", "fps": 25},
    "rods": [)" +
         rod("a", 300, R"({"type": "line", "from": [0, 0, 0], "to": [4, 0, 0]})") + "," +
         rod("b", 100, R"({"type": "helix", "radius": 0.3, "pitch": 0.3, "turns": 2})") + "," +
         rod("c", 70, R"({"type": "line", "from": [0, 2, 0], "to": [1, 2, 0.1]})") + R"(],
    "constraints": [
      {"type": "clamp", "vertices": ["a:start", "a:end"]},
      {"type": "pin", "vertices": "b:40", "motion": {"translate": {"keys": [[0, [0, 0, 0]], [0.3, [0.1, 0.2, 0]]]}}},
      {"type": "pin", "vertices": "b:end"},
      {"type": "fix", "segments": "b:70", "motion": {"rotate": {"axis": [1, 0, 1], "angle": {"keys": [[0, 0], [0.3, 40]]}}}}],
    "forces": [{"type": "gravity"}, {"type": "drag", "rate": 0.5, "per_length": 0.02}]})";
}

TEST(DeviceDirect, TheTwinsLongRodsMoveAsTheProcessorsDo) {
  for (const char* material : kMaterials) {
    SCOPED_TRACE(material);
    const char* goal = R"({"name": "direct", "tolerance": 1e-9})";
    const std::string text = long_rods(material);
    const Scene here = scene_on(text, goal, "cpu", "double"), twin = scene_on(text, goal, "cuda_twin", "double");
    for (const int ahead : {1, 7}) expect_alike(here, twin, 14, ahead, 1e-7);
  }
}

TEST(DeviceDirect, AStrandThatIsHeldElsewhereIsCutIntoPieces) {
  const std::string text = strands(kMaterials[0], R"(, {"type": "pin", "vertices": "c:end"})");
  const char* goal = R"({"name": "direct", "tolerance": 1e-9})";
  for (const int ahead : {1, 5})
    expect_alike(scene_on(text, goal, "cpu", "double"), scene_on(text, goal, "cuda_twin", "double"), 10, ahead, 1e-7);
}

/// The forces through links and the forecasts of convergence go with the state, also where the way of solving follows from holds.
TEST(DeviceDirect, WhatIsSavedGoesOnWithTheSameBits) {
  const char* goal = R"({"name": "direct", "tolerance": 1e-4})";
  for (const std::string& text :
       {long_rods(kMaterials[3]), strands(kMaterials[2], R"(, {"type": "pin", "vertices": "c:end"})"), strands(kMaterials[1])}) {
    const Scene scene = scene_on(text, goal, "cuda_twin", "double");
    Simulation a(scene), b(scene);
    const std::string fresh = b.save();
    a.run_ahead(6);
    b.restore(a.save());
    a.run_ahead(6), b.run_ahead(6);
    EXPECT_TRUE(identical(a.state(), b.state()));
    b.restore(fresh);
    b.run_ahead(12);
    EXPECT_TRUE(identical(a.state(), b.state()));
  }
}

TEST(DeviceDirect, TheDeviceMovesAsItsTwinDoesAndRepeatsItself) {
  if (!cuda_device().is_there) GTEST_SKIP() << "no CUDA device";
  for (const char* material : kMaterials)
    for (const char* precision : {"double", "float"}) {
      SCOPED_TRACE(std::string(material) + precision);
      const double allowed = std::string(precision) == "double" ? 1e-9 : 5e-4;
      const std::string text = strands(material);
      const Scene device = scene_on(text, kGoals[0], "cuda", precision);
      for (const int ahead : {1, 30}) expect_alike(scene_on(text, kGoals[0], "cuda_twin", precision), device, 30, ahead, allowed);
      Simulation a(device), b(device);
      a.run_ahead(30), b.run_ahead(30);
      EXPECT_TRUE(identical(a.state(), b.state()));
    }
}

TEST(DeviceDirect, TheDevicesLongRodsMoveAsItsTwinsDoAndRepeatThemselves) {
  if (!cuda_device().is_there) GTEST_SKIP() << "no CUDA device";
  for (const char* material : kMaterials) {
    SCOPED_TRACE(material);
    const std::string text = long_rods(material);
    const Scene device = scene_on(text, kGoals[0], "cuda", "double");
    for (const int ahead : {1, 14}) expect_alike(scene_on(text, kGoals[0], "cuda_twin", "double"), device, 14, ahead, 1e-9);
    Simulation a(device), b(device);
    a.run_ahead(14), b.run_ahead(14);
    EXPECT_TRUE(identical(a.state(), b.state()));
  }
}

}  // namespace
}  // namespace osier::test
