// H as a general sparse matrix: LDL^T in a fill-reducing order that is found once per topology, LU where it is not symmetric.
#pragma once

#include <Eigen/SparseCholesky>

#include "linalg/linear_system.hpp"

namespace osier::systems {

class SparseSystem final : public LinearSystem {
 public:
  void forget() override { pattern_known_ = false; }
  void bind(const Model& m, const Control& c) override;
  bool empty() const override { return unknowns_ == 0; }
  void assemble(const IncrementalPotential& potential, const std::vector<Vec3d>& u, const std::vector<Quatd>& q) override;
  Signature factorise(const Shift& shift) override;
  bool solve(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, Direction& d) override;
  bool solve_skew(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw, const std::vector<Vec3d>& turn,
                  Direction& d) override;

 private:
  /// Which unknowns a node (vertex or frame) has: three, one along `axis` (hinge), or none.
  struct NodeUnknowns {
    Index first = -1;
    int count = 0;
    Vec3d axis;
  };
  using Sparse = Eigen::SparseMatrix<double>;

  void set_rhs(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw);
  bool set_direction(const Eigen::VectorXd& step, Direction& d) const;

  const Model* model_ = nullptr;
  std::vector<NodeUnknowns> nodes_, pattern_nodes_;
  Index unknowns_ = 0;
  bool pattern_known_ = false;
  std::vector<Eigen::Triplet<double>> triplets_;
  Sparse matrix_;
  Eigen::VectorXd diagonal_, rhs_;
  Eigen::SimplicialLDLT<Sparse> factor_;
};

}  // namespace osier::systems
