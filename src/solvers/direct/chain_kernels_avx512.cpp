// Kernels of 64 bytes: AVX-512.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

const ChainKernel<float> kChainFloatAvx512 = kChainKernel<Pack<float, 16>>;
const ChainKernel<double> kChainDoubleAvx512 = kChainKernel<Pack<double, 8>>;

}  // namespace osier::direct
