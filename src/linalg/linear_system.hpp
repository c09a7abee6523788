// What Newton's method needs of its linear algebra: the exact Hessian H of the incremental potential over whatever is not held,
// factorised, with the signs of its pivots. Two kinds: a general sparse one (sparse_system.hpp) and the recursion along the rods
// (direct/tree_system.hpp).
#pragma once

#include <vector>

#include "solvers/potential.hpp"

namespace osier::systems {

/// Added to the diagonal of H: size F l for rotations, size F/l for positions where those are to be shifted as well.
struct Shift {
  double size = 0;
  double force = 0;  ///< F [N]
  bool positions = false;
  double of_frame(const Model& m, Index s) const { return size * force * m.segment_rest_length[s]; }
  double of_vertex(const Model& m, Index v) const {
    return positions ? size * force / m.segment_rest_length[m.vertex_segments.of(v).front() / 2] : 0;
  }
};

/// By Sylvester's law of inertia.
struct Signature {
  int negative = 0;       ///< directions in which the energy falls
  bool definite = false;  ///< all pivots are positive, and none is next to nothing
};

/// Per vertex and per frame.
struct Direction {
  std::vector<Vec3d> x, w;
};

class LinearSystem {
 public:
  virtual ~LinearSystem() = default;
  /// The topology has changed.
  virtual void forget() = 0;
  /// What is held decides what is unknown.
  virtual void bind(const Model& m, const Control& c) = 0;
  virtual bool empty() const = 0;
  /// H at u, q.
  virtual void assemble(const IncrementalPotential& potential, const std::vector<Vec3d>& u, const std::vector<Quatd>& q) = 0;
  virtual Signature factorise(const Shift& shift) = 0;
  /// (H + shift) d = -g by the last factor. False when it is not finite.
  virtual bool solve(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, Direction& d) = 0;
  /// (H + [turn]x) d = -g with a skew block for every frame: the Jacobian of the residual. Needs assemble() only. False when it
  /// is singular.
  virtual bool solve_skew(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, const std::vector<Vec3d>& turn,
                          Direction& d) = 0;
};

}  // namespace osier::systems
