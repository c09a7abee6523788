// Prescribed motion of clamps in all six degrees of freedom.
#include <numbers>

#include "analytic/reference.hpp"
#include "sim/measure.hpp"

namespace osier::test {
namespace {

constexpr double kPi = std::numbers::pi;

std::string quaternion(const Quatd& q) { return fmt::format("[{:.17g}, {:.17g}, {:.17g}, {:.17g}]", q.x, q.y, q.z, q.w); }

/// A rod of 1 m along x, clamped at the start with `first` and, when given, at the end with `last` as its motion.
std::string rod(int n, int load_steps, const std::string& first, const std::string& last, const std::string& analysis = "") {
  const auto clamp = [](const char* where, const std::string& motion) {
    return fmt::format(R"({{"type": "clamp", "vertices": "rod:{}"{}}})", where, motion.empty() ? "" : ", \"motion\": " + motion);
  };
  return fmt::format(
      R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "up": [0, 0, 1],
      "material": {{"young": 1e6, "poisson": 0.25, "density": 1000, "section": {{"type": "ellipse", "radius_1": 0.02, "radius_2": 0.01}}}}}}],
    "constraints": [{}{}],
    "analysis": {}
  }})",
      n, clamp("start", first), last.empty() ? "" : ", " + clamp("end", last),
      analysis.empty() ? fmt::format(R"({{"type": "static", "load_steps": {}, "tolerance": 1e-10}})", load_steps) : analysis);
}

// A rod between two clamps, one of which turns about the rod's axis.
std::string twisted(const std::string& motion, const std::string& analysis, const std::string& solver = "direct") {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 50,
      "material": {{"stretch_shear": 1e6, "bend": 1, "twist": 0.1, "line_density": 1}}}}],
    "constraints": [{{"type": "clamp", "vertices": "rod:start"}},
      {{"type": "clamp", "vertices": "rod:end", "motion": {}}}],
    "solver": {{"name": "{}"}}, "analysis": {}
  }})",
                     motion, solver, analysis);
}
std::string turned_to(double degrees, const char* how = "linear") {
  return fmt::format(R"({{"rotate": {{"axis": [1, 0, 0], "angle": {{"interpolation": "{}", "keys": [[0, 0], [1, {}]]}}}}}})", how,
                     degrees);
}
/// The twisting moment of one joint of the rod above that is twisted by an angle as a whole.
double moment_of(double degrees) { return 0.1 * 50 * 2 * std::sin(0.5 * degrees * kPi / 180 / 50); }

TEST(Turns, OfAClampAreCountedInOneLoadStep) {
  for (const char* solver : {"direct", "newton"})
    for (const double angle : {170.0, 190.0, 360.0, -540.0, 720.0}) {
      const Simulation s = settle(twisted(turned_to(angle), R"({"type": "static", "load_steps": 1})", solver));
      EXPECT_NEAR(joint_moment(s.model(), s.state(), 25).x, moment_of(angle), 1e-3) << solver << " " << angle;
    }
}

TEST(Turns, OfAClampAreCountedInOneTimeStep) {
  for (const char* solver : {"direct", "newton", "automatic"})
    for (const double angle : {190.0, 360.0, 720.0}) {
      Simulation s(Scene::parse(
          twisted(turned_to(angle), R"({"type": "dynamic", "step": 0.5, "duration": 1, "steps_per_frame": 1})", solver)));
      for (int i = 0; i < s.frame_count(); ++i) s.step();
      EXPECT_NEAR(joint_moment(s.model(), s.state(), 25).x, moment_of(angle), 1e-3) << solver << " " << angle;
      EXPECT_EQ(s.steps_turned(), 2) << solver << " " << angle;
      EXPECT_DOUBLE_EQ(s.state().time, 1);
    }
}

// There and back within one load step.
TEST(Turns, ComeBackToNothing) {
  const Simulation s = settle(twisted(R"({"rotate": {"axis": [1, 0, 0], "angle": {"keys": [[0, 0], [0.3, 500], [1, 0]]}}})",
                                      R"({"type": "static", "load_steps": 1})"));
  EXPECT_NEAR(joint_moment(s.model(), s.state(), 25).x, 0, 1e-9);
}

TEST(Turns, ThatMayBeEitherWayRoundAreRefused) {
  const auto refusal = [](const std::string& motion) {
    try {
      Scene::parse(twisted(motion, R"({"type": "static"})"));
    } catch (const InputError& e) {
      return e.problems().front().where + ": " + e.problems().front().remedy;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(R"({"orientation": {"keys": [[0, [0, 0, 0, 1]], [0.5, [0, 0.6, 0, 0.8]], [1, [0, 0.8, 0, -0.6]]]}})"),
            "/constraints/1/motion/orientation/keys/2: put a key between the two, or use `rotate`");
  EXPECT_EQ(refusal(turned_to(270, "step")),
            "/constraints/1/motion/rotate/angle/keys/1: use `interpolation` linear or smooth, or more keys");
  EXPECT_EQ(refusal(turned_to(170, "step")), "accepted");
}

// Between two keys: the shorter arc at constant speed, whatever the sign of the quaternions.
TEST(Orientation, KeysAreJoinedByTheShorterArcAtConstantSpeed) {
  const Vec3d axis = normalized(Vec3d{1, 2, -0.5});
  const Quatd from = axis_angle(normalized(Vec3d{0, 1, 3}), 0.4), to = axis_angle(axis, 2.5) * from;
  for (double sign : {1.0, -1.0}) {
    const std::string motion = fmt::format(R"({{"orientation": {{"keys": [[0, [0, 0, 0, 1]], [1, {}], [5, {}]]}}}})",
                                           quaternion(from), quaternion(sign * to));
    Simulation s(Scene::parse(rod(6, 10, motion, "", R"({"type": "static", "load_steps": 10, "duration": 5})")));
    const Quatd start = s.state().frame_rotation.back();  // the anchor
    for (int i = 1; i <= 10; ++i) {
      s.step();
      const double t = 0.5 * i;
      const Quatd expected =
          t <= 1 ? axis_angle(normalized(Vec3d{0, 1, 3}), 0.4 * t) : axis_angle(axis, 2.5 * (t - 1) / 4) * from;
      EXPECT_LT(norm(rotation_log(s.state().frame_rotation.back() * conj(expected * start))), 1e-12) << t;
      // Nothing else holds the rod: it comes along as it is.
      EXPECT_LT(norm(s.state().vertex_position.back() - rotate(expected, Vec3d{1, 0, 0})), 1e-8) << t;
      EXPECT_LT(s.diagnostics().bend_twist + s.diagnostics().stretch_shear, 1e-15) << t;
    }
  }
}

TEST(Orientation, TurnsOnTheSpotBeforeTheTurnAboutACentre) {
  const Quatd spot = axis_angle(Vec3d{1, 0, 0}, 0.7), about = axis_angle(Vec3d{0, 0, 1}, kPi / 2);
  const std::string motion = fmt::format(
      R"({{"orientation": {}, "rotate": {{"axis": [0, 0, 3], "center": [0, -1, 0], "angle": 90}}, "translate": [0, 0, 2]}})",
      quaternion(3.0 * spot));  // the length of a quaternion does not matter
  Simulation s(Scene::parse(rod(4, 4, motion, "")));
  const Quatd start = s.state().frame_rotation.back();
  for (int i = 0; i < 4; ++i) s.step();
  EXPECT_LT(norm(s.state().vertex_position[0] - Vec3d{-1, -1, 2}), 1e-12);
  EXPECT_LT(norm(rotation_log(s.state().frame_rotation.back() * conj(about * spot * start))), 1e-12);
}

TEST(Turn, AtASpeedComesAsFarAsItsIntegral) {
  const std::string motion =
      R"({"rotate": {"axis": [0, 1, 0], "center": [-1, 0, 0], "speed": {"keys": [[0, 0], [2, 1], [3, -1]]}}})";
  Simulation s(Scene::parse(rod(4, 8, motion, "", R"({"type": "static", "load_steps": 8, "duration": 4})")));
  const auto angle = [](double t) { return t <= 2 ? t * t / 4 : t <= 3 ? 1 + (t - 2) - (t - 2) * (t - 2) : 1 - (t - 3); };
  for (int i = 1; i <= 8; ++i) {
    s.step();
    const double a = angle(0.5 * i);
    EXPECT_LT(norm(s.state().vertex_position[0] - Vec3d{-1 + std::cos(a), 0, -std::sin(a)}), 1e-12) << i;
    EXPECT_LT(norm(s.state().vertex_position[4] - Vec3d{-1 + 2 * std::cos(a), 0, -2 * std::sin(a)}), 1e-8) << i;
  }
}

// Both ends led through space, bent and twisted: at every key what the two clamps exert adds up to nothing.
TEST(TwoClamps, LedInSixDegreesOfFreedomBalanceEachOther) {
  const std::string first = R"({"translate": {"keys": [[0, [0, 0, 0]], [1, [0.1, 0.05, -0.1]]]},
      "rotate": {"axis": [0, 1, 1], "center": [0, 0, 0], "angle": {"keys": [[0, 0], [1, 25]]}}})";
  const std::string last =
      fmt::format(R"({{"translate": {{"keys": [[0, [0, 0, 0]], [0.5, [-0.2, 0.1, 0]], [1, [-0.3, 0.2, 0.15]]]}},
      "orientation": {{"keys": [[0, [0, 0, 0, 1]], [1, {}]]}}}})",
                  quaternion(axis_angle(normalized(Vec3d{1, 0.3, 0.5}), 1.8)));
  for (int n : {12, 40}) {
    Simulation s(Scene::parse(rod(n, 10, first, last)));
    for (int i = 0; i < 10; ++i) {
      const StepReport report = s.step();
      EXPECT_LT(report.residual_relative, 1e-9) << n << " step " << i;
      const Model& m = s.model();
      const Vec3d n0 = section_force(m, s.state(), 0), n1 = section_force(m, s.state(), n - 1);
      EXPECT_GT(norm(n0), 1e-3);
      EXPECT_LT(norm(n1 - n0), 1e-8 * norm(n0)) << n << " step " << i;  // forces -n0 at the start and n1 at the end
      const Vec3d m0 = clamp_moment(m, s.state(), 0), m1 = clamp_moment(m, s.state(), n);
      const auto& x = s.state().vertex_position;
      const Vec3d about{0.3, -2, 0.7};
      const Vec3d sum = m0 + m1 + cross(x.front() - about, -n0) + cross(x.back() - about, n1);
      EXPECT_GT(norm(m0), 1e-3);
      EXPECT_LT(norm(sum), 1e-7 * (norm(m0) + norm(m1))) << n << " step " << i;
    }
  }
}

// The same turn and shift for both ends, more than a whole turn in all: no strain anywhere on the way.
TEST(TwoClamps, LedTogetherLeaveTheRodAsItIs) {
  const std::string motion = R"({"rotate": {"axis": [1, -1, 2], "center": [0.2, 3, 0], "speed": {"keys": [[0, 0], [1, 12]]}},
      "translate": {"keys": [[0, [0, 0, 0]], [1, [2, -1, 4]]]}})";
  Simulation s(Scene::parse(rod(10, 12, motion, motion)));
  for (int i = 0; i < 12; ++i) {
    s.step();
    const Diagnostics d = s.diagnostics();
    EXPECT_LT(d.max_stretch, 1e-9) << i;
    EXPECT_LT(d.max_bend, 1e-7) << i;
  }
}

// With rotational inertia the interior follows in time; a clamp that turns at a steady speed ends up with a rod that turns with
// it.
TEST(Turn, AtASteadySpeedCarriesTheRodAlong) {
  for (const char* solver : {R"({"name": "newton"})", R"({"name": "stable_cosserat", "tolerance": 1e-8})"}) {
    Simulation s(Scene::parse(fmt::format(R"({{
      "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [0.2, 0, 0]}}, "segments": 4, "up": [0, 0, 1],
        "material": {{"young": 1e6, "poisson": 0.25, "density": 1000, "radius": 0.02, "tau_bend": 0.01}}}}],
      "constraints": [{{"type": "clamp", "vertices": ["rod:start", "rod:end"], "motion": {{"rotate": {{"axis": [1, 0, 0], "speed": 5}}}}}}],
      "rotational_inertia": true, "solver": {}, "analysis": {{"type": "dynamic", "step": 0.01, "duration": 1}}
    }})",
                                          solver)));
    for (int i = 0; i < 100; ++i) s.step();
    for (Index k = 0; k < 4; ++k) EXPECT_LT(norm(s.state().frame_velocity[k] - Vec3d{5, 0, 0}), 1e-5) << solver;
  }
}

}  // namespace
}  // namespace osier::test
