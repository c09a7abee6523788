// Older spellings of solver and execution settings: what becomes of them, what is said of them, and where.
#include "scene/solver_spelling.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "osier/scene.hpp"
#include "scene/setup.hpp"

namespace osier {
namespace {

struct Translated {
  Json scene;
  WrittenPlaces places;
  std::vector<Problem> problems;
  std::vector<std::string> warnings;
};
Translated translated(const std::string& text) {
  Translated t;
  t.scene = Json::parse(text);
  Problems problems;
  translate_spellings(t.scene, t.places, problems, t.warnings);
  try {
    problems.throw_if_any();
  } catch (const InputError& e) {
    t.problems = e.problems();
  }
  return t;
}
Json solver_of(const std::string& solver) { return translated(R"({"solver": )" + solver + "}").scene["solver"]; }

TEST(SolverSpelling, MethodsAreSolvers) {
  EXPECT_EQ(solver_of(R"({"name": "stable_cosserat", "method": "sweep", "iterations": 3})"),
            Json({{"name", "stable_cosserat"}, {"iterations", 3}}));
  EXPECT_EQ(solver_of(R"({"name": "stable_cosserat", "method": "direct", "tolerance": 1e-4})"),
            Json({{"name", "direct"}, {"tolerance", 1e-4}}));
  EXPECT_EQ(solver_of(R"({"name": "stable_cosserat", "method": "auto"})"), Json({{"name", "automatic"}}));
  EXPECT_EQ(solver_of(R"({"method": "sweep"})"), Json({{"name", "stable_cosserat"}}));
  EXPECT_EQ(solver_of(R"({"method": "direct"})"), Json({{"name", "direct"}}));
  EXPECT_EQ(solver_of(R"({"method": "auto"})"), Json({{"name", "automatic"}}));
  // As --set /solver/method=sweep makes it of a scene that is spelled as it is now.
  EXPECT_EQ(solver_of(R"({"name": "direct", "method": "sweep"})"), Json({{"name", "stable_cosserat"}}));
  EXPECT_EQ(solver_of(R"({"name": "stable_cosserat", "method": "auto", "order": "jacobi"})"),
            Json({{"name", "stable_cosserat"}, {"order", "jacobi"}}));
}

TEST(SolverSpelling, WithoutANameSettingsTellTheSolver) {
  EXPECT_EQ(translated("{}").scene["solver"], Json({{"name", "automatic"}}));
  EXPECT_EQ(solver_of(R"({"tolerance": 1e-3})"), Json({{"name", "automatic"}, {"tolerance", 1e-3}}));
  EXPECT_EQ(solver_of(R"({"precision": "float"})"), Json({{"name", "automatic"}}));
  EXPECT_EQ(solver_of(R"({"order": "jacobi"})"), Json({{"name", "stable_cosserat"}, {"order", "jacobi"}}));
  EXPECT_EQ(solver_of(R"({"lambda": "exact"})"), Json({{"name", "stable_cosserat"}, {"lambda", "exact"}}));
}

TEST(SolverSpelling, WhatIsSpelledAsItShouldBeStays) {
  for (const char* text :
       {R"({"name": "automatic"})", R"({"name": "direct", "iterations": 2})", R"({"name": "newton"})",
        R"({"name": "stable_cosserat", "iterations": 4})", R"({"name": "stable_cosserat", "lambda": "approx"})"}) {
    const Translated t = translated(std::string(R"({"solver": )") + text + R"(, "execution": {"threads": 2}})");
    EXPECT_EQ(t.scene["solver"], Json::parse(text));
    EXPECT_EQ(t.scene["execution"], Json({{"threads", 2}}));
    EXPECT_TRUE(t.warnings.empty() && t.problems.empty()) << text;
  }
}

/// Files that say no more than the name of the solver that used to choose by itself have the results that they had.
TEST(SolverSpelling, ABareNameStillChoosesAndIsTold) {
  for (const char* text : {R"({"name": "stable_cosserat"})", R"({"name": "stable_cosserat", "precision": "float"})"}) {
    const Translated t = translated(std::string(R"({"solver": )") + text + "}");
    EXPECT_EQ(t.scene["solver"], Json({{"name", "automatic"}}));
    ASSERT_EQ(t.warnings.size(), 1u);
    EXPECT_NE(t.warnings[0].find("`automatic`"), std::string::npos) << t.warnings[0];
  }
  const Translated statics = translated(R"({"solver": {"name": "stable_cosserat"}, "analysis": {"type": "static"}})");
  EXPECT_EQ(statics.scene["solver"], Json({{"name", "automatic"}}));
  ASSERT_EQ(statics.warnings.size(), 1u);
}

TEST(SolverSpelling, ExecutionMovesOutOfTheSolver) {
  const Translated t = translated(R"({"solver": {"name": "direct", "threads": 3, "simd": "off", "precision": "float"}})");
  EXPECT_EQ(t.scene["solver"], Json({{"name", "direct"}}));
  EXPECT_EQ(t.scene["execution"], Json({{"threads", 3}, {"simd", "off"}, {"precision", "float"}}));
  EXPECT_EQ(t.places.of("/execution/simd"), "/solver/simd");
  EXPECT_EQ(t.places.of("/execution/device"), "/execution/device");
}

TEST(SolverSpelling, ExecutionInBothPlacesMustAgree) {
  EXPECT_TRUE(translated(R"({"solver": {"threads": 3}, "execution": {"threads": 3}})").problems.empty());
  const Translated t = translated(R"({"solver": {"threads": 3}, "execution": {"threads": 2}})");
  ASSERT_EQ(t.problems.size(), 1u);
  EXPECT_EQ(t.problems[0].where, "/solver/threads");
  EXPECT_NE(t.problems[0].what.find("/execution/threads says 2"), std::string::npos) << t.problems[0].what;
}

TEST(SolverSpelling, AnUnknownMethodIsToldWhereItStands) {
  const Translated t = translated(R"({"solver": {"name": "stable_cosserat", "method": "swep"}})");
  ASSERT_EQ(t.problems.size(), 1u);
  EXPECT_EQ(t.problems[0].where, "/solver/method");
  EXPECT_NE(t.problems[0].remedy.find("`sweep`"), std::string::npos);
}

// --- Through a whole scene ----------------------------------------------------------------------------------------------------

std::vector<Problem> problems_of(const std::string& more, const LoadOptions& options = {}) {
  const std::string beam = R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}},
    "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 4, "material": "m"}], )";
  try {
    Scene::parse(beam + more + "}", "beam", ".", options);
  } catch (const InputError& e) {
    return e.problems();
  }
  return {};
}

TEST(SolverSpelling, ProblemsStandWhereTheUserWroteTheValue) {
  const auto expect_one = [](const std::string& scene, const char* where, const LoadOptions& options = {}) {
    const std::vector<Problem> problems = problems_of(scene, options);
    ASSERT_EQ(problems.size(), 1u) << scene;
    EXPECT_EQ(problems[0].where, where) << problems[0].what;
  };
  expect_one(R"("solver": {"threads": 0})", "/solver/threads");
  expect_one(R"("execution": {"threads": 0})", "/execution/threads");
  expect_one(R"("execution": {"device": "cuda"})", "/execution/device");
  expect_one(R"("execution": 3)", "/execution");
  expect_one(R"("solver": {"name": "newton", "precision": "float"})", "/solver/precision");
  expect_one(R"("solver": {"name": "newton"}, "execution": {"precision": "float"})", "/execution/precision");
  expect_one(R"("solver": {"method": "sweep"}, "analysis": {"type": "static"})", "/solver/method");
  expect_one(R"("solver": {"order": "jacobi"}, "analysis": {"type": "static"})", "/solver");
  expect_one(R"("solver": {"name": "newton"})", "--threads",
             {.solver = {}, .overrides = {}, .precision = {}, .threads = 2, .simd = {}});
}

/// So many sweeps are not as many Gauss-Newton iterations.
TEST(SolverSpelling, AnotherSolverByAnOverrideDoesNotInheritACount) {
  const char* scene = R"({"rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 4,
    "material": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}}], "solver": {"name": "stable_cosserat", "iterations": 4},
    "analysis": {"type": "dynamic"}})";
  const auto solver_after = [&](const std::vector<std::string>& overrides) {
    LoadOptions options;
    options.overrides = overrides;
    return nlohmann::json::parse(Scene::parse(scene, "a", ".", options).json())["solver"];
  };
  EXPECT_FALSE(solver_after({"/solver/method=direct"}).contains("iterations"));
  EXPECT_FALSE(solver_after({"/solver/name=direct"}).contains("iterations"));
  EXPECT_EQ(solver_after({"/solver/method=direct", "/solver/iterations=3"})["iterations"], 3);
  EXPECT_EQ(solver_after({"/solver/method=sweep"})["iterations"], 4) << "the same solver";
  EXPECT_EQ(solver_after({"/solver/order=jacobi"})["iterations"], 4);
}

TEST(SolverSpelling, AnotherSolverKeepsOfExecutionWhatItCanDo) {
  const LoadOptions newton{.solver = "newton", .overrides = {}, .precision = {}, .threads = {}, .simd = {}};
  EXPECT_TRUE(problems_of(R"("execution": {"precision": "float", "threads": 4, "simd": "off"})", newton).empty());
}

}  // namespace
}  // namespace osier
