// The whole local problem of one frame in the middle of a step, from the model: elasticity and damping of its joints one by one,
// torques, hinges. For kernels, where a frame needs more than a Newton step in lanes.
#pragma once

#include "solvers/lanes/step_view.hpp"
#include "solvers/stable_cosserat/frame_problem.hpp"

namespace osier::stable_cosserat {

/// The new frame of a segment; frame_of(f): the present one of another.
template <class T, class FrameOf>
OSIER_FN Quat<T> careful_frame_of(const StepView& view, Index segment, const Quat<T>& present, const Vec3<T>& p, const Vec3<T>& k,
                                  const Vec3<T>& rest, const FrameOf& frame_of) {
  const bool hinged = view.frame_control[segment] == FrameControl::hinged;
  const Vec3<T> axis = cast<T>(view.hinge_axis[segment]);
  const Quat<T> zero = cast<T>(view.frame_target[segment]);
  const Quat<T> q = hinged ? nearest_on_hinge(present, zero, axis) : present;  // hinges may be led about
  FrameProblem<T> problem(q, p, k, rest);
  for (Index at = view.frame_joint_start[segment]; at < view.frame_joint_start[segment + 1]; ++at) {
    const Index entry = view.frame_joint[at], j = entry / 2, side = entry % 2;
    const Index other = view.joint_frames[j][static_cast<std::size_t>(1 - side)];
    const Quat<T> there = frame_of(other), q0 = cast<T>(view.joint_rest[j]);
    const Vec3d stiffness = cast<double>(view.joint_stiffness[j]), tau = cast<double>(view.joint_tau[j]);
    problem.add_joint(q, {there, cast<T>(bend_twist::stiffness4(stiffness)), side == 1 ? q0 : conj(q0)});
    const Quat<T> viscous = cast<T>((1 / view.h) * bend_twist::viscous4(stiffness, tau));
    if (norm2(viscous) > T(0))
      problem.add_joint(q, {there, viscous, cast<T>(conj(view.rotation[other]) * view.rotation[segment])});
  }
  if (view.torque) problem.add_torque(q, torque_pull(cast<T>(view.torque[segment]), cast<T>(view.torque_material[segment]), q));
  return careful_frame(problem, q, hinged ? &axis : nullptr, zero);
}

}  // namespace osier::stable_cosserat
