// Kernels of one number at a time.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

const ChainKernel<float> kChainFloatOff = kChainKernel<float>;
const ChainKernel<double> kChainDoubleOff = kChainKernel<double>;

}  // namespace osier::direct
