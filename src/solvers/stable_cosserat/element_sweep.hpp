// One sweep of the closed-form updates, element by element: the sequential order, and all at once. Coloured sweeps are in
// graph_sweep.hpp and chain_sweep.hpp.
#pragma once

#include "exec/parallel.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"

namespace osier::stable_cosserat {

/// Force of a segment on its second vertex at u = 0.
template <class T>
OSIER_FN Vec3<T> pull_at(const Workspace<T>& w, Index s, const Vec3<T>& image) {
  const SegmentData<T>& d = w.segment[s];
  return segment_pull(d.k, d.inverse_length, d.stiffening, d.p0, image);
}

template <class T, bool kAxial, Lambda kLambda>
class ElementSweep {
 public:
  ElementSweep(const Model& m, const Control& c, Workspace<T>& w) : m_(m), c_(c), w_(w) {}

  void gauss_seidel() {
    for (Index v = 0; v < m_.vertex_count(); ++v)   // foreach vertex i
      if (m_.vertex_alive[v]) w_.u[v] = moved(v);   //   x <- position update        Eq. 6
    for (Index s = 0; s < m_.segment_count(); ++s)  // foreach segment i
      if (m_.segment_alive[s]) turn(s, w_.q[s]);    //   v, b, lambda, q             Eq. 15-22
  }

  void jacobi(const Executor& executor) {
    executor.for_each(w_.u.size(),
                      [&](std::size_t v) { w_.u_next[v] = m_.vertex_alive[v] ? moved(static_cast<Index>(v)) : w_.u[v]; });
    w_.u.swap(w_.u_next);
    executor.for_each(w_.segment.size(), [&](std::size_t s) { turn(static_cast<Index>(s), w_.q_next[s]); });
    for (std::size_t f = w_.segment.size(); f < w_.q.size(); ++f) w_.q_next[f] = w_.q[f];
    w_.q.swap(w_.q_next);
  }

 private:
  Vec3<T> moved(Index v) const { return c_.vertex_fixed[v] ? w_.u[v] : updated_position(m_, w_, w_.u.data(), v); }

  /// v, b, lambda, q of Algorithm 2 for one segment.
  void turn(Index s, Quat<T>& q_out) {
    const OrientationProblem<T> o = orientation_problem<T, kAxial>(m_, w_, s, c_.has_torque);
    const FrameControl control = c_.frame_control[s];
    Quat<T> q = w_.q[s];
    if (control == FrameControl::hinged) {
      q = updated_hinge(o, q, cast<T>(c_.frame_target[s]), cast<T>(c_.frame_hinge_axis[s]));
    } else if (control == FrameControl::free && m_.segment_alive[s]) {
      bool degenerate = false;
      T gamma = w_.gamma[s];
      const Quat<T> turned = solve_orientation<T, kLambda>(o, gamma, degenerate);
      q = degenerate ? solve_degenerate<T, kLambda>(o, q) : turned;
      if (kLambda == Lambda::exact && !degenerate) w_.gamma[s] = gamma;  // without bending gamma means nothing
    }
    q_out = q;
    w_.pull[s] = pull_at(w_, s, axis_image_of<T, kAxial>(q, o.eta));
  }

  const Model& m_;
  const Control& c_;
  Workspace<T>& w_;
};

}  // namespace osier::stable_cosserat
