// Kernels of one number at a time.
#include "solvers/stable_cosserat/chain_sweep.hpp"
#include "solvers/stable_cosserat/kernels.hpp"

namespace osier::stable_cosserat {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainSweep<P>::scratch_bytes, &ChainSweep<P>::step};

const ChainKernel<float> kChainFloatOff = chain<float>;
const ChainKernel<double> kChainDoubleOff = chain<double>;

}  // namespace osier::stable_cosserat
