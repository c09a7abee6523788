// What must not matter: where the scene stands and how it is turned, the sign of a quaternion, the end a rod is counted from.
#include <gtest/gtest.h>

#include "solvers/newton/newton.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "support/problem.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

using stable_cosserat::Lambda;
using stable_cosserat::Order;

struct Method {
  const char* name;
  std::unique_ptr<SolverSettings> settings;
};

Method sweeps(const char* name, Lambda lambda, Order order, Precision number = Precision::double_precision) {
  auto s = std::make_unique<stable_cosserat::Settings>();
  s->lambda = lambda, s->order = order, s->iteration_count = 6, s->execution.precision = number;
  return {name, std::move(s)};
}
Method newton_method() {
  auto s = std::make_unique<newton::Settings>();
  s->tolerance = 1e-12;
  return {"newton", std::move(s)};
}
std::vector<Method> all_methods() {
  std::vector<Method> list;
  list.push_back(sweeps("approx", Lambda::approx, Order::gauss_seidel));
  list.push_back(sweeps("exact", Lambda::exact, Order::gauss_seidel));
  list.push_back(sweeps("secular", Lambda::secular, Order::gauss_seidel));
  list.push_back(sweeps("secular red_black", Lambda::secular, Order::red_black));
  list.push_back(sweeps("secular jacobi", Lambda::secular, Order::jacobi));
  list.push_back(newton_method());
  return list;
}

State run(const StepProblem& p, const Method& method, int steps) {
  State state = p.state;
  const auto solver = method.settings->make(p.model);
  for (int i = 0; i < steps; ++i) {
    const StepReport report = solver->step(p.input(), state);
    EXPECT_FALSE(report.non_finite || report.not_converged) << method.name << " step " << i;
  }
  return state;
}

/// x -> R x + shift for everything that has a place or a direction. The model has none.
StepProblem moved(StepProblem p, const Quatd& turn, const Vec3d& shift) {
  const auto place = [&](Vec3d& x) { x = rotate(turn, x) + shift; };
  const auto direct = [&](Vec3d& d) { d = rotate(turn, d); };
  for (Vec3d& x : p.state.vertex_position) place(x);
  for (Vec3d& x : p.control.vertex_target) place(x);
  for (Vec3d& d : p.state.vertex_velocity) direct(d);
  for (Vec3d& d : p.state.vertex_velocity_previous) direct(d);
  for (Vec3d& d : p.control.vertex_force) direct(d);
  for (Vec3d& d : p.control.frame_torque) direct(d);
  for (Vec3d& d : p.control.frame_hinge_axis) direct(d);
  for (Quatd& q : p.state.frame_rotation) q = normalized(turn * q);
  for (Quatd& q : p.control.frame_target) q = normalized(turn * q);
  return p;
}

/// A problem that stays smooth for many steps: gravity, drag, clamps, a fixed frame, a hinge, a little torque.
StepProblem damped_graph(std::uint64_t seed) {
  StepProblem p = random_problem(seed, {.torque = true, .strain = 0.05, .speed = 0.5});
  for (Index v = 0; v < p.model.vertex_count(); ++v) {
    p.control.vertex_force[v] = p.model.vertex_mass[v] * Vec3d{0, -9.81, 0};
    p.control.vertex_damping[v] = p.model.vertex_mass[v];
  }
  for (Vec3d& t : p.control.frame_torque) t = 0.1 * t;
  for (Vec3d& t : p.control.frame_torque_material) t = 0.1 * t;
  return p;
}

TEST(FrameIndifference, TurningAndShiftingTheSceneTurnsAndShiftsTheResult) {
  for (std::uint64_t seed : {31, 32, 33}) {
    const StepProblem p = damped_graph(seed);
    Random random(seed + 10);
    const Quatd turn = random.rotation();
    const Vec3d shift = random.in_cube();
    for (const Method& method : all_methods()) {
      const State a = run(p, method, 50), b = run(moved(p, turn, shift), method, 50);
      std::vector<Vec3d> expected = a.vertex_position;
      for (Vec3d& x : expected) x = rotate(turn, x) + shift;
      std::vector<Quatd> frames = a.frame_rotation;
      for (Quatd& q : frames) q = turn * q;
      EXPECT_LE(farthest(b.vertex_position, expected), 1e-12 * extent(a)) << method.name << " seed " << seed;
      EXPECT_LE(farthest(b.frame_rotation, frames), 1e-12) << method.name << " seed " << seed;
      EXPECT_GT(farthest(a.vertex_position, p.state.vertex_position), 0.05) << "something must happen";
    }
  }
}

TEST(FrameIndifference, FloatSweepsDoNotSeeHowFarAwayTheSceneIs) {
  const StepProblem p = damped_graph(34);
  // A power of two and coordinates that are multiples of its rounding: the shifted scene has exactly the same edges.
  StepProblem q = p;
  for (auto* list : {&q.state.vertex_position, &q.control.vertex_target})
    for (Vec3d& x : *list)
      x = {std::round(x.x * 0x1p30) * 0x1p-30, std::round(x.y * 0x1p30) * 0x1p-30, std::round(x.z * 0x1p30) * 0x1p-30};
  const StepProblem far = moved(q, Quatd{}, {4096, -4096, 4096});
  const Method method = sweeps("float", Lambda::secular, Order::red_black, Precision::single_precision);
  const State a = run(q, method, 1), b = run(far, method, 1);
  std::vector<Vec3d> back = b.vertex_position;
  for (Vec3d& x : back) x = x - Vec3d{4096, -4096, 4096};
  EXPECT_LE(farthest(a.vertex_position, back), 4e-12);  // the rounding of a coordinate of 4096 m in double
  EXPECT_EQ(farthest(a.frame_rotation, b.frame_rotation), 0);
}

/// The same problem with random signs on frames, targets and rest rotations.
StepProblem with_signs(StepProblem p, Random& random) {
  for (auto* list : {&p.state.frame_rotation, &p.control.frame_target, &p.model.joint_rest_rotation})
    for (Quatd& q : *list)
      if (random.flip()) q = -q;
  return p;
}

/// Only products of two quaternions ever count, so not a bit may change.
TEST(QuaternionSign, OfAnySubsetOfFramesChangesNoBit) {
  for (std::uint64_t seed : {41, 42}) {
    StepProblem p = damped_graph(seed);
    for (FrameControl& c : p.control.frame_control)
      if (c == FrameControl::hinged) c = FrameControl::free;
    Random random(seed);
    for (const Method& method : all_methods()) {
      const State a = run(p, method, 20);
      for (int subset = 0; subset < 5; ++subset) {
        const State b = run(with_signs(p, random), method, 20);
        EXPECT_EQ(farthest(a.vertex_position, b.vertex_position), 0) << method.name;
        EXPECT_EQ(farthest(a.frame_rotation, b.frame_rotation), 0) << method.name;
      }
    }
  }
}

/// A hinge keeps an angle, and the angle of -q is half a turn further: the same to rounding.
TEST(QuaternionSign, OfAHingedFrameChangesNothingButRounding) {
  for (std::uint64_t seed : {43, 44}) {
    const StepProblem p = damped_graph(seed);
    Random random(seed);
    for (const Method& method : all_methods()) {
      const State a = run(p, method, 1);
      for (int subset = 0; subset < 5; ++subset) {
        const State b = run(with_signs(p, random), method, 1);
        EXPECT_LE(farthest(a.vertex_position, b.vertex_position), 1e-15 * extent(a)) << method.name;
        EXPECT_LE(farthest(a.frame_rotation, b.frame_rotation), 1e-15) << method.name;
      }
    }
  }
}

/// The same rod with its vertices numbered from the other end. Sequential sweeps go the other way round then and stop at another
/// point of their convergence, so this uses jacobi, whose updates do not depend on the order, and newton.
TEST(VertexOrder, ReversalOfARodChangesNeitherPositionsNorEnergies) {
  Random random(51);
  std::vector<Vec3d> points{{0, 0, 0}};
  Vec3d direction{1, 0, 0};
  for (int i = 0; i < 15; ++i) {
    direction = normalized(direction + 0.3 * random.direction());
    points.push_back(points.back() + 0.1 * direction);
  }
  const auto build = [&](bool reversed) {
    StepProblem p;
    Section section{
        .stretch_shear = 100, .bend_twist = 0.5, .line_density = 1, .radius = 0.01, .tau_stretch = 0.005, .tau_bend = 0.01};
    std::vector<Index> path;
    for (std::size_t i = 0; i < points.size(); ++i)
      path.push_back(p.graph.add_vertex(points[reversed ? points.size() - 1 - i : i]));
    p.graph.add_chain("rod", path, section);
    p.model = compile_graph(p.graph);
    p.state = initial_state(p.graph, p.model);
    const Index held = reversed ? static_cast<Index>(points.size()) - 1 : 0;
    p.state.frame_rotation.push_back(add_clamp(p.model, p.graph, p.state, held).rotation);
    update_topology(p.model);
    p.control = still_control(p.model, p.state);
    p.control.vertex_fixed[held] = 1;
    for (Index v = 0; v < p.model.vertex_count(); ++v) {
      p.control.vertex_force[v] = p.model.vertex_mass[v] * Vec3d{0, -9.81, 2};
      p.control.vertex_damping[v] = 0.5 * p.model.vertex_mass[v];
    }
    return p;
  };
  const StepProblem forward = build(false), backward = build(true);
  std::vector<Method> methods;
  methods.push_back(sweeps("approx jacobi", Lambda::approx, Order::jacobi));
  methods.push_back(sweeps("exact jacobi", Lambda::exact, Order::jacobi));
  methods.push_back(sweeps("secular jacobi", Lambda::secular, Order::jacobi));
  methods.push_back(newton_method());
  for (const Method& method : methods) {
    const State a = run(forward, method, 50);
    State b = run(backward, method, 50);
    const EnergyTerms ea = elastic_energy(forward.model, a.vertex_position, a.frame_rotation);
    const EnergyTerms eb = elastic_energy(backward.model, b.vertex_position, b.frame_rotation);
    std::reverse(b.vertex_position.begin(), b.vertex_position.end());
    EXPECT_LE(farthest(a.vertex_position, b.vertex_position), 1e-12 * extent(a)) << method.name;
    EXPECT_NEAR(ea.stretch_shear, eb.stretch_shear, 1e-12 * ea.total()) << method.name;
    EXPECT_NEAR(ea.bend_twist, eb.bend_twist, 1e-12 * ea.total()) << method.name;
    EXPECT_GT(farthest(a.vertex_position, forward.state.vertex_position), 0.05) << "something must happen";
  }
}

}  // namespace
}  // namespace osier::test
