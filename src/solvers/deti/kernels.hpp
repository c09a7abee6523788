// The kernels of a step by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

struct FibreKernel {
  int lanes;
  /// The first mean velocity, of fibres that begin to move, and a step.
  void (*start)(const FibreView& fibre, const StepRule& rule);
  void (*step)(const FibreView& fibre, const StepRule& rule);
  /// Forces alone, which is most of what an explicit step would take.
  void (*forces)(const FibreView& fibre);
  /// Of a row of 12x12 blocks A, B_1, B_2, ... the Cholesky factor R of A, of which the upper triangle is given, and R^-T B_k.
  /// False: A is not positive.
  bool (*reduce)(double* row, std::size_t count);
  /// C_k <- C_k - A^T B_k of blocks in a row.
  void (*take_away)(const double* a, const double* b, double* c, std::size_t count);
};

template <Simd S>
const FibreKernel& fibre_kernel_for();
}  // namespace osier::deti
