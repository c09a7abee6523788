// Kernels of 64 bytes: AVX-512.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainStep<P>::scratch_bytes, &ChainStep<P>::step};

const ChainKernel<float> kChainFloatAvx512 = chain<Pack<float, 16>>;
const ChainKernel<double> kChainDoubleAvx512 = chain<Pack<double, 8>>;

}  // namespace osier::direct
