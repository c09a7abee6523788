// The exact Hessian of the incremental potential by the recursion along the rods: what Newton's method needs of its linear
// algebra (linalg/linear_system.hpp), in O(n) on chains and trees.
//
// A link of the recursion is a spring between a node and its parent, z -> eps = M z - z_parent. The exact Hessian has more:
//
//   segment   1/2 d.xx d + d.xw w + 1/2 w.ww w,  d = dx_far - dx_near    = 1/2 (d + A w).xx (d + A w) + 1/2 w.(ww - A'xx A) w
//   joint     1/2 (w - w_p).H (w - w_p) -+ w_p.[g]x w/2                  = 1/2 (Q w - w_p).K (Q w - w_p)
//                                                                          + 1/2 w.(H - Q'K Q) w + 1/2 w_p.(H - K) w_p
//
// with A = xx^-1 xw, any spring K > 0, here that of Gauss-Newton, and K Q = H -+ [g]x/2. So a link sees its node through
// (dx + A w, Q w) instead of (dx + arm x w, w), and all other terms act on one node alone. Those may be negative (compression,
// moments). The signs of the pivots then tell in how many directions the energy falls.
//
// Where a solution does not satisfy the system (a pivot near 0), the general sparse factor does that solve.
#pragma once

#include <memory>

#include "solvers/step_hessian.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"
#include "solvers/systems/tree/tree.hpp"
#include "solvers/systems/tree/tree_factor.hpp"

namespace osier::systems {

class TreeSystem final : public LinearSystem {
 public:
  /// Whether this system suits a model: some stiffness along every axis, and loops that are not too wide.
  static bool suits(const Model& m, const Control& c);

  void forget() override;
  void bind(const Model& m, const Control& c, const Subset& subset, double h) override;
  bool empty() const override { return sparse_.empty(); }
  /// The curvature is always the exact one.
  Signature linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) override;
  Signature factorise(const Shift& shift) override;
  bool step(const Accuracy& accuracy) override;
  Vec3d displacement(Index v) const override { return step_.x[static_cast<std::size_t>(v)]; }
  Vec3d turn(Index s) const override { return step_.w[static_cast<std::size_t>(s)]; }
  bool solve(const Field& r, Field& z) override;
  void product(const Field& p, Field& image) const override { hessian_.product(p, nullptr, image); }
  bool solve_skew(const Field& r, const std::vector<Vec3d>& turn, Field& z) override;
  /// The number of solves so far that the general sparse factor had to do.
  int sparse_solves() const { return sparse_solves_; }

 private:
  void build(const Model& m, const Control& c, const Subset& subset);
  void assemble_node(std::size_t i);
  void assemble_row(std::size_t i);
  struct JointSplit;
  JointSplit split(Index joint, Index child) const;
  void add_parent(Index frame, const Mat3<double>& block);
  void by_recursion(const Field& force, Field& out);
  bool refined(const Field& force, Field& out);
  double size(const Field& f) const;
  SparseSystem& sparse();

  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const StepPotential* potential_ = nullptr;
  const Unknowns* z_ = nullptr;
  Tree tree_;
  std::vector<Index> node_of_segment_;  ///< -1 for segments that are in no tree
  std::vector<std::uint8_t> built_fixed_;
  std::vector<FrameControl> built_control_;
  TreeFactor<double> factor_;
  std::vector<Link<double>> links_;
  std::vector<RootVertex<double>> roots_;
  std::vector<ConstraintRow<double>> rows_;
  std::vector<Reframe<double>> reframe_;
  std::vector<Mat3<double>> local_;  ///< per node: stiffness on its frame alone, without the shift
  StepHessian hessian_;
  Shift shift_;
  std::vector<Mat3<double>> extra_;  ///< per vertex: sum of the blocks on it; empty if there are none
  SparseSystem sparse_;
  bool sparse_ready_ = false, only_sparse_ = false;  ///< the latter: blocks on the ends of segments, which are not in the tree
  int sparse_solves_ = 0;
  Field step_, force_, left_, more_;
};

/// This system, or the sparse one where it does not suit.
std::unique_ptr<LinearSystem> make_exact_system(const Model& m, const Control& c);

}  // namespace osier::systems
