// Sweeps element by element, in any order and for every feature of a model: the paper's sequential order, all elements at once,
// and coloured sweeps where frames have inertia. Coloured sweeps of all other models run in lanes (chain_sweep.hpp,
// graph_sweep.hpp).
//
// One spring per segment and one or two per joint, with a stiffness per axis. Where stiffnesses are equal and nothing else acts
// on frames, the closed form is a shortcut for the update of a frame; otherwise it is that of frame_problem.hpp.
//
// Deviation 6: with all elements at once, every element moves to the minimum of a separable upper bound of the energy: a spring
// or joint between two elements that both move counts twice for either, since 1/2 k (a - b)^2 <= k a^2 + k b^2. So the energy
// cannot rise. Without the bound a ring at rest blows up: turns that alternate from segment to segment are thrown back and forth.
//
// Deviation 1: sweeps never see absolute positions, here and in lanes, but displacements u since the start of the step. Edges are
// formed once per step in double, and everything after is small against them, so that float has 7 digits of strain and
// not of world coordinates.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exec/parallel.hpp"
#include "model/edge.hpp"
#include "solvers/direction_terms.hpp"
#include "solvers/stable_cosserat/safeguarded_frame.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier::stable_cosserat {

/// Elasticity and damping of a segment in one: 1/2 G.(k G), G = R' (x_b - x_a) - rest, with k = (1 + alpha) k^ss/l^2 [N/m] and
/// rest = l (e3 + alpha/(1 + alpha) Gamma_prev) [m], axis by axis.
template <class T>
struct ElementSegment {
  Vec3<T> edge;  ///< x_b - x_a at u = 0
  Vec3<T> k, rest;
  typename AxesLaw<T>::Spring spring;  ///< force and stiffness at the present frame
};
/// A joint, elastic and viscous (see bend_twist.hpp); K_viscous is 0 without damping.
template <class T>
struct ElementJoint {
  Quat<T> K, rest, K_viscous, previous;
};

/// The largest residual, a force or a moment over length, with its place, and the largest force at work.
struct Residual {
  double value = 0, scale = 0;
  Index vertex = -1, segment = -1;
};

/// Contact at a vertex, linearised at a displacement: gradient + block (u - at), with a block large enough for all vertices to
/// move at once (SCR section 4.4).
template <class T>
struct VertexContact {
  Vec3<T> gradient, at;
  Sym3<T> block;
  bool touches = false;
};

template <class T>
class ElementSweep {
 public:
  /// Allocates the arrays.
  void bind(const Model& m, Order order) {
    each_array(m, order, [](auto& array, std::size_t size) { array.resize(size); });
    isotropic_ = m.is_isotropic();
    inertia_ = m.has_inertia();
    if (inertia_) directions_.reserve(3 * segment_.size());
  }
  /// The memory that bind() allocates and keeps.
  static std::size_t bytes(const Model& m, Order order) {
    std::size_t sum = m.has_inertia() ? 3 * static_cast<std::size_t>(m.segment_count()) * sizeof(DirectionTerm) : 0;
    ElementSweep().each_array(m, order, [&](const auto& array, std::size_t size) { sum += size * sizeof(array[0]); });
    return sum;
  }

  /// Computes the numbers that do not change during the sweeps of one step, and the first guess. The references have to last
  /// until the last sweep.
  void load(const Model& m, const Control& c, const State& state, const lanes::StepView& view, const Executor& executor);
  /// Contacts of the coming sweeps, per vertex; null, as after load(): none.
  void set_contact(const std::vector<VertexContact<T>>* contact) { contact_ = contact; }
  /// One sweep.
  void sweep(Order order, Lambda lambda, const Executor& executor);
  Residual residual() const;
  void store(State& state, const Executor& executor) const;

  /// Displacements and frames of other sweeps, whose residual is wanted.
  std::vector<Vec3<T>>& displacements() { return u_; }
  std::vector<Quat<T>>& frames() { return q_; }
  void refresh(const Executor& executor) {
    executor.for_each(segment_.size(), [&](std::size_t s) { put_spring(static_cast<Index>(s)); });
  }

 private:
  template <class Visit>
  void each_array(const Model& m, Order order, const Visit& visit) {
    const auto nv = static_cast<std::size_t>(m.vertex_count()), ns = static_cast<std::size_t>(m.segment_count());
    const auto nf = static_cast<std::size_t>(m.frame_count()), nj = static_cast<std::size_t>(m.joint_count());
    const bool jacobi = order == Order::jacobi;
    visit(u_, nv);
    visit(rhs_, nv);
    visit(weight_, nv);
    visit(segment_, ns);
    visit(q_, nf);
    visit(joint_, nj);
    visit(direction_start_, ns + 1);
    visit(u_next_, jacobi ? nv : 0);
    visit(q_next_, jacobi ? nf : 0);
  }
  void load_joint(Index j);
  void load_directions(const State& state);
  template <class Law, Lambda kLambda>
  void sweep_by(Order order, const Executor& executor);

  /// Edge at the present displacements [m].
  Vec3<T> edge(Index s) const {
    const auto [a, b] = m_->segment_vertices[s];
    return segment_[s].edge + (u_[b] - u_[a]);
  }
  void put_spring(Index s) {
    ElementSegment<T>& d = segment_[s];
    AxesLaw<T>::put_spring(q_[s], d.k, d.rest, d.edge, d.spring);
    if (!closed_form_) return;
    d.spring.stiffness = {d.k.z, T(0), d.k.z, T(0), T(0), d.k.z};  // exactly
  }
  /// Calls add(spring, sign, u of the other vertex) for every segment of a vertex.
  template <class Add>
  void each_segment(Index v, const Add& add) const {
    for (Index i = m_->vertex_segments.start[v]; i < m_->vertex_segments.start[v + 1]; ++i) {
      const Index s = m_->vertex_segments.entry[i] / 2, side = m_->vertex_segments.entry[i] % 2;
      add(segment_[s].spring, side == 1 ? T(1) : T(-1), u_[m_->segment_vertices[s][static_cast<std::size_t>(1 - side)]]);
    }
  }
  template <class Add>
  void each_joint(Index s, const Add& add) const {
    for (Index i = m_->frame_joints.start[s]; i < m_->frame_joints.start[s + 1]; ++i) {
      const Index entry = m_->frame_joints.entry[i], side = entry % 2;
      const ElementJoint<T>& j = joint_[entry / 2];
      const Quat<T>& other = q_[m_->joint_frames[entry / 2][static_cast<std::size_t>(1 - side)]];
      const auto seen = [&](const Quat<T>& r) { return side == 1 ? r : conj(r); };
      add(other, j.K, seen(j.rest));
      if (norm2(j.K_viscous) > T(0)) add(other, j.K_viscous, seen(j.previous));
    }
  }
  /// As each_joint(), with the joints of the upper bound (deviation 6): twice the stiffness, and a rest halfway between the
  /// present relative rotation r and the joint's own: 2 K (r - (r + rest)/2) is the same couple.
  template <class Add>
  void each_joint_at_once(Index s, const Add& add) const {
    each_joint(s, [&](const Quat<T>& other, const Quat<T>& K, const Quat<T>& rest) {
      const Quat<T> r = conj(other) * q_[s];
      const T pole = bend_twist::pole(dot(bend_twist::times(K, rest), r));
      add(other, T(2) * K, T(0.5) * (pole * rest + r));
    });
  }
  void add_directions(FrameProblem<T>& problem, Index s, const Quat<T>& q) const {
    for (Index i = direction_start_[s]; i < direction_start_[s + 1]; ++i) {
      const DirectionTerm& t = directions_[i];
      problem.add_direction(q, {static_cast<T>(t.k), cast<T>(t.y), cast<T>(t.a)});
    }
  }
  AxesSegment<T> axes_segment(Index s) const { return {edge(s), segment_[s].k, segment_[s].rest}; }

  template <class Law>
  Vec3<T> moved(Index v) const;
  Vec3<T> moved_in_contact(Index v) const;
  Vec3<T> moved_at_once(Index v) const;
  template <class Law, Lambda kLambda, bool kAtOnce = false>
  Quat<T> turned(Index s);
  Vec3<T> vertex_residual(Index v) const;
  Vec3<T> frame_residual(Index s) const;
  double force_scale() const;
  bool is_at_rest(double scale) const;

  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  lanes::StepView view_{};
  bool isotropic_ = false, inertia_ = false;
  bool closed_form_ = false;  ///< the present step uses the closed form
  std::vector<Vec3<T>> u_, u_next_;
  std::vector<Vec3<T>> rhs_;  ///< m v_t/h + f [N]
  std::vector<T> weight_;     ///< m/h^2 + c/h [N/m]
  std::vector<ElementSegment<T>> segment_;
  std::vector<Quat<T>> q_, q_next_;
  std::vector<ElementJoint<T>> joint_;
  std::vector<DirectionTerm> directions_;  ///< rotational inertia and motors
  std::vector<Index> direction_start_;     ///< per segment, size n + 1
  const std::vector<VertexContact<T>>* contact_ = nullptr;
};

template <class T>
void ElementSweep<T>::load(const Model& m, const Control& c, const State& state, const lanes::StepView& view,
                           const Executor& executor) {
  m_ = &m;
  c_ = &c;
  contact_ = nullptr;
  view_ = view;
  closed_form_ = isotropic_ && !inertia_ && !c.has_rotary_damping;
  const double h = view.h;
  executor.for_each(q_.size(), [&](std::size_t f) {
    Quatd q = state.frame_rotation[f];
    if (inertia_) q = guessed_frame(m, c, state, h, static_cast<Index>(f));
    if (c.frame_control[f] == FrameControl::fixed) q = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) q = nearest_on_hinge(q, c.frame_target[f], c.frame_hinge_axis[f]);
    q_[f] = cast<T>(q);
  });
  executor.for_each(segment_.size(), [&](std::size_t s) {
    const double l = m.segment_rest_length[s];
    const Vec3d p = edge_over_length(m, state.vertex_position, static_cast<Index>(s));
    const auto spring = stretch_shear::folded(cast<double>(m.segment_stiffness[s]), cast<double>((1 / h) * m.segment_tau[s]),
                                              stretch_shear::local_strain(p, state.frame_rotation[s]));
    segment_[s].edge = cast<T>(l * p);
    segment_[s].k = cast<T>((1 / (l * l)) * spring.k);
    segment_[s].rest = cast<T>(l * spring.rest);
    put_spring(static_cast<Index>(s));
  });
  executor.for_each(joint_.size(), [&](std::size_t j) { load_joint(static_cast<Index>(j)); });
  executor.for_each(u_.size(), [&](std::size_t v) {
    // x <- x_t + h v_t + h^2 a~ with VBD's adaptive a~ (Chen et al. 2024): a rod at rest under gravity starts at rest.
    const VertexStart<double> start = vertex_start(m.vertex_mass[v], c.vertex_damping[v], state.vertex_velocity[v],
                                                   state.vertex_velocity_previous[v], c.vertex_force[v], h);
    rhs_[v] = cast<T>(start.rhs);
    weight_[v] = static_cast<T>(start.weight);
    u_[v] = cast<T>(c.vertex_fixed[v] ? c.vertex_target[v] - state.vertex_position[v] : start.u);
  });
  load_directions(state);
}

template <class T>
void ElementSweep<T>::load_joint(Index j) {
  const auto [a, b] = m_->joint_frames[j];
  const Vec3d stiffness = cast<double>(m_->joint_stiffness[j]), tau = cast<double>(m_->joint_tau[j]);
  joint_[j].K = cast<T>(bend_twist::stiffness4(stiffness));
  joint_[j].rest = cast<T>(m_->joint_rest_rotation[j]);
  joint_[j].K_viscous = cast<T>((1 / view_.h) * bend_twist::viscous4(stiffness, tau));
  joint_[j].previous = cast<T>(conj(view_.rotation[a]) * view_.rotation[b]);
}

template <class T>
void ElementSweep<T>::load_directions(const State& state) {
  direction_terms(*m_, *c_, state, view_.h, directions_);
  std::size_t next = 0;
  for (std::size_t s = 0; s < segment_.size(); ++s) {
    direction_start_[s] = static_cast<Index>(next);
    while (next < directions_.size() && directions_[next].frame == static_cast<Index>(s)) ++next;
  }
  direction_start_[segment_.size()] = static_cast<Index>(next);
}

template <class T>
template <class Law>
Vec3<T> ElementSweep<T>::moved(Index v) const {
  if (c_->vertex_fixed[v] || !m_->vertex_alive[v]) return u_[v];
  if (contact_ && (*contact_)[static_cast<std::size_t>(v)].touches) return moved_in_contact(v);
  typename Law::Vertex vertex(u_[v], weight_[v], rhs_[v]);
  if constexpr (Law::kClosedForm) {
    T hessian = weight_[v];
    each_segment(v, [&](const auto& spring, T sign, const Vec3<T>& other) {
      vertex.add({spring.force, spring.stiffness.zz}, sign, other);
      hessian += spring.stiffness.zz;
    });
    return vertex.updated(T(1) / hessian);
  } else {
    each_segment(v, [&](const auto& spring, T sign, const Vec3<T>& other) { vertex.add(spring, sign, other); });
    return vertex.updated(weight_[v]);
  }
}

/// The block of a vertex with its contacts is a matrix, whatever the law.
template <class T>
Vec3<T> ElementSweep<T>::moved_in_contact(Index v) const {
  const T w = weight_[v];
  Sym3<T> k = (*contact_)[static_cast<std::size_t>(v)].block + Sym3<T>{w, T(0), w, T(0), T(0), w};
  each_segment(v, [&](const auto& spring, T, const Vec3<T>&) { k = k + spring.stiffness; });
  const Mat3<T> hessian{{{k.xx, k.yx, k.zx}, {k.yx, k.yy, k.zy}, {k.zx, k.zy, k.zz}}};
  return after_block_step(u_[v], vertex_residual(v), hessian);
}

/// To the minimum of the upper bound (deviation 6); the blocks of contacts are one already.
template <class T>
Vec3<T> ElementSweep<T>::moved_at_once(Index v) const {
  if (c_->vertex_fixed[v] || !m_->vertex_alive[v]) return u_[v];
  const T w = weight_[v];
  Sym3<T> k{w, T(0), w, T(0), T(0), w};
  if (contact_ && (*contact_)[static_cast<std::size_t>(v)].touches) k = k + (*contact_)[static_cast<std::size_t>(v)].block;
  each_segment(v, [&](const auto& spring, T, const Vec3<T>&) { k = k + spring.stiffness + spring.stiffness; });
  return after_block_step(u_[v], vertex_residual(v), full(k));
}

template <class T>
template <class Law, Lambda kLambda, bool kAtOnce>
Quat<T> ElementSweep<T>::turned(Index s) {
  if (c_->frame_control[s] == FrameControl::fixed || !m_->segment_alive[s]) return q_[s];
  const auto joints = [&](const auto& add) {
    if constexpr (kAtOnce) each_joint_at_once(s, add);
    else each_joint(s, add);
  };
  if constexpr (Law::kClosedForm) {
    const ElementSegment<T>& d = segment_[s];
    T gamma = kLambda == Lambda::exact ? static_cast<T>(view_.gamma[s]) : T(0);
    const ClosedFormSegment<T> local{stretch_shear::local_v(d.k.z, edge(s)), d.rest};
    const Quat<T> q = safeguarded_frame_of<true, kLambda>(view_, s, q_[s], local, gamma, joints);
    if (kLambda == Lambda::exact) view_.gamma[s] = static_cast<double>(gamma);
    return q;
  } else {
    return safeguarded_frame_of(view_, s, q_[s], axes_segment(s), joints,
                                [&](FrameProblem<T>& problem, const Quat<T>& q) { add_directions(problem, s, q); });
  }
}

template <class T>
void ElementSweep<T>::sweep(Order order, Lambda lambda, const Executor& executor) {
  if (!closed_form_) return sweep_by<AxesLaw<T>, Lambda::secular>(order, executor);
  if (lambda == Lambda::approx) sweep_by<ClosedFormLaw<T>, Lambda::approx>(order, executor);
  if (lambda == Lambda::exact) sweep_by<ClosedFormLaw<T>, Lambda::exact>(order, executor);
  if (lambda == Lambda::secular) sweep_by<ClosedFormLaw<T>, Lambda::secular>(order, executor);
}

template <class T>
template <class Law, Lambda kLambda>
void ElementSweep<T>::sweep_by(Order order, const Executor& executor) {
  const auto move = [&](Index v) { u_[v] = moved<Law>(v); };
  const auto turn = [&](Index s) {
    q_[s] = turned<Law, kLambda>(s);
    put_spring(s);
  };
  const auto each_color = [&](const Coloring& colors, const auto& update) {
    for (Index color = 0; color < colors.count(); ++color) {
      const auto list = colors.of(color);
      executor.for_each(list.size(), [&](std::size_t i) { update(list[i]); });
    }
  };
  switch (order) {
    case Order::gauss_seidel:
      for (Index v = 0; v < m_->vertex_count(); ++v) move(v);   // foreach vertex i:  x <- position update       Eq. 6
      for (Index s = 0; s < m_->segment_count(); ++s) turn(s);  // foreach segment i: v, b, lambda, q            Eq. 15-22
      break;
    case Order::red_black:
      each_color(m_->vertex_colors, move);
      each_color(m_->segment_colors, turn);
      break;
    case Order::jacobi:
      executor.for_each(u_.size(), [&](std::size_t v) { u_next_[v] = moved_at_once(static_cast<Index>(v)); });
      u_.swap(u_next_);
      executor.for_each(segment_.size(), [&](std::size_t s) { q_next_[s] = turned<Law, kLambda, true>(static_cast<Index>(s)); });
      std::copy(q_.begin() + static_cast<std::ptrdiff_t>(segment_.size()), q_.end(),
                q_next_.begin() + static_cast<std::ptrdiff_t>(segment_.size()));
      q_.swap(q_next_);
      refresh(executor);
      break;
  }
}

template <class T>
void ElementSweep<T>::store(State& state, const Executor& executor) const {
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  executor.for_each(u_.size(), [&](std::size_t v) {
    const Vec3d u = m_->vertex_alive[v] ? cast<double>(u_[v]) : Vec3d{};
    state.vertex_position[v] += u;
    state.vertex_velocity[v] = (1 / view_.h) * u;  // v <- (x - x_t)/h
  });
  executor.for_each(q_.size(), [&](std::size_t f) { state.frame_rotation[f] = cast<double>(q_[f]); });
}

/// Gradient of the step's potential at one vertex.
template <class T>
Vec3<T> ElementSweep<T>::vertex_residual(Index v) const {
  Vec3<T> g = weight_[v] * u_[v] - rhs_[v];
  each_segment(v, [&](const auto& spring, T sign, const Vec3<T>& other) {
    g += spring.stiffness * (u_[v] - other) - sign * spring.force;
  });
  if (!contact_) return g;
  const VertexContact<T>& contact = (*contact_)[static_cast<std::size_t>(v)];
  if (contact.touches) g += contact.gradient + contact.block * (u_[v] - contact.at);
  return g;
}

/// The couple on a frame, in its own axes; for a hinged frame the couple about its hinge.
template <class T>
Vec3<T> ElementSweep<T>::frame_residual(Index s) const {
  FrameProblem<T> problem = frame_problem_of(view_, s, q_[s], axes_segment(s), [&](const auto& add) { each_joint(s, add); });
  add_directions(problem, s, q_[s]);
  const Vec3<T> couple = problem.gradient();
  if (c_->frame_control[s] != FrameControl::hinged) return couple;
  const Vec3<T> axis = rotate(conj(q_[s]), cast<T>(c_->frame_hinge_axis[s]));
  return dot(couple, axis) * axis;
}

/// The largest force at work: loads and inertia, section forces, and elastic moments and torques over length. (A twisted rod at
/// rest has moments only to compare a residual with.)
template <class T>
double ElementSweep<T>::force_scale() const {
  const Model& m = *m_;
  double scale = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v] && !c_->vertex_fixed[v]) scale = std::max(scale, static_cast<double>(norm(rhs_[v])));
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const auto [a, b] = m.segment_vertices[s];
    const Vec3<T> section = segment_[s].spring.stiffness * (u_[b] - u_[a]) - segment_[s].spring.force;
    scale = std::max(scale, static_cast<double>(norm(section)));
    if (c_->has_torque) scale = std::max(scale, norm(c_->frame_torque[s]) / m.segment_rest_length[s]);
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const Vec3<T> moment = bend_twist::moment(joint_[j].K, conj(q_[a]) * q_[b], joint_[j].rest);
    scale = std::max(scale, static_cast<double>(norm(moment)) / m.joint_length[j]);
  }
  for (const DirectionTerm& t : directions_) scale = std::max(scale, t.scale / m.segment_rest_length[t.frame]);
  return scale;
}

/// Nothing acts and nothing moves, so that the largest force is a rounding error of strains and no other is small against it.
template <class T>
bool ElementSweep<T>::is_at_rest(double scale) const {
  constexpr double kOfStrain = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  constexpr double kOfLoads = 64 * std::numeric_limits<double>::epsilon();
  double stiffest = 0, acting = 0;
  for (const ElementSegment<T>& s : segment_) {
    const T k = larger(larger(s.k.x, s.k.y), s.k.z);
    stiffest = std::max(stiffest, static_cast<double>(k) * static_cast<double>(norm(s.rest)));
  }
  for (const Vec3<T>& force : rhs_) acting = std::max(acting, static_cast<double>(norm(force)));
  return !c_->has_torque && scale <= kOfStrain * stiffest && acting <= kOfLoads * stiffest;
}

template <class T>
Residual ElementSweep<T>::residual() const {
  const Model& m = *m_;
  Residual r;
  r.scale = force_scale();
  if (is_at_rest(r.scale)) return r;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v] || c_->vertex_fixed[v]) continue;
    const double left = static_cast<double>(norm(vertex_residual(v)));
    if (!(left <= r.value)) r = {left, r.scale, v, -1};
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || c_->frame_control[s] == FrameControl::fixed) continue;
    const double left = static_cast<double>(norm(frame_residual(s))) / m.segment_rest_length[s];
    if (!(left <= r.value)) r = {left, r.scale, -1, s};
  }
  return r;
}

}  // namespace osier::stable_cosserat
