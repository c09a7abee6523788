// Where equilibrium loses its stability, against Euler and Greenhill; and rods that are all but inextensible.
#include <cmath>
#include <numbers>

#include "analytic/reference.hpp"
#include "sim/measure.hpp"

namespace osier::test {
namespace {

constexpr double kPi = std::numbers::pi;

std::string column(int n, const std::string& constraints, const std::string& forces, int load_steps, double stretch = 1e5) {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {},
      "material": {{"stretch_shear": {}, "bend_twist": 1, "line_density": 1}}}}],
    "constraints": [{}], "forces": [{}],
    "analysis": {{"type": "static", "load_steps": {}, "stop_at_instability": true}}
  }})",
                     n, stretch, constraints, forces, load_steps);
}

struct Found {
  bool any;
  double time;      ///< of 1
  double pressure;  ///< minus the tension in the middle
  double twist;     ///< moment about x in the middle
  int steps;
};
Found find(const std::string& text) {
  Simulation s(Scene::parse(text));
  int steps = 0;
  while (steps < s.frame_count() && !s.finished()) s.step(), ++steps;
  const Index middle = s.model().segment_count() / 2;
  return {s.finished(), s.state().time, -section_force(s.model(), s.state(), middle).x,
          joint_moment(s.model(), s.state(), middle - 1).x, steps};
}

const std::string kClamped = R"({"type": "clamp", "vertices": "rod:start"})";
std::string pressed(double load) {
  return fmt::format(R"({{"type": "force", "vertices": "rod:end", "force": [{}, 0, 0]}})", -load);
}
std::string driven(const char* what, const char* where, double shift) {
  return fmt::format(R"({{"type": "{}", {}, "motion": {{"translate": {{"keys": [[0, [0, 0, 0]], [1, [{}, 0, 0]]]}}}}}})", what,
                     where, shift);
}

// With EA = GA Reissner's column buckles at Euler's load for any EA.
TEST(EulerLoad, OfAClampedFreeColumnAtSecondOrder) {
  Convergence convergence;
  for (int n : {10, 20, 40, 80}) {
    const Found f = find(column(n, kClamped, pressed(4), 4));
    ASSERT_TRUE(f.any);
    EXPECT_NEAR(f.pressure, 4 * f.time, 1e-6);
    convergence.add(n, 4 * f.time / 2.4674011002723395 - 1);
  }
  convergence.expect_within({{10, 2.1e-3}, {20, 5.2e-4}, {40, 1.3e-4}, {80, 3.2e-5}}, "load");
  convergence.expect_second_order("load", 20, 80);
  EXPECT_NEAR(convergence.extrapolated(40, 80), 0, 1e-7);
}

TEST(EulerLoad, IsFoundFromAnyNumberOfLoadStepsThroughWhatLiesBeyond) {
  // 40 is beyond the second load 22.2 of the column; on two steps the path must be followed to 20 and 40, unstable both.
  const double reference = 4 * find(column(20, kClamped, pressed(4), 4)).time;
  for (int load_steps : {1, 2, 20}) {
    const Found f = find(column(20, kClamped, pressed(40), load_steps));
    ASSERT_TRUE(f.any) << load_steps;
    EXPECT_NEAR(40 * f.time, reference, 1e-6) << load_steps;
    EXPECT_EQ(f.steps, load_steps == 20 ? 2 : 1);
  }
}

TEST(EulerLoad, OfAPinnedColumnUnderDisplacement) {
  Convergence convergence;
  for (int n : {10, 20, 40, 80}) {
    const Found f = find(
        column(n, R"({"type": "hinge", "vertex": "rod:start"}, )" + driven("pin", R"("vertices": "rod:end")", -2e-4), "", 4));
    ASSERT_TRUE(f.any);
    EXPECT_NEAR(f.pressure, 1e5 * 2e-4 * f.time, 1e-5);
    convergence.add(n, f.pressure / (kPi * kPi) - 1);
  }
  convergence.expect_second_order("load", 20, 80);
  EXPECT_NEAR(convergence.extrapolated(40, 80), 0, 1e-5) << convergence.text();
}

// Pins let the rod spin about its line: a direction without stiffness is no instability.
TEST(EulerLoad, IsNotMistakenForTheSpinOfAPinnedRod) {
  const Found f =
      find(column(20, R"({"type": "pin", "vertices": "rod:start"}, )" + driven("pin", R"("vertices": "rod:end")", -2e-4), "", 4));
  ASSERT_TRUE(f.any);
  EXPECT_NEAR(f.pressure / (kPi * kPi), 1, 5e-3);
}

TEST(EulerLoad, OfAClampedColumnUnderDisplacement) {
  Convergence convergence;
  for (int n : {20, 40, 80}) {
    const Found f = find(column(n, kClamped + ", " + driven("clamp", R"("vertices": "rod:end")", -6e-4), "", 4));
    ASSERT_TRUE(f.any);
    convergence.add(n, f.pressure / (4 * kPi * kPi) - 1);
  }
  convergence.expect_second_order("load", 20, 80);
  EXPECT_NEAR(convergence.extrapolated(40, 80), 0, 2e-5) << convergence.text();
}

// Greenhill's problem with built-in ends: the straight twisted rod gives way at M L/EI = 2 * 4.49341 (tan u = u).
TEST(TwistBuckling, OfABuiltInRodAtSecondOrder) {
  Convergence convergence;
  for (int n : {20, 40, 80}) {
    const Found f = find(column(
        n, kClamped + R"(, {"type": "clamp", "vertices": "rod:end", "motion": {"rotate": {"axis": [1, 0, 0], "speed": 10}}})", "",
        20));
    ASSERT_TRUE(f.any);
    convergence.add(n, f.twist / 8.986818915818128 - 1);
  }
  convergence.expect_second_order("moment", 20, 80);
  EXPECT_NEAR(convergence.extrapolated(40, 80), 0, 5e-5) << convergence.text();
}

// A naturally straight rod closed to a ring leaves its plane at the twist 2 pi sqrt(3) EI/GJ (Michell 1889). Its seam is held by
// two half-joints and not quite as soft as the other joints; that small fault turns the bifurcation into a limit point, beyond
// which nothing converges. The spring takes out the roll of the ring about the tangent at its seam.
TEST(LimitPoint, OfATwistedRingEndsTheSearch) {
  const double critical = 2 * kPi * std::numbers::sqrt3, top = 1.2 * critical;
  const std::string text = fmt::format(R"({{
    "rods": [
      {{"name": "ring", "shape": {{"type": "line", "from": [0, 0, 0], "to": [{0}, 0, 0]}}, "segments": 24,
        "pose": {{"type": "arc", "radius": 1, "angle": 360, "keep": "points"}},
        "material": {{"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}}},
      {{"name": "spring", "shape": {{"type": "points", "points": [[{1}, 0, 0], [{1}, 0, -1]]}},
        "pose": {{"type": "points", "points": [[-1, 0, 0], [-1, 0, -1]]}},
        "material": {{"stretch": 1, "shear": 1e-12, "bend_twist": 1, "line_density": 1}}}}],
    "welds": [{{"vertices": ["ring:12", "spring:start"], "joint": false}}],
    "constraints": [
      {{"type": "clamp", "vertices": "ring:start", "tangent": [0, 1, 0]}},
      {{"type": "clamp", "vertices": "ring:end", "tangent": [0, 1, 0], "motion": {{"rotate":
        {{"axis": [0, 1, 0], "center": [1, 0, 0], "angle": {{"keys": [[0, 0], [1, {2}]]}}}}}}}},
      {{"type": "pin", "vertices": "spring:end"}}, {{"type": "fix", "segments": "spring:start"}}],
    "analysis": {{"type": "static", "load_steps": 24, "max_iterations": 30, "stop_at_instability": true}}
  }})",
                                       2 * kPi, kPi, top * 180 / kPi);
  Simulation s(Scene::parse(text));
  StepReport last;
  for (int i = 0; i < s.frame_count() && !s.finished(); ++i) last = s.step();
  ASSERT_TRUE(s.finished());
  EXPECT_FALSE(last.not_converged);
  EXPECT_NEAR(s.state().time * top / critical, 1, 0.02);
}

TEST(Instability, IsNotReportedWhereThereIsNone) {
  for (const std::string& text : {column(10, kClamped, pressed(-100), 5), column(10, kClamped, pressed(2.4), 5),
                                  column(10, kClamped, R"({"type": "force", "vertices": "rod:end", "force": [0, 50, 0]})", 5)}) {
    const Found f = find(text);
    EXPECT_FALSE(f.any);
    EXPECT_DOUBLE_EQ(f.time, 1);
    EXPECT_EQ(f.steps, 5);
  }
}

// Two unstable modes (either way across) beyond the first load, four beyond the second, 22.2.
TEST(Instability, ModesAreCounted) {
  for (const auto& [load, modes] : {std::pair{2.4, 0}, std::pair{2.5, 2}, std::pair{22.0, 2}, std::pair{23.0, 4}}) {
    Simulation s(Scene::parse(column(40, kClamped, pressed(load), 1)));
    s.step();
    EXPECT_EQ(s.finished(), modes > 0) << load;
    EXPECT_EQ(s.last_report().unstable_modes, modes) << load;  // as seen first, at the full load
  }
}

// ---- what lies beyond ----

struct Column {
  Simulation simulation;
  double up, aside;  ///< of the tip
};
Column loaded_column(double load, int load_steps, const std::string& more = "", const std::string& solver = "direct") {
  Simulation s(Scene::parse(fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [0, 1, 0]}}, "segments": 80,
      "material": {{"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}}}],
    "constraints": [{{"type": "clamp", "vertices": "rod:start"}}],
    "forces": [{{"type": "force", "vertices": "rod:end", "force": [0, {}, 0]}}],
    "solver": {{"name": "{}"}}, "analysis": {{"type": "static", "load_steps": {} {}}}
  }})",
                                        -load, solver, load_steps, more)));
  for (int i = 0; i < s.frame_count(); ++i) s.step();
  const Vec3d tip = s.state().vertex_position.back();
  return {std::move(s), tip.y, std::hypot(tip.x, tip.z)};
}

/// The elastica of a column under P > Euler's load, by its modulus: K(k) = L sqrt(P/EI).
struct Elastica {
  double up, aside;
  explicit Elastica(double load) {
    double low = 0, high = 1 - 1e-12;
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      (std::comp_ellint_1(middle) < std::sqrt(load) ? low : high) = middle;
    }
    up = 2 * std::comp_ellint_2(low) / std::sqrt(load) - 1;
    aside = 2 * low / std::sqrt(load);
  }
};

TEST(BeyondTheEulerLoad, AColumnBucklesByDefault) {
  for (const char* solver : {"direct", "newton"})
    for (const int load_steps : {1, 10})
      for (const double load : {2.6, 5.0, 20.0, 23.0}) {  // the last: unstable in four directions
        const Column c = loaded_column(load, load_steps, "", solver);
        const Elastica exact(load);
        EXPECT_NEAR(c.up, exact.up, 2e-3) << solver << load << " in " << load_steps;
        EXPECT_NEAR(c.aside, exact.aside, load < 3 ? 5e-3 : 2e-3) << solver << load << " in " << load_steps;
        EXPECT_EQ(c.simulation.last_report().unstable_modes, 0);
        EXPECT_GT(c.simulation.branches_left().count, 0);
        EXPECT_LE(c.simulation.last_report().residual_relative, 1e-8);
      }
}

TEST(BeyondTheEulerLoad, ThePathIsFollowedOnlyWhereThatIsAskedFor) {
  const Column c = loaded_column(20, 4, R"(, "branch": "follow")");
  EXPECT_NEAR(c.aside, 0, 1e-9);
  EXPECT_EQ(c.simulation.last_report().unstable_modes, 2);
  EXPECT_EQ(c.simulation.branches_left().count, 0);
}

TEST(BeyondTheEulerLoad, NothingIsLeftBelowIt) {
  const Column c = loaded_column(2.4, 3);
  EXPECT_NEAR(c.aside, 0, 1e-12);
  EXPECT_EQ(c.simulation.branches_left().count, 0);
}

// An arch under a force on its crown: far beyond the force at which it snaps through.
std::string arch(int load_steps) {
  return fmt::format(R"({{
    "rods": [{{"name": "arch", "shape": {{"type": "arc", "center": [0, -1, 0], "radius": 1.1, "start": [-0.4, 1, 0],
      "angle": -43.6, "normal": [0, 0, 1]}}, "segments": 60,
      "material": {{"young": 2e9, "poisson": 0.3, "density": 1100, "radius": 0.002}}}}],
    "constraints": [{{"type": "clamp", "vertices": ["arch:start", "arch:end"]}}],
    "forces": [{{"type": "force", "vertices": "arch:mid", "force": [0, -20, 0]}}],
    "analysis": {{"type": "static", "load_steps": {}, "stop_at_instability": true}}
  }})",
                     load_steps);
}

TEST(SnapThrough, IsFoundHoweverLongTheLoadSteps) {
  for (const int load_steps : {1, 2, 5, 20, 100}) {
    const Found f = find(arch(load_steps));
    ASSERT_TRUE(f.any) << load_steps;
    EXPECT_NEAR(20 * f.time, 0.5078, 2e-4) << load_steps;
  }
}

// A rod that is pressed into a buckle sideways by a small force passes close to Euler's load, all the while stable; later it
// may roll about the line between its clamps at no cost.
TEST(Instability, IsNotReportedWhereAPathTurnsSharply) {
  const Found f = find(R"({
    "rods": [{"name": "rod", "shape": {"type": "line", "from": [0, 0, 0], "to": [0, 0, 1]}, "segments": 44,
      "material": {"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}],
    "constraints": [{"type": "clamp", "vertices": "rod:start"}, {"type": "clamp", "vertices": "rod:end", "motion": {
      "translate": {"keys": [[0, [0, 0, 0]], [1, [0, 0, -0.16]]]},
      "rotate": {"axis": [0, 0, 1], "angle": {"keys": [[0, 0], [2, 0], [4, 200]]}}}}],
    "forces": [{"type": "force", "vertices": "rod:mid", "force": {"keys":
      [[0, [0, 0, 0]], [0.1, [2, 0, 0]], [1, [2, 0, 0]], [2, [0, 0, 0]]]}}],
    "analysis": {"type": "static", "duration": 4, "load_steps": 80, "ramp": false, "stop_at_instability": true}
  })");
  EXPECT_FALSE(f.any) << f.time;
}

// The twisted ring again, free to roll about the tangent at its seam: that is no instability.
TEST(Instability, IsNotTheRollOfARing) {
  const double critical = 2 * kPi * std::numbers::sqrt3, top = 1.2 * critical;
  Simulation s(Scene::parse(fmt::format(R"({{
    "rods": [{{"name": "ring", "shape": {{"type": "line", "from": [0, 0, 0], "to": [{}, 0, 0]}}, "segments": 24,
      "pose": {{"type": "arc", "radius": 1, "angle": 360}},
      "material": {{"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}}}],
    "constraints": [
      {{"type": "clamp", "vertices": "ring:start", "tangent": [0, 1, 0]}},
      {{"type": "clamp", "vertices": "ring:end", "tangent": [0, 1, 0], "motion": {{"rotate":
        {{"axis": [0, 1, 0], "center": [1, 0, 0], "angle": {{"keys": [[0, 0], [1, {}]]}}}}}}}}],
    "analysis": {{"type": "static", "load_steps": 12, "stop_at_instability": true}}
  }})",
                                        2 * kPi, top * 180 / kPi)));
  for (int i = 0; i < s.frame_count() && !s.finished(); ++i) s.step();
  ASSERT_TRUE(s.finished());
  EXPECT_NEAR(s.state().time * top / critical, 1, 0.02);
}

// ---- all but inextensible ----

const double kStiff = 1e8;  // times EI/L^2

TEST(StiffLimit, EndLoadedElasticaIsInextensible) {
  Convergence down, along;
  for (int n : {20, 50, 100, 200}) {
    const Simulation s = settle(fmt::format(R"({{
      "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {},
        "material": {{"stretch": {}, "shear": {}, "bend": 1, "twist": 0.8, "line_density": 1}}}}],
      "constraints": [{}], "forces": [{{"type": "force", "vertices": "rod:end", "force": [0, -10, 0]}}],
      "analysis": {{"type": "static", "load_steps": 4}}
    }})",
                                            n, kStiff, kStiff, kClamped));
    const Vec3d tip = s.state().vertex_position.back();
    down.add(n, -tip.y - 0.8106090);
    along.add(n, 1 - tip.x - 0.5549956);
    EXPECT_LT(s.diagnostics().max_stretch, 1.1e-7);
  }
  down.expect_within({{20, 1.2e-3}, {50, 2.0e-4}, {100, 5.1e-5}, {200, 1.3e-5}}, "drop");
  down.expect_second_order("drop");
  along.expect_second_order("shortening");
}

// EA = 1e14 EI/L^2: a rounding error of a strain is a force of a hundredth of the rod's weight.
TEST(StiffLimit, StaticsMeetTheirToleranceHoweverStiffStretchIs) {
  for (const char* solver : {"direct", "newton"})
    for (const double stretch : {1e6, 1e9, 1e12, 1e14}) {
      const Simulation s = settle(fmt::format(R"({{
        "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 100,
          "material": {{"young": 1e6, "density": 1000, "radius": 0.01, "stretch_shear": {}}}}}],
        "constraints": [{{"type": "clamp", "vertices": "rod:start"}}],
        "forces": [{{"type": "gravity", "acceleration": [0, -0.6, 0]}}],
        "solver": {{"name": "{}"}}, "analysis": {{"type": "static"}}
      }})",
                                              stretch, solver));
      EXPECT_NEAR(s.state().vertex_position.back().x, 0.396441827, 2e-6) << solver << " " << stretch;
      EXPECT_EQ(s.last_report().unstable_modes, 0) << solver << " " << stretch;
    }
}

// An arch of material that is 1e9 times as stiff in stretch as in bending between two clamps: its thrust is statically
// indeterminate.
TEST(StiffLimit, SolversAgreeOnAClampedArch) {
  Vec3d mid[2];
  for (const int i : {0, 1}) {
    const Simulation s = settle(fmt::format(R"({{
      "rods": [{{"name": "arch", "shape": {{"type": "arc", "center": [0, 0, 0], "radius": 1, "start": [-1, 0, 0], "angle": -150,
        "normal": [0, 0, 1]}}, "segments": 60, "material": {{"stretch": 1e9, "shear": 1e8, "bend": 1, "twist": 0.8,
        "line_density": 1}}}}],
      "constraints": [{{"type": "clamp", "vertices": ["arch:start", "arch:end"]}}],
      "forces": [{{"type": "force", "vertices": "arch:mid", "force": [2, -3, 1]}}],
      "solver": {{"name": "{}"}}, "analysis": {{"type": "static", "load_steps": 2}}
    }})",
                                            i == 0 ? "direct" : "newton"));
    mid[i] = s.state().vertex_position[30];
  }
  EXPECT_LT(norm(mid[0] - mid[1]), 1e-7);
}

// Both ends held, so that the forces of lengths that are rounded do not go away.
TEST(StiffLimit, AnArchBetweenClampsConvergesHoweverStiffStretchIs) {
  Vec3d softer{};
  for (const double stretch : {1e8, 1e10, 1e12}) {
    Simulation s(Scene::parse(fmt::format(R"({{
      "rods": [{{"name": "arch", "shape": {{"type": "arc", "center": [0, -1, 0], "radius": 1.1, "start": [-0.4, 1, 0],
        "angle": -43.602818972, "normal": [0, 0, 1]}}, "segments": 40,
        "material": {{"stretch_shear": {}, "bend_twist": 1, "line_density": 1}}}}],
      "constraints": [{{"type": "clamp", "vertices": ["arch:start", "arch:end"]}}],
      "forces": [{{"type": "force", "vertices": "arch:mid", "force": [0, -20, 0]}}],
      "analysis": {{"type": "static", "load_steps": 4}}
    }})",
                                          stretch)));
    for (int i = 0; i < 4; ++i) EXPECT_FALSE(s.step().not_converged) << stretch;
    const Vec3d mid = s.state().vertex_position[20];
    if (norm2(softer) > 0) {
      EXPECT_LT(norm(mid - softer), 2e2 / (1e-2 * stretch)) << stretch;  // what the softer one stretches
    }
    softer = mid;
  }
}

// A straight round rod that is pushed together and a little aside buckles some way round, and then rolls into the plane of the
// push: a mode that is all but without stiffness, beside stretch that is 1e7 times as stiff as bending.
TEST(StiffLimit, ABuckledRodRollsToWhereItRests) {
  Simulation s(Scene::parse(R"({
    "rods": [{"name": "rod", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 40,
      "material": {"stretch_shear": 1e7, "bend_twist": 1, "line_density": 1}}],
    "constraints": [{"type": "clamp", "vertices": "rod:start"}, {"type": "clamp", "vertices": "rod:end",
      "motion": {"translate": {"keys": [[0, [0, 0, 0]], [1, [-0.3, 0.1, 0]]]}}}],
    "analysis": {"type": "static", "load_steps": 10}
  })"));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(s.step().not_converged) << i;
  EXPECT_EQ(s.last_report().unstable_modes, 0);
}

TEST(StiffLimit, FewSweepsPerStepNeverGainEnergy) {
  for (const char* material : {R"({"stretch": 1e8, "shear": 1e8, "bend": 1, "twist": 0.8, "line_density": 1})",
                               R"({"stretch_shear": 1e8, "bend_twist": 1, "line_density": 1})"})
    for (double h : {1e-3, 1e-2}) {
      Simulation s(Scene::parse(fmt::format(R"({{
        "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 20, "material": {}}}],
        "constraints": [{}], "forces": [{{"type": "gravity", "acceleration": [0, -10, 3]}}],
        "analysis": {{"type": "dynamic", "step": {}, "duration": 1, "steps_per_frame": 1}}
      }})",
                                            material, kClamped, h)));
      const double start = s.diagnostics().total();
      for (int i = 0; i < 1000; ++i) {
        s.step();
        ASSERT_LE(s.diagnostics().total(), start + 1e-7) << material << " h " << h << " step " << i;
      }
      EXPECT_LT(s.diagnostics().max_stretch, 1e-3);
    }
}

}  // namespace
}  // namespace osier::test
