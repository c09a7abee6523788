// The exact Hessian of the incremental potential by the recursion along the rods: what Newton's method needs of its linear
// algebra (newton/linear_system.hpp), in O(n) on chains and trees.
//
// A link of the recursion is a spring between a node and its parent, z -> eps = M z - z_parent. The exact Hessian has more:
//
//   segment   1/2 d.xx d + d.xw w + 1/2 w.ww w,  d = dx_far - dx_near    = 1/2 (d + A w).xx (d + A w) + 1/2 w.(ww - A'xx A) w
//   joint     1/2 (w - w_p).H (w - w_p) -+ w_p.[g]x w/2                  = 1/2 (Q w - w_p).K (Q w - w_p)
//                                                                          + 1/2 w.(H - Q'K Q) w + 1/2 w_p.(H - K) w_p
//
// with A = xx^-1 xw, any spring K > 0, here that of Gauss-Newton, and K Q = H -+ [g]x/2. So a link sees its node through
// (dx + A w, Q w) instead of (dx + arm x w, w), and all else acts on one node alone. What acts on one node may be negative:
// compression, moments. The pivots then tell how many directions of falling energy there are.
//
// Where an answer does not fit H after all (a pivot next to nothing), the general sparse factor takes over for that solve.
#pragma once

#include <memory>

#include "solvers/solver.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "solvers/systems/tree/tree.hpp"
#include "solvers/systems/tree/tree_factor.hpp"

namespace osier::systems {

class TreeSystem final : public LinearSystem {
 public:
  /// Whether it is what suits a model: some stiffness along every axis, and loops that are not too wide.
  static bool suits(const Model& m, const Control& c);

  void forget() override;
  void bind(const Model& m, const Control& c) override;
  bool empty() const override { return sparse_.empty(); }
  void assemble(const IncrementalPotential& potential, const std::vector<Vec3d>& u, const std::vector<Quatd>& q) override;
  Signature factorise(const Shift& shift) override;
  bool solve(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, Direction& d) override;
  bool solve_skew(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, const std::vector<Vec3d>& turn,
                  Direction& d) override;
  /// Solves that the general sparse factor had to do, so far.
  int sparse_solves() const { return sparse_solves_; }

 private:
  /// Forces on what is not held, or displacements of it.
  using Field = Direction;
  void build(const Model& m, const Control& c);
  void assemble_node(std::size_t i);
  void assemble_row(std::size_t i);
  struct JointSplit;
  JointSplit split(Index joint, Index child) const;
  void add_parent(Index frame, const Mat3<double>& block);
  void by_recursion(const Field& force, Field& out);
  /// (H + shift) d, plus the skew blocks if there are any.
  void apply(const Field& d, const std::vector<Vec3d>* turn, Field& out) const;
  bool refined(const Field& force, Field& out);
  void clear(Field& f) const;
  void keep_free(Field& f) const;
  double size(const Field& f) const;
  SparseSystem& sparse();

  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const IncrementalPotential* potential_ = nullptr;
  const std::vector<Vec3d>* u_ = nullptr;
  const std::vector<Quatd>* q_ = nullptr;
  Tree tree_;
  std::vector<Index> node_of_segment_;  ///< -1 for dead ones
  std::vector<std::uint8_t> built_fixed_;
  std::vector<FrameControl> built_control_;
  TreeFactor<double> factor_;
  std::vector<Link<double>> links_;
  std::vector<RootVertex<double>> roots_;
  std::vector<Row<double>> rows_;
  std::vector<Reframe<double>> reframe_;
  std::vector<Mat3<double>> local_;      ///< per node, on its frame, without the shift
  std::vector<SegmentHessian> segment_;  ///< per segment
  std::vector<JointHessian> joint_;      ///< per joint
  std::vector<Mat3<double>> frame_;      ///< per segment: of directions (rotational inertia, motors)
  Shift shift_;
  SparseSystem sparse_;
  bool sparse_ready_ = false;
  int sparse_solves_ = 0;
  Field force_, left_, more_;
};

/// Equilibria by Newton's method on this system, or on the sparse one where it does not suit.
std::unique_ptr<Solver> make_statics(const Model& m, const Control& c);

}  // namespace osier::systems
