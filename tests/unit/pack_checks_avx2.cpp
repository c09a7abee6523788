#include "pack_checks.hpp"

namespace osier::test {

void check_packs_avx2(PackReport& report) {
  PackChecks<Pack<float, 8>>::run(report);
  PackChecks<Pack<double, 4>>::run(report);
}

}  // namespace osier::test
