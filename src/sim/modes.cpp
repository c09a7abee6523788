#include "sim/modes.hpp"

#include <Eigen/SparseCore>
#include <Spectra/MatOp/SparseCholesky.h>
#include <Spectra/MatOp/SparseSymMatProd.h>
#include <Spectra/MatOp/SymShiftInvert.h>
#include <Spectra/SymGEigsShiftSolver.h>
#include <Spectra/SymGEigsSolver.h>
#include <algorithm>
#include <cmath>

#include "osier/error.hpp"
#include "solvers/step_hessian.hpp"

namespace osier {

namespace {

using Sparse = Eigen::SparseMatrix<double>;
using systems::StepHessian;

/// Which unknowns vertices and frames have: three each, one about the axis of a hinge, or none.
struct Numbering {
  struct Node {
    int first = 0, count = 0;
    Vec3d axis;
  };
  std::vector<Node> nodes;  ///< vertices first, then segments
  int size = 0;

  Numbering(const Model& m, const Control& c) : nodes(static_cast<std::size_t>(m.vertex_count() + m.segment_count())) {
    const auto give = [&](Index n, int count, const Vec3d& axis = {}) {
      nodes[static_cast<std::size_t>(n)] = {size, count, axis};
      size += count;
    };
    for (Index v = 0; v < m.vertex_count(); ++v)
      if (m.vertex_alive[v] && !c.vertex_fixed[v]) give(v, 3);
    for (Index s = 0; s < m.segment_count(); ++s) {
      if (!m.segment_alive[s] || c.frame_control[s] == FrameControl::fixed) continue;
      if (c.frame_control[s] == FrameControl::hinged) give(m.vertex_count() + s, 1, c.frame_hinge_axis[s]);
      else give(m.vertex_count() + s, 3);
    }
  }
  static Vec3d axis(const Node& n, int i) {
    return n.count == 1 ? n.axis : Vec3d{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
  }
  void add(std::vector<Eigen::Triplet<double>>& list, Index row, Index col, const Mat3<double>& block) const {
    if (static_cast<std::size_t>(std::max(row, col)) >= nodes.size()) return;  // the frame of a clamp
    const Node &r = nodes[static_cast<std::size_t>(row)], &s = nodes[static_cast<std::size_t>(col)];
    for (int i = 0; i < r.count; ++i)
      for (int j = 0; j < s.count; ++j) list.emplace_back(r.first + i, s.first + j, dot(axis(r, i), block * axis(s, j)));
  }
  Sparse matrix(const std::vector<Eigen::Triplet<double>>& list) const {
    Sparse a(size, size);
    a.setFromTriplets(list.begin(), list.end());
    return a;
  }
};

Sparse stiffness(const Numbering& numbering, const Simulation& s) {
  StepPotential potential;
  potential.begin(s.model(), s.control(), s.state(), 0);
  const Unknowns z{std::vector<Vec3d>(s.state().vertex_position.size()), s.state().frame_rotation};
  StepHessian hessian;
  hessian.assemble(potential, z);
  std::vector<Eigen::Triplet<double>> list;
  hessian.each_block([&](Index row, Index col, const Mat3<double>& block) { numbering.add(list, row, col, block); });
  return numbering.matrix(list);
}

Sparse inertia(const Numbering& numbering, const Simulation& s) {
  const Model& m = s.model();
  std::vector<Eigen::Triplet<double>> list;
  for (Index v = 0; v < m.vertex_count(); ++v) numbering.add(list, v, v, identity3(m.vertex_mass[v]));
  for (Index f = 0; f < m.segment_count(); ++f)
    if (m.segment_inertia[f].any())
      numbering.add(list, m.vertex_count() + f, m.vertex_count() + f,
                    rotated_diagonal(rotation_matrix(s.state().frame_rotation[f]), cast<double>(m.segment_inertia[f])));
  return numbering.matrix(list);
}

/// A turning stiffness of next to nothing holds what spins at no cost.
void hold_spins(Sparse& k, const Numbering& numbering, const Model& m) {
  constexpr double kShare = 1e-12;
  for (Index s = 0; s < m.segment_count(); ++s) {
    const auto& node = numbering.nodes[static_cast<std::size_t>(m.vertex_count() + s)];
    for (int i = node.first; i < node.first + node.count; ++i) k.coeffRef(i, i) += kShare * std::abs(k.coeff(i, i));
  }
}

Mode mode_of(double value, const Eigen::VectorXd& x, const Numbering& numbering, const Model& m) {
  Mode mode{value, std::vector<Vec3d>(static_cast<std::size_t>(m.vertex_count()))};
  double largest = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    const auto& node = numbering.nodes[static_cast<std::size_t>(v)];
    if (node.count == 3) mode.shift[v] = {x[node.first], x[node.first + 1], x[node.first + 2]};
    largest = std::max(largest, norm(mode.shift[v]));
  }
  for (Vec3d& u : mode.shift) u = (largest > 0 ? 1 / largest : 0) * u;
  return mode;
}

constexpr int kMostIterations = 2000;
constexpr double kTolerance = 1e-10;

/// The number of vectors that Lanczos keeps.
int basis(int count, int size) { return std::min(size, std::max(4 * count + 20, 40)); }

}  // namespace

std::vector<Mode> vibration_modes(const Simulation& simulation, int count) {
  const Model& m = simulation.model();
  const Numbering numbering(m, simulation.control());
  Sparse k = stiffness(numbering, simulation);
  const Sparse mass = inertia(numbering, simulation);
  hold_spins(k, numbering, m);
  count = std::min(count, numbering.size - 1);
  if (count < 1) throw RunError("nothing is free to move");
  // Just below 0, so that motion of the whole, which costs nothing, is met as well. The scale is that of the softest bending.
  double length = 0, bending = 0, weight = 0;
  for (const double l : m.segment_rest_length) length += l;
  for (Index j = 0; j < m.joint_count(); ++j)
    bending = std::max(bending, 0.25 * m.joint_stiffness[j].largest() * m.joint_length[j]);
  for (const double v : m.vertex_mass) weight += v;
  const double scale = bending > 0 ? bending / (weight * length * length * length) : 1;
  using Solve = Spectra::SymShiftInvert<double, Eigen::Sparse, Eigen::Sparse>;
  using Product = Spectra::SparseSymMatProd<double>;
  Solve solve(k, mass);
  Product product(mass);
  Spectra::SymGEigsShiftSolver<Solve, Product, Spectra::GEigsMode::ShiftInvert> solver(
      solve, product, count, basis(count, numbering.size), -1e-3 * scale);
  // A start without a share in frames, which have no mass.
  Eigen::VectorXd start(numbering.size), from(numbering.size);
  for (int i = 0; i < numbering.size; ++i) from[i] = std::sin(1.0 + 1.7 * i) + 0.3;
  from = mass * from;
  solve.perform_op(from.data(), start.data());
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestMagn, kMostIterations, kTolerance, Spectra::SortRule::SmallestAlge);
  if (solver.info() != Spectra::CompInfo::Successful) throw RunError("the modes did not converge; ask for fewer");
  std::vector<Mode> modes;
  const Eigen::VectorXd values = solver.eigenvalues();
  const Eigen::MatrixXd shapes = solver.eigenvectors();
  for (Eigen::Index i = 0; i < values.size(); ++i) modes.push_back(mode_of(values[i], shapes.col(i), numbering, m));
  std::sort(modes.begin(), modes.end(), [](const Mode& a, const Mode& b) { return a.value < b.value; });
  return modes;
}

std::vector<Mode> buckling_modes(const Simulation& unloaded, const Simulation& loaded, double share, int count) {
  const Model& m = unloaded.model();
  const Numbering numbering(m, loaded.control());
  Sparse k = stiffness(numbering, unloaded);
  const Sparse softening = (k - stiffness(numbering, loaded)) / share;
  hold_spins(k, numbering, m);
  count = std::min(count, numbering.size - 1);
  if (count < 1) throw RunError("nothing is free to move");
  using Product = Spectra::SparseSymMatProd<double>;
  using Factor = Spectra::SparseCholesky<double>;
  Product product(softening);
  Factor factor(k);
  if (factor.info() != Spectra::CompInfo::Successful)
    throw RunError("without loads the rods are unstable or free to move as a whole: hold them");
  Spectra::SymGEigsSolver<Product, Factor, Spectra::GEigsMode::Cholesky> solver(product, factor, count,
                                                                                basis(count, numbering.size));
  solver.init();
  solver.compute(Spectra::SortRule::LargestAlge, kMostIterations, kTolerance);
  if (solver.info() != Spectra::CompInfo::Successful) throw RunError("the modes did not converge; ask for fewer");
  std::vector<Mode> modes;
  const Eigen::VectorXd values = solver.eigenvalues();
  const Eigen::MatrixXd shapes = solver.eigenvectors();
  for (Eigen::Index i = 0; i < values.size(); ++i)
    if (values[i] > 1e-12) modes.push_back(mode_of(1 / values[i], shapes.col(i), numbering, m));
  std::sort(modes.begin(), modes.end(), [](const Mode& a, const Mode& b) { return a.value < b.value; });
  return modes;
}

}  // namespace osier
