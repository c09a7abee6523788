// Paths of equilibria through limit points: the truss of von Mises, whose path is known in closed form, dead loaded and pulled
// through a spring; and an arch, against the reaction at its crown where that is led.
#include <cmath>

#include "analytic/reference.hpp"

namespace osier::test {
namespace {

constexpr double kStiffness = 1000, kRise = 0.3;  // EA [N]; half the span is 1 m

/// The load on the crown of the truss at height y: 2 EA (1 - L/L0) y/L.
double load_of(double y) {
  const double rest = std::hypot(1, kRise), length = std::hypot(1, y);
  return 2 * kStiffness * (1 - length / rest) * y / length;
}
/// Its largest value above the base, where L^3 = L0.
double limit_load() { return load_of(std::sqrt(std::pow(1 + kRise * kRise, 1.0 / 3) - 1)); }

std::string truss(const std::string& more_rods, const std::string& weld, const std::string& constraints,
                  const std::string& forces, const std::string& analysis, const std::string& solver) {
  return fmt::format(R"({{
    "materials": {{"bar": {{"stretch_shear": {}, "bend_twist": 1e-6, "line_density": 1}}}},
    "rods": [{{"name": "a", "shape": {{"type": "line", "from": [-1, 0, 0], "to": [0, {}, 0]}}, "segments": 1, "material": "bar"}},
             {{"name": "b", "shape": {{"type": "line", "from": [0, {}, 0], "to": [1, 0, 0]}}, "segments": 1, "material": "bar"}}{}],
    "welds": [{{"vertices": ["a:end", "b:start"{}], "joint": false}}],
    "constraints": [{{"type": "pin", "vertices": ["a:start", "b:end"]}},
                    {{"type": "pin", "vertices": "a:end", "axes": [[1, 0, 0], [0, 0, 1]]}}{}],
    "forces": [{}], "solver": {{"name": "{}"}}, "analysis": {{"type": "static", {}}}
  }})",
                     kStiffness, kRise, kRise, more_rods, weld, constraints, forces, solver, analysis);
}
std::string loaded_truss(double load, const std::string& analysis, const std::string& solver = "direct") {
  return truss("", "", "", fmt::format(R"({{"type": "force", "vertices": "a:end", "force": [0, {}, 0]}})", -load), analysis,
               solver);
}

double crown(const Simulation& s) { return s.state().vertex_position[1].y; }

TEST(ArcLength, FollowsTheTrussOfVonMisesThroughBothItsLimitPoints) {
  constexpr double kFull = 20;
  for (const char* solver : {"direct", "newton", "automatic"}) {
    Simulation s(Scene::parse(loaded_truss(kFull, R"("control": "arc_length", "load_steps": 20)", solver)));
    double highest = 0, lowest = 0;
    for (int i = 0; i < s.frame_count() && !s.finished(); ++i) {
      s.step();
      const double load = kFull * s.diagnostics().load_factor;
      ASSERT_NEAR(load, load_of(crown(s)), 1e-7) << solver << " " << i;
      highest = std::max(highest, crown(s) > 0 ? load : 0), lowest = std::min(lowest, load);
      // Between the limit points the truss is unstable.
      const double turning = std::sqrt(std::pow(1 + kRise * kRise, 1.0 / 3) - 1);
      const int unstable = std::abs(crown(s)) < turning ? 1 : 0;
      if (std::abs(std::abs(crown(s)) - turning) > 1e-3) {
        EXPECT_EQ(s.last_report().unstable_modes, unstable) << crown(s);
      }
    }
    ASSERT_TRUE(s.finished());
    ASSERT_TRUE(s.path()->is_complete);
    EXPECT_DOUBLE_EQ(s.path()->load, 1);
    EXPECT_NEAR(highest, limit_load(), 1e-6);
    EXPECT_NEAR(lowest, -limit_load(), 1e-6);
    ASSERT_EQ(s.path()->critical_points.size(), 2U);
    for (const CriticalPoint& p : s.path()->critical_points) EXPECT_TRUE(p.is_limit);
    EXPECT_NEAR(kFull * s.path()->critical_points[0].load, limit_load(), 1e-6);
    EXPECT_NEAR(kFull * s.path()->critical_points[1].load, -limit_load(), 1e-6);
  }
}

// Pulled down through a spring softer than the truss is steep on its way down, the end of the spring has to go back: snap-back in
// what is prescribed.
TEST(ArcLength, FollowsAPrescribedMotionBack) {
  constexpr double kSpring = 30, kPull = 1.6;  // N/m, m
  const std::string rod =
      fmt::format(R"(, {{"name": "spring", "shape": {{"type": "line", "from": [0, {}, 0], "to": [0, {}, 0]}}, "segments": 1,
                       "material": {{"stretch_shear": {}, "bend_twist": 1e-6, "line_density": 1}}}})",
                  kRise, kRise - 2, 2 * kSpring);
  const std::string led =
      fmt::format(R"(, {{"type": "pin", "vertices": "spring:end", "motion": {{"translate": {{"keys": [[0, [0, 0, 0]],
                       [1, [0, {}, 0]]]}}}}}})",
                  -kPull);
  Simulation s(
      Scene::parse(truss(rod, R"(, "spring:start")", led, "", R"("control": "arc_length", "load_steps": 50)", "direct")));
  double back = 0, before = 0;
  for (int i = 0; i < s.frame_count() && !s.finished(); ++i) {
    s.step();
    const double pull = kPull * s.diagnostics().load_factor;
    ASSERT_NEAR(pull, kRise - crown(s) + load_of(crown(s)) / kSpring, 1e-8) << i;
    back = std::max(back, before - pull);
    before = pull;
  }
  ASSERT_TRUE(s.path()->is_complete);
  EXPECT_GT(back, 0);
  EXPECT_EQ(s.path()->critical_points.size(), 2U);
}

TEST(ArcLength, EndsAtItsCriticalPointWhereThatIsAskedFor) {
  Simulation s(Scene::parse(loaded_truss(20, R"("control": "arc_length", "load_steps": 20, "stop_at_instability": true)")));
  for (int i = 0; i < s.frame_count() && !s.finished(); ++i) s.step();
  ASSERT_TRUE(s.finished());
  EXPECT_FALSE(s.path()->is_complete);
  EXPECT_NEAR(20 * s.path()->load, limit_load(), 1e-6);
}

std::string arch(const std::string& constraint, const std::string& force, const std::string& analysis) {
  return fmt::format(R"({{
    "rods": [{{"name": "arch", "shape": {{"type": "arc", "center": [0, -1, 0], "radius": 1.1, "start": [-0.4, 1, 0],
      "angle": -43.602818972, "normal": [0, 0, 1]}}, "segments": 60,
      "material": {{"young": 2e9, "poisson": 0.3, "density": 1100, "radius": 0.002}}}}],
    "constraints": [{{"type": "clamp", "vertices": ["arch:start", "arch:end"]}}{}],
    "forces": [{}], "probes": [{{"name": "r", "reaction": "led"}}],
    "analysis": {{"type": "static", {}}}
  }})",
                     constraint, force, analysis);
}

// The crown held where the path has been asks for the load that the path has there.
TEST(ArcLength, FollowsAnArchAsIfItsCrownWereLed) {
  constexpr double kFull = 20;
  std::string text = arch("", fmt::format(R"({{"type": "force", "vertices": "arch:mid", "force": [0, {}, 0]}})", -kFull),
                          R"("control": "arc_length", "load_steps": 40)");
  text.replace(text.find(R"("probes")"), std::string(R"("probes": [{"name": "r", "reaction": "led"}],)").size(), "");
  Simulation s(Scene::parse(text));
  const double start = s.state().vertex_position[30].y;
  double most = 0;
  int compared = 0;
  for (int i = 0; i < s.frame_count() && !s.finished() && s.path()->critical_points.size() < 2; ++i) {
    s.step();
    const double load = kFull * s.path()->load, down = start - s.state().vertex_position[30].y;
    most = std::max(most, load);
    Simulation led(Scene::parse(
        arch(fmt::format(R"(, {{"type": "pin", "name": "led", "vertices": "arch:mid", "motion": {{"translate": {{"keys":
                         [[0, [0, 0, 0]], [1, [0, {}, 0]]]}}}}}})",
                         -down),
             "", R"("load_steps": 8, "branch": "follow")")));
    for (int j = 0; j < 8; ++j) led.step();
    EXPECT_NEAR(-led.reaction(1).force.y, load, 1e-5 * (1 + load)) << i;
    ++compared;
  }
  EXPECT_GT(compared, 4);
  ASSERT_EQ(s.path()->critical_points.size(), 2U);
  EXPECT_FALSE(s.path()->critical_points[0].is_limit);  // it leaves its plane
  EXPECT_NEAR(kFull * s.path()->critical_points[0].load, 0.5078, 1e-4);
  EXPECT_TRUE(s.path()->critical_points[1].is_limit);
  EXPECT_NEAR(kFull * s.path()->critical_points[1].load, most, 1e-9);
}

TEST(SnapThrough, IsSaidWhereLoadControlPassesIt) {
  for (const int load_steps : {1, 3, 20}) {
    Simulation s(Scene::parse(loaded_truss(20, fmt::format(R"("load_steps": {})", load_steps))));
    for (int i = 0; i < load_steps; ++i) s.step();
    EXPECT_EQ(s.snaps().count, 1) << load_steps;
    EXPECT_TRUE(s.snaps().is_jump);
    EXPECT_NEAR(20 * s.snaps().at, limit_load(), 1e-2);
    EXPECT_NEAR(load_of(crown(s)), 20, 1e-6);
  }
  Simulation below(Scene::parse(loaded_truss(9.4, R"("load_steps": 1)")));
  below.step();
  EXPECT_EQ(below.snaps().count, 0);
}

// A cantilever bent by more than a right angle in one load step has not jumped.
TEST(SnapThrough, IsNotSaidOfLargeSmoothBending) {
  Simulation s(Scene::parse(R"({
    "rods": [{"name": "rod", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 40,
      "material": {"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}],
    "constraints": [{"type": "clamp", "vertices": "rod:start"}],
    "forces": [{"type": "force", "vertices": "rod:end", "force": [0, 50, 0]}], "analysis": {"type": "static"}
  })"));
  s.step();
  EXPECT_EQ(s.snaps().count, 0);
}

TEST(ArcLength, RefusesWhatHappensAtATime) {
  const auto problems_of = [](const std::string& constraints, const std::string& analysis) {
    try {
      Scene::parse(truss("", "", constraints, "", analysis, "direct"));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(problems_of("", R"("control": "arc_length", "branch": "follow")").find("`branch` has no effect"), std::string::npos);
  EXPECT_NE(problems_of("", R"("path_steps": 4)").find("`path_steps` belongs to"), std::string::npos);
  std::string text = loaded_truss(20, R"("control": "arc_length")");
  text.replace(text.find(R"("type": "pin")"), 13, R"("type": "pin", "release": 0.5)");
  try {
    Scene::parse(text);
    FAIL() << "taken";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("/constraints/0/release"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace osier::test
