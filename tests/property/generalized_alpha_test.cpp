// The solver `generalized_alpha` in scenes: what it agrees on with others, what it keeps, what it refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numbers>

#include "support/scenes.hpp"

namespace osier::test {
namespace {

constexpr double kPi = std::numbers::pi;
const char* kSolver = R"({"name": "generalized_alpha"})";

const char* kMaterial = R"("materials": {"m": {"young": 2e7, "poisson": 0.4, "density": 1100, "radius": 0.003}},)";

std::string scene_of(const std::string& shape, int segments, const std::string& more, const std::string& analysis) {
  return fmt::format(R"({{{} "rods": [{{"name": "r", "material": "m", "segments": {}, "shape": {}}}], {}, "analysis": {}}})",
                     kMaterial, segments, shape, more, analysis);
}
std::string line(double length) { return fmt::format(R"({{"type": "line", "from": [0, 0, 0], "to": [{}, 0, 0]}})", length); }
const char* kHelix = R"({"type": "helix", "radius": 0.05, "pitch": 0.03, "turns": 1.5, "axis": [0, -1, 0], "start": [1, 0, 0]})";
const char* kCircle = R"({"type": "circle", "radius": 0.1, "normal": [0, 0, 1], "start": [1, 0, 0]})";
const char* kClampedInGravity =
    R"("constraints": [{"name": "base", "type": "clamp", "vertices": "r:start"}], "forces": [{"type": "gravity"}],
  "probes": [{"name": "base", "reaction": "base"}])";
std::string dynamic(double step, double duration = 1000) {
  return fmt::format(R"({{"type": "dynamic", "step": {}, "duration": {}, "steps_per_frame": 1}})", step, duration);
}
const char* kStatic = R"({"type": "static"})";

Simulation simulate(const std::string& text, const std::string& solver = kSolver) { return Simulation(scene_with(text, solver)); }

/// What a scene is refused for with this solver: one line per problem.
std::string refusal(const std::string& text, const std::string& solver = kSolver) {
  try {
    (void)scene_with(text, solver);
  } catch (const InputError& e) {
    std::string lines;
    for (const Problem& p : e.problems()) lines += to_string(p) + "\n";
    return lines;
  }
  return "";
}

TEST(GeneralizedAlpha, ARodAtRestStaysThereWhateverItsShape) {
  for (const char* theory : {"cosserat", "kirchhoff"}) {
    const std::string solver = fmt::format(R"({{"name": "generalized_alpha", "theory": "{}"}})", theory);
    for (const char* held : {R"("constraints": [{"type": "clamp", "vertices": "r:start"}])",
                             R"("constraints": [{"type": "clamp", "vertices": ["r:start", "r:end"]}])",
                             R"("constraints": [{"type": "pin", "vertices": ["r:start", "r:end"]}])", R"("constraints": [])"}) {
      Simulation s = simulate(scene_of(kHelix, 25, held, dynamic(0.01)), solver);
      const State before = s.state();
      for (int i = 0; i < 30; ++i) s.step();
      EXPECT_LT(farthest(before.vertex_position, s.state().vertex_position), 1e-12) << theory << held;
      EXPECT_LT(farthest(before.frame_rotation, s.state().frame_rotation), 1e-11) << theory << held;
    }
  }
}

TEST(GeneralizedAlpha, ARingAtRestStaysThere) {
  for (const char* theory : {"cosserat", "kirchhoff"})
    for (const int n : {12, 25, 60}) {
      const std::string solver = fmt::format(R"({{"name": "generalized_alpha", "theory": "{}"}})", theory);
      Simulation s = simulate(scene_of(kCircle, n, R"("constraints": [])", dynamic(0.01)), solver);
      const State before = s.state();
      for (int i = 0; i < 30; ++i) s.step();
      EXPECT_LT(farthest(before.vertex_position, s.state().vertex_position), 1e-12) << theory << n;
      EXPECT_LT(farthest(before.frame_rotation, s.state().frame_rotation), 1e-11) << theory << n;
    }
}

/// The elastica of a quarter ring by shooting, as in the validation case V29b, but here the ring is free.
TEST(GeneralizedAlpha, APulledRingRestsWhereTheElasticaDoes) {
  const double EI = 2e7 * kPi * std::pow(0.003, 4) / 4, R = 0.1, F = EI / (R * R);
  double error[2];
  int i = 0;
  for (const int n : {48, 96}) {
    const std::string pulled = fmt::format(
        R"("forces": [{{"type": "force", "vertices": "r:{}", "force": [{}, 0, 0]}}, {{"type": "force", "vertices": "r:0", "force": [{}, 0, 0]}}])",
        n / 2, -F, F);
    Simulation s = simulate(scene_of(kCircle, n, pulled, kStatic), R"({"name": "generalized_alpha", "theory": "kirchhoff"})");
    s.step();
    const auto& x = s.state().vertex_position;
    error[i] = std::abs(norm(x[static_cast<std::size_t>(n / 2)] - x[0]) / (2 * R) - 1.0664410814589274);
    EXPECT_NEAR(norm(x[static_cast<std::size_t>(n / 4)] - x[static_cast<std::size_t>(3 * n / 4)]) / (2 * R), 0.9346804332772737,
                2e-3);
    ++i;
  }
  EXPECT_LT(error[1], 5e-4);
  EXPECT_GT(std::log2(error[0] / error[1]), 1.8);
}

TEST(GeneralizedAlpha, AThrownRingMovesAsNewtonMovesIt) {
  // Two forces and a couple that come and go set it spinning and swinging under gravity and drag.
  const char* thrown = R"("forces": [{"type": "gravity"}, {"type": "drag", "rate": 2},
    {"type": "force", "vertices": "r:0", "force": {"keys": [[0, [0, 0, 0]], [0.03, [0, 0, 0.6]], [0.06, [0, 0, 0]]]}},
    {"type": "torque", "segments": "r:15", "torque": {"keys": [[0, [0, 0, 0]], [0.03, [0.004, 0, 0.004]], [0.06, [0, 0, 0]]]}}])";
  double worst[2] = {};
  int k = 0;
  for (const int n : {40, 80}) {
    std::string text = scene_of(kCircle, n, thrown, dynamic(0.001));
    Simulation a = simulate(text), b = simulate(text, R"({"name": "newton"})");
    for (int i = 0; i < 300; ++i) {
      a.step(), b.step();
      worst[k] = std::max(worst[k], farthest(a.state().vertex_position, b.state().vertex_position));
    }
    const auto& x = a.state().vertex_position;
    // It has closed segments: none is longer than it is.
    for (std::size_t v = 0; v < x.size(); ++v)
      EXPECT_NEAR(norm(x[(v + 1) % x.size()] - x[v]) / a.model().segment_rest_length[static_cast<Index>(v)], 1, 1e-3);
    ++k;
  }
  EXPECT_LT(worst[1], 0.012 * 0.2);
  EXPECT_GT(std::log2(worst[0] / worst[1]), 1.5);
}

TEST(GeneralizedAlpha, ARingGoesOnWhereItWas) {
  const std::string text =
      scene_of(kCircle, 24, R"("forces": [{"type": "gravity"}, {"type": "force", "vertices": "r:3", "force": [0, 0.2, 0.2]}])",
               dynamic(0.002));
  Simulation a = simulate(text), b = simulate(text);
  for (int i = 0; i < 20; ++i) a.step();
  // Two halves with a copy of the solver's memory between them.
  for (int i = 0; i < 10; ++i) b.step();
  Simulation c = simulate(text);
  ASSERT_TRUE(c.continue_from(b));
  for (int i = 0; i < 10; ++i) c.step();
  EXPECT_TRUE(identical(a.state(), c.state()));
}

TEST(GeneralizedAlpha, AClampOpensARing) {
  double apart[2];
  int i = 0;
  for (const int n : {40, 80}) {
    const std::string held = fmt::format(
        R"("constraints": [{{"name": "hold", "type": "clamp", "vertices": "r:{}"}}], "forces": [{{"type": "gravity"}}],
      "probes": [{{"name": "p", "reaction": "hold"}}])",
        7 * n / 40);
    Simulation a = simulate(scene_of(kCircle, n, held, kStatic)),
               b = simulate(scene_of(kCircle, n, held, kStatic), R"({"name": "direct"})");
    a.step(), b.step();
    apart[i++] = farthest(a.state().vertex_position, b.state().vertex_position) / extent(b.state());
    EXPECT_NEAR(a.reaction(0).force.y, b.reaction(0).force.y, 1e-3 * std::abs(b.reaction(0).force.y));
  }
  EXPECT_LT(apart[1], 1e-3);
  EXPECT_GT(std::log2(apart[0] / apart[1]), 1.7);
}

TEST(GeneralizedAlpha, AHangingHelixRestsWhereDirectPutsItToSecondOrder) {
  double apart[3];
  int i = 0;
  for (const int n : {30, 60, 120}) {
    Simulation a = simulate(scene_of(kHelix, n, kClampedInGravity, kStatic));
    Simulation b = simulate(scene_of(kHelix, n, kClampedInGravity, kStatic), R"({"name": "direct"})");
    a.step(), b.step();
    apart[i++] = norm(a.state().vertex_position.back() - b.state().vertex_position.back()) / extent(b.state());
  }
  EXPECT_LT(apart[2], 1e-3);
  EXPECT_GT(std::log2(apart[1] / apart[2]), 1.8);
}

TEST(GeneralizedAlpha, ASwingingHelixMovesAsNewtonMovesIt) {
  for (const int n : {40, 80}) {
    Simulation a = simulate(scene_of(kHelix, n, kClampedInGravity, dynamic(0.001)));
    Simulation b = simulate(scene_of(kHelix, n, kClampedInGravity, dynamic(0.001)), R"({"name": "newton"})");
    double worst = 0;
    for (int i = 0; i < 400; ++i) {
      a.step(), b.step();
      worst = std::max(worst, farthest(a.state().vertex_position, b.state().vertex_position));
    }
    EXPECT_LT(worst / extent(b.state()), n == 40 ? 0.04 : 0.012) << n;
  }
}

TEST(GeneralizedAlpha, ReactionsBearTheWeightAndItsMoment) {
  const double L = 0.1, weight = 1100 * kPi * 0.003 * 0.003 * L * 9.81;
  for (const char* theory : {"cosserat", "kirchhoff"}) {
    const std::string solver = fmt::format(R"({{"name": "generalized_alpha", "theory": "{}"}})", theory);
    Simulation s = simulate(scene_of(line(L), 40, kClampedInGravity, kStatic), solver);
    s.step();
    double moment = 0;
    const State& state = s.state();
    for (int v = 0; v <= 40; ++v) moment += (v == 0 || v == 40 ? 0.5 : 1) / 40 * weight * state.vertex_position[v].x;
    const Wrench r = s.reaction(0);
    EXPECT_NEAR(r.force.y, weight, 1e-3 * weight);
    EXPECT_NEAR(r.force.x, 0, 1e-3 * weight);
    EXPECT_NEAR(r.moment.z, moment, 2e-3 * moment);
  }
  // In motion: a rod that is swung upwards by its clamp weighs more.
  Simulation lifted = simulate(scene_of(line(L), 20,
                                        R"("constraints": [{"name": "base", "type": "clamp", "vertices": "r:start",
          "motion": {"translate": {"keys": [[0, [0, 0, 0]], [0.1, [0, 0.005, 0]], [0.2, [0, 0.02, 0]], [0.3, [0, 0.045, 0]], [0.4, [0, 0.08, 0]]], "interpolation": "smooth"}}}],
         "forces": [{"type": "gravity"}, {"type": "drag", "rate": 200}], "probes": [{"name": "base", "reaction": "base"}])",
                                        dynamic(0.002)));
  for (int i = 0; i < 100; ++i) lifted.step();
  EXPECT_GT(lifted.reaction(0).force.y, 1.02 * weight);
}

TEST(GeneralizedAlpha, SectionForcesAndMomentsAreThoseOfTheLoads) {
  // A straight rod that hangs from its clamp: tension grows to the weight. One that sticks out: the clamp's moment.
  const std::string hang = scene_of(R"({"type": "line", "from": [0, 0, 0], "to": [0, -0.2, 0]})", 20, kClampedInGravity, kStatic);
  Simulation s = simulate(hang, kSolver);
  s.step();
  const Model& m = s.model();
  const double weight = 1100 * kPi * 0.003 * 0.003 * 0.2 * 9.81, EA = m.segment_stiffness[0].d3 / m.segment_rest_length[0];
  const double strain = norm(s.state().vertex_position[1] - s.state().vertex_position[0]) / m.segment_rest_length[0] - 1;
  EXPECT_NEAR(strain * EA, weight * (1 - 0.5 / 20), 1e-6 * weight);
}

TEST(GeneralizedAlpha, ADeadEndForceAndAFollowerCoupleBendAsTheyShould) {
  // M L = pi/2 EI bends a straight rod into a quarter circle, whatever the axes.
  const double EI = 2e7 * kPi * std::pow(0.003, 4) / 4, L = 0.3, M = kPi / 2 * EI / L;
  for (const char* axes : {"world", "material"}) {
    const std::string couple = fmt::format(
        R"("constraints": [{{"type": "clamp", "vertices": "r:start"}}], "forces": [{{"type": "torque", "segments": "r:end", "torque": {}, "axes": "{}"}}])",
        std::string(axes) == "world" ? fmt::format("[0, 0, {}]", M) : fmt::format("[0, {}, 0]", M), axes);
    std::string text = scene_of(line(L), 60, couple, kStatic);
    text.insert(text.find("\"shape\""), "\"up\": [0, 0, 1], ");  // d1 = z, d2 = -y? the couple is about one of them
    Simulation s = simulate(text);
    s.step();
    const Vec3d tip = s.state().vertex_position.back(), radius{L / (kPi / 2), L / (kPi / 2), 0};
    EXPECT_NEAR(std::hypot(tip.y, tip.z), radius.y, 1e-3 * L) << axes;
    EXPECT_NEAR(tip.x, radius.x, 1e-3 * L) << axes;
  }
}

TEST(GeneralizedAlpha, AFreeRodFallsAndDragSlowsItDown) {
  Simulation s = simulate(scene_of(kHelix, 30, R"("forces": [{"type": "gravity"}, {"type": "drag", "rate": 5}])", dynamic(0.01)));
  const Vec3d before = s.state().vertex_position[10];
  const double t = 1;
  for (int i = 0; i < 100; ++i) s.step();
  const double v = 9.81 / 5 * (1 - std::exp(-5 * t)), y = 9.81 / 5 * (t - (1 - std::exp(-5 * t)) / 5);
  for (const Vec3d& velocity : s.state().vertex_velocity) EXPECT_NEAR(velocity.y, -v, 2e-3 * v);
  EXPECT_NEAR(s.state().vertex_position[10].y - before.y, -y, 2e-3 * y);
  EXPECT_NEAR(s.state().vertex_position[10].x, before.x, 1e-6);
}

TEST(GeneralizedAlpha, AClampThatLetsGoLeavesARodThatFallsFreely) {
  const char* more =
      R"("constraints": [{"type": "clamp", "vertices": "r:start", "release": 0.1}], "forces": [{"type": "gravity"}])";
  Simulation s = simulate(scene_of(line(0.1), 20, more, dynamic(0.002)));
  const auto middle = [&] {
    Vec3d sum, speed;
    for (int v = 0; v <= 20; ++v) {
      sum += ((v == 0 || v == 20 ? 0.5 : 1) / 20) * s.state().vertex_position[v];
      speed += ((v == 0 || v == 20 ? 0.5 : 1) / 20) * s.state().vertex_velocity[v];
    }
    return std::pair(sum, speed);
  };
  for (int i = 0; i < 50; ++i) s.step();
  const auto [x, v] = middle();
  for (int i = 0; i < 50; ++i) s.step();
  const auto [y, w] = middle();
  EXPECT_NEAR((w - v).y, -0.981, 0.03);
  EXPECT_NEAR((w - v).x, 0, 0.03);
  EXPECT_NEAR((y - x).y, 0.1 * v.y - 0.5 * 9.81 * 0.01, 4e-3);
}

TEST(GeneralizedAlpha, HeldEndsGoWhereTheyAreLed) {
  const char* more = R"("constraints": [{"type": "clamp", "vertices": "r:start"},
    {"type": "clamp", "vertices": "r:end", "motion": {"translate": {"keys": [[0, [0, 0, 0]], [0.5, [-0.04, 0.02, 0]]], "interpolation": "smooth"},
                                                     "orientation": {"keys": [[0, [0, 0, 0, 1]], [0.5, [0, 0, 0.5, 0.8660254037844386]]], "interpolation": "smooth"}}}])";
  for (const std::string& analysis : {dynamic(0.005), std::string(R"({"type": "static", "load_steps": 4, "duration": 0.5})")}) {
    Simulation s = simulate(scene_of(line(0.2), 40, more, analysis));
    const int steps = s.is_static() ? 4 : 100;
    for (int i = 0; i < steps; ++i) s.step();
    EXPECT_LT(norm(s.state().vertex_position.back() - Vec3d{0.16, 0.02, 0}), s.is_static() ? 1e-8 : 2e-5) << analysis;
    EXPECT_LT(norm(s.state().vertex_position.front()), 1e-15);
    // The last segment has turned with the clamp, but for what the rod bends in half a segment.
    const Vec3d d3 = director3(s.state().frame_rotation[39]);
    EXPECT_NEAR(std::atan2(d3.y, d3.x), kPi / 3, 0.06);
  }
}

TEST(GeneralizedAlpha, AClampInsideDividesARod) {
  const char* more =
      R"("constraints": [{"name": "hold", "type": "clamp", "vertices": "r:10"}], "forces": [{"type": "gravity"}], "probes": [{"name": "p", "reaction": "hold"}])";
  Simulation a = simulate(scene_of(line(0.2), 20, more, kStatic));
  Simulation b = simulate(scene_of(line(0.2), 20, more, kStatic), R"({"name": "direct"})");
  a.step(), b.step();
  EXPECT_LT(farthest(a.state().vertex_position, b.state().vertex_position), 2e-5);
  EXPECT_NEAR(a.reaction(0).force.y, b.reaction(0).force.y, 1e-3 * std::abs(b.reaction(0).force.y));
}

const char* kClampedMany = R"("constraints": [{"type": "clamp", "vertices": ["a:start", "b:start", "c:start", "d:start"]}],)";
const char* kGravity = R"("forces": [{"type": "gravity"}])";
const char* kGravityAndWind =
    R"("forces": [{"type": "gravity"}, {"type": "wind", "direction": [1, 0, 1], "speed": 3, "wavelength": 0.2, "coefficient": 0.5}])";
std::string many(const std::string& analysis, const char* forces) {
  std::string rods;
  for (int i = 0; i < 4; ++i)
    rods += fmt::format(
        R"({}{{"name": "{}", "material": "m", "segments": {}, "shape": {{"type": "line", "from": [0, 0, {}], "to": [{}, 0.05, {}]}}, "taper": {{"keys": [[0, 1], [1, 0.7]]}}}})",
        i > 0 ? ", " : "", std::string(1, static_cast<char>('a' + i)), 15 + 10 * i, 0.1 * i, 0.2 + 0.05 * i, 0.1 * i);
  return fmt::format(R"({{{} "rods": [{}], {} {}, "analysis": {}}})", kMaterial, rods, kClampedMany, forces, analysis);
}

TEST(GeneralizedAlpha, ThreadsDoNotChangeABit) {
  LoadOptions one, three;
  for (LoadOptions* o : {&one, &three}) o->overrides.push_back(std::string("/solver=") + kSolver);
  one.overrides.push_back("/execution/threads=1"), three.overrides.push_back("/execution/threads=3");
  Simulation a(Scene::parse(many(dynamic(0.005), kGravityAndWind), "test", ".", one)),
      b(Scene::parse(many(dynamic(0.005), kGravityAndWind), "test", ".", three));
  for (int i = 0; i < 20; ++i) a.step(), b.step();
  EXPECT_TRUE(identical(a.state(), b.state()));
}

/// Thirteen curls under gravity, two of them pinned instead of clamped.
Simulation curls(const char* simd) {
  std::string rods, clamped, pinned;
  for (int i = 0; i < 13; ++i) {
    rods += fmt::format(
        R"({}{{"name": "c{}", "material": "m", "segments": {}, "shape": {{"type": "helix", "radius": {}, "pitch": 0.03, "turns": 1.2, "axis": [0, -1, 0], "start": [1, 0, 0], "center": [{}, 0, 0]}}}})",
        i > 0 ? ", " : "", i, i == 7 ? 30 : 24, 0.03 + 0.002 * i, i);
    std::string& held = i % 5 == 3 ? pinned : clamped;
    held += fmt::format(R"({}"c{}:start")", held.empty() ? "" : ", ", i);
  }
  const std::string text = fmt::format(
      R"({{{} "rods": [{}], "constraints": [{{"type": "clamp", "vertices": [{}]}}, {{"type": "pin", "vertices": [{}]}}], {}, "analysis": {}, "execution": {{"simd": "{}"}}}})",
      kMaterial, rods, clamped, pinned, kGravity, dynamic(0.005), simd);
  return simulate(text);
}

TEST(GeneralizedAlpha, LanesTakeTheStepsThatSingleRodsTake) {
  Simulation lanes = curls("auto"), single = curls("off");
  for (int i = 0; i < 40; ++i) lanes.step(), single.step();
  EXPECT_GT(farthest(single.state().vertex_position, curls("off").state().vertex_position), 0.01);
  EXPECT_LT(farthest(lanes.state().vertex_position, single.state().vertex_position), 1e-9);
  EXPECT_LT(farthest(lanes.state().frame_rotation, single.state().frame_rotation), 1e-7);
}

TEST(GeneralizedAlpha, EndsSlideAlongLinesAndPlanes) {
  // A propped cantilever under its weight, whose prop bears 3/8 of it; and a guided one, which comes down as its guide lets it.
  const char* propped = R"("constraints": [{"type": "clamp", "vertices": "r:start"},
    {"name": "prop", "type": "roller", "vertices": "r:end", "normal": [0, 1, 0]}],
    "forces": [{"type": "gravity", "acceleration": [0, -0.01, 0]}], "probes": [{"name": "p", "reaction": "prop"}])";
  Simulation s = simulate(scene_of(line(0.3), 40, propped, kStatic));
  s.step();
  const double weight = 1100 * kPi * 0.003 * 0.003 * 0.3 * 0.01;
  EXPECT_NEAR(s.reaction(1).force.y, 0.375 * weight, 2e-3 * weight);
  EXPECT_NEAR(s.reaction(1).force.x, 0, 1e-9);
  EXPECT_NEAR(s.state().vertex_position.back().y, 0, 1e-12);
  const char* guided = R"("constraints": [{"type": "clamp", "vertices": "r:start"},
    {"type": "slider", "vertices": "r:end", "axis": [0, 1, 0]}], "forces": [{"type": "gravity"}])";
  for (const std::string& analysis : {std::string(kStatic), dynamic(0.005)}) {
    Simulation a = simulate(scene_of(line(0.3), 40, guided, analysis));
    Simulation b = simulate(scene_of(line(0.3), 40, guided, analysis), R"({"name": "newton"})");
    for (int i = 0; i < (a.is_static() ? 1 : 40); ++i) a.step(), b.step();
    const Vec3d tip = a.state().vertex_position.back();
    EXPECT_LT(tip.y, -1e-3) << analysis;
    EXPECT_NEAR(tip.x, 0.3, 1e-5);
    EXPECT_NEAR(tip.z, 0, 1e-9);
    // In motion the two integrate differently; at rest they must agree.
    if (a.is_static()) {
      EXPECT_LT(norm(tip - b.state().vertex_position.back()), 0.02 * std::abs(tip.y));
    }
  }
}

TEST(GeneralizedAlpha, AColumnLeavesItsUnstableEquilibrium) {
  // Pressed by one and a half times the critical load of a column that is clamped at its foot.
  const double EI = 2e7 * kPi * std::pow(0.003, 4) / 4, L = 0.3, P = 1.5 * kPi * kPi * EI / (4 * L * L);
  const std::string pressed = fmt::format(
      R"("constraints": [{{"type": "clamp", "vertices": "r:start"}}], "forces": [{{"type": "force", "vertices": "r:end", "force": [{}, 0, 0]}}])",
      -P);
  Simulation a = simulate(scene_of(line(L), 40, pressed, kStatic)),
             b = simulate(scene_of(line(L), 40, pressed, kStatic), R"({"name": "direct"})");
  a.step(), b.step();
  EXPECT_GE(a.branches_left().count, 1);
  EXPECT_EQ(a.diagnostics().unstable_modes, 0);
  const auto aside = [](const Simulation& s) {
    const Vec3d& tip = s.state().vertex_position.back();
    return std::hypot(tip.y, tip.z);
  };
  EXPECT_GT(aside(a), 0.3 * L);
  EXPECT_NEAR(aside(a), aside(b), 2e-3 * L);
}

TEST(GeneralizedAlpha, ARestoredStateGivesTheSameStepsAgain) {
  Simulation a = simulate(many(dynamic(0.005), kGravity));
  for (int i = 0; i < 10; ++i) a.step();
  const State kept = a.state();
  for (int i = 0; i < 5; ++i) a.step();
  const State first = a.state();
  Simulation b = simulate(many(dynamic(0.005), kGravity));
  for (int i = 0; i < 10; ++i) b.step();
  EXPECT_TRUE(identical(kept, b.state()));
  ASSERT_TRUE(b.continue_from(b));
  for (int i = 0; i < 5; ++i) b.step();
  EXPECT_TRUE(identical(first, b.state()));
}

TEST(GeneralizedAlpha, GoesOnWhereAnotherSolverStopped) {
  const std::string text = scene_of(kHelix, 60, kClampedInGravity, dynamic(0.002));
  Simulation direct = simulate(text, R"({"name": "newton"})"), own = simulate(text);
  for (int i = 0; i < 50; ++i) direct.step();
  ASSERT_TRUE(own.continue_from(direct));
  EXPECT_LT(farthest(own.state().vertex_position, direct.state().vertex_position), 1e-15);
  own.step(), direct.step();
  EXPECT_LT(farthest(own.state().vertex_position, direct.state().vertex_position), 3e-4);
  for (int i = 0; i < 50; ++i) own.step(), direct.step();
  EXPECT_LT(farthest(own.state().vertex_position, direct.state().vertex_position), 2e-3);
}

TEST(GeneralizedAlpha, RefusesWithTheReason) {
  const std::string weight = R"("forces": [{"type": "gravity"}])";
  const struct {
    std::string text, where, what;
  } cases[] = {
      {scene_of(kCircle, 20, R"("constraints": [{"type": "pin", "vertices": "r:5"}])", dynamic(0.01)), "/constraints/0",
       "inside"},
      {scene_of(line(1), 10, R"("constraints": [{"type": "pin", "vertices": "r:5"}])", dynamic(0.01)), "/constraints/0",
       "inside"},
      {scene_of(line(1), 10, R"("constraints": [{"type": "fix", "segments": "r:start"}])", dynamic(0.01)), "/constraints/0",
       "frames of segments"},
      {scene_of(line(1), 10, R"("constraints": [{"type": "hinge", "vertex": "r:start"}])", dynamic(0.01)), "/constraints/0",
       "one axis"},
      {scene_of(line(1), 10, R"("constraints": [{"type": "roller", "vertices": "r:5"}])", dynamic(0.01)), "/constraints/0",
       "inside"},
      {scene_of(line(1), 10, R"("contact": {})", dynamic(0.01)), "/contact", "touch"},
      {scene_of(R"({"type": "arc", "radius": 0.1, "angle": 300, "normal": [0, 0, 1], "start": [1, 0, 0]})", 20,
                R"("welds": [{"vertices": ["r:start", "r:end"], "close": 0.1, "within": 1}])", dynamic(0.01)),
       "/solver/name", "for a time"},
      {scene_of(line(1), 10, R"("fracture": {"strain_limit": 0.1})", dynamic(0.01)), "/fracture", "break"},
      {scene_of(line(1), 10, R"("point_masses": [{"vertices": "r:end", "mass": 1}])", dynamic(0.01)), "/solver/name", "masses"},
      {scene_of(line(1), 10, weight, R"({"type": "dynamic", "integrator": "generalized_alpha", "rho_infinity": 0.5})"),
       "/analysis/integrator", "rho_infinity"},
      {scene_of(line(1), 10, weight, R"({"type": "static", "stop_at_instability": true})"), "/analysis/stop_at_instability",
       "unstable"},
      {scene_of(line(1), 10, weight + R"(, "execution": {"precision": "float"})", dynamic(0.01)), "/execution/precision",
       "float"},
  };
  for (const auto& c : cases) {
    const std::string said = refusal(c.text);
    EXPECT_NE(said.find(c.where), std::string::npos) << c.where << "\n" << said;
    EXPECT_NE(said.find(c.what), std::string::npos) << c.what << "\n" << said;
    EXPECT_EQ(refusal(c.text, R"({"name": "newton"})").find("generalized_alpha` cannot"), std::string::npos);
  }
  // Inextensible rods have no strains to read forces from.
  const std::string sections = scene_of(line(1), 10, weight + R"(, "output": {"sections": true})", dynamic(0.01));
  EXPECT_EQ(refusal(sections), "");
  EXPECT_NE(refusal(sections, R"({"name": "generalized_alpha", "theory": "kirchhoff"})").find("/output/sections"),
            std::string::npos);
  // Weights.
  const std::string plain = scene_of(line(1), 10, weight, dynamic(0.01));
  EXPECT_EQ(refusal(plain, R"({"name": "generalized_alpha", "alpha": 0.3, "beta": 0, "gamma": 0.7})"), "");
  EXPECT_NE(refusal(plain, R"({"name": "generalized_alpha", "alpha": 0.3})"), "");
  EXPECT_NE(refusal(plain, R"({"name": "generalized_alpha", "alpha": 0.3, "beta": 0, "gamma": 0.7, "rho_infinity": 0.5})"), "");
}

TEST(GeneralizedAlpha, FailsAloudWhereAStepCannotBeSolved) {
  // No damping at all, gravity and steps that are far too long.
  const std::string text = scene_of(kHelix, 40, kClampedInGravity, dynamic(0.01));
  Simulation s = simulate(text, R"({"name": "generalized_alpha", "max_iterations": 1})");
  EXPECT_THROW(s.step(), RunError);
}

TEST(GeneralizedAlpha, StartsFromEquilibriumAndStaysThere) {
  Simulation s =
      simulate(scene_of(kHelix, 40, kClampedInGravity,
                        R"({"type": "dynamic", "step": 0.01, "duration": 10, "steps_per_frame": 1, "start": "equilibrium"})"));
  const State before = s.state();
  for (int i = 0; i < 50; ++i) s.step();
  EXPECT_LT(farthest(before.vertex_position, s.state().vertex_position), 1e-7);
}

}  // namespace
}  // namespace osier::test
