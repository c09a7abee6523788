// One time step of a random graph, and its local orientation problems.
#pragma once

#include <numbers>
#include <vector>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "model/rod_graph.hpp"
#include "solvers/local_problem.hpp"
#include "solvers/solver.hpp"
#include "solvers/step_hessian.hpp"
#include "solvers/step_potential.hpp"
#include "support/random.hpp"

namespace osier::test {

struct StepProblem {
  RodGraph graph;
  Model model;
  State state;  ///< start of the step
  Control control;
  double h = 0.01;
  /// Of the step, and of the equilibrium under the same control.
  StepInput input() const { return constant_input(model, control, h); }
  StepInput static_input() const { return constant_input(model, control); }
};

enum class Damping { none, stretch, bend, both };

struct ProblemOptions {
  Damping damping = Damping::both;
  bool torque = true;
  bool held = true;      ///< clamps, a fixed frame, a hinge
  bool broken = false;   ///< one segment of the loop is dead
  double strain = 0.25;  ///< how far positions (of a segment length) and frames [rad] are away from rest
  double speed = 1;
};

inline Control still_control(const Model& m, const State& state) {
  Control c;
  const auto nv = static_cast<std::size_t>(m.vertex_count()), nf = static_cast<std::size_t>(m.frame_count());
  c.vertex_force.assign(nv, {});
  c.vertex_damping.assign(nv, 0);
  c.vertex_fixed.assign(nv, 0);
  c.vertex_target = state.vertex_position;
  c.frame_control.assign(nf, FrameControl::free);
  for (std::size_t f = static_cast<std::size_t>(m.segment_count()); f < nf; ++f) c.frame_control[f] = FrameControl::fixed;
  c.frame_target = state.frame_rotation;
  c.frame_hinge_axis.assign(nf, Vec3d{0, 0, 1});
  c.frame_torque.assign(nf, {});
  c.frame_torque_material.assign(nf, {});
  return c;
}

inline Section random_section(Random& random, Damping damping) {
  Section s;
  s.stretch_shear = random.log_range(20, 400);
  s.bend_twist = random.log_range(0.2, 4);
  s.line_density = random.range(0.5, 2);
  s.radius = 0.01;
  if (damping == Damping::stretch || damping == Damping::both) s.tau_stretch = random.range(0.002, 0.02);
  if (damping == Damping::bend || damping == Damping::both) s.tau_bend = random.range(0.002, 0.02);
  return s;
}

/// Segments along `path`, each rest frame twisted about its own d3 by a random angle, with joints between neighbours.
inline std::vector<Index> add_twisted_chain(RodGraph& g, const std::vector<Index>& path, const Section& section, bool closed,
                                            double twist, Random& random) {
  std::vector<Index> made;
  const std::size_t n = closed ? path.size() : path.size() - 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::optional<Index> like;
    if (i > 0) like = made.back();
    made.push_back(g.add_segment(path[i], path[(i + 1) % path.size()], section, like));
    Quatd& q = g.segments[made.back()].rest_frame;
    q = normalized(q * axis_angle(Vec3d{0, 0, 1}, twist * random.range(-1, 1)));
  }
  for (std::size_t i = 0; i + 1 < n; ++i) g.add_joint(made[i], made[i + 1]);
  if (closed) g.add_joint(made.back(), made.front());
  return made;
}

/// `count` new vertices on a random walk with steps of about `step` that leaves `from` (not included).
inline std::vector<Index> random_walk(RodGraph& g, Vec3d from, int count, double step, Random& random) {
  std::vector<Index> path;
  Vec3d direction = random.direction();
  for (int i = 0; i < count; ++i) {
    direction = normalized(direction + 0.6 * random.direction());
    from += (step * random.range(0.8, 1.2)) * direction;
    path.push_back(g.add_vertex(from));
  }
  return path;
}

/// Free frames by up to `turn` [rad] along each axis; about half of them all change their sign, which is the same rotation.
inline void turn_frames(StepProblem& p, double turn, Random& random) {
  for (Index s = 0; s < p.model.segment_count(); ++s) {
    Quatd& q = p.state.frame_rotation[s];
    if (p.control.frame_control[s] == FrameControl::free) q = normalized(rotation_exp(turn * random.in_cube()) * q);
    if (random.flip()) q = -q;
  }
}

/// Fixed in space and in the material, of up to `size` [N·m] along each axis; on frames without a joint, which they only spin, on
/// request.
enum class Loose { left_alone, turned };
inline void add_torques(StepProblem& p, double size, Loose loose, Random& random) {
  p.control.has_torque = true;
  for (Index s = 0; s < p.model.segment_count(); ++s) {
    if (loose == Loose::left_alone && p.model.frame_joints.of(s).empty()) continue;
    if (s % 2 == 0) p.control.frame_torque[s] = size * random.in_cube();
    if (s % 3 == 0) p.control.frame_torque_material[s] = size * random.in_cube();
  }
}

/// A trunk of six segments, a branch of three at its middle and a loop of five at its end, curved and twisted at rest. Held:
/// clamped at the start (one segment) and inside the trunk (two segments), one frame fixed, one hinged.
inline StepProblem random_problem(std::uint64_t seed, const ProblemOptions& options = {}) {
  Random random(seed);
  StepProblem p;
  RodGraph& g = p.graph;
  const double l = 0.3;
  std::vector<Index> trunk{g.add_vertex({0, 0, 0})};
  for (Index v : random_walk(g, {0, 0, 0}, 6, l, random)) trunk.push_back(v);
  const auto trunk_segments = add_twisted_chain(g, trunk, random_section(random, options.damping), false, 1, random);
  std::vector<Index> branch{trunk[3]};
  for (Index v : random_walk(g, g.vertices[trunk[3]].rest, 3, l, random)) branch.push_back(v);
  const auto branch_segments = add_twisted_chain(g, branch, random_section(random, options.damping), false, 1, random);
  g.add_joint(trunk_segments[2], branch_segments[0]);
  g.add_joint(branch_segments[0], trunk_segments[3]);
  std::vector<Index> loop{trunk[6]};
  const Vec3d e1 = random.direction(), e2 = normalized(cross(e1, random.direction()));
  for (int i = 1; i < 5; ++i) {
    const double a = 2 * std::numbers::pi * i / 5;
    loop.push_back(g.add_vertex(g.vertices[trunk[6]].rest + (0.3 * std::sin(a)) * e1 + (0.3 * (1 - std::cos(a))) * e2 +
                                0.05 * random.in_cube()));
  }
  const auto loop_segments = add_twisted_chain(g, loop, random_section(random, options.damping), true, 1, random);
  g.add_joint(trunk_segments[5], loop_segments[0]);
  g.add_joint(trunk_segments[5], loop_segments[4]);

  p.model = compile_graph(g);
  p.state = initial_state(g, p.model);
  if (options.held)
    for (Index v : {trunk[0], trunk[5]}) p.state.frame_rotation.push_back(add_clamp(p.model, g, p.state, v).rotation);
  if (options.broken) p.model.segment_alive[loop_segments[2]] = 0;
  update_topology(p.model);

  p.control = still_control(p.model, p.state);
  Control& c = p.control;
  if (options.held) {
    c.vertex_fixed[trunk[0]] = c.vertex_fixed[trunk[5]] = 1;
    c.frame_control[branch_segments[2]] = FrameControl::fixed;
    c.frame_control[loop_segments[3]] = FrameControl::hinged;
    c.frame_hinge_axis[loop_segments[3]] = random.direction();
  }
  for (Index v = 0; v < p.model.vertex_count(); ++v) {
    c.vertex_force[v] = 2.0 * random.in_cube();
    c.vertex_damping[v] = random.range(0, 0.5);
    if (!c.vertex_fixed[v]) p.state.vertex_position[v] += (options.strain * l) * random.in_cube();
    p.state.vertex_velocity[v] = options.speed * random.in_cube();
  }
  p.state.vertex_velocity_previous = p.state.vertex_velocity;
  turn_frames(p, options.strain, random);
  if (options.torque) add_torques(p, 0.5, Loose::turned, random);
  return p;
}

/// Scales the stiffness of every axis by up to `ratio` either way; damping times are drawn anew for each axis that has one.
inline void make_anisotropic(StepProblem& p, double ratio, Random& random) {
  const auto vary = [&](PerAxis& k, double low, double high) {
    for (double PerAxis::*axis : {&PerAxis::d1, &PerAxis::d2, &PerAxis::d3}) k.*axis *= random.log_range(low, high);
  };
  for (auto* list : {&p.model.segment_stiffness, &p.model.joint_stiffness})
    for (PerAxis& k : *list) vary(k, 1 / ratio, ratio);
  for (auto* list : {&p.model.segment_tau, &p.model.joint_tau})
    for (PerAxis& tau : *list) vary(tau, 0.2, 5);
}

/// Frames with rotational inertia and some spin; the hinged one also has a motor's damping.
inline void make_inertial(StepProblem& p, Random& random) {
  p.state.frame_velocity.resize(p.state.frame_rotation.size());
  p.control.has_rotary_damping = true;
  p.control.frame_damping.assign(p.state.frame_rotation.size(), 0);
  for (Index s = 0; s < p.model.segment_count(); ++s) {
    const double j1 = random.log_range(1e-4, 1e-2), j2 = random.log_range(1e-4, 1e-2);
    p.model.segment_inertia[s] = {j1, j2, j1 + j2};
    p.state.frame_velocity[s] = 10.0 * random.in_cube();
    if (p.control.frame_control[s] == FrameControl::hinged) p.control.frame_damping[s] = random.log_range(1e-3, 1e-1);
  }
}

/// A place away from the start of the step; a hinged frame stays on its circle, fixed ones stay.
struct Place {
  std::vector<Vec3d> x;
  std::vector<Quatd> q;
};
inline Place random_place(const StepProblem& p, double strain, Random& random) {
  Place at{p.state.vertex_position, p.state.frame_rotation};
  for (Index v = 0; v < p.model.vertex_count(); ++v)
    if (!p.control.vertex_fixed[v]) at.x[v] += (0.3 * strain) * random.in_cube();
  for (Index s = 0; s < p.model.segment_count(); ++s) {
    if (p.control.frame_control[s] == FrameControl::fixed) continue;
    const bool hinged = p.control.frame_control[s] == FrameControl::hinged;
    const Vec3d w = hinged ? (strain * random.range(-1, 1)) * p.control.frame_hinge_axis[s] : strain * random.in_cube();
    at.q[s] = normalized(rotation_exp(w) * at.q[s]);
    if (random.flip()) at.q[s] = -at.q[s];
  }
  return at;
}

/// The incremental potential of a problem, as a function of places.
class Phi {
 public:
  explicit Phi(const StepProblem& p) : p_(p), point_(p.state.frame_rotation) {
    potential_.begin(p.model, p.control, p.state, p.h);
  }
  void set_torque_point(const std::vector<Quatd>& q) { potential_.set_torque_point(point_ = q); }
  EnergyTerms value(const Place& at) const { return potential_.value(unknowns(at)); }
  /// With torques as the orientation update sees them, -2 (M q_k).q: the same slope at q_k.
  EnergyTerms value_with_linear_torque(const Place& at) const {
    EnergyTerms e = value(at);
    e.torque = 0;
    if (p_.control.has_torque)
      for (Index f = 0; f < p_.model.frame_count(); ++f)
        e.torque -= 2 * dot(potential_.torque(f, point_[f]) * point_[f], at.q[f]);
    return e;
  }
  void gradient(const Place& at, std::vector<Vec3d>& gx, std::vector<Vec3d>& gw) const {
    potential_.gradient(unknowns(at), gx, gw);
  }
  template <class Sink>
  void hessian(const Place& at, Sink&& sink) const {
    systems::StepHessian hessian;
    hessian.assemble(potential_, unknowns(at));
    hessian.each_block(sink);
  }

 private:
  Unknowns unknowns(const Place& at) const {
    Unknowns z{at.x, at.q};
    for (std::size_t v = 0; v < z.u.size(); ++v) z.u[v] -= p_.state.vertex_position[v];
    return z;
  }
  const StepProblem& p_;
  std::vector<Quatd> point_;
  StepPotential potential_;
};

/// Of one frame, see solvers/local_problem.hpp.
inline OrientationProblem<double> local_problem(const StepProblem& p, const Place& at, Index s) {
  return osier::local_problem(p.model, p.control, p.state, p.h, at.x, at.q, s);
}

}  // namespace osier::test
