// The sine of the kernels against the C library's, whose error is below a unit in the last place.
#include "math/sine.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "support/random.hpp"

namespace osier::test {
namespace {

constexpr double kError = 4e-16;  ///< what math/sine.hpp promises

TEST(Sine, IsWithinItsBoundFromZeroToThreeMillion) {
  Random random(5);
  double worst = 0;
  for (double size = 1e-3; size < 3.2e6; size *= 1.7)
    for (int i = 0; i < 4000; ++i) {
      const double x = random.range(-size, size);
      worst = std::max(worst, std::abs(sine(x) - std::sin(x)));
    }
  EXPECT_LT(worst, kError);
  EXPECT_GT(worst, 0) << "nothing was compared";
}

TEST(Sine, IsWithinItsBoundAroundMultiplesOfAQuarterTurn) {
  for (int n : {1, 2, 3, 4, 7, 100, 12345, 999999, 2000000})
    for (double off : {0.0, 1e-15, -1e-12, 1e-9, -1e-6, 1e-3}) {
      const double x = n * (3.14159265358979323846 / 2) + off;
      EXPECT_NEAR(sine(x), std::sin(x), kError) << n << " " << off;
      EXPECT_EQ(sine(-x), -sine(x));
    }
}

TEST(Sine, OfSmallArgumentsIsGoodToTheLastBits) {
  for (double x = 1; x > 1e-300; x *= 0.37) EXPECT_NEAR(sine(x) / std::sin(x), 1, kError) << x;
  EXPECT_EQ(sine(0.0), 0.0);
}

TEST(Sine, OfLargeArgumentsIsTheCLibrarys) {
  for (double x = 3.3e6; x < 1e300; x *= 97.3) {
    EXPECT_EQ(sine(x), std::sin(x)) << x;
    EXPECT_EQ(sine(-x), std::sin(-x)) << x;
  }
  EXPECT_TRUE(std::isnan(sine(std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(std::isnan(sine(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace osier::test
