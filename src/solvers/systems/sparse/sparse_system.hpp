// H as a general sparse matrix: LDL^T in a fill-reducing order that is found once per topology, LU where it is not symmetric.
#pragma once

#include <Eigen/SparseCholesky>

#include "solvers/step_hessian.hpp"

namespace osier::systems {

class SparseSystem final : public LinearSystem {
 public:
  void forget() override { pattern_known_ = false; }
  void bind(const Model& m, const Control& c, const Subset& subset, double h) override;
  bool empty() const override { return unknowns_ == 0; }
  /// Always with the exact curvature.
  Signature linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) override;
  /// Another shift of the same H.
  Signature factorise(const Shift& shift);
  bool step(const Accuracy& accuracy) override;
  Vec3d displacement(Index v) const override { return step_.x[static_cast<std::size_t>(v)]; }
  Vec3d turn(Index s) const override { return step_.w[static_cast<std::size_t>(s)]; }
  bool solve(const Field& r, Field& z) override;
  void product(const Field& p, Field& image) const override { hessian_.product(p, nullptr, image); }
  bool solve_skew(const Field& r, const std::vector<Vec3d>& turn, Field& z) override;

 private:
  /// Which unknowns a node (vertex or frame) has: three, one along `axis` (hinge), or none.
  struct NodeUnknowns {
    Index first = -1;
    int count = 0;
    Vec3d axis;
  };
  using Sparse = Eigen::SparseMatrix<double>;

  void assemble();
  void set_rhs(const Field& r);
  bool set_solution(const Eigen::VectorXd& solution, Field& z) const;

  const Model* model_ = nullptr;
  const StepPotential* potential_ = nullptr;
  const Unknowns* z_ = nullptr;
  std::vector<NodeUnknowns> nodes_, pattern_nodes_;
  Index unknowns_ = 0;
  bool pattern_known_ = false;
  StepHessian hessian_;
  Field step_;
  std::vector<Eigen::Triplet<double>> triplets_;
  Sparse matrix_;
  Eigen::VectorXd diagonal_, rhs_;
  Eigen::SimplicialLDLT<Sparse> factor_;
};

}  // namespace osier::systems
