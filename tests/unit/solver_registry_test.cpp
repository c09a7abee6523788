// A solver is one folder and one registry line: a foreign one is registered here, and appears wherever solvers do.
#include <gtest/gtest.h>

#include "core/fields.hpp"
#include "osier/osier.hpp"
#include "scene/setup.hpp"
#include "support/free_flight/free_flight.hpp"
#include "validate/relax.hpp"

namespace osier {
namespace {

class SolverRegistry : public testing::Test {
  RegisteredSolver line_{registry_entry<SolverSettings, free_flight::Settings>("free_flight", "Flies freely; for tests")};
};

std::string beam(const std::string& more) {
  return R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}},
    "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 4, "material": "m"}],
    "forces": [{"type": "gravity", "acceleration": {"keys": [[0, [0, 0, 0]], [1, [0, -1, 0]]]}}],
    "analysis": {"type": "dynamic", "step": 0.1, "duration": 1, "fps": 10}, )" +
         more + "}";
}

std::vector<Problem> problems_of(const std::string& scene, const LoadOptions& options = {}) {
  try {
    Scene::parse(scene, "beam", ".", options);
  } catch (const InputError& e) {
    return e.problems();
  }
  return {};
}
LoadOptions by_command_line(const std::string& solver) {
  return {.solver = solver, .overrides = {}, .precision = {}, .threads = {}, .simd = {}};
}

TEST_F(SolverRegistry, ListsIt) {
  const auto list = registry<SolverSettings>();
  EXPECT_EQ(std::string(list.back().name), "free_flight");
  EXPECT_EQ(std::string(list.front().name), RegistryTraits<SolverSettings>::fallback);
}

TEST_F(SolverRegistry, DescribesIt) {
  EXPECT_NE(scene_schema().find(R"("const": "free_flight")"), std::string::npos);
  EXPECT_NE(scene_reference().find("## free_flight"), std::string::npos);
  EXPECT_NE(scene_reference().find("Share of the velocity that a step takes away"), std::string::npos);
}

TEST_F(SolverRegistry, ChecksItsJson) {
  EXPECT_TRUE(problems_of(beam(R"("solver": {"name": "free_flight", "brake": 0.5})")).empty());
  const auto range = problems_of(beam(R"("solver": {"name": "free_flight", "brake": 2})"));
  ASSERT_EQ(range.size(), 1u);
  EXPECT_EQ(range[0].where, "/solver/brake");
  const auto unknown = problems_of(beam(R"("solver": {"name": "free_fligt"})"));
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_NE(unknown[0].remedy.find("`free_flight`"), std::string::npos) << unknown[0].remedy;
}

TEST_F(SolverRegistry, RunsItFromTheSceneAndFromTheCommandLine) {
  const Scene scene = Scene::parse(beam(R"("solver": {"name": "free_flight", "brake": 0.25})"));
  EXPECT_EQ(run_scene(scene, RunOptions{}).solver, "free_flight");
  Simulation chosen(
      Scene::parse(beam(R"("solver": {"name": "newton", "tolerance": 1e-3})"), "beam", ".", by_command_line("free_flight")));
  for (int i = 0; i < 3; ++i) chosen.step();
  // The loads at the start of each step: 0, -0.1 and -0.2 m/s^2, each for 0.1 s.
  EXPECT_NEAR(chosen.state().vertex_velocity[0].y, -0.03, 1e-15);
  ASSERT_EQ(chosen.state().memory.size(), 1u);
  EXPECT_EQ(chosen.state().memory[0].name, "free_flight/steps");
  EXPECT_EQ(chosen.state().memory[0].values, std::vector<double>{3});
}

TEST_F(SolverRegistry, TellsWhatIsKnownOfIt) {
  const Json told = Json::parse(scene_info_json(Scene::parse(beam(R"("solver": {"name": "free_flight"})"))));
  EXPECT_EQ(told["solver"], "free_flight");
  EXPECT_TRUE(told["method"].is_null());
  EXPECT_TRUE(told["bytes"]["solver"].is_null());
  EXPECT_NE(scene_info_text(Scene::parse(beam(R"("solver": {"name": "free_flight"})"))).find("solver free_flight: unknown"),
            std::string::npos);
}

TEST_F(SolverRegistry, RefusesWhatItsTraitsLack) {
  const auto expect = [](const std::string& scene, const char* where, const char* what) {
    const auto problems = problems_of(scene, by_command_line("free_flight"));
    ASSERT_EQ(problems.size(), 1u) << scene;
    EXPECT_EQ(problems[0].where, where);
    EXPECT_EQ(problems[0].what, std::string("`free_flight` cannot ") + what);
    EXPECT_NE(problems[0].remedy.find("`automatic` or `direct`"), std::string::npos) << problems[0].remedy;
  };
  expect(beam(R"("constraints": [{"type": "hinge", "vertex": "a:start"}])"), "/constraints/0", "turn frames about one axis only");
  expect(R"({"structures": [{"type": "net", "name": "n", "nx": 2, "ny": 2, "cell": 0.1, "stretch_shear": 300, "bend_twist": 2e-3,
             "line_density": 0.03}], "forces": [{"type": "torque", "segments": 0, "torque": [0, 1, 0]}]})",
         "/forces/0", "take torques");
  expect(R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}},
             "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 4, "material": "m"}],
             "analysis": {"type": "static"}})",
         "/solver/name", "solve statics");
}

TEST_F(SolverRegistry, ValidationRunsItsStaticsAsDynamics) {
  const Json scene =
      Json::parse(R"({"analysis": {"type": "static"}, "solver": {"name": "direct"}, "execution": {"threads": 2}})");
  const Json other = validate::with_solver(scene, "free_flight");
  EXPECT_EQ(other["solver"], Json({{"name", "free_flight"}}));
  EXPECT_EQ(other["analysis"]["type"], "dynamic");
}

TEST(SolverRoles, AreAllTaken) {
  EXPECT_EQ(solver_with(SolverRole::automatic), "automatic");
  for (const SolverRole role : {SolverRole::converging, SolverRole::sweeps, SolverRole::reference})
    EXPECT_EQ(make_settings(solver_with(role))->role(), role);
  EXPECT_THROW(make_settings("no such solver"), std::logic_error);
}

}  // namespace
}  // namespace osier
