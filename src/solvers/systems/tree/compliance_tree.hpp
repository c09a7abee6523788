// The Gauss-Newton system of a step by the recursion along a spanning tree in compliance form (tree_factor.hpp): links may be as
// stiff as one likes. The forces through the links in the last solve are kept from step to step: the curvature of tension and
// compression rests upon them (link_assembly.hpp).
#pragma once

#include <optional>

#include "core/archive.hpp"
#include "exec/parallel.hpp"
#include "solvers/step_hessian.hpp"
#include "solvers/systems/tree/tree.hpp"
#include "solvers/systems/tree/tree_factor.hpp"

namespace osier::systems {

template <class T>
class ComplianceTree final : public LinearSystem {
 public:
  explicit ComplianceTree(int threads = 1) : executor_(threads) {}
  /// Sets the tree for the next bind(), where it is known already.
  void adopt(Tree tree) { next_tree_ = std::move(tree); }

  void forget() override { forget_forces(); }
  void bind(const Model& m, const Control& c, const Subset& subset, double h) override;
  Signature linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) override;
  bool step(const Accuracy& accuracy) override;
  Vec3d displacement(Index v) const override;
  Vec3d turn(Index s) const override;
  bool solve(const Field& r, Field& z) override;
  /// The product with the exact Hessian.
  void product(const Field& p, Field& image) const override { hessian_.product(p, image); }
  bool has_couples() const override;
  void forget_forces() override { std::fill(link_force_.begin(), link_force_.end(), Vec3<T>{}); }
  void carry(Archive& archive) override { archive(link_force_); }

  std::size_t bytes() const override;
  static std::size_t bytes(const Model& m, const Tree& tree);

 private:
  const std::vector<TreeNode>& nodes() const { return tree_.nodes; }
  void plan_factor(const std::vector<ConstraintRow<T>>& extra);
  std::vector<ConstraintRow<T>> rows_of_blocks(std::span<const VertexBlock> blocks) const;
  bool is_positive();

  Executor executor_;
  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const Subset* subset_ = nullptr;
  std::optional<Tree> next_tree_;
  Tree tree_;
  TreeFactor<T> factor_;
  std::vector<RootVertex<T>> roots_;
  std::vector<Vec3<T>> link_force_;           ///< per segment: force of the last solve
  std::vector<Index> vertex_place_;           ///< per vertex: the node whose far end it is, ~root, or kNowhere
  std::vector<Index> segment_node_;           ///< per segment: its node, or kNowhere
  std::vector<ConstraintRow<T>> extra_rows_;  ///< constraint rows of blocks on the two ends of segments
  std::vector<Mat3<double>> extra_;           ///< per vertex: sum of the blocks on it; empty if there are none
  std::size_t planned_extra_ = 0;
  bool frames_move_ = true;
  mutable LazyHessian hessian_;
};

}  // namespace osier::systems
