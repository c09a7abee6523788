// Time integration (integration/integrator.hpp): order, momentum, amplitude, and what constraints exert.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numbers>

#include "osier/osier.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

constexpr double kPi = std::numbers::pi;
const char* const kSecondOrder[] = {R"("bdf2")", R"("midpoint")", R"("generalized_alpha", "rho_infinity": 0.5)"};

/// A flexible pendulum that is let go from the horizontal. `more`: further keys of the material and of the scene.
std::string pendulum(const std::string& integrator, const std::string& solver, double h, const std::string& material = "",
                     const std::string& more = "") {
  return fmt::format(R"({{
    "rods": [{{"shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 4,
      "material": {{"young": 1e5, "poisson": 0.3, "density": 1000, "radius": 0.01{}}}}}],
    "constraints": [{{"type": "pin", "vertices": "rod0:start"}}], "forces": [{{"type": "gravity"}}]{},
    "solver": {}, "analysis": {{"type": "dynamic", "step": {:.17g}, "steps_per_frame": 1, "integrator": {}}}}})",
                     material, more, solver, h, integrator);
}

Vec3d tip_after(const std::string& scene, double time) {
  Simulation s(Scene::parse(scene));
  while (s.state().time < time * (1 - 1e-9)) s.step();
  return s.state().vertex_position.back();
}

TEST(Integrators, AreOfSecondOrderOnAFlexiblePendulum) {
  const std::string damping = R"(, "tau_bend": 0.01, "tau_stretch": 0.002)", inertia = R"(, "rotational_inertia": true)";
  const std::string exact = R"({"name": "newton", "tolerance": 1e-11})", direct = R"({"name": "direct", "tolerance": 1e-9})",
                    sweeps = R"({"name": "stable_cosserat", "tolerance": 1e-9, "max_iterations": 100000})";
  struct Case {
    std::string solver, material, more;
  };
  for (const Case& c : {Case{direct, "", ""}, Case{exact, damping, ""}, Case{exact, damping, inertia}, Case{sweeps, damping, ""}})
    for (const char* integrator : kSecondOrder) {
      const auto tip = [&](double h) { return tip_after(pendulum(integrator, c.solver, h, c.material, c.more), 0.4); };
      const Vec3d a = tip(4e-3), b = tip(2e-3), d = tip(1e-3);
      EXPECT_NEAR(std::log2(norm(a - b) / norm(b - d)), 2, 0.15) << integrator << c.solver << c.material << c.more;
    }
}

// Twenty swings of a stiff pendulum, 100 steps each; implicit Euler stops it.
TEST(Midpoint, KeepsTheAmplitudeOfAPendulum) {
  const double period = 2 * kPi * std::sqrt(1 / 9.81), angle = 0.05;
  const auto left = [&](const std::string& integrator) {
    Simulation s(Scene::parse(fmt::format(R"({{
      "rods": [{{"shape": {{"type": "line", "from": [0, 0, 0], "to": [{:.17g}, {:.17g}, 0]}}, "segments": 1,
        "material": {{"stretch_shear": 1e6, "bend_twist": 1, "line_density": 1}}}}],
      "constraints": [{{"type": "pin", "vertices": "rod0:start"}}],
      "forces": [{{"type": "gravity", "acceleration": [0, -9.81, 0]}}], "solver": {{"name": "newton", "tolerance": 1e-10}},
      "analysis": {{"type": "dynamic", "step": {:.17g}, "steps_per_frame": 1, "integrator": {}}}}})",
                                          std::sin(angle), -std::cos(angle), period / 100, integrator)));
    for (int i = 0; i < 1900; ++i) s.step();
    double largest = 0;
    for (int i = 0; i < 100; ++i) {
      s.step();
      largest = std::max(largest, std::abs(s.state().vertex_position[1].x));
    }
    return largest / std::sin(angle);
  };
  EXPECT_NEAR(left(R"("midpoint")"), 1, 5e-4);  // as far as the samples are from the turning point
  EXPECT_NEAR(left(R"("bdf2")"), 1, 0.02);
  EXPECT_LT(left(R"("implicit_euler")"), 0.1);
}

// Angular momentum of a free elastic rod that spins and vibrates: implicit Euler loses 6e-3 a turn.
TEST(Midpoint, KeepsTheMomentumOfAFreeElasticRod) {
  for (const char* inertia : {"", R"("rotational_inertia": true, )"}) {
    Simulation s(Scene::parse(fmt::format(R"({{{}
      "rods": [{{"shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 12,
        "velocity": {{"linear": [0.3, 0.1, 0], "angular": [0, 0, 5], "about": [0.5, 0, 0]}},
        "material": {{"young": 1e6, "poisson": 0.3, "density": 1000, "radius": 0.02}}}}],
      "solver": {{"name": "newton", "tolerance": 1e-13}},
      "analysis": {{"type": "dynamic", "step": 0.001, "steps_per_frame": 1, "integrator": "midpoint"}}}})",
                                          inertia)));
    s.mutable_state().vertex_velocity[3].y += 0.2;
    const Diagnostics before = s.diagnostics();
    double least = before.total(), most = least;
    for (int i = 0; i < 1257; ++i) {  // one turn
      s.step();
      const double energy = s.diagnostics().total();
      least = std::min(least, energy), most = std::max(most, energy);
    }
    const Diagnostics after = s.diagnostics();
    EXPECT_NEAR(after.angular_momentum.z / before.angular_momentum.z, 1, 1e-9) << inertia;
    EXPECT_LT(norm(after.momentum - before.momentum), 1e-10 * norm(before.momentum)) << inertia;
    EXPECT_LT((most - least) / before.total(), 1e-3) << inertia;  // it swings with the vibration and does not drift
  }
}

// A heavy, stiff rope at the step of an animation: what is too fast for the step must not grow.
TEST(Bdf2, NeverGainsEnergyFromAStiffRope) {
  for (double h : {1.0 / 60, 1.0 / 240, 1e-3}) {
    Simulation s(Scene::parse(fmt::format(R"({{
      "rods": [{{"shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 40,
        "material": {{"stretch_shear": 1e6, "bend_twist": 1e-4, "line_density": 0.1}}}}],
      "constraints": [{{"type": "pin", "vertices": "rod0:start"}}], "forces": [{{"type": "gravity"}}],
      "analysis": {{"type": "dynamic", "step": {:.17g}, "steps_per_frame": 1}}}})",
                                          h)));
    const double before = s.diagnostics().total();
    while (s.state().time < 2) {
      EXPECT_FALSE(s.step().not_converged) << h;
      ASSERT_LT(s.diagnostics().total(), before + 1e-3 * std::abs(before) + 1e-3) << h << " at " << s.state().time;
    }
  }
}

TEST(Integrators, StartAgainAfterARelease) {
  const auto run = [](double h, const char* integrator) {
    return tip_after(
        pendulum(integrator, R"({"name": "direct", "tolerance": 1e-10})", h, "", R"(, "fracture": {"strain_limit": 0.8})"), 0.3);
  };
  const Vec3d a = run(4e-3, R"("bdf2")"), b = run(2e-3, R"("bdf2")"), c = run(1e-3, R"("bdf2")");
  EXPECT_NEAR(std::log2(norm(a - b) / norm(b - c)), 2, 0.2);
}

std::string gripper(const std::string& integrator, const std::string& more = "") {
  return fmt::format(R"({{
    "rods": [{{"name": "cable", "shape": {{"type": "line", "from": [0, 1, 0], "to": [0.8, 1, 0]}}, "segments": 12,
      "material": {{"young": 2e7, "poisson": 0.45, "density": 1300, "radius": 0.004, "tau_bend": 0.02, "tau_stretch": {}}}}}],
    "constraints": [{{"type": "clamp", "name": "grip", "vertices": "cable:start", "motion": {{
      "translate": {{"keys": [[0, [0, 0, 0]], [0.3, [0.1, 0.2, 0]], [0.6, [0.1, 0.2, 0.3]]]}},
      "orientation": {{"keys": [[0, [0, 0, 0, 1]], [0.3, [0, 0, 0.3826834, 0.9238795]], [0.6, [0, 0.7071068, 0, 0.7071068]]],
        "interpolation": "smooth"}}}}}}],
    "forces": [{{"type": "gravity", "acceleration": [0, -9.81, 0]}}],
    "solver": {{"name": "newton", "tolerance": 1e-12}}{},
    "analysis": {{"type": "dynamic", "step": 0.002, "steps_per_frame": 1, "integrator": "{}"}},
    "probes": [{{"name": "r", "reaction": "grip"}}]}})",
                     // The midpoint rule corrects damped stretch by forces that are central up to second order only.
                     integrator == "midpoint" ? 0 : 0.002, more, integrator);
}

// Balance of a cable in a gripper that moves and turns: what the gripper exerts is the gain of momentum less gravity, damping
// and all, at the places where the step has its forces.
TEST(Reaction, ClosesTheBalanceOfMomentumEveryStep) {
  for (const char* inertia : {"", R"(, "rotational_inertia": true)"})
    for (const char* integrator : {"implicit_euler", "midpoint"}) {
      Simulation s(Scene::parse(gripper(integrator, inertia)));
      EXPECT_TRUE(std::isnan(s.reaction(0).force.x));
      const bool midpoint = integrator[0] == 'm';
      const double h = 0.002;
      double force_scale = 0, moment_scale = 0, force_error = 0, moment_error = 0;
      for (int i = 0; i < 300; ++i) {
        const State before = s.state();
        const Diagnostics d0 = s.diagnostics();
        s.step();
        const Diagnostics d1 = s.diagnostics();
        const State& after = s.state();
        const Model& m = s.model();
        const Wrench r = s.reaction(0);
        Vec3d weight, moment, gain = (1 / h) * (d1.angular_momentum - d0.angular_momentum);
        for (Index v = 0; v < m.vertex_count(); ++v) {
          const Vec3d f{0, -9.81 * m.vertex_mass[v], 0}, &x0 = before.vertex_position[v], &x1 = after.vertex_position[v];
          const Vec3d place = midpoint ? 0.5 * (x0 + x1) : x1;
          weight += f;
          moment += cross(place, f);
          // Gain of angular momentum at the place of the stage: the rest is no force's work.
          const Vec3d dv = after.vertex_velocity[v] - before.vertex_velocity[v];
          gain -= (m.vertex_mass[v] / h) * (cross(x1, after.vertex_velocity[v]) - cross(x0, before.vertex_velocity[v]));
          gain += (m.vertex_mass[v] / h) * cross(place, dv);
        }
        const Vec3d held = midpoint ? 0.5 * (before.vertex_position[0] + after.vertex_position[0]) : after.vertex_position[0];
        moment += cross(held, r.force) + r.moment;
        force_error = std::max(force_error, norm(r.force + weight - (1 / h) * (d1.momentum - d0.momentum)));
        force_scale = std::max(force_scale, norm(r.force));
        // Frames with inertia turn in steps of their own: exact for the midpoint rule alone.
        if (midpoint || !*inertia) moment_error = std::max(moment_error, norm(moment - gain));
        moment_scale = std::max(moment_scale, norm(r.moment));
      }
      EXPECT_GT(force_scale, 0.5) << integrator;
      EXPECT_LT(force_error, 1e-9 * force_scale) << integrator << inertia;
      EXPECT_LT(moment_error, 1e-9 * moment_scale) << integrator << inertia;
    }
}

TEST(Reaction, OfAHangingRodIsItsWeight) {
  Simulation s(Scene::parse(R"({
    "rods": [{"shape": {"type": "line", "from": [0, 0, 0], "to": [0, -1, 0]}, "segments": 10,
      "material": {"stretch_shear": 1e4, "bend_twist": 0.1, "line_density": 0.2}}],
    "constraints": [{"type": "pin", "vertices": "rod0:start"}],
    "forces": [{"type": "gravity", "acceleration": [0, -9.81, 0]}], "analysis": {"type": "static"},
    "probes": [{"name": "p", "reaction": "pin0"}]})"));
  s.step();
  const Wrench r = s.reaction(0);
  EXPECT_NEAR(r.force.y, 0.2 * 9.81, 1e-8);
  EXPECT_LT(norm(r.moment), 1e-12);
}

TEST(Frames, KeepTheirRateWhateverTheStep) {
  const auto expect = [](const std::string& analysis, double step, int steps, double interval) {
    Simulation s(Scene::parse(fmt::format(R"({{
      "rods": [{{"shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 2,
        "material": {{"stretch_shear": 10, "bend_twist": 0.1, "line_density": 0.2}}}}], "analysis": {{"type": "dynamic", {}, "duration": 1}}}})",
                                          analysis)));
    EXPECT_NEAR(s.time_step(), step, 1e-15) << analysis;
    EXPECT_EQ(s.steps_per_frame(), steps) << analysis;
    s.advance_frame();
    EXPECT_NEAR(s.state().time, interval, 1e-15) << analysis;
  };
  expect(R"("step": 0.001, "fps": 24)", 1.0 / 24 / 42, 42, 1.0 / 24);
  expect(R"("step": 0.001)", 1.0 / 30 / 34, 34, 1.0 / 30);
  expect(R"("step": 0.01, "fps": 100)", 0.01, 1, 0.01);
  expect(R"("step": 0.1, "fps": 30)", 1.0 / 30, 1, 1.0 / 30);
  expect(R"("step": 0.001, "steps_per_frame": 33)", 0.001, 33, 0.033);
  expect(R"("fps": 25, "steps_per_frame": 4)", 0.01, 4, 0.04);
}

TEST(Frames, AreNotToldTwice) {
  try {
    Scene::parse(R"({"rods": [{"shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 2,
      "material": {"stretch_shear": 10, "bend_twist": 0.1, "line_density": 0.2}}],
      "analysis": {"type": "dynamic", "step": 0.001, "fps": 24, "steps_per_frame": 3, "rho_infinity": 0.5}})");
    FAIL() << "accepted";
  } catch (const InputError& e) {
    ASSERT_EQ(e.problems().size(), 2u);
    EXPECT_EQ(e.problems()[0].remedy, "keep two of them");
  }
}

// A vertex that is led goes on following when its last segment has broken.
TEST(Break, LeavesALedVertexToItsKeys) {
  for (const char* integrator : {"implicit_euler", "bdf2"}) {
    Simulation s(Scene::parse(fmt::format(R"({{
      "rods": [{{"shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 1,
        "material": {{"stretch_shear": 100, "bend_twist": 0.01, "line_density": 0.1}}}}],
      "constraints": [{{"type": "pin", "vertices": "rod0:start"}}, {{"type": "pin", "vertices": "rod0:end",
        "motion": {{"translate": {{"keys": [[0, [0, 0, 0]], [1, [2, 0, 0]]]}}}}}}],
      "fracture": {{"strain_limit": 0.1}},
      "analysis": {{"type": "dynamic", "step": 0.005, "steps_per_frame": 1, "integrator": "{}"}}}})",
                                          integrator)));
    for (int i = 0; i < 200; ++i) s.step();
    EXPECT_EQ(s.model().vertex_alive.back(), 0);
    EXPECT_NEAR(s.state().vertex_position.back().x, 3, 1e-12) << integrator;
  }
}

}  // namespace
}  // namespace osier::test
