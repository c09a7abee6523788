// The safeguarded update of one frame with everything that can act on it: elasticity and damping of its joints one by one,
// torques, hinges, rotational inertia and motors. Sweeps element by element use it for every frame; kernels use it for special
// lanes: frames on hinges, undetermined frames, refused steps, and elastic and viscous poles that may differ.
//
// each_joint(add) has to call add(other, K, rest) for every spring of the frame's joints: the present rotation of the other
// frame, the stiffness of every component, and the rest rotation with this frame as the second one.
#pragma once

#include "solvers/lanes/step_view.hpp"
#include "solvers/stable_cosserat/sweep_laws.hpp"

namespace osier::stable_cosserat {

/// Calls add for the joints of a frame, read from the model. frame_of(f) is the present rotation of another frame.
template <class T, class FrameOf, class Add>
OSIER_FN void each_joint_spring(const lanes::StepView& view, Index segment, const FrameOf& frame_of, const Add& add) {
  for (Index at = view.frame_joint_start[segment]; at < view.frame_joint_start[segment + 1]; ++at) {
    const Index entry = view.frame_joint[at], j = entry / 2, side = entry % 2;
    const Index other = view.joint_frames[j][static_cast<std::size_t>(1 - side)];
    const Quat<T> there = frame_of(other), q0 = cast<T>(view.joint_rest[j]);
    const Vec3d stiffness = cast<double>(view.joint_stiffness[j]), tau = cast<double>(view.joint_tau[j]);
    add(there, cast<T>(bend_twist::stiffness4(stiffness)), side == 1 ? q0 : conj(q0));
    const Quat<T> viscous = cast<T>((1 / view.h) * bend_twist::viscous4(stiffness, tau));
    if (norm2(viscous) > T(0)) add(there, viscous, cast<T>(conj(view.rotation[other]) * view.rotation[segment]));
  }
}
template <class T>
OSIER_FN Quat<T> torque_on(const lanes::StepView& view, Index segment, const Quat<T>& q) {
  return torque_share(cast<T>(view.torque[segment]), cast<T>(view.torque_material[segment]), q);
}

/// The update by the closed form.
template <bool kDamped, Lambda kLambda, class T, class EachJoint>
OSIER_FN Quat<T> safeguarded_frame_of(const lanes::StepView& view, Index segment, const Quat<T>& present,
                                      const ClosedFormSegment<T>& local, T& gamma, const EachJoint& each_joint) {
  OrientationProblem<T> o;
  o.v = local.v;
  o.eta = local.eta;
  o.b = {T(0), T(0), T(0), T(0)};
  each_joint([&](const Quat<T>& other, const Quat<T>& K, const Quat<T>& rest) {
    o.b += bend_twist::local_b(other, K.w * rest, present);
  });
  if (view.torque) o.b += torque_on(view, segment, present);
  complete_problem<T, kDamped>(o);
  if (view.frame_control[segment] == FrameControl::hinged)
    return updated_hinge(o, present, cast<T>(view.frame_target[segment]), cast<T>(view.hinge_axis[segment]));
  bool degenerate = false;
  T new_gamma = gamma;
  const Quat<T> q = solve_orientation<T, kLambda>(o, new_gamma, degenerate);
  if (degenerate) return solve_degenerate<T, kLambda>(o, present);  // gamma has no meaning here
  gamma = new_gamma;
  return q;
}

/// The local problem where stiffness differs between axes.
template <class T, class EachJoint>
OSIER_FN FrameProblem<T> frame_problem_of(const lanes::StepView& view, Index segment, const Quat<T>& q,
                                          const AxesSegment<T>& local, const EachJoint& each_joint) {
  FrameProblem<T> problem(q, local.p, local.k, local.rest);
  each_joint([&](const Quat<T>& other, const Quat<T>& K, const Quat<T>& rest) { problem.add_joint(q, {other, K, rest}); });
  if (view.torque) problem.add_torque(q, torque_on(view, segment, q));
  return problem;
}
/// The update by a Newton step, safeguarded. add_more(problem, q) adds terms that are not in the model.
template <class T, class EachJoint, class AddMore>
OSIER_FN Quat<T> safeguarded_frame_of(const lanes::StepView& view, Index segment, const Quat<T>& present,
                                      const AxesSegment<T>& local, const EachJoint& each_joint, const AddMore& add_more) {
  const bool hinged = view.frame_control[segment] == FrameControl::hinged;
  const Vec3<T> axis = cast<T>(view.hinge_axis[segment]);
  const Quat<T> zero = cast<T>(view.frame_target[segment]);
  const Quat<T> q = hinged ? nearest_on_hinge(present, zero, axis) : present;  // hinges may be moved by keyframes
  FrameProblem<T> problem = frame_problem_of(view, segment, q, local, each_joint);
  add_more(problem, q);
  return safeguarded_frame(problem, q, hinged ? &axis : nullptr, zero);
}
template <bool kDamped, Lambda kLambda, class T, class EachJoint>
OSIER_FN Quat<T> safeguarded_frame_of(const lanes::StepView& view, Index segment, const Quat<T>& present,
                                      const AxesSegment<T>& local, T&, const EachJoint& each_joint) {
  return safeguarded_frame_of(view, segment, present, local, each_joint, [](FrameProblem<T>&, const Quat<T>&) {});
}

}  // namespace osier::stable_cosserat
