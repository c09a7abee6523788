// Sweeps by kernels: those of the twin against the processor's own, and those of a CUDA device, where there is one, against the
// twin's.
#include <gtest/gtest.h>

#include "exec/cuda_device.hpp"
#include "support/agreement_scenes.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

Scene scene_on(const std::string& text, const std::string& solver, const std::string& device, const std::string& precision) {
  LoadOptions options;
  options.overrides = {"/solver=" + solver, "/execution={\"device\": \"" + device + "\", \"precision\": \"" + precision + "\"}"};
  return Scene::parse(text, "test", ".", options);
}

/// Strands of several lengths, with and without damping: clamped and swung, pinned and fixed, or free at both ends.
std::string strands(bool damped) {
  const std::string material =
      damped ? R"("m": {"stretch_shear": 100, "bend_twist": 0.4, "line_density": 1, "tau_stretch": 0.002, "tau_bend": 0.01})"
             : R"("m": {"stretch_shear": 100, "bend_twist": 0.4, "line_density": 1})";
  const auto rod = [](const char* name, int segments, const char* shape) {
    return std::string(R"({"name": ")") + name + R"(", "material": "m", "segments": )" + std::to_string(segments) +
           R"(, "shape": )" + shape + "}";
  };
  return R"({"materials": {)" + material + R"(},
    "analysis": {"type": "dynamic", "step": 0.005, "duration": 1, "integrator": "implicit_euler", "fps": 20},
    "rods": [)" +
         rod("a", 12, R"({"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]})") + "," +
         rod("b", 7, R"({"type": "helix", "radius": 0.2, "pitch": 0.2, "turns": 1})") + "," +
         rod("c", 3, R"({"type": "line", "from": [0, 2, 0], "to": [0.3, 2, 0.1]})") + "," +
         rod("d", 40, R"({"type": "line", "from": [0, 3, 0], "to": [3, 3, 0]})") + R"(],
    "constraints": [
      {"type": "clamp", "vertices": "a:start", "motion": {"rotate": {"axis": [0, 1, 0], "angle": {"keys": [[0, 0], [0.2, 60]]}}}},
      {"type": "pin", "vertices": "b:start", "motion": {"translate": {"keys": [[0, [0, 0, 0]], [0.3, [0.1, 0.2, 0]]]}}},
      {"type": "fix", "segments": "b:start", "motion": {"rotate": {"axis": [1, 0, 1], "angle": {"keys": [[0, 0], [0.3, 40]]}}}},
      {"type": "pin", "vertices": ["d:start", "d:end"]}],
    "forces": [{"type": "gravity"}, {"type": "drag", "rate": 0.5, "per_length": 0.02}]})";
}

std::string sweeps(const char* more = "") { return std::string(R"({"name": "stable_cosserat", "iterations": 8)") + more + "}"; }

/// Runs both for some steps, `ahead` steps at a time on the second where it can, and compares.
void expect_alike(const Scene& one, const Scene& other, int steps, int ahead, double allowed) {
  Simulation a(one), b(other);
  for (int i = 0; i < steps; ++i) a.step();
  for (int i = 0; i < steps;) {
    const int taken = b.run_ahead(std::min(ahead, steps - i));
    if (taken == 0) b.step();
    i += taken > 0 ? taken : 1;
  }
  EXPECT_EQ(a.state().step_index, b.state().step_index);
  const double size = extent(a.state());
  EXPECT_LE(farthest(a.state().vertex_position, b.state().vertex_position), allowed * size);
  EXPECT_LE(farthest(a.state().vertex_velocity, b.state().vertex_velocity), 300 * allowed * size);
  EXPECT_LE(farthest(a.state().frame_rotation, b.state().frame_rotation), 10 * allowed);
  EXPECT_GT(farthest(a.state().vertex_position, one.initial_state().vertex_position), 0.01 * size) << "something must happen";
}

constexpr double kDouble = 1e-12, kFloat = 2e-5;

TEST(DeviceSweeps, TheTwinsGraphsMoveAsTheProcessorsDo) {
  for (const AgreementScene& scene : kAgreementScenes) {
    if (std::string(scene.name) == "SpinningStrip") continue;  // inertia of frames is refused
    SCOPED_TRACE(scene.name);
    for (const char* order : {R"(, "order": "red_black")", R"(, "order": "jacobi")"}) {
      SCOPED_TRACE(order);
      const std::string text = scene.text();
      expect_alike(scene_on(text, sweeps(order), "cpu", "double"), scene_on(text, sweeps(order), "cuda_twin", "double"), 20, 20,
                   kDouble);
      expect_alike(scene_on(text, sweeps(order), "cpu", "float"), scene_on(text, sweeps(order), "cuda_twin", "float"), 20, 20,
                   kFloat);
    }
  }
}

TEST(DeviceSweeps, TheTwinsStrandsMoveAsTheProcessorsDoInAnyNumberOfStepsAtATime) {
  for (const bool damped : {false, true})
    for (const char* lambda : {R"(, "lambda": "secular")", R"(, "lambda": "approx")", R"(, "lambda": "exact")"}) {
      SCOPED_TRACE(std::string(damped ? "damped" : "undamped") + lambda);
      const std::string text = strands(damped);
      const Scene exact = scene_on(text, sweeps(lambda), "cpu", "double"),
                  twin = scene_on(text, sweeps(lambda), "cuda_twin", "double");
      for (const int ahead : {1, 2, 7, 40}) expect_alike(exact, twin, 40, ahead, kDouble);
      expect_alike(scene_on(text, sweeps(lambda), "cpu", "float"), scene_on(text, sweeps(lambda), "cuda_twin", "float"), 40, 7,
                   kFloat);
    }
}

TEST(DeviceSweeps, StepsAreTakenAheadUnlessTheHostHasToLook) {
  Simulation ahead(scene_on(strands(false), sweeps(), "cuda_twin", "double"));
  EXPECT_EQ(ahead.why_no_run_ahead(), "");
  EXPECT_EQ(ahead.run_ahead(5), 5);
  EXPECT_EQ(ahead.state().step_index, 5);
  Simulation here(scene_on(strands(false), sweeps(), "cpu", "double"));
  EXPECT_EQ(here.run_ahead(5), 0);
  EXPECT_NE(here.why_no_run_ahead(), "");
  ahead.pull(15, {0, 0, 1});
  EXPECT_EQ(ahead.run_ahead(5), 0);
  EXPECT_NE(ahead.why_no_run_ahead().find("pulled"), std::string::npos);
}

TEST(DeviceSweeps, AStateThatIsSetInBetweenIsTheOneThatGoesOn) {
  const Scene scene = scene_on(strands(false), sweeps(), "cuda_twin", "double");
  Simulation a(scene), b(scene);
  a.run_ahead(5), b.run_ahead(5);
  State& state = b.mutable_state();
  state.vertex_velocity[10].x += 1;
  a.run_ahead(5), b.run_ahead(5);
  EXPECT_GT(farthest(a.state().vertex_position, b.state().vertex_position), 1e-3);
  b.mutable_state() = a.state();
  a.run_ahead(5), b.run_ahead(5);
  EXPECT_TRUE(identical(a.state(), b.state()));
}

std::vector<Problem> problems_of(const std::string& text, const std::string& solver, const std::string& device) {
  try {
    scene_on(text, solver, device, "double");
  } catch (const InputError& e) {
    return e.problems();
  }
  return {};
}
bool tells(const std::vector<Problem>& problems, const std::string& where, const std::string& what) {
  for (const Problem& p : problems)
    if (p.where == where && to_string(p).find(what) != std::string::npos) return true;
  return false;
}

TEST(DeviceSweeps, WhatIsNotOnTheDeviceIsRefusedAllAtOnce) {
  const std::string text = std::string("{") + kAgreementMaterial + kAgreementScenes[6].scene +
                           R"(, "contact": {}, "obstacles": [{"type": "sphere", "radius": 100, "hollow": true}]})";
  const auto problems =
      problems_of(text, R"({"name": "stable_cosserat", "order": "gauss_seidel", "tolerance": 1e-3})", "cuda_twin");
  EXPECT_TRUE(
      tells(problems, "/obstacles/0", "`stable_cosserat` on `device` cuda_twin cannot touch obstacles that move, are hollow"));
  EXPECT_TRUE(tells(problems, "/rotational_inertia", "cannot give frames inertia"));
  EXPECT_TRUE(tells(problems, "/obstacles/0", "use `device` cpu"));
  EXPECT_TRUE(tells(problems, "/solver/order", "red_black or jacobi"));
  EXPECT_TRUE(tells(problems, "/solver/tolerance", "use `iterations`"));
  EXPECT_TRUE(
      tells(problems_of(strands(false), R"({"name": "newton"})", "cuda_twin"), "/execution/device", "cannot run anything"));
}

TEST(DeviceSweeps, WithoutADeviceTheSceneIsRefused) {
  if (cuda_device().is_there) GTEST_SKIP() << cuda_device().name;
  EXPECT_TRUE(tells(problems_of(strands(false), sweeps(), "cuda"), "/execution/device", "no CUDA device"));
}

TEST(DeviceSweeps, TheDeviceMovesAsItsTwinDoesAndRepeatsItself) {
  if (!cuda_device().is_there) GTEST_SKIP() << "no CUDA device";
  // The device fuses multiplications and additions, the host does not.
  for (const bool damped : {false, true})
    for (const char* precision : {"double", "float"}) {
      SCOPED_TRACE(std::string(damped ? "damped " : "undamped ") + precision);
      const double allowed = std::string(precision) == "double" ? 1e-10 : 1e-4;
      const std::string text = strands(damped);
      const Scene device = scene_on(text, sweeps(), "cuda", precision);
      for (const int ahead : {1, 40}) expect_alike(scene_on(text, sweeps(), "cuda_twin", precision), device, 40, ahead, allowed);
      Simulation a(device), b(device);
      a.run_ahead(40), b.run_ahead(40);
      EXPECT_TRUE(identical(a.state(), b.state()));
    }
  for (const AgreementScene& scene : kAgreementScenes) {
    if (std::string(scene.name) == "SpinningStrip") continue;
    for (const char* order : {R"(, "order": "red_black")", R"(, "order": "jacobi")"})
      for (const char* precision : {"double", "float"}) {
        SCOPED_TRACE(std::string(scene.name) + order + precision);
        const double allowed = std::string(precision) == "double" ? 1e-10 : 1e-4;
        expect_alike(scene_on(scene.text(), sweeps(order), "cuda_twin", precision),
                     scene_on(scene.text(), sweeps(order), "cuda", precision), 20, 20, allowed);
      }
  }
}

}  // namespace
}  // namespace osier::test
