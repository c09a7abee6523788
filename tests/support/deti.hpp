// A fibre on its own, without a scene: the rod of length 1 and EI = 1 whose numbers are known.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "exec/aligned.hpp"
#include "math/quat.hpp"
#include "solvers/deti/fibre_memory.hpp"
#include "solvers/deti/fibre_springs.hpp"
#include "solvers/deti/fibre_step.hpp"

namespace osier::test {

inline Quatd along_x() { return quat_from_frame(Vec3d{0, 1, 0}, Vec3d{0, 0, 1}, Vec3d{1, 0, 0}); }

struct RodChoice {
  int n = 16;
  double EA = 0;  ///< 0: soft
  double aspect = 1.5;
  double sec = 1;
  double GJ = 0.6;
};

inline deti::Fibre straight_fibre(const RodChoice& c) {
  const double h = 1.0 / c.n, a = h / c.aspect;
  const deti::Scaffold s = deti::scaffold({1, c.GJ, c.EA}, h, a, c.sec, c.EA == 0);
  deti::Shape rest;
  std::vector<double> mass;
  for (int k = 0; k <= c.n; ++k) {
    rest.position.push_back({k * h, 0, 0});
    rest.frame.push_back(along_x());
    mass.push_back(k == 0 || k == c.n ? 0.5 * h : h);
  }
  return deti::make_fibre(rest, std::vector<deti::CuboidStiffness>(static_cast<std::size_t>(c.n), s.k), mass, a, false);
}

/// Its unknowns and one after the other of its steps.
class LoneFibre {
 public:
  static constexpr int N = deti::kUnknowns;
  deti::Fibre fibre;
  deti::FibreView view;
  deti::StepRule rule;

  explicit LoneFibre(deti::Fibre f, deti::Variant variant = deti::Variant::double_pole) : fibre(std::move(f)) {
    model_.assign(deti::model_numbers(fibre.size(), 1), 0.0);
    step_.assign(deti::step_numbers(fibre.size(), 1, variant), 0.0);
    view = deti::view_of(fibre.size(), 1, variant, model_.data(), step_.data());
    deti::load_fibre(fibre, view, 0);
    rule.variant = variant;
    for (int i = 0; i < size(); ++i) view.free[i] = 1;
    for (Index k = 0; k < fibre.size(); ++k) view.starting[k] = 1;
  }
  LoneFibre(const LoneFibre&) = delete;
  int size() const { return N * fibre.size(); }
  /// Straight along x, and clamped at the start.
  void clamp() {
    const double h = 1.0 / (fibre.size() - 1);
    for (Index k = 0; k < fibre.size(); ++k) deti::put_section({k * h, 0, 0}, along_x(), fibre.side, view.y + N * k);
    hold(0);
  }
  void hold(Index k) {
    for (int i = N * k; i < N * (k + 1); ++i) view.free[i] = 0, view.target[i] = view.y[i];
  }
  void gravity(double g) {
    for (Index k = 0; k < fibre.size(); ++k) view.load[N * k + 2] = -g * fibre.mass[static_cast<std::size_t>(k)];
  }
  void begin(double h, double rho, double alpha0 = 0) {
    rule.h = h, rule.rho = rho;
    const double x = alpha0 * h, p0 = x > 0 ? -std::expm1(-x) / x : 1;
    for (Index k = 0; k < fibre.size(); ++k) {
      view.decay[k] = std::exp(-x);
      view.reach[k] = std::sqrt(p0);
      view.lead[k] = x > 1e-4 ? (1 - p0) / x : 0.5 - x / 6;
    }
    deti::FibreStep<double>(view).start(rule);
  }
  void step() { deti::FibreStep<double>(view).step(rule); }
  Vec3d centre(Index k) const { return {view.y[N * k], view.y[N * k + 1], view.y[N * k + 2]}; }
  Vec3d tip() const { return centre(fibre.size() - 1); }
  deti::Springs<double> springs() const { return {view}; }
  double kinetic() const {
    double sum = 0;
    for (Index k = 0; k < fibre.size(); ++k)
      for (int i = N * k; i < N * (k + 1); ++i)
        if (view.free[i] != 0) sum += 0.5 * fibre.mass[static_cast<std::size_t>(k)] * view.velocity[i] * view.velocity[i];
    return sum;
  }
  double potential() const {
    double work = 0;
    for (int i = 0; i < size(); ++i) work += view.load[i] * view.y[i];
    return springs().energy() - work;
  }
  /// K as a dense matrix.
  template <deti::Stiffness S>
  Eigen::MatrixXd stiffness() {
    springs().assemble<S>(1.0);
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(size(), size());
    for (Index k = 0; k < fibre.size(); ++k)
      for (int r = 0; r < N; ++r) {
        for (int c = r; c < N; ++c) K(N * k + r, N * k + c) = K(N * k + c, N * k + r) = view.diagonal[(N * k + r) * N + c];
        for (int c = 0; c < N && k + 1 < fibre.size(); ++c)
          K(N * k + r, N * k + N + c) = K(N * k + N + c, N * k + r) = view.above[(N * k + r) * N + c];
      }
    return K;
  }
  /// Of the unknowns that are free.
  Eigen::MatrixXd free_part(const Eigen::MatrixXd& K) const {
    std::vector<int> list;
    for (int i = 0; i < size(); ++i)
      if (view.free[i] != 0) list.push_back(i);
    return K(list, list);
  }
  Eigen::VectorXd free_masses() const {
    std::vector<double> list;
    for (int i = 0; i < size(); ++i)
      if (view.free[i] != 0) list.push_back(fibre.mass[static_cast<std::size_t>(i / N)]);
    return Eigen::Map<Eigen::VectorXd>(list.data(), static_cast<Eigen::Index>(list.size()));
  }

 private:
  AlignedArray<double> model_, step_;
};

}  // namespace osier::test
