// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/stable_cosserat/kernels_by_type.hpp"

namespace osier::stable_cosserat {

template const Kernels<float>& kernels_for<float, Simd::sse2>();
template const Kernels<double>& kernels_for<double, Simd::sse2>();

}  // namespace osier::stable_cosserat
