// Several methods, one answer: what is run to convergence ends where Newton ends.
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

#include "support/agreement_scenes.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

struct Method {
  const char* name;
  const char* solver;
  double allowed = 1e-8;          ///< of the scene's size, and of frames
  bool to_rounding = false;       ///< steps may end at the rounding floor instead of their tolerance
  bool of_one_stiffness = false;  ///< refuses a stiffness for every axis, and inertia of frames
};
const Method kMethods[] = {
    {"Sweeps", R"({"name": "stable_cosserat", "tolerance": 1e-11, "max_iterations": 100000, "order": "gauss_seidel"})"},
    {"RedBlackSweeps", R"({"name": "stable_cosserat", "tolerance": 1e-11, "max_iterations": 100000, "order": "red_black"})"},
    // Algorithm 1 as well: its lambda converges along with the sweeps.
    {"SweepsWithAlgorithmOne", R"({"name": "stable_cosserat", "tolerance": 1e-11, "max_iterations": 100000, "lambda": "exact"})",
     1e-8, false, true},
    {"FloatSweeps", R"({"name": "stable_cosserat", "tolerance": 2e-6, "max_iterations": 2000, "precision": "float"})", 1e-4,
     true},
    {"ProjectiveSweeps", R"({"name": "projective", "iteration": "sweeps", "tolerance": 1e-11, "max_iterations": 100000})"},
    {"ProjectiveAccelerated", R"({"name": "projective", "iteration": "anderson", "tolerance": 1e-11, "max_iterations": 3000})"},
    {"ProjectiveCoupled", R"({"name": "projective", "iteration": "coupled", "iterations": 30})"},
    {"ProjectiveFloat",
     R"({"name": "projective", "iteration": "sweeps", "tolerance": 2e-6, "max_iterations": 1000, "precision": "float"})", 1e-4,
     true},
};

class Agreement : public testing::TestWithParam<std::tuple<Method, AgreementScene>> {};

/// Runs both side by side and compares after one and after twenty steps.
TEST_P(Agreement, WithNewtonsPositionsAndFrames) {
  const auto& [method, scene] = GetParam();
  const std::string text = scene.text();
  Simulation newton(scene_with(text, R"({"name": "newton", "tolerance": 1e-13})")), other(scene_with(text, method.solver));
  for (int i = 1; i <= 20; ++i) {
    ASSERT_FALSE(newton.step().not_converged) << i;
    ASSERT_TRUE(!other.step().not_converged || method.to_rounding) << i;
    if (i != 1 && i != 20) continue;
    EXPECT_LE(farthest(other.state().vertex_position, newton.state().vertex_position), method.allowed * extent(newton.state()))
        << i;
    EXPECT_LE(farthest(other.state().frame_rotation, newton.state().frame_rotation), method.allowed) << i;
  }
  const Scene start = scene_with(text, method.solver);
  EXPECT_GT(farthest(newton.state().vertex_position, start.initial_state().vertex_position), 0.01) << "something must happen";
}

using Pair = std::tuple<Method, AgreementScene>;
std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const Method& method : kMethods)
    for (const AgreementScene& scene : kAgreementScenes)
      if (scene.one_stiffness || !method.of_one_stiffness) all.emplace_back(method, scene);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Scenes, Agreement, testing::ValuesIn(pairs()), [](const auto& given) {
  return std::string(std::get<0>(given.param).name) + "On" + std::get<1>(given.param).name;
});

/// Jacobi sweeps have the same fixed point; where they converge they must end there too.
TEST(AgreementOfJacobi, ConvergedSweepsFindNewtonsPositionsAndFrames) {
  const std::string text = kAgreementScenes[0].text();
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
