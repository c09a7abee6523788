// Kernels of 64 bytes: AVX-512.
#include "solvers/stable_cosserat/chain_sweep.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainSweep<P>::scratch_bytes, &ChainSweep<P>::step};

const ChainKernel<float> kChainFloatAvx512 = chain<Pack<float, 16>>;
const ChainKernel<double> kChainDoubleAvx512 = chain<Pack<double, 8>>;

}  // namespace osier::stable_cosserat
