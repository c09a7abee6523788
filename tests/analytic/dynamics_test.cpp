// Vibration and damping of a cantilever against beam theory (validation catalogue V13a, V20, V26j), and the settled cantilever of
// the paper. Implicit Euler's own shift and damping are known exactly and taken out.
#include <complex>

#include "analytic/reference.hpp"

namespace osier::test {
namespace {

constexpr double kBeta[] = {1.875104068711961, 4.694091132974175, 7.854757438237613};

/// Mode shape of the clamped-free Euler-Bernoulli beam, 1 at the tip.
double mode_shape(int mode, double s) {
  const double b = kBeta[mode];
  const double sigma = (std::cosh(b) + std::cos(b)) / (std::sinh(b) + std::sin(b));
  const auto f = [&](double x) { return std::cosh(b * x) - std::cos(b * x) - sigma * (std::sinh(b * x) - std::sin(b * x)); };
  return f(s) / f(1);
}

/// Roots of implicit Euler for x'' = -w^2 (x + tau x'): angular frequency and damping ratio as a sampled signal shows them.
struct Oscillation {
  double frequency, damping;
};
Oscillation implicit_euler(double w, double tau, double h) {
  // x1 = x + h v1, v1 = v - h w^2 x1 - h w^2 tau v1  =>  (x, v) -> A (x, v)
  const double d = 1 + h * w * w * tau + h * h * w * w;
  const double trace = (1 + h * w * w * tau + 1) / d, det = 1 / d;
  const std::complex<double> z = 0.5 * (trace + std::sqrt(std::complex<double>(trace * trace - 4 * det)));
  const std::complex<double> rate = std::log(z) / h;
  return {std::abs(rate.imag()), -rate.real() / std::abs(rate)};
}

/// A rod of length 1 m.
struct Beam {
  double EA, EI, mu;
  double frequency(int mode) const { return kBeta[mode] * kBeta[mode] * std::sqrt(EI / mu); }
};

/// Lets a cantilever swing in one mode and measures frequency and damping ratio of the modal amplitude.
Oscillation swing(const Beam& beam, int n, int mode, double tau, double h, const std::string& solver, double periods,
                  const std::string& integrator = "implicit_euler") {
  const double w = beam.frequency(mode);
  Simulation s(Scene::parse(fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "material":
      {{"stretch_shear": {}, "bend_twist": {}, "line_density": {}, "tau_stretch": {}, "tau_bend": {}}}}}],
    "constraints": [{{"type": "clamp", "vertices": "rod:start"}}],
    "solver": {},
    "analysis": {{"type": "dynamic", "step": {}, "duration": 1, "steps_per_frame": 1, "integrator": "{}"}}
  }})",
                                        n, beam.EA, beam.EI, beam.mu, tau, tau, solver, h, integrator)));
  State& state = s.mutable_state();
  for (Index v = 0; v <= n; ++v) state.vertex_position[v].y = 1e-3 * mode_shape(mode, static_cast<double>(v) / n);
  for (Index k = 0; k < n; ++k) {
    const Vec3d edge = normalized(state.vertex_position[k + 1] - state.vertex_position[k]);
    state.frame_rotation[k] = rotation_between(director3(state.frame_rotation[k]), edge) * state.frame_rotation[k];
  }
  const auto amplitude = [&](const std::vector<Vec3d>& field) {
    double sum = 0;
    for (Index v = 0; v <= n; ++v)
      sum += (v == 0 || v == n ? 0.5 : 1.0) * mode_shape(mode, static_cast<double>(v) / n) * field[v].y;
    return sum;
  };
  // Zero crossings of the amplitude, with the speed there; the first ones are left to higher modes dying out.
  std::vector<double> times, speeds;
  double before = amplitude(state.vertex_position), speed_before = 0;
  for (int i = 1; i <= static_cast<int>(periods * 2 * RodS::pi / (w * h) + 1e-9); ++i) {
    EXPECT_FALSE(s.step().not_converged);
    const double now = amplitude(s.state().vertex_position), speed = amplitude(s.state().vertex_velocity);
    if (before * now < 0) {
      const double f = before / (before - now);
      times.push_back((i - 1 + f) * h);
      speeds.push_back(std::abs((1 - f) * speed_before + f * speed));
    }
    before = now, speed_before = speed;
  }
  const std::size_t last = times.size() - 1, first = last % 2 == 0 ? 2 : 1;
  const double half_periods = static_cast<double>(last - first);
  const double frequency = RodS::pi * half_periods / (times[last] - times[first]);
  const double decrement = std::log(speeds[first] / speeds[last]) / half_periods;
  return {frequency, decrement / std::hypot(RodS::pi, decrement)};
}

Oscillation swing(int n, int mode, double tau, int steps_per_period, const std::string& solver, double stiffness_factor,
                  double periods = 2.6) {
  const Beam beam{stiffness_factor * RodS::EA, RodS::EI, RodS::mu};
  return swing(beam, n, mode, tau, 2 * RodS::pi / beam.frequency(mode) / steps_per_period, solver, periods);
}

const std::string kNewton = R"({"name": "newton"})";

TEST(CantileverVibration, FirstThreeFrequenciesMatchBeamTheoryAtSecondOrder) {
  const std::map<int, double> tables[] = {{{20, 2.1e-3}, {50, 3.4e-4}, {100, 8.5e-5}},
                                          {{20, 1.1e-2}, {50, 1.7e-3}, {100, 4.3e-4}},
                                          {{20, 2.2e-2}, {50, 3.6e-3}, {100, 9.0e-4}}};
  for (int mode = 0; mode < 3; ++mode) {
    Convergence convergence;
    const double w = kBeta[mode] * kBeta[mode] * std::sqrt(RodS::EI / RodS::mu);
    const int steps = 400;
    for (int n : {20, 50, 100}) {
      const double reference = implicit_euler(w, 0, 2 * RodS::pi / w / steps).frequency;
      convergence.add(n, swing(n, mode, 0, steps, kNewton, 1e3).frequency / reference - 1);
    }
    convergence.expect_within(tables[mode], fmt::format("mode {}", mode + 1));
    convergence.expect_second_order(fmt::format("mode {}", mode + 1), 20, 100);
  }
}

TEST(CantileverVibration, SweepsConvergedByToleranceGiveTheSameFrequency) {
  const double w = kBeta[0] * kBeta[0] * std::sqrt(RodS::EI / RodS::mu);
  const double reference = implicit_euler(w, 0, 2 * RodS::pi / w / 100).frequency;
  const double measured =
      swing(20, 0, 0, 100, R"({"name": "stable_cosserat", "tolerance": 1e-7, "max_iterations": 100000})", 0.1, 2.3).frequency;
  // Stretch is soft here so that sweeps converge; its shift of the frequency is -2.32 EI/(EA L^2).
  EXPECT_NEAR(measured / reference - 1 + 2.32 * RodS::EI / (0.1 * RodS::EA), 0, 1.5 * 2.1e-3);
}

/// A steel wire, 1 mm thick and 1 m long, at the step of an animation: R is 2e7, and the default settings have to do. Implicit
/// Euler multiplies an oscillation by 1/(1 -+ i w h) a step, so that it shows the frequency atan(w h)/h and the decay
/// ln(1 + w^2 h^2)/(2 h).
TEST(CantileverVibration, SteelWireSwingsAtItsFrequencyWithTheDefaultSettings) {
  const double young = 200e9, r = 0.5e-3, area = RodS::pi * r * r, h = 1.0 / 240;
  const Beam wire{young * area, young * area * r * r / 4, 7850 * area};
  const double w = wire.frequency(0), shown = std::atan(w * h) / h, decay = std::log(1 + w * w * h * h) / (2 * h);
  for (const char* solver : {R"({"name": "automatic"})", R"({"name": "automatic", "precision": "float"})"}) {
    const Oscillation measured = swing(wire, 200, 0, 0, h, solver, 2.6);
    EXPECT_NEAR(measured.frequency / shown, 1, 0.01) << solver;
    EXPECT_NEAR(measured.damping / (decay / std::hypot(decay, shown)), 1, 0.05) << solver;
    const Oscillation second_order = swing(wire, 200, 0, 0, h, solver, 2.6, "bdf2");
    EXPECT_NEAR(second_order.frequency / w, 1, 1e-3) << solver;
    EXPECT_LT(std::abs(second_order.damping), 1e-4) << solver;  // 9e-3 by implicit Euler
  }
}

// V20: zeta = tau w/2. Halving the step halves only the integrator's own share.
TEST(KelvinVoigt, DampingRatioIsHalfTauOmegaForAnyStepAndSampling) {
  const double tau = 0.05;
  for (int mode : {0, 1}) {
    const double w = kBeta[mode] * kBeta[mode] * std::sqrt(RodS::EI / RodS::mu);
    for (const auto& [n, steps] : {std::pair{40, 200}, std::pair{40, 400}, std::pair{80, 400}}) {
      const double h = 2 * RodS::pi / w / steps;
      const Oscillation expected = implicit_euler(w, tau, h), measured = swing(n, mode, tau, steps, kNewton, 1e3);
      EXPECT_NEAR(measured.damping, expected.damping, 0.01 * expected.damping)
          << "mode " << mode + 1 << ", N " << n << ", " << steps << " steps";
      const double numerical = implicit_euler(w, 0, h).damping;
      EXPECT_NEAR(measured.damping - numerical, tau * w / 2, 0.03 * tau * w / 2)
          << "mode " << mode + 1 << ", N " << n << ", " << steps << " steps";
    }
  }
}

// The cantilever of the paper's Fig. 5, as the authors' scene has it: pinned vertex and frozen first segment, four sweeps per
// step.
TEST(PaperCantilever, SettlesWhereTheAuthorsSettle) {
  struct Case {
    const char* lambda;
    double x, y;
  };
  for (const Case& c :
       {Case{"approx", 0.965693, -0.284575}, Case{"exact", 0.965688, -0.284594}, Case{"secular", 0.965688, -0.284594}})
    for (const char* order : {"gauss_seidel", "red_black", "jacobi"}) {
      LoadOptions options;
      options.overrides = {fmt::format("/solver/lambda={}", c.lambda), fmt::format("/solver/order={}", order)};
      Simulation s(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/paper/cantilever.json", options));
      while (s.state().time < 15) s.step();
      const Vec3d tip = s.state().vertex_position.back();
      EXPECT_NEAR(tip.x, c.x, 6e-7) << c.lambda << " " << order;
      EXPECT_NEAR(tip.y, c.y, 6e-7) << c.lambda << " " << order;
    }
}

TEST(PaperZigzag, SettlesWhereBlockDescentJitters) {
  Simulation s(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/paper/vbd_failure.json"));
  while (s.state().time < 60) s.step();
  double fastest = 0;
  for (const Vec3d& v : s.state().vertex_velocity) fastest = std::max(fastest, norm(v));
  EXPECT_LT(fastest, 2e-4);
}

}  // namespace
}  // namespace osier::test
