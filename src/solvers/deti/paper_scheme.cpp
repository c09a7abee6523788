#include "solvers/deti/paper_scheme.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "exec/aligned.hpp"
#include "solvers/deti/fibre_springs.hpp"

namespace osier::deti {

namespace {

constexpr Index N = kUnknowns;

}  // namespace

PaperScheme::PaperScheme(const FibreView& fibre, const double* origin, double alpha0, double alpha1)
    : origin_(origin, origin + N * fibre.sections), alpha0_(alpha0), alpha1_(alpha1) {
  for (Index i = 0; i < N * fibre.sections; ++i)
    if (fibre.free[i] != 0) free_.push_back(i);
  FibreView there = fibre;
  there.y = origin_.data();
  Springs<double>{there}.assemble<Stiffness::exact>(1);
  const auto n = static_cast<Eigen::Index>(free_.size());
  std::vector<Eigen::Index> place(origin_.size(), -1);
  root_.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    place[static_cast<std::size_t>(free_[static_cast<std::size_t>(i)])] = i;
    root_[i] = std::sqrt(fibre.mass[free_[static_cast<std::size_t>(i)] / N]);
  }
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
  const auto put = [&](Index row, Index column, double x) {
    const Eigen::Index r = place[static_cast<std::size_t>(row)], c = place[static_cast<std::size_t>(column)];
    if (r >= 0 && c >= 0) K(r, c) = K(c, r) = x / (root_[r] * root_[c]);
  };
  for (Index k = 0; k < fibre.sections; ++k)
    for (Index r = 0; r < N; ++r) {
      for (Index c = r; c < N; ++c) put(N * k + r, N * k + c, fibre.diagonal[(k * N + r) * N + c]);
      for (Index c = 0; c < N && k + 1 < fibre.sections; ++c) put(N * k + r, N * (k + 1) + c, fibre.above[(k * N + r) * N + c]);
    }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(K);
  modes_ = solver.eigenvectors();
  lambda_ = solver.eigenvalues().cwiseMax(0.0);
}

bool PaperScheme::is_of(const FibreView& fibre, const double* origin) const {
  if (static_cast<Index>(origin_.size()) != N * fibre.sections || !std::equal(origin_.begin(), origin_.end(), origin))
    return false;
  std::size_t next = 0;
  for (Index i = 0; i < N * fibre.sections; ++i)
    if (fibre.free[i] != 0 && (next == free_.size() || free_[next++] != i)) return false;
  return next == free_.size();
}

PaperScheme::Mode PaperScheme::mode(Eigen::Index i, double h) const {
  const double delta = 0.5 * (alpha0_ + alpha1_ * lambda_[i]), square = lambda_[i] - delta * delta;
  const double x = h * std::sqrt(std::abs(square));
  Mode m{std::exp(-h * delta), 1, 1};
  m.cosine = square >= 0 ? std::cos(x) : std::cosh(x);
  if (x > 0) m.sinc = (square >= 0 ? std::sin(x) : std::sinh(x)) / x;
  return m;
}

Eigen::VectorXd PaperScheme::to_modes(const FibreView&, const double* x) const {
  Eigen::VectorXd scaled(root_.size());
  for (Eigen::Index i = 0; i < scaled.size(); ++i) scaled[i] = root_[i] * x[free_[static_cast<std::size_t>(i)]];
  return modes_.transpose() * scaled;
}

Eigen::VectorXd PaperScheme::rest(const FibreView& fibre, const Eigen::VectorXd& z, double h) const {
  Eigen::VectorXd filtered(z.size());
  for (Eigen::Index i = 0; i < z.size(); ++i) filtered[i] = mode(i, h).sinc * z[i];
  const Eigen::VectorXd x = modes_ * filtered;
  AlignedArray<double> there(fibre.y, fibre.y + N * fibre.sections);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const auto unknown = static_cast<std::size_t>(free_[static_cast<std::size_t>(i)]);
    there[unknown] = origin_[unknown] + x[i] / root_[i];
  }
  FibreView at = fibre;
  at.y = there.data();
  Springs<double>{at}.forces();
  Eigen::VectorXd force(z.size());
  for (Eigen::Index i = 0; i < force.size(); ++i) force[i] = fibre.force[free_[static_cast<std::size_t>(i)]] / root_[i];
  Eigen::VectorXd sum = modes_.transpose() * force;
  for (Eigen::Index i = 0; i < sum.size(); ++i) {
    const double filter = mode(i, h).sinc;
    sum[i] = -filter * filter * (sum[i] + lambda_[i] * filtered[i]);
  }
  return sum;
}

void PaperScheme::start(const FibreView& fibre, double h) const {
  // One step from x = 0: e^(-h delta) sinc h v - h^2/2 of the rest.
  const Eigen::VectorXd v = to_modes(fibre, fibre.velocity);
  const Eigen::VectorXd more = rest(fibre, Eigen::VectorXd::Zero(v.size()), h);
  Eigen::VectorXd w(v.size());
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const Mode m = mode(i, h);
    w[i] = m.decay * m.sinc * v[i] - 0.5 * h * more[i];
  }
  const Eigen::VectorXd x = modes_ * w;
  for (Eigen::Index i = 0; i < x.size(); ++i) fibre.w[free_[static_cast<std::size_t>(i)]] = x[i] / root_[i];
}

void PaperScheme::step(const FibreView& fibre, double h) const {
  std::vector<double> before(origin_.size()), now(origin_.size());
  for (Index i = 0; i < N * fibre.sections; ++i) {
    const auto at = static_cast<std::size_t>(i);
    before[at] = fibre.y[i] - origin_[at];
    if (fibre.free[i] == 0) fibre.w[i] = (fibre.target[i] - fibre.y[i]) / h;
    fibre.y[i] = fibre.free[i] == 0 ? fibre.target[i] : fibre.y[i] + h * fibre.w[i];
    now[at] = fibre.y[i] - origin_[at];
    fibre.velocity[i] = fibre.w[i];
  }
  const Eigen::VectorXd z0 = to_modes(fibre, before.data()), z1 = to_modes(fibre, now.data()), more = rest(fibre, z1, h);
  Eigen::VectorXd w(z0.size());
  for (Eigen::Index i = 0; i < w.size(); ++i) {
    const Mode m = mode(i, h);
    w[i] = (2 * m.decay * m.cosine * z1[i] - m.decay * m.decay * z0[i] - h * h * more[i] - z1[i]) / h;
  }
  const Eigen::VectorXd x = modes_ * w;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const Index unknown = free_[static_cast<std::size_t>(i)];
    fibre.w[unknown] = x[i] / root_[i];
  }
  for (Index i = 0; i < N * fibre.sections; ++i) fibre.velocity[i] = 0.5 * (fibre.velocity[i] + fibre.w[i]);
}

}  // namespace osier::deti
