// The basis is orthogonalised against all of its vectors, so that rounding does not repeat eigenvalues. How many vectors are
// needed is about the root of the largest eigenvalue of A, h times the highest frequency: for cosines the bound of the paper,
// which is that of e^-A, predicts too few beyond some hundred.
#include "solvers/deti/krylov.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "solvers/deti/fibre_springs.hpp"
#include "solvers/deti/mode_functions.hpp"

namespace osier::deti {

namespace {

constexpr int kBetweenChecks = 4;

}  // namespace

KrylovFilter::KrylovFilter(const FibreView& fibre, const StepRule& rule, double tolerance, double tau)
    : f_(fibre), rule_(rule), tolerance_(tolerance), tau_(tau) {
  const Index n = f_.sections * kUnknowns;
  root_.resize(static_cast<std::size_t>(n));
  work_.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) root_[static_cast<std::size_t>(i)] = std::sqrt(f_.mass[i / kUnknowns]);
}

/// out = A x
void KrylovFilter::multiply(const double* x, double* out) {
  for (std::size_t i = 0; i < work_.size(); ++i) work_[i] = f_.free[i] * x[i] / root_[i];
  Springs<double>{f_}.product<Stiffness::gauss_newton>(rule_.h * rule_.h, work_.data(), out);
  for (std::size_t i = 0; i < work_.size(); ++i) out[i] /= root_[i];
}

/// vector <- f(A) vector
template <class F>
void KrylovFilter::apply(double* vector, const F& f) {
  const auto n = static_cast<Eigen::Index>(work_.size());
  Eigen::Map<Eigen::VectorXd> b(vector, n);
  const double size = b.norm();
  if (!(size > 0)) return;
  std::vector<Eigen::VectorXd> basis{b / size};
  std::vector<double> alpha, beta;
  Eigen::VectorXd next(n), found, before;
  double largest = 0;
  for (;;) {
    const std::size_t m = basis.size();
    multiply(basis.back().data(), next.data());
    alpha.push_back(basis.back().dot(next));
    for (int pass = 0; pass < 2; ++pass)
      for (const Eigen::VectorXd& v : basis) next -= v.dot(next) * v;
    const double rest = next.norm();
    largest = std::max({largest, std::abs(alpha.back()), rest});
    const bool complete = static_cast<Eigen::Index>(m) == n || !(rest > 1e-13 * largest);
    if (complete || m % kBetweenChecks == 0) {
      const auto size_of_basis = static_cast<Eigen::Index>(m);
      Eigen::VectorXd diagonal = Eigen::Map<Eigen::VectorXd>(alpha.data(), size_of_basis);
      Eigen::VectorXd off = Eigen::Map<Eigen::VectorXd>(beta.data(), size_of_basis - 1);
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes;
      modes.computeFromTridiagonal(diagonal, off);
      Eigen::VectorXd weights = modes.eigenvectors().row(0).transpose();
      for (Eigen::Index i = 0; i < size_of_basis; ++i) weights(i) *= f(std::max(modes.eigenvalues()(i), 0.0));
      found = modes.eigenvectors() * weights;
      // What the last vectors have changed is an estimate of the error before them, and more than that of now.
      double change = found.norm();
      if (before.size() > 0) {
        Eigen::VectorXd difference = found;
        difference.head(before.size()) -= before;
        change = difference.norm();
      }
      if (complete || change <= tolerance_ * found.norm()) break;
      before = found;
    }
    beta.push_back(rest);
    basis.push_back(next / rest);
  }
  dimension_ = std::max(dimension_, static_cast<int>(basis.size()));
  b.setZero();
  for (std::size_t i = 0; i < basis.size(); ++i) b += size * found(static_cast<Eigen::Index>(i)) * basis[i];
}

void KrylovFilter::operator()(bool damps) {
  const std::size_t n = work_.size();
  const double h = rule_.h;
  for (std::size_t i = 0; i < n; ++i) f_.force[i] /= root_[i];
  apply(f_.force, [&](double y) { return saturated_mode(rule_.variant, rule_.rho, y / (h * h), h, 0, tau_).Psi / (h * h); });
  for (std::size_t i = 0; i < n; ++i) f_.force[i] /= root_[i];
  std::fill_n(f_.r2, n, 0.0);
  if (!damps || (rule_.rho == 1 && tau_ == 0)) return;
  // What is held takes part in K w with its motion.
  Springs<double>{f_}.product<Stiffness::gauss_newton>(h * h, f_.w, f_.r2);
  for (std::size_t i = 0; i < n; ++i) f_.r2[i] /= root_[i];
  apply(f_.r2, [&](double y) {
    constexpr double kRigid = 1e-12;
    if (y < kRigid) return tau_ / h;
    const double lost = -std::expm1(-tau_ * y / h);
    return (lost + (1 - lost) * (1 - rule_.rho) * unresolved(rule_.variant, y)) / y;
  });
  for (std::size_t i = 0; i < n; ++i) f_.r2[i] /= root_[i];
}

}  // namespace osier::deti
