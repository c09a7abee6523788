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
  /// About the memory that it takes. Triplets dominate: 9 blocks of 9 entries of 16 bytes per segment, 4 per joint, and about as
  /// much for matrix and factor.
  static std::size_t bytes_of(const Subset& part) {
    return std::size_t{2} * 16 * 9 * (9 * part.segments.size() + 4 * part.joints.size()) + 400 * part.vertices.size();
  }

 private:
  /// Which unknowns a node (vertex or frame) has: three, one or two along axes (a hinge, a vertex that is held along single
  /// directions), or none.
  struct NodeUnknowns {
    Index first = -1;
    int count = 0;
    std::array<Vec3d, 2> axis;
    Vec3d direction(int i) const {
      return count < 3 ? axis[static_cast<std::size_t>(i)] : Vec3d{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
    }
  };
  using Sparse = Eigen::SparseMatrix<double>;

  void number(const Model& m, const Control& c, const Subset& subset, bool frames_move);
  void assemble();
  void set_rhs(const Field& r);
  bool set_solution(const Eigen::VectorXd& solution, Field& z) const;

  const Model* model_ = nullptr;
  const Control* control_ = nullptr;
  const Subset* subset_ = nullptr;
  const StepPotential* potential_ = nullptr;
  const Unknowns* z_ = nullptr;
  std::vector<NodeUnknowns> nodes_, pattern_nodes_;
  Index unknowns_ = 0;
  bool pattern_known_ = false, frames_move_ = true;
  std::vector<std::array<Index, 2>> pattern_springs_;
  StepHessian hessian_;
  Field step_;
  std::vector<Eigen::Triplet<double>> triplets_;
  Sparse matrix_;
  Eigen::VectorXd diagonal_, rhs_;
  Eigen::SimplicialLDLT<Sparse> factor_;
};

}  // namespace osier::systems
