// Two methods, one answer: sweeps run to convergence end where Newton ends.
#include <gtest/gtest.h>

#include "support/scenes.hpp"

namespace osier::test {
namespace {

struct AgreementCase {
  const char* name;
  const char* scene;
};

const char* kMaterial =
    R"("materials": {"m": {"stretch_shear": 100, "bend_twist": 0.4, "line_density": 1, "radius": 0.01, "tau_stretch": 0.002, "tau_bend": 0.01}},
  "analysis": {"type": "dynamic", "step": 0.01, "duration": 1, "integrator": "implicit_euler"},)";

const AgreementCase kCases[] = {
    {"Cantilever",
     R"("rods": [{"name": "r", "material": "m", "segments": 12, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
      "constraints": [{"type": "clamp", "vertices": "r:start"}], "forces": [{"type": "gravity"}, {"type": "drag", "rate": 0.5}])"},
    {"ClosedRing",
     R"("rods": [{"name": "r", "material": "m", "segments": 16, "shape": {"type": "circle", "radius": 0.3, "normal": [0, 0.3, 1]}}],
      "constraints": [{"type": "pin", "vertices": "r:0"}], "forces": [{"type": "gravity"}, {"type": "force", "vertices": "r:8", "force": [0.5, 0, 2]}])"},
    {"TreeLikeBranch", R"("rods": [
        {"name": "trunk", "material": "m", "segments": 6, "shape": {"type": "line", "from": [0, 0, 0], "to": [0, 0.6, 0]}},
        {"name": "left", "material": "m", "segments": 4, "shape": {"type": "arc", "center": [-0.4, 0.6, 0], "radius": 0.4, "start": [1, 0, 0], "angle": 60, "keep": "points"}},
        {"name": "right", "material": "m", "segments": 4, "shape": {"type": "line", "from": [0, 0.6, 0], "to": [0.3, 0.8, 0.2]}}],
      "welds": [{"vertices": ["trunk:end", "left:start", "right:start"]}],
      "constraints": [{"type": "clamp", "vertices": "trunk:start"}],
      "forces": [{"type": "gravity"}, {"type": "wind", "direction": [1, 0, 1], "speed": 4, "wavelength": 2, "coefficient": 1}])"},
    {"HingeWithFollowerTorque",
     R"("rods": [{"name": "r", "material": "m", "segments": 10, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
      "constraints": [{"type": "hinge", "vertex": "r:start", "axis": [0, 0.2, 1]}],
      "forces": [{"type": "gravity", "acceleration": [0, -3, 1]}, {"type": "torque", "segments": "r:end", "torque": [0.1, 0.2, 0.3], "axes": "material"},
                 {"type": "torque", "segments": "r:4", "torque": [0.1, 0, 0.1]}])"},
    {"ClampsMovedByKeyframes",
     R"("rods": [{"name": "r", "material": "m", "segments": 10, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}],
      "constraints": [{"type": "clamp", "vertices": "r:start", "motion": {"rotate": {"axis": [1, 0, 0], "angle": {"keys": [[0, 0], [0.2, 60]]}}}},
                      {"type": "clamp", "vertices": "r:end", "motion": {"translate": {"keys": [[0, [0, 0, 0]], [0.2, [-0.2, 0.1, 0]]], "interpolation": "smooth"}}}],
      "forces": [{"type": "gravity"}])"},
};

class Agreement : public testing::TestWithParam<AgreementCase> {
 protected:
  /// Runs both side by side and compares after one and after twenty steps.
  static void compare(const std::string& solver, double allowed) {
    const std::string text = std::string("{") + kMaterial + GetParam().scene + "}";
    Simulation newton(scene_with(text, R"({"name": "newton", "tolerance": 1e-13})")), other(scene_with(text, solver));
    for (int i = 1; i <= 20; ++i) {
      ASSERT_FALSE(newton.step().not_converged) << i;
      other.step();
      if (i != 1 && i != 20) continue;
      EXPECT_LE(farthest(other.state().vertex_position, newton.state().vertex_position), allowed * extent(newton.state()))
          << solver << " step " << i;
      EXPECT_LE(farthest(other.state().frame_rotation, newton.state().frame_rotation), allowed) << solver << " step " << i;
    }
    const Scene scene = scene_with(text, solver);
    EXPECT_GT(farthest(newton.state().vertex_position, scene.initial_state().vertex_position), 0.01) << "something must happen";
  }
};

TEST_P(Agreement, ConvergedSweepsFindNewtonsPositionsAndFrames) {
  for (const char* order : {"gauss_seidel", "red_black"})
    compare(
        std::string(R"({"name": "stable_cosserat", "tolerance": 1e-11, "max_iterations": 100000, "order": ")") + order + "\"}",
        1e-8);
}

/// Algorithm 1 as well: its lambda converges along with the sweeps.
TEST_P(Agreement, ConvergedSweepsWithAlgorithmOneFindNewtonsPositionsAndFrames) {
  compare(R"({"name": "stable_cosserat", "tolerance": 1e-11, "max_iterations": 100000, "lambda": "exact"})", 1e-8);
}

TEST_P(Agreement, ConvergedFloatSweepsFindNewtonsPositionsAndFrames) {
  compare(R"({"name": "stable_cosserat", "tolerance": 2e-6, "max_iterations": 2000, "precision": "float"})", 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Scenes, Agreement, testing::ValuesIn(kCases), [](const auto& given) { return given.param.name; });

/// Jacobi sweeps have the same fixed point; where they converge they must end there too.
TEST(AgreementOfJacobi, ConvergedSweepsFindNewtonsPositionsAndFrames) {
  const std::string text = std::string("{") + kMaterial + kCases[0].scene + "}";
  Simulation newton(scene_with(text, R"({"name": "newton", "tolerance": 1e-13})"));
  Simulation jacobi(
      scene_with(text, R"({"name": "stable_cosserat", "order": "jacobi", "tolerance": 1e-11, "max_iterations": 100000})"));
  for (int i = 0; i < 20; ++i) {
    newton.step();
    ASSERT_FALSE(jacobi.step().not_converged);
  }
  EXPECT_LE(farthest(jacobi.state().vertex_position, newton.state().vertex_position), 1e-8);
  EXPECT_LE(farthest(jacobi.state().frame_rotation, newton.state().frame_rotation), 1e-8);
}

}  // namespace
}  // namespace osier::test
