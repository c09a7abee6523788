// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainStep<P>::scratch_bytes, &ChainStep<P>::step};

const ChainKernel<float> kChainFloatAvx2 = chain<Pack<float, 8>>;
const ChainKernel<double> kChainDoubleAvx2 = chain<Pack<double, 4>>;

}  // namespace osier::direct
