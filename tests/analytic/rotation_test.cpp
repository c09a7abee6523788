// Rotational inertia against the mechanics of shafts, thick beams and rigid bodies. Implicit Euler's own shift is taken out
// exactly: where x'' = -w^2 x it gives x1 - 2 x0 + x_1 = -h^2 w^2 x1, so three samples of a mode tell w.
#include <numbers>

#include "analytic/reference.hpp"

namespace osier::test {
namespace {

const std::string kNewton = R"({"name": "newton", "tolerance": 1e-11})";
const std::string kSweeps = R"({"name": "stable_cosserat", "tolerance": 1e-10, "max_iterations": 20000})";
constexpr double kPi = std::numbers::pi;

/// w of samples of one mode about an unknown middle: least squares of (x1 - 2 x0 + x_1)/h^2 = -w^2 (x1 - middle).
double frequency(const std::vector<double>& x, double h) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 2; i < x.size(); ++i) {
    const double y = (x[i] - 2 * x[i - 1] + x[i - 2]) / (h * h);
    n += 1, sx += x[i], sy += y, sxx += x[i] * x[i], sxy += x[i] * y;
  }
  return std::sqrt(-(n * sxy - sx * sy) / (n * sxx - sx * sx));
}

/// A shaft of radius 5 cm along x, clamped at the start, with the first torsional mode as its initial twist.
struct Shaft {
  static constexpr double E = 1e6, nu = 0.25, rho = 1000, r = 0.05, speed = 20;  // sqrt(G/rho), G = E/2.5
  static double first() { return kPi / 2 * speed; }                              // 2 pi times speed/(4 L)
};

std::string shaft(int n, double h, const std::string& solver) {
  std::string keys;
  for (int i = 0; i < n; ++i) {
    const double at = (i + 0.5) / n;
    keys += fmt::format("{}[{:.17g}, {:.17g}]", i ? ", " : "", at, 0.5 * std::sin(kPi / 2 * at));
  }
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "up": [0, 0, 1],
      "pose_twist": {{"keys": [{}]}}, "material": {{"young": {}, "poisson": {}, "density": {}, "radius": {}}}}}],
    "constraints": [{{"type": "clamp", "vertices": "rod:start"}}],
    "rotational_inertia": true,
    "solver": {},
    "analysis": {{"type": "dynamic", "step": {:.17g}, "duration": 1, "steps_per_frame": 1, "integrator": "implicit_euler"}}
  }})",
                     n, keys, Shaft::E, Shaft::nu, Shaft::rho, Shaft::r, solver, h);
}

double torsional_frequency(int n, int steps_per_period, int steps, const std::string& solver) {
  const double h = 2 * kPi / Shaft::first() / steps_per_period;
  Simulation s(Scene::parse(shaft(n, h, solver)));
  const auto amplitude = [&] {
    double sum = 0;
    for (Index k = 0; k < n; ++k) {
      const Vec3d d1 = rotate(s.state().frame_rotation[k], Vec3d{1, 0, 0});  // z without twist
      sum += std::sin(kPi / 2 * (k + 0.5) / n) * std::atan2(-d1.y, d1.z);
    }
    return sum;
  };
  std::vector<double> samples;
  for (int i = 0; i < steps; ++i) {
    EXPECT_FALSE(s.step().not_converged);
    samples.push_back(amplitude());
  }
  return frequency(samples, h);
}

// At the middles of segments the sine is an eigenvector of the discrete shaft too, with w = 2 N c sin(pi/(4 N)).
TEST(Torsion, FirstFrequencyOfAClampedShaftIsAQuarterWaveAtSecondOrder) {
  Convergence convergence;
  for (int n : {10, 20, 40, 80}) {
    const double w = torsional_frequency(n, 200, 120, kNewton);
    EXPECT_NEAR(w / (2 * n * Shaft::speed * std::sin(kPi / (4 * n))), 1, 1e-6) << n;
    convergence.add(n, w / Shaft::first() - 1);
  }
  convergence.expect_within({{10, 1.03e-3}, {20, 2.6e-4}, {40, 6.5e-5}, {80, 1.6e-5}}, "frequency");
  convergence.expect_second_order("frequency", 20, 80);
}

TEST(Torsion, SweepsGiveTheSameFrequency) {
  const int n = 10;
  EXPECT_NEAR(torsional_frequency(n, 200, 60, kSweeps) / (2 * n * Shaft::speed * std::sin(kPi / (4 * n))), 1, 1e-5);
}

// Pinned at both ends, W sin(k x) and frames tilted by P cos(k x): (GA k^2 - mu w^2)(EI k^2 + GA - j w^2) = (GA k)^2.
double timoshenko(double EI, double GA, double mu, double j, double k) {
  const double a = mu * j, b = GA * k * k * j + mu * (EI * k * k + GA), c = GA * k * k * EI * k * k;
  return std::sqrt((b - std::sqrt(b * b - 4 * a * c)) / (2 * a));
}

TEST(ThickBeam, FrequencyWithRotationalInertiaIsTimoshenkosAtSecondOrder) {
  const double E = 1e6, nu = 0.25, rho = 1000, r = 0.1, A = kPi * r * r, I = A * r * r / 4;
  for (int mode : {1, 2}) {
    Convergence convergence;
    const double k = mode * kPi;
    double exact = 0, without = 0;
    for (int n : {10, 20, 40}) {
      const double h = 1e-3 / mode;
      Simulation s(Scene::parse(fmt::format(R"({{
        "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {},
          "material": {{"young": {}, "poisson": {}, "density": {}, "radius": {}}}}}],
        "constraints": [{{"type": "pin", "vertices": ["rod:start", "rod:end"]}}],
        "rotational_inertia": true,
        "solver": {},
        "analysis": {{"type": "dynamic", "step": {}, "duration": 1, "steps_per_frame": 1, "integrator": "implicit_euler"}}
      }})",
                                            n, E, nu, rho, r, kNewton, h)));
      const double GA = s.model().segment_stiffness[0].d1 * n;
      exact = timoshenko(E * I, GA, rho * A, rho * I, k);
      without = timoshenko(E * I, GA, rho * A, 1e-9 * rho * I, k);
      const double tilt = (GA * k * k - rho * A * exact * exact) / (GA * k);  // P/W
      State& state = s.mutable_state();
      for (Index v = 1; v < n; ++v) state.vertex_position[v].y = 1e-5 * std::sin(k * v / n);
      for (Index q = 0; q < n; ++q)
        state.frame_rotation[q] = axis_angle(Vec3d{0, 0, 1}, 1e-5 * tilt * std::cos(k * (q + 0.5) / n)) * state.frame_rotation[q];
      std::vector<double> samples;
      for (int i = 0; i < 200; ++i) {
        EXPECT_FALSE(s.step().not_converged);
        double sum = 0;
        for (Index v = 1; v < n; ++v) sum += std::sin(k * v / n) * s.state().vertex_position[v].y;
        if (i >= 10) samples.push_back(sum);  // the fast branch of the mode has died out
      }
      convergence.add(n, frequency(samples, h) / exact - 1);
    }
    const std::string what = fmt::format("mode {}", mode);
    EXPECT_GT(without / exact - 1, 0.008) << what;  // what rotational inertia is good for
    convergence.expect_second_order(what, 20, 40);
    EXPECT_NEAR(convergence.extrapolated(20, 40), 0, 2e-4 * mode) << what << convergence.text();
  }
}

std::string spinning(int n, double h, const Vec3d& angular, const std::string& section, const std::string& solver,
                     double length = 1, const std::string& integrator = "implicit_euler") {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [{}, 0, 0]}}, "segments": {}, "up": [0, 0, 1],
      "velocity": {{"angular": [{}, {}, {}], "about": [{}, 0, 0]}},
      "material": {{"young": 1e6, "poisson": 0.25, "density": 1000, "section": {}}}}}],
    "rotational_inertia": true,
    "solver": {},
    "analysis": {{"type": "dynamic", "step": {:.17g}, "duration": 1, "steps_per_frame": 1, "integrator": "{}"}}
  }})",
                     length, n, angular.x, angular.y, angular.z, 0.5 * length, section, solver, h, integrator);
}

// Slower than the first whirl of either section. Tolerances add up over the steps of the sweeps.
TEST(Spin, AboutTheRodsOwnAxisKeepsSpeedAngularMomentumAndEnergy) {
  const double w = 5;
  for (const std::string& solver : {kNewton, kSweeps})
    for (const auto& [section, J] : {std::pair{R"({"type": "circle", "radius": 0.05})", 1000 * kPi * std::pow(0.05, 4) / 2},
                                     {R"({"type": "rectangle", "width": 0.1, "height": 0.04})", 4 * (0.01 + 0.0016) / 12}}) {
      const double allowed = solver == kNewton ? 1e-9 : 1e-7;
      Simulation s(Scene::parse(spinning(8, 0.01, {w, 0, 0}, section, solver)));
      EXPECT_NEAR(s.diagnostics().kinetic / (0.5 * J * w * w), 1, 1e-12);
      for (int i = 0; i < 1000; ++i) ASSERT_FALSE(s.step().not_converged) << solver << section << i;
      const Diagnostics d = s.diagnostics();
      EXPECT_NEAR(d.kinetic / (0.5 * J * w * w), 1, allowed) << solver << section;
      EXPECT_LT(norm(d.angular_momentum - Vec3d{J * w, 0, 0}), allowed * J * w) << solver << section;
      EXPECT_LT(d.stretch_shear + d.bend_twist, 1e-10 * d.kinetic);
      for (const Vec3d& omega : s.state().frame_velocity) EXPECT_LT(norm(omega - Vec3d{w, 0, 0}), 10 * allowed * w);
      const Vec3d d1 = rotate(s.state().frame_rotation[3], Vec3d{1, 0, 0});
      EXPECT_NEAR(std::remainder(std::atan2(-d1.y, d1.z) - w * 10, 2 * kPi), 0, 100 * allowed) << solver << section;
    }
}

// Four sweeps carry nothing along a stiff rod: the turn must be there when they start.
TEST(Spin, OfAStiffRodIsKeptUpByAFewSweeps) {
  for (const char* precision : {"double", "float"}) {
    std::string text = spinning(20, 1e-3, {5, 0, 0}, R"({"type": "circle", "radius": 0.05})",
                                fmt::format(R"({{"name": "automatic", "precision": "{}"}})", precision));
    text.replace(text.find("\"young\": 1e6"), 12, "\"young\": 1e9");
    Simulation s(Scene::parse(text));
    const double start = s.diagnostics().angular_momentum.x;
    for (int i = 0; i < 1000; ++i) s.step();
    EXPECT_NEAR(s.diagnostics().angular_momentum.x / start, 1, precision[0] == 'd' ? 1e-9 : 2e-3) << precision;
  }
}

/// Angular velocity in body axes after `time`, by Runge and Kutta.
Vec3d euler_equations(const Vec3d& J, Vec3d w, double time) {
  const auto rate = [&](const Vec3d& o) {
    return Vec3d{(J.y - J.z) * o.y * o.z / J.x, (J.z - J.x) * o.z * o.x / J.y, (J.x - J.y) * o.x * o.y / J.z};
  };
  const int steps = 10000;
  const double h = time / steps;
  for (int i = 0; i < steps; ++i) {
    const Vec3d a = rate(w), b = rate(w + 0.5 * h * a), c = rate(w + 0.5 * h * b), d = rate(w + h * c);
    w = w + (h / 6) * (a + 2.0 * b + 2.0 * c + d);
  }
  return w;
}

// One short segment is a plate: its section's inertia and half its mass at either end, stiff against the motion.
TEST(Spin, OfAPlateObeysEulersEquationsAtFirstOrder) {
  const double l = 0.02, width = 0.2, height = 0.1, mass = 1000 * l * width * height, ends = mass * l * l / 4;
  const Vec3d J{mass * height * height / 12 + ends, mass * width * width / 12 + ends,
                mass * (width * width + height * height) / 12};
  const Vec3d start{0.5, 3, 0.5};  // body axes d1 = z, d2 = d3 x d1 = -y, d3 = x: d2 is the intermediate axis
  const double time = 1.5;
  const Vec3d exact = euler_equations(J, start, time);
  EXPECT_GT(norm(exact - start), 1);  // on its way to turn over
  for (const std::string& solver : {kNewton, kSweeps}) {
    std::vector<double> errors;
    for (int steps : {100, 200, 400, 800}) {
      Simulation s(Scene::parse(spinning(1, time / steps, {start.z, -start.y, start.x},
                                         R"({"type": "rectangle", "width": 0.2, "height": 0.1})", solver, l)));
      for (int i = 0; i < steps; ++i) s.step();
      errors.push_back(norm(rotate(conj(s.state().frame_rotation[0]), s.state().frame_velocity[0]) - exact));
    }
    EXPECT_LT(errors[3], 0.02) << solver;
    EXPECT_NEAR(errors[2] / errors[3], 2, 0.25) << solver;
    EXPECT_NEAR(errors[1] / errors[2], 2, 0.4) << solver;
  }
}

// A free body may lose energy to implicit Euler, never gain it, however long it tumbles.
TEST(Spin, OfATumblingPlateNeverGainsEnergy) {
  for (const std::string& solver : {kNewton, kSweeps})
    for (double h : {0.003, 0.03, 0.1}) {
      Simulation s(
          Scene::parse(spinning(1, h, {5, -3, 2}, R"({"type": "rectangle", "width": 0.2, "height": 0.1})", solver, 0.02)));
      double last = s.diagnostics().total();
      for (int i = 0; i < 500; ++i) {
        s.step();
        const double now = s.diagnostics().total();
        ASSERT_LE(now, last * (1 + 1e-5)) << solver << " h " << h << " step " << i;
        last = now;
      }
    }
}

// A shaft that turns fast in its bearings stays straight: no gyroscopic pumping out of rounding.
TEST(Spin, OfAFastShaftStaysStraight) {
  for (double h : {1e-3, 1e-2})
    for (const char* integrator : {"implicit_euler", "bdf2", "midpoint"}) {
      Simulation s(Scene::parse(
          spinning(8, h, {100, 0, 0}, R"({"type": "circle", "radius": 0.05})", R"({"name": "automatic"})", 1, integrator)));
      s.mutable_state().vertex_velocity[4].y = 1e-3;
      const double start = s.diagnostics().total();
      for (int i = 0; i < 5000; ++i) s.step();
      EXPECT_LE(s.diagnostics().total(), start * (1 + 1e-9)) << h << integrator;
      EXPECT_LT(s.diagnostics().max_stretch, 1e-3) << h << integrator;
    }
}

}  // namespace
}  // namespace osier::test
