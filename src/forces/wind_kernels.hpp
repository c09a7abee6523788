// The wind's kernel by instruction set.
#pragma once

#include "exec/simd.hpp"
#include "forces/wind_formula.hpp"
#include "osier/types.hpp"

namespace osier {

/// The wind of one moment and what it blows at, as bare arrays: kernels must not share inline functions of containers with the
/// rest of the program (exec/simd.hpp).
struct WindView {
  WindMoment moment;
  const double* radius = nullptr;  ///< of the vertices
  const Vec3d *position, *velocity;
  const double *mass, *rest_length;
  const Index *segment_start, *segment;  ///< Model::vertex_segments
  const Index* segment_vertices;         ///< two for each
  Vec3d* force;
  double* damping;
};

/// Adds the push on the vertices from `begin` to `end`.
using WindKernel = void (*)(const WindView& wind, Index begin, Index end);

/// That of one instruction set.
template <Simd S>
WindKernel wind_kernel_for();
/// `simd` must be available on this machine.
WindKernel wind_kernel(Simd simd);

}  // namespace osier
