// Where a run starts: in equilibrium, or where another run was.
#include <gtest/gtest.h>

#include "osier/osier.hpp"
#include "support/files.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

std::string beam(const std::string& more, const std::string& constraint = R"({"type": "clamp", "vertices": "beam:start"})",
                 const std::string& root = "") {
  return R"({"rods": [{"name": "beam", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 20,
    "material": {"young": 1e7, "density": 1000, "radius": 0.01}}], "forces": [{"type": "gravity"}], )" +
         root + R"("constraints": [)" + constraint + R"(], "analysis": {"type": "dynamic", "step": 0.002, "duration": 0.4)" +
         more + "}}";
}

double speed(const State& state) {
  double most = 0;
  for (const Vec3d& v : state.vertex_velocity) most = std::max(most, norm(v));
  return most;
}

TEST(Start, InEquilibriumNothingMovesWithAnySolver) {
  for (const char* solver :
       {R"({"name": "direct"})", R"({"name": "newton"})", R"({"name": "stable_cosserat", "iterations": 10})"}) {
    Simulation s(scene_with(beam(R"(, "start": "equilibrium")"), solver));
    const Vec3d tip = s.state().vertex_position[20];
    EXPECT_LT(tip.y, -0.5) << solver;
    EXPECT_EQ(s.state().time, 0);
    EXPECT_EQ(s.start_unstable_modes(), 0);
    for (int i = 0; i < 100; ++i) s.step();
    EXPECT_LT(norm(s.state().vertex_position[20] - tip), 1e-5) << solver;
    EXPECT_LT(speed(s.state()), 1e-4) << solver;
  }
}

TEST(Start, InEquilibriumIsThatOfStatics) {
  LoadOptions statics;
  statics.overrides = {R"(/analysis={"type": "static"})"};
  Simulation rest(Scene::parse(beam(""), "rest", ".", statics));
  rest.step();
  Simulation s(Scene::parse(beam(R"(, "start": "equilibrium")")));
  EXPECT_LT(farthest(s.state().vertex_position, rest.state().vertex_position), 1e-6);
}

TEST(Start, InEquilibriumKeepsTheVelocitiesOfTheScene) {
  LoadOptions options;
  options.overrides = {R"(/rods/0/velocity={"linear": [0, 0, 2]})"};
  Simulation s(Scene::parse(beam(R"(, "start": "equilibrium")"), "moving", ".", options));
  EXPECT_EQ(s.state().vertex_velocity[20].z, 2);
}

TEST(Start, WithoutAnEquilibriumSaysSo) {
  EXPECT_THROW(Simulation(Scene::parse(beam(R"(, "start": "equilibrium")", R"({"type": "fix", "segments": "beam:start"})"))),
               RunError);
}

std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
  LoadOptions options;
  options.overrides = overrides;
  try {
    Scene::parse(text, "wrong", ".", options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Start, RefusesWhatItCannotDo) {
  EXPECT_NE(complaint(beam(R"(, "start": "rest")")).find("/analysis/start"), std::string::npos);
  EXPECT_NE(complaint(beam(""), {R"(/analysis={"type": "static", "start": "equilibrium"})"}).find("/analysis/start"),
            std::string::npos);
  EXPECT_NE(complaint(beam(R"(, "start": "equilibrium")"), {"/contact={}"}).find("/analysis/start"), std::string::npos);
  EXPECT_NE(complaint(beam(R"(, "start": {"run": "nowhere"})")).find("/analysis/start/run"), std::string::npos);
  const std::string driven =
      R"({"type": "motor", "segment": "beam:start", "torque_speed": 1}, {"type": "pin", "vertices": "beam:start"})";
  EXPECT_NE(complaint(beam(R"(, "start": "equilibrium")", driven)).find("/analysis/start"), std::string::npos);
}

/// Records half of a run and goes on from there; compares with the whole run.
double error_of_going_on(const std::string& constraint, const std::string& root, const std::string& integrator) {
  const TemporaryFolder folder;
  const std::string more = R"(, "integrator": ")" + integrator + "\"";
  RunOptions record;
  record.folder = folder.path() / "first";
  EXPECT_EQ(run_scene(Scene::parse(beam(more, constraint, root)), record).error, "");
  Simulation whole(Scene::parse(beam(more, constraint, root)));
  while (whole.state().time < 0.8 - 1e-9) whole.step();
  Simulation second(Scene::parse(beam(more + R"(, "start": {"run": ")" + record.folder.string() + "\"}", constraint, root)));
  EXPECT_EQ(second.state().time, 0);
  EXPECT_GT(speed(second.state()), 0.1);
  while (second.state().time < 0.4 - 1e-9) second.step();
  return farthest(second.state().vertex_position, whole.state().vertex_position);
}

TEST(Start, FromARunGoesOnAsIfItHadNotEnded) {
  const char *clamp = R"({"type": "clamp", "vertices": "beam:start"})",
             *pins = R"({"type": "pin", "vertices": "beam:start"}, {"type": "fix", "segments": "beam:start"})";
  for (const char* constraint : {clamp, pins}) {
    EXPECT_LT(error_of_going_on(constraint, "", "implicit_euler"), 1e-6) << constraint;
    EXPECT_LT(error_of_going_on(constraint, "", "bdf2"), 1e-3) << "the first step is one of implicit Euler";
  }
  EXPECT_LT(error_of_going_on(clamp, R"("rotational_inertia": true, )", "implicit_euler"), 1e-6);
}

TEST(Start, FromARunOfOtherRodsIsRefused) {
  const TemporaryFolder folder;
  RunOptions record;
  record.folder = folder.path() / "first";
  record.frames = 2;
  EXPECT_EQ(run_scene(Scene::parse(beam("")), record).error, "");
  const std::string from = R"(, "start": {"run": ")" + record.folder.string() + "\"";
  EXPECT_EQ(complaint(beam(from + "}")), "");
  EXPECT_NE(complaint(beam(from + "}"), {"/rods/0/segments=10"}).find("/analysis/start/run"), std::string::npos);
  EXPECT_NE(complaint(beam(from + R"(, "frame": 3})")).find("it has 0 to 2"), std::string::npos);
}

}  // namespace
}  // namespace osier::test
