#include "pack_checks.hpp"

namespace osier::test {

void check_packs_sse2(PackReport& report) {
  PackChecks<Pack<float, 4>>::run(report);
  PackChecks<Pack<double, 2>>::run(report);
}

}  // namespace osier::test
