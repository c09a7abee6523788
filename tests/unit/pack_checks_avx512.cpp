#include "pack_checks.hpp"

namespace osier::test {

void check_packs_avx512(PackReport& report) {
  PackChecks<Pack<float, 16>>::run(report);
  PackChecks<Pack<double, 8>>::run(report);
}

}  // namespace osier::test
