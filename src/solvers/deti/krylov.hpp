// Functions of a fibre's stiffness without a factorisation, by Lanczos' method: f(A) b = |b| V f(T) e_1 with A = h^2 M^-1/2 K
// M^-1/2, an orthonormal basis V of b, A b, A^2 b, ... and the tridiagonal T = V^T A V. The basis grows until f(T) e_1 has
// settled.
#pragma once

#include "exec/aligned.hpp"
#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

/// Stands for the filter of a step (FibreStep::start_with, step_with). What damps in proportion to stiffness is in it.
class KrylovFilter {
 public:
  /// `tolerance`: of functions, relative. `tau`: damping over stiffness of all springs [s].
  KrylovFilter(const FibreView& fibre, const StepRule& rule, double tolerance, double tau);
  void operator()(bool damps);
  /// Largest basis so far.
  int dimension() const { return dimension_; }

 private:
  template <class F>
  void apply(double* vector, const F& f);
  void multiply(const double* x, double* out);

  FibreView f_;
  StepRule rule_;
  double tolerance_, tau_;
  int dimension_ = 0;
  AlignedArray<double> root_, work_;
};

}  // namespace osier::deti
