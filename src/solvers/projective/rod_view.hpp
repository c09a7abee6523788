// The numbers of one rod, or of several rods of one shape in the lanes of packs, as kernels see them: bare arrays. An array has,
// for every element, its components, and for every component its lanes, so that it is an array of packs, of vectors or of
// quaternions of packs. Vertices and frames are in the order of elimination, anchors after the frames of segments.
//
//   u, q       displacement since the start of the step [m], frame
//   w, b       weight and load of a vertex                                     (energies/inertia.hpp)
//   p          edge over rest length                                           (energies/stretch_shear.hpp)
//   k, offset  its spring with damping folded in, and the rest vector less e3
//   K, K_v     stiffness of a joint, elastic and viscous over h                (energies/bend_twist.hpp)
#pragma once

#include "solvers/projective/elimination.hpp"

namespace osier::projective {

/// Numbers of a term 1/2 k |y - R a|^2 of a frame (solvers/direction_terms.hpp): k, y, a.
inline constexpr Index kTermNumbers = 7;
inline constexpr int kMostHistory = 8;

template <class T>
struct RodView {
  Index vertices, segments, frames, joints;
  Index terms;  ///< of every frame, padded with k = 0
  bool damped, torques, hinges;
  bool isotropic;  ///< stretch and shear: the step in positions is then exact
  bool touches;    ///< contact_weight and contact_gradient are to be read
  EliminationView positions, turns;
  const std::array<Index, 2>*segment_vertices, *joint_frames;
  const Index* joint_entry;  ///< in the turns' system; -1 for joints to anchors
  T h;

  // Of the model.
  const T *stiffness, *tau, *inverse_length, *inertia;  ///< per segment: 3, 3, 1, 3
  const T *bend, *bend_viscous, *bend_rest;             ///< per joint: 4, 4 (times h), 4

  // Of the step, as loaded.
  T *u, *load, *weight, *vertex_free;          ///< per vertex: 3, 3, 1, 1 (0: held)
  T* edge;                                     ///< per segment at the start of the step: p, in float p - d3
  T *start, *rotation;                         ///< per frame: q_t, and the first guess, which becomes q
  T* turn;                                     ///< per frame, in float: q conj(q_t), a small rotation with all its digits
  T *frame_free, *follows;                     ///< per segment: 0 where held or hinged; 1: the guess follows the edge
  T *hinge, *torque, *torque_material, *term;  ///< per segment: 3 (material axis or 0), 3, 3, 7 for each term; or null
  T *contact_weight, *contact_gradient;        ///< per vertex: 1, 3

  // Worked out.
  T *spring, *offset;                  ///< per segment: 3, 3
  T* stretch2;                         ///< per segment: |p|^2 up to which the turns' matrix is large enough
  T *viscous, *previous;               ///< per joint, with damping: K_v, r at the start of the step
  T* difference;                       ///< per joint, in float: D at the start of the step
  T *position_pivot, *position_entry;  ///< factors: 1 per vertex, 1 per entry
  T *turn_pivot, *turn_entry;          ///< 3 per segment, 3 per entry
  T *position_scale, *turn_scale;      ///< diagonals before they were factored: 1 per vertex, 1 per segment
  T* hinge_curvature;                  ///< per segment
  T *gx, *gw;                          ///< gradients: 3 per vertex, 3 per segment in the axes of its frame
  T *target, *predicted;               ///< per segment, of the paper's variant: 4, 4

  // Acceleration: the iterate before the sweep, the last result and residual, differences.
  int history;
  T *before, *last, *last_residual;    ///< 4 per segment, then 3 per vertex where positions take part
  T *residual_change, *result_change;  ///< `history` of them
};

/// What the sweeps of a step are to do.
struct RodGoal {
  int iterations = 10;
  double tolerance = 0;  ///< stop when the residual is below this share of the scale of forces; 0: a fixed number
  bool accelerated = false;
  bool paper = false;   ///< the printed projections
  bool jacobi = false;  ///< in the printed order: all from the same iterate
};

/// The outcome, for every lane.
template <class T>
struct RodOutcome {
  int iterations;
  T residual[16], scale[16];  ///< forces [N]; with a tolerance
};

}  // namespace osier::projective
