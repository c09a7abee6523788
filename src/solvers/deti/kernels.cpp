// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/deti/kernels.hpp"

#include "exec/simd_target.hpp"
#include "solvers/deti/fibre_step.hpp"

namespace osier::deti {

template <class P>
struct Kernel {
  static void start(const FibreView& fibre, const StepRule& rule) { FibreStep<P>(fibre).start(rule); }
  static void step(const FibreView& fibre, const StepRule& rule) { FibreStep<P>(fibre).step(rule); }
  static void forces(const FibreView& fibre) { Springs<P>{fibre}.forces(); }
};

template <class P>
constexpr FibreKernel kFibreKernel{lanes_of<P>, &Kernel<P>::start, &Kernel<P>::step, &Kernel<P>::forces};

template <Simd S>
const FibreKernel& fibre_kernel_for() {
  return kFibreKernel<NumberOf<double, S>>;
}
template const FibreKernel& fibre_kernel_for<kSimdTarget>();

}  // namespace osier::deti
