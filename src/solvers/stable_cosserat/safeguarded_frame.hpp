// The update of one frame with all that it can be subject to: elasticity and damping of its joints one by one, torques, hinges,
// rotational inertia and motors. Element by element it is the update; for kernels it is that of the frames which their lanes
// leave aside: those on hinges, those that are undetermined or whose step was refused, and those whose elastic and viscous poles
// may differ.
//
// each_joint(add) is to call add(other, K, rest) for every spring of the frame's joints: the present rotation of the frame
// beyond, the stiffness of every component, and the rest rotation as this frame sees it.
#pragma once

#include "solvers/lanes/step_view.hpp"
#include "solvers/stable_cosserat/sweep_laws.hpp"

namespace osier::stable_cosserat {

/// The joints of a frame straight from the model. frame_of(f) is the present rotation of another frame.
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

/// By the closed form.
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
  if (degenerate) return solve_degenerate<T, kLambda>(o, present);  // gamma means nothing here
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
/// A Newton step on it, or what else lowers the energy. add_more(problem, q) is for other terms than those of the model.
template <class T, class EachJoint, class AddMore>
OSIER_FN Quat<T> safeguarded_frame_of(const lanes::StepView& view, Index segment, const Quat<T>& present,
                                      const AxesSegment<T>& local, const EachJoint& each_joint, const AddMore& add_more) {
  const bool hinged = view.frame_control[segment] == FrameControl::hinged;
  const Vec3<T> axis = cast<T>(view.hinge_axis[segment]);
  const Quat<T> zero = cast<T>(view.frame_target[segment]);
  const Quat<T> q = hinged ? nearest_on_hinge(present, zero, axis) : present;  // hinges may be led about
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
