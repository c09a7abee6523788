// Kernels of one number at a time.
#include "solvers/direct/chain_kernels.hpp"

namespace osier::direct {

template <class P>
constexpr ChainKernel<ScalarOf<P>> chain{lanes_of<P>, &ChainStep<P>::scratch_bytes, &ChainStep<P>::step};

const ChainKernel<float> kChainFloatOff = chain<float>;
const ChainKernel<double> kChainDoubleOff = chain<double>;

}  // namespace osier::direct
