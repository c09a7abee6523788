// L D L^T of small matrices: both forms against each other, and what they do with matrices that have no inverse.
#include "linalg/small_ldl.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace osier {
namespace {

/// A positive 5 x 5 matrix, lower triangle.
std::vector<double> positive_matrix() {
  constexpr int kSize = 5;
  std::vector<double> a(kSize * (kSize + 1) / 2);
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j <= i; ++j) a[static_cast<std::size_t>(triangle(i, j))] = 1.0 / (i + j + 1) + (i == j ? 0.1 * (i + 1) : 0);
  return a;
}

TEST(SmallLdl, BothFormsSolveTheSameSystem) {
  constexpr int kSize = 5;
  std::vector<double> matrix = positive_matrix();
  double a[kSize * (kSize + 1) / 2], x[kSize], y[2 * kSize];
  std::copy(matrix.begin(), matrix.end(), a);
  for (int i = 0; i < kSize; ++i) y[2 * i] = x[i] = i - 1.5;
  Ldl<kSize, double>(a).solve(x);
  factor_ldl(matrix.data(), kSize, 0.0, false, [](int i) { FAIL() << "no pivot in row " << i; });
  solve_ldl(matrix.data(), kSize, y, 2);
  for (int i = 0; i < kSize; ++i) {
    EXPECT_NEAR(x[i], y[2 * i], 1e-13);
    double b = 0;
    for (int j = 0; j < kSize; ++j) b += a[triangle(i, j)] * x[j];
    EXPECT_NEAR(b, i - 1.5, 1e-13);
  }
}

TEST(SmallLdl, ARedundantRowIsReportedAndTakesNoPart) {
  // The third row is the sum of the first two.
  double a[6] = {2, 1, 3, 3, 4, 7}, y[3] = {1, 2, 3};
  int null_row = -1;
  factor_ldl(a, 3, 1e-12, false, [&](int i) { null_row = i; });
  EXPECT_EQ(null_row, 2);
  solve_ldl(a, 3, y);
  EXPECT_EQ(y[2], 0);
  EXPECT_NEAR(2 * y[0] + y[1], 1, 1e-14);
  EXPECT_NEAR(y[0] + 3 * y[1], 2, 1e-14);
}

TEST(SmallLdl, ANegativePivotIsKeptOnlyWhereEitherSignIsAllowed) {
  double either[3] = {1, 2, 1}, positive[3] = {1, 2, 1};
  int reported = 0;
  factor_ldl(either, 2, 1e-12, true, [&](int) { ++reported; });
  EXPECT_EQ(reported, 0);
  EXPECT_EQ(either[2], -3);
  factor_ldl(positive, 2, 1e-12, false, [&](int) { ++reported; });
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(positive[2], 0);
}

}  // namespace
}  // namespace osier
