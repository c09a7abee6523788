// Compiled once per instruction set, see exec/simd_target.hpp.
#include "pack_checks.hpp"

#include "exec/simd_target.hpp"

namespace osier::test {

template <Simd S>
void check_packs(PackReport& report) {
  if constexpr (S != Simd::off) {
    PackChecks<NumberOf<float, S>>::run(report);
    PackChecks<NumberOf<double, S>>::run(report);
  }
}
template void check_packs<kSimdTarget>(PackReport& report);

}  // namespace osier::test
