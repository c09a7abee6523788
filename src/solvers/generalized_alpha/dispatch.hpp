// From the instruction set that is wanted to the kernels that were compiled for it. Not for kernels themselves, which would make
// those of all sets with their own.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/generalized_alpha/newton_kernels.hpp"
#include "solvers/generalized_alpha/panel_kernels.hpp"

namespace osier::generalized_alpha {

/// `simd` must be available on this machine.
inline Triangulate triangulate_by(Simd simd) {
  return with_simd(simd, []<Simd S>() { return triangulate_for<S>(); });
}
inline const LaneKernel& lane_kernel_by(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const LaneKernel& { return lane_kernel_for<S>(); });
}

}  // namespace osier::generalized_alpha
