// Oscillations from zero crossings, and the instruments that use them.
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "osier/osier.hpp"
#include "validate/experiments/refine_step.hpp"
#include "validate/instruments/crossings.hpp"
#include "validate/trial.hpp"

namespace osier::validate {
namespace {

constexpr double kPi = std::numbers::pi;

/// x'' = -w^2 x - 2 zeta w x' by implicit Euler, from rest at 1.
std::vector<double> implicit_euler(double w, double zeta, double h, int steps) {
  std::vector<double> samples{1};
  double x = 1, v = 0;
  for (int i = 0; i < steps; ++i) {
    v = (v - h * w * w * x) / (1 + 2 * zeta * w * h + w * w * h * h);
    x += h * v;
    samples.push_back(x);
  }
  return samples;
}

const TimeIntegrator kEuler(IntegratorKind::implicit_euler, 0);

TEST(Crossings, LieWhereTheSignalIsZeroWithItsSlope) {
  std::vector<double> samples;
  for (int i = 0; i < 100; ++i) samples.push_back(std::cos(0.1 * i));
  const std::vector<Crossing> c = zero_crossings(samples);
  ASSERT_EQ(c.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(0.1 * c[k].at, (static_cast<double>(k) + 0.5) * kPi, 1e-6);
    EXPECT_NEAR(c[k].slope, k % 2 ? 0.1 : -0.1, 1e-6);
  }
}

TEST(Crossings, CountASampleThatIsZeroOnce) {
  EXPECT_EQ(zero_crossings({3, 2, 1, 0, -1, -2, -3}).size(), 1u);
  EXPECT_DOUBLE_EQ(zero_crossings({3, 2, 1, 0, -1, -2, -3})[0].at, 3);
  EXPECT_TRUE(zero_crossings({3, 2, 1, 2, 3}).empty());
  EXPECT_TRUE(zero_crossings({1, -1}).empty());
}

/// A fast wave of a millionth of the amplitude is a slope of a thousandth between neighbouring samples, but no damping.
TEST(Crossings, DoNotTakeFastWavesForSlopes) {
  std::vector<double> samples;
  for (int i = 0; i < 30000; ++i) samples.push_back(std::cos(2e-4 * kPi * i) + 1e-6 * std::cos(1.3 * i));
  for (const Crossing& c : zero_crossings(samples)) EXPECT_NEAR(std::abs(c.slope) / (2e-4 * kPi), 1, 1e-4);
}

TEST(Recursion, TellsTheDampingOfAModeAmongOthersWhateverTheStep) {
  for (const double h : {0.3, 0.1}) {
    std::vector<double> samples;
    for (int k = 0; k < 40; ++k) {
      const double t = h * k;
      samples.push_back(std::exp(-0.02 * t) * std::cos(t) + 1e-3 * std::cos(6.3 * t + 0.4) + 1e-5 * std::cos(17 * t));
    }
    EXPECT_NEAR(damping_by_recursion(samples, 1 / (2 * kPi), h), 0.02 / std::hypot(1, 0.02), 1e-8) << h;
  }
  EXPECT_TRUE(std::isnan(damping_by_recursion({1, 0, -1, 0, 1}, 1, 0.25)));
}

/// The shift and the damping of implicit Euler are taken out to the accuracy of the interpolation, (w h)^4.
TEST(Oscillation, OfImplicitEulerGivesBackTheEquationItIntegrates) {
  const double w = 3;
  for (double zeta : {0.0, 0.01, 0.25})
    for (double wh : {0.1, 0.02}) {
      const double h = wh / w;
      const Oscillation o = oscillation(zero_crossings(implicit_euler(w, zeta, h, static_cast<int>(16 / wh))), 0, h, &kEuler);
      EXPECT_NEAR(o.frequency, w / (2 * kPi), std::pow(wh, 4) * w) << zeta << " " << wh;
      EXPECT_NEAR(o.damping_ratio, zeta, 2 * std::pow(wh, 4)) << zeta << " " << wh;
    }
}

/// What the samples themselves show: factor atan(w h)/(w h), damping about w h/2.
TEST(Oscillation, RawValuesAreThoseOfTheSamples) {
  const double w = 3, wh = 0.05, h = wh / w;
  const Oscillation o = oscillation(zero_crossings(implicit_euler(w, 0, h, 400)), 0, h, &kEuler);
  const double rate = std::log(std::hypot(1, wh)) / h, turn = std::atan(wh) / h;
  EXPECT_NEAR(o.raw_frequency, std::hypot(rate, turn) / (2 * kPi), 1e-5);
  EXPECT_NEAR(o.raw_damping, rate / std::hypot(rate, turn), 1e-5);
  EXPECT_NEAR(o.raw_damping, 0.024981796370223512, 1e-5);  // the catalogue's table for w h = 0.05
}

TEST(Oscillation, UsesWholePeriodsAfterTheSkippedCrossings) {
  const std::vector<Crossing> uneven{{0, -1}, {9, 1}, {20, -1}, {29, 1}, {40, -1}, {49, 1}};
  EXPECT_NEAR(oscillation(uneven, 0, 1, &kEuler).raw_frequency, 1.0 / 20, 1e-15);
  EXPECT_NEAR(oscillation(uneven, 1, 1, &kEuler).raw_frequency, 1.0 / 20, 1e-15);
  EXPECT_THROW(oscillation(uneven, 4, 1, &kEuler), RunError);
}

/// Half a chain of one mass: a rod of one segment fixed at its start, its end vertex carrying mu l/2. EA/l and that mass
/// oscillate.
Json spring(double step, double duration) {
  return Json::parse(R"({"rods": [{"name": "rod", "segments": 1, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]},
    "pose": {"type": "mode", "kind": "axial", "from": [0, 0, 0], "to": [1, 0, 0], "amplitude": 0.001},
    "material": {"stretch_shear": 50, "bend_twist": 1, "line_density": 4, "tau_stretch": 0.01}}],
    "constraints": [{"type": "clamp", "vertices": "rod:start"}], "solver": {"name": "newton", "tolerance": 1e-12},
    "probes": [{"name": "tip", "vertex": "rod:end"}],
    "analysis": {"type": "dynamic", "steps_per_frame": 1, "integrator": "implicit_euler", "step": )" +
                     std::to_string(step) + R"(, "duration": )" + std::to_string(duration) + "}}");
}
const Json kVibration = Json::parse(R"([{"type": "vibration", "name": "v"}])");

TEST(Vibration, OfOneSpringAndMassHasItsFrequencyAndDamping) {
  Outcome out;
  run_to_end(spring(0.005, 3), kVibration, "", ".", out);
  EXPECT_NEAR(out.values.at("v.frequency"), 5 / (2 * kPi), 1e-6);     // w = sqrt(50/2)
  EXPECT_NEAR(out.values.at("v.damping_ratio"), 0.01 * 5 / 2, 1e-6);  // tau w/2
  EXPECT_NEAR(out.values.at("v.raw_damping"), 0.01 * 5 / 2 + 0.005 * 5 / 2, 1e-3);
}

TEST(Vibration, NeedsAVibration) {
  Json scene = spring(0.005, 3);
  scene["rods"][0].erase("pose");
  Outcome out;
  EXPECT_THROW(run_to_end(scene, kVibration, "", ".", out), RunError);
}

TEST(Swing, OfALightPendulumHasItsPeriod) {
  // One segment: mass mu l/2 at its end, T = 2 pi sqrt(L/g) for small swings.
  const Json scene = Json::parse(R"({"rods": [{"name": "rod", "segments": 1,
    "shape": {"type": "line", "from": [0, 0, 0], "to": [0.02, -0.9998, 0]},
    "material": {"stretch_shear": 1e5, "bend_twist": 1, "line_density": 1}}], "constraints": [{"type": "pin", "vertices": "rod:start"}],
    "forces": [{"type": "gravity", "acceleration": [0, -9.81, 0]}], "solver": {"name": "newton", "tolerance": 1e-8},
    "analysis": {"type": "dynamic", "step": 0.002, "steps_per_frame": 1, "duration": 4.6}})");
  Outcome out;
  run_to_end(scene, Json::parse(R"([{"type": "swing", "name": "s"}])"), "", ".", out);
  const double period = 2 * kPi * std::sqrt(1 / 9.81);
  EXPECT_NEAR(out.values.at("s.period"), period, 1e-3 * period);
  EXPECT_NEAR(out.values.at("s.first"), period / 4, 1e-2 * period);
}

TEST(RefineStep, ExtrapolatesAnErrorOfTwoOrders) {
  const auto value = [](double h) { return 3 + 0.5 * h - 0.2 * h * h; };
  const std::vector<double> limit = RefineStep::limit(value(0.4), value(0.2), value(0.1), 1);
  EXPECT_NEAR(limit[1], 3, 1e-14);
  const std::vector<double> second = RefineStep::limit(1 + 0.16, 1 + 0.04, 1 + 0.01, 2);
  EXPECT_NEAR(second[0], 2, 1e-12);
  EXPECT_NEAR(second[1], 1, 1e-14);
}

TEST(RefineStep, SeesTheFirstOrderOfImplicitEuler) {
  RefineStep refine;
  refine.quantity = {"v.raw_damping", ""};
  refine.instruments.value = kVibration;
  const std::vector<double> columns = refine.examine(spring(0.01, 3), ".");
  EXPECT_NEAR(columns[3], 1, 0.02);
  EXPECT_NEAR(columns[4], 0.01 * 5 / 2, 1e-5);
}

}  // namespace
}  // namespace osier::validate
