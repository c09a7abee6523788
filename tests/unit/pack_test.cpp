// Packs of numbers do lane by lane what one number does.
#include <gtest/gtest.h>

#include "exec/simd.hpp"
#include "pack_checks.hpp"

namespace osier::test {
namespace {

void expect_no_mistake(Simd simd, void (*check)(PackReport&)) {
  if (!simd_available(simd)) GTEST_SKIP() << "this machine has no " << simd_name(simd);
  PackReport report;
  check(report);
  EXPECT_GT(report.checks, 1000);
  for (int i = 0; i < std::min(report.mistakes, PackReport::kRoom); ++i)
    ADD_FAILURE() << report.first[i].operation << " in lane " << report.first[i].lane << ": " << report.first[i].got
                  << " instead of " << report.first[i].expected;
  EXPECT_EQ(report.mistakes, 0);
}

#ifdef OSIER_ONLY_SIMD
TEST(Pack, OfThisMachineDoesWhatNumbersDo) { expect_no_mistake(Simd::OSIER_ONLY_SIMD, check_packs<Simd::OSIER_ONLY_SIMD>); }
#else
TEST(Pack, Of16BytesDoesWhatNumbersDo) { expect_no_mistake(Simd::sse2, check_packs<Simd::sse2>); }
#if defined(__x86_64__)
TEST(Pack, Of32BytesDoesWhatNumbersDo) { expect_no_mistake(Simd::avx2, check_packs<Simd::avx2>); }
TEST(Pack, Of64BytesDoesWhatNumbersDo) { expect_no_mistake(Simd::avx512, check_packs<Simd::avx512>); }
#endif
#endif

}  // namespace
}  // namespace osier::test
