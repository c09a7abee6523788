#include "solvers/local_problem.hpp"

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"

namespace osier {

OrientationProblem<double> local_problem(const Model& m, const Control& control, const State& start, double h,
                                         const std::vector<Vec3d>& x, const std::vector<Quatd>& q, Index s) {
  const auto edge = [&](const std::vector<Vec3d>& at) {
    const auto [a, b] = m.segment_vertices[s];
    return (1 / m.segment_rest_length[s]) * (at[b] - at[a]);
  };
  OrientationProblem<double> o;
  o.v = stretch_shear::local_v(m.segment_stiffness[s].d3, edge(x));
  o.eta = stretch_shear::generalised_axis(m.segment_tau[s].d3 / h,
                                          stretch_shear::local_strain(edge(start.vertex_position), start.frame_rotation[s]));
  o.b = {0, 0, 0, 0};
  for (Index e : m.frame_joints.of(s)) {
    const Index j = e / 2, side = e % 2;
    const auto [a, b] = m.joint_frames[j];
    const Quatd rest = m.joint_rest_rotation[j], previous = conj(start.frame_rotation[a]) * start.frame_rotation[b];
    const double k = m.joint_stiffness[j].d3, alpha = m.joint_tau[j].d3 / h;
    const Quatd& other = q[side ? a : b];
    o.b += bend_twist::local_b(other, k * (side ? rest : conj(rest)), q[s]);
    o.b += bend_twist::local_b(other, (alpha * k) * (side ? previous : conj(previous)), q[s]);
  }
  if (control.has_torque) o.b += 2.0 * ((control.frame_torque[s] + rotate(q[s], control.frame_torque_material[s])) * q[s]);
  o.Sb = o.v * o.b * o.eta;
  o.s = norm(o.v) * norm(o.eta);
  return o;
}

}  // namespace osier
