// Sweeps element by element (element_view.hpp), in any order and for every feature of a model: the paper's sequential order, all
// elements at once, and coloured sweeps where frames have inertia. Coloured sweeps of all other models run in lanes
// (chain_sweep.hpp, graph_sweep.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exec/parallel.hpp"
#include "solvers/stable_cosserat/element_view.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier::stable_cosserat {

/// The largest residual, a force or a moment over length, with its place, and the largest force at work.
struct Residual {
  double value = 0, scale = 0;
  Index vertex = -1, segment = -1;
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
  void load(const Model& m, const Control& c, const State& state, const lanes::StepView& step, const Executor& executor);
  /// Contacts of the coming sweeps, per vertex; null, as after load(): none.
  void set_contact(const std::vector<VertexContact<T>>* contact) { view_.contact = contact ? contact->data() : nullptr; }
  /// One sweep.
  void sweep(Order order, Lambda lambda, const Executor& executor);
  Residual residual() const;
  void store(State& state, const Executor& executor) const;

  /// Displacements and frames of other sweeps, whose residual is wanted.
  std::vector<Vec3<T>>& displacements() { return u_; }
  std::vector<Quat<T>>& frames() { return q_; }
  void refresh(const Executor& executor) {
    executor.for_each(segment_.size(), [&](std::size_t s) { view_.put_spring(static_cast<Index>(s)); });
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
  void load_directions(const State& state);
  template <class Law, Lambda kLambda>
  void sweep_by(Order order, const Executor& executor);
  double force_scale() const;
  bool is_at_rest(double scale) const;

  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  ElementView<T> view_{};
  bool isotropic_ = false, inertia_ = false;
  std::vector<Vec3<T>> u_, u_next_;
  std::vector<Vec3<T>> rhs_;  ///< m v_t/h + f [N]
  std::vector<T> weight_;     ///< m/h^2 + c/h [N/m]
  std::vector<ElementSegment<T>> segment_;
  std::vector<Quat<T>> q_, q_next_;
  std::vector<ElementJoint<T>> joint_;
  std::vector<DirectionTerm> directions_;  ///< rotational inertia and motors
  std::vector<Index> direction_start_;     ///< per segment, size n + 1
};

template <class T>
void ElementSweep<T>::load(const Model& m, const Control& c, const State& state, const lanes::StepView& step,
                           const Executor& executor) {
  m_ = &m;
  c_ = &c;
  view_ = {.step = step,
           .segment_vertices = m.segment_vertices.data(),
           .vertex_segment_start = m.vertex_segments.start.data(),
           .vertex_segment = m.vertex_segments.entry.data(),
           .vertex_alive = m.vertex_alive.data(),
           .segment_alive = m.segment_alive.data(),
           .closed_form = isotropic_ && !inertia_ && !c.has_rotary_damping,
           .u = u_.data(),
           .rhs = rhs_.data(),
           .weight = weight_.data(),
           .segment = segment_.data(),
           .q = q_.data(),
           .joint = joint_.data(),
           .direction = nullptr,
           .direction_start = nullptr,
           .contact = nullptr};
  load_directions(state);
  executor.for_each(q_.size(), [&](std::size_t f) {
    const auto frame = static_cast<Index>(f);
    view_.load_frame(frame, inertia_ ? guessed_frame(m, c, state, step.h, frame) : state.frame_rotation[f]);
  });
  executor.for_each(segment_.size(), [&](std::size_t s) { view_.load_segment(static_cast<Index>(s)); });
  executor.for_each(joint_.size(), [&](std::size_t j) { view_.load_joint(static_cast<Index>(j)); });
  executor.for_each(u_.size(), [&](std::size_t v) { view_.load_vertex(static_cast<Index>(v)); });
}

template <class T>
void ElementSweep<T>::load_directions(const State& state) {
  direction_terms(*m_, *c_, state, view_.step.h, directions_);
  std::size_t next = 0;
  for (std::size_t s = 0; s < segment_.size(); ++s) {
    direction_start_[s] = static_cast<Index>(next);
    while (next < directions_.size() && directions_[next].frame == static_cast<Index>(s)) ++next;
  }
  direction_start_[segment_.size()] = static_cast<Index>(next);
  view_.direction = directions_.data();
  view_.direction_start = direction_start_.data();
}

template <class T>
void ElementSweep<T>::sweep(Order order, Lambda lambda, const Executor& executor) {
  if (!view_.closed_form) return sweep_by<AxesLaw<T>, Lambda::secular>(order, executor);
  if (lambda == Lambda::approx) sweep_by<ClosedFormLaw<T>, Lambda::approx>(order, executor);
  if (lambda == Lambda::exact) sweep_by<ClosedFormLaw<T>, Lambda::exact>(order, executor);
  if (lambda == Lambda::secular) sweep_by<ClosedFormLaw<T>, Lambda::secular>(order, executor);
}

template <class T>
template <class Law, Lambda kLambda>
void ElementSweep<T>::sweep_by(Order order, const Executor& executor) {
  const auto move = [&](Index v) { u_[v] = view_.template moved<Law>(v); };
  const auto turn = [&](Index s) {
    q_[s] = view_.template turned<Law, kLambda>(s);
    view_.put_spring(s);
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
      executor.for_each(u_.size(), [&](std::size_t v) { u_next_[v] = view_.moved_at_once(static_cast<Index>(v)); });
      u_.swap(u_next_);
      view_.u = u_.data();
      executor.for_each(segment_.size(),
                        [&](std::size_t s) { q_next_[s] = view_.template turned_at_once<Law, kLambda>(static_cast<Index>(s)); });
      std::copy(q_.begin() + static_cast<std::ptrdiff_t>(segment_.size()), q_.end(),
                q_next_.begin() + static_cast<std::ptrdiff_t>(segment_.size()));
      q_.swap(q_next_);
      view_.q = q_.data();
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
    state.vertex_velocity[v] = (1 / view_.step.h) * u;  // v <- (x - x_t)/h
  });
  executor.for_each(q_.size(), [&](std::size_t f) { state.frame_rotation[f] = cast<double>(q_[f]); });
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
    const double left = static_cast<double>(norm(view_.vertex_residual(v)));
    if (!(left <= r.value)) r = {left, r.scale, v, -1};
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s] || c_->frame_control[s] == FrameControl::fixed) continue;
    const double left = static_cast<double>(norm(view_.frame_residual(s))) / m.segment_rest_length[s];
    if (!(left <= r.value)) r = {left, r.scale, -1, s};
  }
  return r;
}

}  // namespace osier::stable_cosserat
