// One sweep of the updates of general_update.hpp, in any order; elements one by one.
#pragma once

#include "exec/parallel.hpp"
#include "solvers/stable_cosserat/general_update.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier::stable_cosserat {

template <class T>
Quat<T> general_frame(const Model& m, const Control& c, const Workspace<T>& w, Index s) {
  const FrameControl control = c.frame_control[s];
  if (control == FrameControl::fixed || !m.segment_alive[s]) return w.q[s];
  const Vec3<T> axis = cast<T>(c.frame_hinge_axis[s]);
  return careful_frame(frame_problem(m, w, s, c.has_torque), w.q[s], control == FrameControl::hinged ? &axis : nullptr,
                       cast<T>(c.frame_target[s]));
}

/// One sweep in the order asked for; elements one by one.
template <class T>
void sweep_general(const Model& m, const Control& c, Order order, const Executor& executor, Workspace<T>& w) {
  const auto move = [&](Index v) { return c.vertex_fixed[v] || !m.vertex_alive[v] ? w.u[v] : general_position(m, w, v); };
  const auto turn = [&](Index s) {
    w.q[s] = general_frame(m, c, w, s);
    refresh(w.general.segment[s], w.q[s]);
  };
  switch (order) {
    case Order::gauss_seidel:
      for (Index v = 0; v < m.vertex_count(); ++v) w.u[v] = move(v);
      for (Index s = 0; s < m.segment_count(); ++s) turn(s);
      break;
    case Order::red_black:
      for (Index color = 0; color < m.vertex_colors.count(); ++color) {
        const auto list = m.vertex_colors.of(color);
        executor.for_each(list.size(), [&](std::size_t i) { w.u[list[i]] = move(list[i]); });
      }
      for (Index color = 0; color < m.segment_colors.count(); ++color) {
        const auto list = m.segment_colors.of(color);
        executor.for_each(list.size(), [&](std::size_t i) { turn(list[i]); });
      }
      break;
    case Order::jacobi:
      executor.for_each(w.u.size(), [&](std::size_t v) { w.u_next[v] = move(static_cast<Index>(v)); });
      w.u.swap(w.u_next);
      executor.for_each(w.segment.size(), [&](std::size_t s) { w.q_next[s] = general_frame(m, c, w, static_cast<Index>(s)); });
      for (std::size_t f = w.segment.size(); f < w.q.size(); ++f) w.q_next[f] = w.q[f];
      w.q.swap(w.q_next);
      executor.for_each(w.segment.size(), [&](std::size_t s) { refresh(w.general.segment[s], w.q[s]); });
      break;
  }
}

}  // namespace osier::stable_cosserat
