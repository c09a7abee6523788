// What changes while a simulation runs, what drives it, and what a solver reports.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "osier/types.hpp"

namespace osier {

/// What the elements of an array of solver memory belong to; `whole`: there is one element for everything.
enum class ElementKind : std::uint8_t { vertex, segment, frame, joint, whole };

/// Numbers that a solver needs from one step to the next, beside positions and velocities.
struct SolverMemory {
  std::string name;  ///< "solver/quantity"
  ElementKind kind;
  int components = 1;          ///< per element
  std::vector<double> values;  ///< element by element
};

/// Always double, whatever number type a solver works in: positions are sums of many small steps.
struct State {
  double time = 0;  ///< [s]
  long step_index = 0;
  std::vector<Vec3d> vertex_position;           ///< [m]
  std::vector<Vec3d> vertex_velocity;           ///< [m/s]
  std::vector<Vec3d> vertex_velocity_previous;  ///< one step earlier; VBD's adaptive guess needs the acceleration
  std::vector<Quatd> frame_rotation;            ///< unit; segments first, then anchors
  std::vector<Vec3d> frame_velocity;            ///< angular, world axes [rad/s]; stays 0 without rotational inertia
  std::vector<SolverMemory> memory;             ///< declared by the solver that steps this state
};

enum class FrameControl : std::uint8_t { free, fixed, hinged };

/// One or two directions along which a vertex is held; it is free across them.
struct HeldAxes {
  Index vertex = -1;
  int count = 0;
  std::array<Vec3d, 2> axis;  ///< unit, world, perpendicular to each other
  Vec3d target;               ///< a place with the coordinates that the vertex has along the axes at the end of the step [m]
};

/// A spring and a damper from vertex a to vertex b, or to a place in space. d goes from a to the other end.
struct Spring {
  Index a = -1, b = -1;         ///< b negative: the other end is the anchor
  Vec3d anchor;                 ///< at the end of the step [m]
  Vec3d anchor_velocity;        ///< over the step [m/s]
  double stiffness = 0;         ///< k [N/m]
  double damping = 0;           ///< c [N s/m]
  double rest_length = 0;       ///< L [m]: k/2 (|d| - L)^2; with 0 the spring is linear, k/2 |d|^2
  bool along_axis = false;      ///< k/2 (n.d)^2
  Vec3d axis;                   ///< n, unit
  const void* owner = nullptr;  ///< the constraint that it belongs to
};

/// One step's loads and prescribed motion, at the end of the step.
struct Control {
  std::vector<Vec3d> vertex_force;     ///< f [N]; the total force is f - c v_new
  std::vector<double> vertex_damping;  ///< c [kg/s]: the part of drag and wind that is linear in the new velocity
  std::vector<std::uint8_t> vertex_fixed;
  std::vector<Vec3d> vertex_target;  ///< where a fixed vertex is at the end of the step
  std::vector<FrameControl> frame_control;
  std::vector<Quatd> frame_target;      ///< fixed: the frame; hinged: the frame at hinge angle 0
  std::vector<Vec3d> frame_hinge_axis;  ///< world, unit
  bool has_torque = false;
  std::vector<Vec3d> frame_torque;           ///< dead, world axes [N m]
  std::vector<Vec3d> frame_torque_material;  ///< follower, material axes [N m]
  bool has_rotary_damping = false;
  std::vector<double> frame_damping;  ///< of a hinged frame about its hinge: torque -c times the gain of angular speed [N m s]
  std::vector<HeldAxes> held_axes;    ///< one per vertex, by number; of vertices that are not fixed
  std::vector<Spring> springs;
  /// Whether vertices have terms that lanes and trees do not know.
  bool has_vertex_terms() const { return !held_axes.empty() || !springs.empty(); }
};

/// Trouble and effort of one step. `worst_vertex` and `worst_segment` name where the residual is largest or where the first
/// non-finite number appeared.
struct StepReport {
  bool non_finite = false;
  bool not_converged = false;
  bool held_back = false;  ///< prescribed motion did not arrive: it would have torn rods through something
  int iterations = 0;
  double seconds = 0;    ///< wall time of loads, solver and fracture; measuring and recording left out
  double residual = -1;  ///< largest force or moment/length left over [N]; negative when the solver did not measure it
  double residual_relative = -1;
  Index worst_vertex = -1;
  Index worst_segment = -1;
  int unstable_modes = -1;  ///< statics: directions in which the energy falls from this equilibrium; -1 when not counted
};

}  // namespace osier
