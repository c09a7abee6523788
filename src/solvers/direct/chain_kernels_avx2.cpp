// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

const ChainKernel<float> kChainFloatAvx2 = kChainKernel<Pack<float, 8>>;
const ChainKernel<double> kChainDoubleAvx2 = kChainKernel<Pack<double, 4>>;

}  // namespace osier::direct
