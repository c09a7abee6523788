// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainStep<P>::scratch_bytes, &ChainStep<P>::step};

const ChainKernel<float> kChainFloatSse2 = chain<Pack<float, 4>>;
const ChainKernel<double> kChainDoubleSse2 = chain<Pack<double, 2>>;

}  // namespace osier::direct
