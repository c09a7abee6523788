// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

const ChainKernel<float> kChainFloatSse2 = kChainKernel<Pack<float, 4>>;
const ChainKernel<double> kChainDoubleSse2 = kChainKernel<Pack<double, 2>>;

}  // namespace osier::direct
