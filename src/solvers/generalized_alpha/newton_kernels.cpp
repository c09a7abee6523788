// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/generalized_alpha/newton_kernels.hpp"

#include "exec/simd_target.hpp"
#include "solvers/generalized_alpha/newton.hpp"

namespace osier::generalized_alpha {

template <class P>
struct LaneNewton {
  static unsigned iterate(const NewtonRule& rule, double* const* arrays, const NewtonGoal& goal, int* iterations) {
    NewtonView<P> v;
    static_cast<NewtonRule&>(v) = rule;
    int next = 0;
    const auto place = [&]<class S>(S*& array, std::size_t) { array = reinterpret_cast<S*>(arrays[next++]); };
    v.each_input(place), v.each_result(place);
    v.dx = reinterpret_cast<P*>(arrays[next]), v.kept = reinterpret_cast<P*>(arrays[next + 1]);
    return bits(RodNewton<P>(v, nullptr).iterate(goal, false, iterations));
  }
};

template <class P>
constexpr LaneKernel kLaneKernel{lanes_of<P>, &LaneNewton<P>::iterate};

template <Simd S>
const LaneKernel& lane_kernel_for() {
  return kLaneKernel<NumberOf<double, S>>;
}
template const LaneKernel& lane_kernel_for<kSimdTarget>();

}  // namespace osier::generalized_alpha
