// Kernels of 16 bytes: SSE2, or NEON.
#include "solvers/stable_cosserat/chain_sweep.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainSweep<P>::scratch_bytes, &ChainSweep<P>::step};

const ChainKernel<float> kChainFloatSse2 = chain<Pack<float, 4>>;
const ChainKernel<double> kChainDoubleSse2 = chain<Pack<double, 2>>;

}  // namespace osier::stable_cosserat
