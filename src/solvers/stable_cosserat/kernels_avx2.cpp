// Kernels of 32 bytes: AVX2 and FMA.
#include "solvers/stable_cosserat/chain_sweep.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainSweep<P>::scratch_bytes, &ChainSweep<P>::step};

const ChainKernel<float> kChainFloatAvx2 = chain<Pack<float, 8>>;
const ChainKernel<double> kChainDoubleAvx2 = chain<Pack<double, 4>>;

}  // namespace osier::stable_cosserat
