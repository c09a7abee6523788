// A read-only snapshot handed to writers, viewers and scripts.
#pragma once

#include <optional>
#include <span>

#include "osier/model.hpp"
#include "osier/types.hpp"

namespace osier {

/// How a run was doing when it came to a frame.
struct FrameReport {
  double kinetic = 0, stretch_shear = 0, bend_twist = 0, external = 0;  ///< energies [J]
  double total() const { return kinetic + stretch_shear + bend_twist + external; }
  double residual_relative = -1;  ///< of the last step, relative to the largest force at work; negative: not measured
  int iterations = 0;             ///< sweeps or Newton iterations since the frame before
  double compute_ms = 0;          ///< solver time since the frame before [ms]
  double load_factor = 1;         ///< statics
  std::uint64_t state_hash = 0;   ///< of everything that the steps after it depend on; 0: not told
};

/// Where something touched in the step before a frame.
struct ContactPoint {
  Vec3d position;        ///< between the two surfaces; on that of an obstacle [m]
  Index a = -1, b = -1;  ///< segments; against an obstacle b is -1 less the obstacle's number
  double gap = 0;        ///< between the surfaces [m]; negative where they are squeezed
  Vec3d normal_force;    ///< on segment a [N]
  Vec3d friction_force;  ///< on segment a [N]
};

struct Frame {
  int index = 0;    ///< 0 is the initial state
  double time = 0;  ///< [s]
  std::span<const Vec3d> vertex_position;
  std::span<const Vec3d> vertex_velocity;
  std::span<const Quatd> segment_frame;         ///< one per segment, anchors left out
  std::span<const std::uint8_t> segment_alive;  ///< 0 once a segment has broken
  std::span<const Quatd> clamp_frame = {};      ///< one per anchor of the model; zero once its clamp has let go
  std::span<const Vec3d> segment_spin = {};     ///< angular velocity of frames, world axes [rad/s]; where they have inertia

  // Material axes (d1, d2, d3), signs as in docs/output.md; empty unless the scene asks for /output/sections.
  std::span<const Vec3d> segment_force = {};      ///< shear n1, n2, tension n3 [N]
  std::span<const Vec3d> segment_strain = {};     ///< shear, shear, stretch [-]
  std::span<const Vec3d> segment_moment = {};     ///< in the middle: bending m1, m2, torque m3 [N m]
  std::span<const Vec3d> segment_curvature = {};  ///< in the middle: bending k1, k2, twist k3 [1/m]
  std::span<const Vec3d> joint_moment = {};       ///< one per joint of the model, half-joints of clamps included
  std::span<const Vec3d> joint_curvature = {};    ///< likewise

  /// Points of the surfaces of all obstacles, one after the other [m]; empty where none of them moves: they are where RunInfo
  /// says.
  std::span<const Vec3d> obstacle_points = {};

  std::span<const ContactPoint> contacts = {};  ///< ascending by segments; empty unless the scene asks for /output/contacts

  std::optional<FrameReport> report = {};
};

}  // namespace osier
