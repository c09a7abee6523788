// Position update of one vertex by vertex block descent  (SCR Eq. 6, 28, 29; VSCR Eq. 33, 34).
//
// With the orientations held, the incremental potential is quadratic in one vertex and its 3x3 Hessian is a multiple of the
// identity, so one division solves the block exactly:
//
//   u_v <- ( m v_t/h + f  +  sum_s ( +-pull_s + c_s u_other ) ) / ( m/h^2 + c_drag/h + sum_s c_s )
#pragma once

#include "solvers/stable_cosserat/workspace.hpp"

namespace osier::stable_cosserat {

template <class T>
OSIER_FN Vec3<T> updated_position(const Model& m, const Workspace<T>& w, const Vec3<T>* u, Index v) {
  Vec3<T> sum = w.vertex[v].rhs;
  for (Index i = m.vertex_segments.start[v], end = m.vertex_segments.start[v + 1]; i < end; ++i) {
    const VertexSide<T>& e = w.vertex_side[i];
    const Vec3<T>&other = u[e.other], &pull = w.pull[e.segment];
    sum += Vec3<T>{e.sign * pull.x + e.c * other.x, e.sign * pull.y + e.c * other.y, e.sign * pull.z + e.c * other.z};
  }
  return w.vertex[v].inverse_hessian * sum;
}

}  // namespace osier::stable_cosserat
