// Damping resists changes of strain and nothing else; momentum is what it was.
#include <gtest/gtest.h>

#include "support/problem.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

Place rigidly_moved(const State& state, const Quatd& turn, const Vec3d& shift) {
  Place at{state.vertex_position, state.frame_rotation};
  for (Vec3d& x : at.x) x = rotate(turn, x) + shift;
  for (Quatd& q : at.q) q = normalized(turn * q);
  return at;
}

StepProblem free_problem(std::uint64_t seed, Damping damping) {
  return random_problem(seed, {.damping = damping, .torque = false, .held = false, .strain = 0.5});
}

TEST(RateOfStrain, RigidSpinOfAStrainedGraphGivesNoDampingEnergyAndNoDampingForce) {
  Random random(71);
  for (std::uint64_t seed = 72; seed < 82; ++seed) {
    const StepProblem damped = free_problem(seed, Damping::both);
    StepProblem plain = damped;
    plain.model.segment_tau.assign(plain.model.segment_tau.size(), 0);
    plain.model.joint_tau.assign(plain.model.joint_tau.size(), 0);
    const Phi with(damped), without(plain);
    for (const Quatd& turn : {random.rotation(), axis_angle(random.direction(), 0.01)}) {
      const Place at = rigidly_moved(damped.state, turn, random.in_cube());
      const EnergyTerms e = with.value(at);
      EXPECT_LE(e.damping, 1e-28 * 1e3 * (e.stretch_shear + e.bend_twist)) << seed;  // squares of roundings
      std::vector<Vec3d> gx, gw, hx, hw;
      with.gradient(at, gx, gw);
      without.gradient(at, hx, hw);
      double scale_x = 0, scale_w = 0;
      for (const Vec3d& g : hx) scale_x = std::max(scale_x, norm(g));
      for (const Vec3d& g : hw) scale_w = std::max(scale_w, norm(g));
      EXPECT_LT(farthest(gx, hx), 1e-12 * scale_x) << seed;
      EXPECT_LT(farthest(gw, hw), 1e-12 * scale_w) << seed;
    }
  }
}

TEST(RateOfStrain, BendingTwistingStretchingAndShearingAreDamped) {
  for (std::uint64_t seed = 82; seed < 92; ++seed) {
    const StepProblem bend = free_problem(seed, Damping::bend), stretch = free_problem(seed, Damping::stretch);
    const Phi bending(bend), stretching(stretch);
    Place at{bend.state.vertex_position, bend.state.frame_rotation};
    EXPECT_LT(bending.value(at).damping, 1e-25);
    at.q[3] = normalized(rotation_exp(Vec3d{0.1, 0, 0}) * at.q[3]);
    // One frame turned by 0.1 against its n neighbours: tau/h k (1 - cos 0.05) each.
    double expected = 0;
    for (Index e : bend.model.frame_joints.of(3))
      expected += bend.model.joint_tau[e / 2].d3 / bend.h * bend.model.joint_stiffness[e / 2].d3 * (1 - std::cos(0.05));
    EXPECT_NEAR(bending.value(at).damping, expected, 1e-12 * expected) << seed;
    at = {stretch.state.vertex_position, stretch.state.frame_rotation};
    const Vec3d move{0.01, 0.02, -0.01};
    at.x[0] += move;
    // Vertex 0 has one segment: tau/h k/2 |move/l|^2.
    const Index s = stretch.model.vertex_segments.of(0)[0] / 2;
    const double k = stretch.model.segment_stiffness[s].d3 * stretch.model.segment_tau[s].d3 / stretch.h;
    const double rate = 0.5 * k * norm2(move) / std::pow(stretch.model.segment_rest_length[s], 2);
    EXPECT_NEAR(stretching.value(at).damping, rate, 1e-11 * rate) << seed;
  }
}

/// A bent rod thrown with spin, nothing acting on it.
std::string thrown_rod(double h) {
  return R"({"materials": {"m": {"stretch_shear": 50, "bend_twist": 0.2, "line_density": 1, "tau_stretch": 0.01, "tau_bend": 0.02}},
    "rods": [{"name": "r", "material": "m", "segments": 12,
      "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]},
      "pose": {"type": "arc", "center": [0, 0.6, 0], "radius": 0.6, "start": [0, -1, 0], "angle": 95.5},
      "velocity": {"linear": [1, 2, 0.5], "angular": [0.3, -0.5, 2], "about": [0.4, 0.2, 0]}}],
    "analysis": {"type": "dynamic", "steps_per_frame": 1, "integrator": "implicit_euler", "step": )" +
         std::to_string(h) + R"(, "duration": 1}})";
}

TEST(Momentum, LinearMomentumOfAFreeDampedRodStaysToRounding) {
  Simulation sim(scene_with(thrown_rod(0.01), R"({"name": "newton", "tolerance": 1e-14})"));
  const Vec3d start = sim.diagnostics().momentum;
  for (int i = 0; i < 100; ++i) sim.step();
  EXPECT_LT(norm(sim.diagnostics().momentum - start), 1e-12 * norm(start));
}

/// Sweeps conserve momentum as far as they converge: their residual times h per step.
TEST(Momentum, LinearMomentumOfConvergedSweepsStaysToTheirTolerance) {
  Simulation sim(scene_with(thrown_rod(0.01), R"({"name": "stable_cosserat", "tolerance": 1e-11, "max_iterations": 100000})"));
  const Vec3d start = sim.diagnostics().momentum;
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(sim.step().not_converged);
  EXPECT_LT(norm(sim.diagnostics().momentum - start), 1e-9 * norm(start));
}

/// Implicit Euler takes angular momentum away at first order: h sum v_new x m v_old per step. Never more than halves with h.
TEST(Momentum, AngularMomentumDecaysAtFirstOrderInTheStep) {
  double loss[3];
  for (int k = 0; k < 3; ++k) {
    const double h = 0.01 / (1 << k);
    Simulation sim(scene_with(thrown_rod(h), R"({"name": "newton", "tolerance": 1e-13})"));
    // About the centre of mass: the flight of the whole would count otherwise.
    const auto spin = [&] {
      Vec3d centre, angular;
      double mass = 0;
      const State& s = sim.state();
      const Vec3d p = sim.diagnostics().momentum;
      for (std::size_t v = 0; v < s.vertex_position.size(); ++v) {
        centre += sim.model().vertex_mass[v] * s.vertex_position[v];
        mass += sim.model().vertex_mass[v];
        angular += sim.model().vertex_mass[v] * cross(s.vertex_position[v], s.vertex_velocity[v]);
      }
      return angular - cross((1 / mass) * centre, p);
    };
    const double start = norm(spin());
    for (int i = 0; i < 50 << k; ++i) sim.step();
    loss[k] = (start - norm(spin())) / start;
  }
  EXPECT_GT(loss[2], 0);
  EXPECT_LT(loss[0], 0.1);
  EXPECT_NEAR(loss[0] / loss[1], 2, 0.2);
  EXPECT_NEAR(loss[1] / loss[2], 2, 0.1);
}

}  // namespace
}  // namespace osier::test
