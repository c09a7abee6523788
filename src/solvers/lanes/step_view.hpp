// One time step as kernels see it: bare arrays of the state and the control. Kernels are compiled for several instruction sets
// and must not share inline functions of containers with the rest of the program (exec/simd.hpp).
#pragma once

#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier::lanes {

struct StepView {
  double h;
  const double* mass;
  const double* rest_length;
  const Index *frame_joint_start, *frame_joint;  ///< Model::frame_joints
  const Quatd* joint_rest;
  const PerAxis *joint_stiffness, *joint_tau;
  const PerAxis *segment_stiffness, *segment_tau;
  const std::array<Index, 2>* joint_frames;
  Vec3d* position;           ///< x_t, then x
  const Vec3d* velocity;     ///< v_t
  Vec3d* velocity_previous;  ///< that of the step before, then the new one
  Quatd* rotation;           ///< q_t, then q
  double* gamma;             ///< per segment; null but for sweeps with the paper's Algorithm 1
  const Vec3d* force;
  const double* damping;
  const std::uint8_t* vertex_fixed;
  const Vec3d* vertex_target;
  const FrameControl* frame_control;
  const Quatd* frame_target;
  const Vec3d* hinge_axis;
  const Vec3d* torque;  ///< null without torques
  const Vec3d* torque_material;
};

inline StepView view_of(const Model& m, const Control& c, State& s, double h) {
  return {.h = h,
          .mass = m.vertex_mass.data(),
          .rest_length = m.segment_rest_length.data(),
          .frame_joint_start = m.frame_joints.start.data(),
          .frame_joint = m.frame_joints.entry.data(),
          .joint_rest = m.joint_rest_rotation.data(),
          .joint_stiffness = m.joint_stiffness.data(),
          .joint_tau = m.joint_tau.data(),
          .segment_stiffness = m.segment_stiffness.data(),
          .segment_tau = m.segment_tau.data(),
          .joint_frames = m.joint_frames.data(),
          .position = s.vertex_position.data(),
          .velocity = s.vertex_velocity.data(),
          .velocity_previous = s.vertex_velocity_previous.data(),
          .rotation = s.frame_rotation.data(),
          .gamma = nullptr,
          .force = c.vertex_force.data(),
          .damping = c.vertex_damping.data(),
          .vertex_fixed = c.vertex_fixed.data(),
          .vertex_target = c.vertex_target.data(),
          .frame_control = c.frame_control.data(),
          .frame_target = c.frame_target.data(),
          .hinge_axis = c.frame_hinge_axis.data(),
          .torque = c.has_torque ? c.frame_torque.data() : nullptr,
          .torque_material = c.has_torque ? c.frame_torque_material.data() : nullptr};
}

}  // namespace osier::lanes
