// Expressions of case files and the pass rule.
#include <cmath>
#include <gtest/gtest.h>

#include "math/quat.hpp"
#include "validate/judge.hpp"
#include "validate/relax.hpp"

namespace osier::validate {
namespace {

TEST(Expression, KnowsDottedNamesFunctionsAndNumbers) {
  const Values v{{"tip.x", 3}, {"tip.y", -4}, {"N", 20}};
  EXPECT_DOUBLE_EQ(evaluate("-tip.y/tip.x", v), 4.0 / 3);
  EXPECT_DOUBLE_EQ(evaluate("norm(tip.x, tip.y)", v), 5);
  EXPECT_DOUBLE_EQ(evaluate("2.5e-1*N + .5*pi/pi", v), 5.5);
  EXPECT_DOUBLE_EQ(evaluate("tip.x^2 - 1.5", v), 7.5);
  EXPECT_NEAR(evaluate("elliptic_k(0)", v), 1.5707963267948966, 1e-15);
}

TEST(Expression, NamesWhatIsUnknownAndWhatWasProbablyMeant) {
  try {
    evaluate("tip.z + tipp.x", {{"tip.x", 1}, {"tip.z", 2}});
    FAIL();
  } catch (const ExpressionError& e) {
    EXPECT_NE(std::string(e.what()).find("tipp.x"), std::string::npos);
    EXPECT_NE(e.remedy.find("tip.x"), std::string::npos);
  }
  EXPECT_THROW(evaluate("1 +", {}), ExpressionError);
  EXPECT_THROW(evaluate("", {}), ExpressionError);
}

TEST(Expression, ParametersReferToEachOtherInAnyOrderAndCirclesAreTold) {
  Problems problems;
  Values values{{"N", 10}};
  resolve({{"a", {"b*2", "/a"}}, {"b", {"c + N", "/b"}}, {"c", {"1", "/c"}}}, values, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_DOUBLE_EQ(values.at("a"), 22);
  resolve({{"a", {"b", "/a"}}, {"b", {"a", "/b"}}}, values, problems);
  EXPECT_EQ(problems.size(), 2u);
}

TEST(Expression, FillsATemplateWithWholeNumbersWhereTheyAreWhole) {
  Problems problems;
  const Json json = fill(Json::parse(R"({"n": "=N", "at": ["=N/4", "rod:{N/2}", "plain"]})"), {{"N", 10}}, "", problems);
  EXPECT_EQ(json.dump(), R"({"at":[2.5,"rod:5","plain"],"n":10})");
  fill(Json::parse(R"({"a": "=M", "b": ["=1/0"]})"), {}, "f", problems);
  EXPECT_TRUE(problems.mentions("f/a") && problems.mentions("f/b/0"));
}

ExpectSpec with_table() {
  ExpectSpec e;
  e.table.at = {{50, {"1e-2", ""}}, {200, {"1e-3", ""}}};
  return e;
}

std::vector<ValidationRow> rows(double coarse, double fine) {
  std::vector<ValidationRow> out(2);
  out[0].resolution = 50, out[0].error = coarse, out[0].allowed = allowed_error(with_table(), 50, {});
  out[1].resolution = 200, out[1].error = fine, out[1].allowed = allowed_error(with_table(), 200, {});
  return out;
}

TEST(Judge, AllowsOneAndAHalfTimesTheTable) {
  auto good = rows(1.49e-2, -9e-4), bad = rows(1.51e-2, 9e-4);
  judge(with_table(), good);
  EXPECT_EQ(good[0].verdict, Verdict::passed);
  EXPECT_EQ(good[1].verdict, Verdict::passed);
  judge(with_table(), bad);
  EXPECT_EQ(bad[0].verdict, Verdict::failed);
}

TEST(Judge, AsksForSecondOrderBetween50And200) {
  auto slow = rows(1e-2, 1e-3);
  judge(with_table(), slow);
  EXPECT_NEAR(*slow[1].order, 1.66, 0.01);
  EXPECT_EQ(slow[1].verdict, Verdict::failed);
  EXPECT_EQ(slow[0].verdict, Verdict::passed);
}

TEST(Judge, ARunThatFailedOrIsNotANumberFails) {
  auto r = rows(1e-2, 1e-4);
  r[0].error.reset();
  r[0].note = "did not converge";
  r[1].error = std::nan("");
  judge(with_table(), r);
  EXPECT_EQ(r[0].verdict, Verdict::failed);
  EXPECT_EQ(r[1].verdict, Verdict::failed);
}

TEST(Judge, WithoutARequirementANumberIsOnlyShown) {
  ExpectSpec e;
  std::vector<ValidationRow> r(1);
  r[0].error = 0.5;
  judge(e, r);
  EXPECT_EQ(r[0].verdict, Verdict::shown);
}

TEST(RestWatch, WaitsUntilNothingMovesOrTurnsForHalfASecond) {
  State state;
  state.vertex_position = {{0, 0, 0}, {2, 0, 0}};
  state.frame_rotation = {{0, 0, 0, 1}};
  RestWatch watch(1, 1e-7);
  const auto at = [&](double time) {
    state.time = time;
    return watch.at_rest(state);
  };
  EXPECT_FALSE(at(0.5));  // keyframes are still at work
  EXPECT_FALSE(at(1.0));
  EXPECT_FALSE(at(1.2));
  state.vertex_position[1].y = 1e-6;
  EXPECT_FALSE(at(1.6));
  state.frame_rotation[0] = normalized(Quatd{1e-6, 0, 0, 1});
  EXPECT_FALSE(at(2.2));
  state.vertex_position[1].y += 1e-7;  // below 1e-7 of the size
  EXPECT_TRUE(at(2.8));
}

TEST(Relaxation, LastsUntilDragHasBroughtMotionDownToTheTolerance) {
  const auto schedule = [](const char* analysis) { return schedule_of(Json{{"analysis", Json::parse(analysis)}}); };
  const Schedule usual = schedule(R"({"type": "static"})"), exact = schedule(R"({"type": "static", "tolerance": 1e-12})");
  EXPECT_DOUBLE_EQ(usual.duration, 20);
  EXPECT_NEAR(std::exp(-exact.drag_rate * exact.duration / 2), 1e-12, 1e-18);
  EXPECT_DOUBLE_EQ(exact.rest_tolerance, 1e-12);
}

TEST(AnotherSolver, GetsTheToleranceOfTheCaseAndNothingElseOfItsSolver) {
  const Json scene = Json::parse(
      R"({"solver": {"name": "automatic", "tolerance": 1e-9, "max_iterations": 70}, "analysis": {"type": "dynamic", "step": 1}})");
  EXPECT_EQ(with_solver(scene, "projective")["solver"].dump(), R"({"max_iterations":70,"name":"projective","tolerance":1e-09})");
  const Json sweeps = Json::parse(
      R"({"solver": {"name": "stable_cosserat", "iterations": 6, "lambda": "approx"}, "analysis": {"type": "dynamic", "step": 1}})");
  EXPECT_EQ(with_solver(sweeps, "projective")["solver"].dump(), R"({"name":"projective"})");
}

}  // namespace
}  // namespace osier::validate
