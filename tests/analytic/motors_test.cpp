// Motors: what they turn, how fast, and with what torque.
#include <numbers>

#include "analytic/reference.hpp"
#include "sim/measure.hpp"

namespace osier::test {
namespace {

const std::string kNewton = R"({"name": "newton", "tolerance": 1e-11})";
const std::string kSweeps = R"({"name": "stable_cosserat", "tolerance": 1e-10, "max_iterations": 50000})";
constexpr double kPi = std::numbers::pi;

/// A shaft along x with d1 along z. `rest`: further keys of the scene.
std::string shaft(int n, double h, const std::string& motor, const std::string& solver, const std::string& rest = "",
                  const std::string& constraints = R"({"type": "pin", "vertices": ["rod:start", "rod:end"]})") {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "up": [0, 0, 1],
      "material": {{"young": 1e7, "poisson": 0.25, "density": 1000, "radius": 0.05}}}}],
    "constraints": [{{"type": "motor", "segment": "rod:start", {}}}, {}],
    "solver": {},
    "analysis": {{"type": "dynamic", "step": {:.17g}, "duration": 1, "steps_per_frame": 1}}{}
  }})",
                     n, motor, constraints, solver, h, rest);
}
const double kGJ = 4e6 * kPi * 0.05 * 0.05 * 0.05 * 0.05 / 2, kInertia = kGJ / 4e6 * 1000;  // of the whole shaft
const std::string kInertial = R"(, "rotational_inertia": true)";

/// Turn about x, within half a turn.
double angle(const Simulation& s, Index segment) {
  const Vec3d d1 = rotate(s.state().frame_rotation[segment], Vec3d{1, 0, 0});
  return std::atan2(-d1.y, d1.z);
}
double same_angle(double a, double b) { return std::remainder(a - b, 2 * kPi); }

TEST(SpeedMotor, TurnsByTheIntegralOfItsSpeed) {
  const auto cube = [](double s) { return s * s * s * (1 - 0.5 * s); };
  struct Case {
    const char* interpolation;
    double at_half, at_one;  // integral of 0 -> 20 over one second
  };
  for (const std::string& solver : {kNewton, kSweeps})
    for (const Case& c : {Case{"linear", 2.5, 10}, Case{"smooth", 20 * cube(0.5), 10}, Case{"step", 0, 0}}) {
      const std::string motor = fmt::format(R"("speed": {{"keys": [[0, 0], [1, 20]], "interpolation": "{}"}})", c.interpolation);
      Simulation s(Scene::parse(shaft(4, 0.05, motor, solver)));
      for (int i = 0; i < 10; ++i) s.step();
      EXPECT_NEAR(same_angle(angle(s, 0), c.at_half), 0, 1e-9) << c.interpolation;
      for (int i = 0; i < 10; ++i) s.step();
      EXPECT_NEAR(same_angle(angle(s, 0), c.at_one), 0, 1e-9) << c.interpolation;
      for (int i = 0; i < 10; ++i) s.step();
      EXPECT_NEAR(same_angle(angle(s, 0), c.at_one + 0.5 * 20), 0, 1e-9) << c.interpolation;
      for (Index k = 1; k < 4; ++k)  // nothing resists: the shaft comes along
        EXPECT_NEAR(same_angle(angle(s, k), c.at_one + 0.5 * 20), 0, 1e-6) << c.interpolation << solver;
    }
}

TEST(SpeedMotor, AxisMayPointAnywhere) {
  Simulation s(Scene::parse(
      shaft(4, 0.01, R"("speed": -3, "axis": [0, 0, 2])", kNewton, "", R"({"type": "pin", "vertices": "rod:start"})")));
  for (int i = 0; i < 100; ++i) s.step();
  EXPECT_LT(norm(director3(s.state().frame_rotation[0]) - Vec3d{std::cos(3.0), -std::sin(3.0), 0}), 1e-9);
}

/// Speeds after each step of a shaft so stiff that it turns as one; stall torque T0, no-load speed w0.
std::vector<double> run_up(double h, double T0, double w0, int steps, const std::string& solver) {
  const std::string motor = fmt::format(R"("torque_speed": {{"keys": [[0, {:.17g}], [{:.17g}, 0]]}})", T0, w0);
  Simulation s(Scene::parse(shaft(1, h, motor, solver, kInertial)));
  std::vector<double> speed;
  for (int i = 0; i < steps; ++i) {
    EXPECT_FALSE(s.step().not_converged) << solver << " h " << h << " step " << i;
    speed.push_back(s.state().frame_velocity[0].x);
  }
  return speed;
}

// w = w0 (1 - exp(-t/tau)), tau = J w0/T0.
TEST(TorqueSpeedMotor, RunsUpExponentiallyAtFirstOrder) {
  const double w0 = 10, tau = 0.5, T0 = kInertia * w0 / tau;
  for (const std::string& solver : {kNewton, kSweeps}) {
    std::vector<double> errors;
    for (int steps : {50, 100, 200}) {
      const double h = tau / steps;
      const std::vector<double> speed = run_up(h, T0, w0, steps, solver);
      // The implicit Euler of it, but for the sines of the angles that a step turns.
      EXPECT_NEAR(speed.back(), w0 * (1 - std::pow(1 + h / tau, -steps)), 1e-5 * w0) << solver;
      errors.push_back(speed.back() - w0 * (1 - std::exp(-1.0)));
    }
    EXPECT_NEAR(errors[0] / errors[1], 2, 0.1) << solver;
    EXPECT_NEAR(errors[1] / errors[2], 2, 0.1) << solver;
    EXPECT_NEAR(run_up(tau / 5, T0, w0, 200, solver).back() / w0, 1, 1e-6) << solver;
  }
}

TEST(TorqueSpeedMotor, OfALongShaftRunsUpAllOfIt) {
  const double w0 = 10, tau = 0.5, T0 = kInertia * w0 / tau;
  const std::string motor = fmt::format(R"("torque_speed": {{"keys": [[0, {:.17g}], [{:.17g}, 0]]}})", T0, w0);
  Simulation s(Scene::parse(shaft(8, tau / 50, motor, kNewton, kInertial)));
  for (int i = 0; i < 50; ++i) s.step();
  EXPECT_NEAR(s.diagnostics().angular_momentum.x, kInertia * w0 * (1 - std::exp(-1.0)), 0.02 * kInertia * w0);
  for (int i = 0; i < 1000; ++i) s.step();
  for (Index k = 0; k < 8; ++k) EXPECT_NEAR(s.state().frame_velocity[k].x, w0, 1e-6 * w0);
}

// Steps up to a hundred time constants long, and up to a radian of turn within one.
TEST(TorqueSpeedMotor, NeverOvershootsHoweverLongTheStep) {
  const double tau = 0.01;
  for (const std::string& solver : {kNewton, kSweeps})
    for (double ratio : {0.1, 1.0, 10.0, 100.0})
      for (double turn : {1e-3, 0.1, 0.5, 1.0}) {
        const double h = ratio * tau, w0 = turn / h, T0 = kInertia * w0 / tau;
        const std::vector<double> speed = run_up(h, T0, w0, 200, solver);
        double most = 0;
        for (double w : speed) most = std::max(most, w);
        EXPECT_LE(most / w0, 1 + 1e-7) << solver << " h/tau " << ratio << " w0 h " << turn;
        EXPECT_NEAR(speed.back() / w0, 1, 1e-6) << solver << " h/tau " << ratio << " w0 h " << turn;
      }
}

// A flat curve that falls steeply at its end: the motor must not jump over the fall.
TEST(TorqueSpeedMotor, KeepsToACurveWithAKnee) {
  const double w0 = 10, T0 = kInertia * 20;
  const std::string motor = fmt::format(R"("torque_speed": {{"keys": [[0, {0:.17g}], [9, {0:.17g}], [{1}, 0]]}})", T0, w0);
  for (const std::string& solver : {kNewton, kSweeps}) {
    for (double h : {0.01, 0.04, 0.1}) {
      Simulation s(Scene::parse(shaft(1, h, motor, solver, kInertial)));
      double most = 0;
      for (double t = 0; t < 5; t += h) {
        s.step();
        most = std::max(most, s.state().frame_velocity[0].x);
      }
      EXPECT_LE(most, w0 * (1 + 1e-7)) << solver << h;
      EXPECT_NEAR(s.state().frame_velocity[0].x, w0, 1e-6 * w0) << solver << h;
    }
    Simulation s(Scene::parse(shaft(1, 0.002, motor, solver, kInertial)));
    for (int i = 0; i < 100; ++i) s.step();
    EXPECT_NEAR(s.state().frame_velocity[0].x, 20 * 0.2, 1e-6) << solver;  // the flat part, as if there were no end to it
  }
}

// The far end held: the shaft winds up until its torque is what the motor has at rest.
TEST(TorqueSpeedMotor, StallsWhenTheShaftHoldsItsStallTorque) {
  const double w0 = 2, T0 = 0.3 * kGJ;  // 0.3 rad of twist per metre
  const std::string motor = fmt::format(R"("torque_speed": {{"keys": [[0, {:.17g}], [{:.17g}, 0]]}})", T0, w0);
  for (const std::string& solver : {kNewton, kSweeps})
    for (const bool inertia : {false, true}) {
      Simulation s(Scene::parse(shaft(8, 0.01, motor, solver, inertia ? kInertial : "",
                                      R"({"type": "pin", "vertices": "rod:start"}, {"type": "clamp", "vertices": "rod:end"})")));
      for (int i = 0; i < 400; ++i) s.step();
      const Diagnostics d = s.diagnostics();
      EXPECT_LT(d.kinetic, 1e-10);
      for (Index j = 0; j < 7; ++j)  // the part beyond holds back
        EXPECT_NEAR(joint_moment(s.model(), s.state(), j).x, -T0, 1e-6 * T0) << solver << inertia << " joint " << j;
      EXPECT_NEAR(clamp_moment(s.model(), s.state(), 8).x, -T0, 1e-6 * T0) << solver << inertia;
      // From the middle of the driven segment to the clamp, with 2 sin(a/2) for the turn a of a joint.
      const double per_joint = 2 * std::asin(0.5 * T0 / kGJ / 8);
      EXPECT_NEAR(angle(s, 0), 7.5 * per_joint, 1e-3 * 7.5 * per_joint) << solver << inertia;
    }
}

// Without inertia the motor works against the spring alone: T0 (1 - w/w0) = K theta, theta = T0/K (1 - exp(-K w0/T0 t)).
TEST(TorqueSpeedMotor, WithoutInertiaWindsUpAgainstTheSpring) {
  const double w0 = 2, T0 = 0.3 * kGJ, K = kGJ / (1 - 0.5 / 8), time = 0.1;
  const std::string motor = fmt::format(R"("torque_speed": {{"keys": [[0, {:.17g}], [{:.17g}, 0]]}})", T0, w0);
  for (const std::string& solver : {kNewton, kSweeps}) {
    std::vector<double> errors;
    for (int steps : {20, 40, 80}) {
      Simulation s(Scene::parse(shaft(8, time / steps, motor, solver, "",
                                      R"({"type": "pin", "vertices": "rod:start"}, {"type": "clamp", "vertices": "rod:end"})")));
      for (int i = 0; i < steps; ++i) s.step();
      errors.push_back(angle(s, 0) - T0 / K * (1 - std::exp(-K * w0 / T0 * time)));
    }
    EXPECT_LT(std::abs(errors[2]), 0.01 * T0 / K) << solver;
    EXPECT_NEAR(errors[0] / errors[1], 2, 0.2) << solver << errors[0] << " " << errors[1];
  }
}

TEST(Motor, LetsGoWhenItIsReleased) {
  for (const std::string& solver : {kNewton, kSweeps}) {
    const std::string held = R"({"type": "pin", "vertices": "rod:start"}, {"type": "clamp", "vertices": "rod:end"})";
    // Driven by speed, without inertia: springs back at once.
    Simulation wound(Scene::parse(shaft(8, 0.01, R"("speed": 1, "release": 0.2)", solver, "", held)));
    for (int i = 0; i < 20; ++i) wound.step();
    EXPECT_NEAR(angle(wound, 0), 0.2, 1e-12);
    EXPECT_GT(wound.diagnostics().bend_twist, 0.4 * kGJ * 0.04);
    for (int i = 0; i < 2; ++i) wound.step();
    EXPECT_NEAR(angle(wound, 0), 0, 1e-6) << solver;
    // Driven by torque, with inertia: runs on at its speed.
    Simulation free(
        Scene::parse(shaft(4, 0.01, fmt::format(R"("torque_speed": {:.17g}, "release": 0.5)", kInertia), solver, kInertial)));
    for (int i = 0; i < 50; ++i) free.step();
    const double speed = free.diagnostics().angular_momentum.x / kInertia;
    EXPECT_NEAR(speed, 0.5, 1e-6) << solver;
    for (int i = 0; i < 100; ++i) free.step();
    EXPECT_NEAR(free.diagnostics().angular_momentum.x / kInertia, speed, 1e-6) << solver;
  }
}

}  // namespace
}  // namespace osier::test
