// One source for every backend: a kernel's results as the host computes them, and as the twin of the device does. The device
// itself is asked by tests/parity/device.cu.
#include <cstring>
#include <gtest/gtest.h>

#include "exec/pack.hpp"
#include "exec/reduce.hpp"
#include "parity/problems.hpp"

namespace osier::parity {
namespace {

using systems::AnisotropicLink;
using systems::IsotropicLink;

template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(std::memcmp(&a[i], &b[i], sizeof(T)), 0) << what << ", number " << i << ": " << a[i] << " and " << b[i];
}

template <class T>
void expect_energies_alike() {
  constexpr Index kCount = 37;
  const std::vector<T> in = energy_inputs<T>(kCount);
  std::vector<T> out(static_cast<std::size_t>(numbers_in<EnergyOutput<T>, T> * kCount)), host = out;
  launch(Backend::host, kCount, EvaluateEnergies<T>{in.data(), out.data(), kCount});
  for (Index i = 0; i < kCount; ++i)
    store_numbers<T>(evaluate(load_numbers<EnergyInput<T>, T>(in.data() + i, kCount)), host.data() + i, kCount);
  expect_same_bits(host, out, "energies");
  for (const T x : out) ASSERT_TRUE(std::isfinite(x));
}

TEST(Parity, EnergiesOfTheTwinAreThoseOfTheHostBitForBit) {
  expect_energies_alike<float>();
  expect_energies_alike<double>();
}

/// Strands as lanes of packs, which is what the kernels of the processor do, and one by one, as threads of a device would.
template <template <class> class Law>
void expect_strands_alike(bool damped) {
  using P = Pack<float, 4>;
  constexpr Index kRows = 24, kWidth = 8;
  StrandProblem<float, Law> lanes(kRows, kWidth, damped, 0.1), threads(kRows, kWidth, damped, 0.1);
  launch(Backend::host, kWidth / 4, lanes.template kernel<P>());
  launch(Backend::host, kWidth, threads.template kernel<float>());
  expect_same_bits(lanes.row, threads.row, "rows");
  expect_same_bits(lanes.head, threads.head, "heads");
  expect_same_bits(lanes.force, threads.force, "forces");
  expect_same_bits(lanes.moved, threads.moved, "displacements");
  expect_same_bits(lanes.head_moved, threads.head_moved, "displacements of first vertices");
  expect_same_bits(lanes.product, threads.product, "products");
  expect_same_bits(lanes.summary, threads.summary, "energies and motions");
  for (const float x : threads.row) ASSERT_TRUE(std::isfinite(x));
  for (const float x : threads.moved) ASSERT_TRUE(std::isfinite(x));
}

TEST(Parity, StrandsOfTheTwinAreThoseInLanesBitForBit) {
  for (const bool damped : {false, true}) {
    expect_strands_alike<IsotropicLink>(damped);
    expect_strands_alike<AnisotropicLink>(damped);
  }
}

/// The matrix of a strand whose joints are straight, so that the axes of its springs are those of the world: unknowns are the
/// first vertex, then position and rotation of every row.
std::vector<double> dense_matrix(const StrandProblem<double, IsotropicLink>& strands, Index k) {
  using Row = systems::ChainLinkRow<double, IsotropicLink>;
  const int n = 3 + 6 * strands.rows;
  std::vector<double> H(static_cast<std::size_t>(n * (n + 1) / 2));
  const auto add = [&](int i, int j, double x) {
    if (i >= j) H[static_cast<std::size_t>(triangle(i, j))] += x;
  };
  const auto head = load_numbers<systems::StrandHead<double>, double>(strands.head.data() + k, strands.width);
  const auto add_block = [&](int first, const double* lower) {
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b <= a; ++b) add(first + a, first + b, lower[static_cast<std::ptrdiff_t>(triangle(a, b)) * strands.width]);
  };
  for (int a = 0; a < 3; ++a) add(a, a, head.weight);
  add_block(0, &strands.head_block[static_cast<std::size_t>(k)]);
  for (Index i = 0; i < strands.rows; ++i) {
    const auto r = load_numbers<Row, double>(strands.row.data() + strands.tile_at(strands.rows, i, numbers_in<Row, double>, 0, k),
                                             systems::kTile);
    const int x = 3 + 6 * i, w = x + 3, near_x = i > 0 ? x - 6 : 0, near_w = w - 6;
    for (int a = 0; a < 3; ++a) add(x + a, x + a, r.weight);
    add_block(x, &strands.block[strands.at(i, 6, 0, k)]);
    const Vec3d arm = systems::arm_now(r);
    const double tension = strands.force[strands.tile_at(strands.rows, i, 1, 0, k)];
    const Mat3<double> along = (norm(arm) * tension) * identity3(1.0) + (-tension / norm(arm)) * outer(arm, arm);
    // A strain is one number: its gradient in dx + arm x w - dx_near, or in w - w_near.
    const Mat3<double> cross = skew(arm);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) add(w + a, w + b, along.m[a][b]);
      double stretch[6] = {}, of_near = -1;
      stretch[a] = 1;
      for (int b = 0; b < 3; ++b) stretch[3 + b] = cross.m[a][b];
      const double k_x = 1 / r.x_compliance, k_w = 1 / r.w_compliance;
      for (int b = 0; b < 6; ++b) {
        for (int c = 0; c <= b; ++c) add(x + b, x + c, k_x * stretch[b] * stretch[c]);
        add(x + b, near_x + a, k_x * stretch[b] * of_near);
      }
      add(near_x + a, near_x + a, k_x);
      add(w + a, w + a, k_w);
      if (i == 0) continue;
      add(w + a, near_w + a, -k_w);
      add(near_w + a, near_w + a, k_w);
    }
  }
  return H;
}

/// Unknowns that do not move.
void hold(std::vector<double>& H, int n, int first, int count) {
  for (int held = first; held < first + count; ++held)
    for (int j = 0; j < n; ++j) H[static_cast<std::size_t>(triangle(held, j))] = held == j ? 1 : 0;
}

void expect_solved(bool tails_held) {
  constexpr Index kRows = 12, kWidth = 2;
  StrandProblem<double, IsotropicLink> strands(kRows, kWidth, true, 1e-3, true);
  const int n = 3 + 6 * kRows;
  for (Index k = 0; k < kWidth; ++k) {
    auto head = load_numbers<systems::StrandHead<double>, double>(strands.head.data() + k, kWidth);
    head.tail_held[0] = head.tail_held[1] = tails_held ? 1 : 0;
    store_numbers<double>(head, strands.head.data() + k, kWidth);
    std::vector<double> H = dense_matrix(strands, k), z(static_cast<std::size_t>(n));
    for (int a = 0; a < 3; ++a) z[static_cast<std::size_t>(a)] = strands.head_load[static_cast<std::size_t>(a * kWidth + k)];
    for (Index i = 0; i < kRows; ++i)
      for (int a = 0; a < 6; ++a) z[static_cast<std::size_t>(3 + 6 * i + a)] = strands.load[strands.at(i, 6, a, k)];
    const auto fix = [&](int first, int count) {
      hold(H, n, first, count);
      for (int a = first; a < first + count; ++a) z[static_cast<std::size_t>(a)] = 0;
    };
    if (head.held > 0) fix(0, 3);
    if (tails_held) fix(n - 6, 6);
    factor_ldl(H.data(), n, 0.0, false, [](int i) { FAIL() << "no positive pivot in row " << i; });
    solve_ldl(H.data(), n, z.data());
    const auto kernel = strands.kernel<double>();
    if (tails_held) kernel.run<true>(k);
    else kernel.run<false>(k);
    double largest = 0;
    for (const double x : z) largest = std::max(largest, std::abs(x));
    for (int a = 0; a < 3; ++a)
      EXPECT_NEAR(strands.head_moved[static_cast<std::size_t>(a * kWidth + k)], z[static_cast<std::size_t>(a)], 1e-9 * largest);
    for (Index i = 0; i < kRows; ++i)
      for (int a = 0; a < 6; ++a)
        EXPECT_NEAR(strands.moved[strands.at(i, 6, a, k)], z[static_cast<std::size_t>(3 + 6 * i + a)], 1e-9 * largest)
            << "strand " << k << ", row " << i << ", component " << a;
  }
}

/// solve() and product() are each other's inverse wherever nothing is held or rigid, bent joints and all.
template <template <class> class Law>
void expect_inverse(bool damped) {
  constexpr Index kRows = 12, kWidth = 2, kFree = 1;
  StrandProblem<double, Law> strands(kRows, kWidth, damped, 0.1, true);
  launch(Backend::host, kWidth, strands.template kernel<double>());
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a * kWidth + kFree);
    EXPECT_NEAR(strands.head_product[n], strands.head_load[n], 1e-9);
  }
  for (Index k = 0; k < kWidth; ++k)
    for (Index i = 0; i < kRows; ++i)
      for (int a = 0; a < 6; ++a) {
        const std::size_t n = strands.at(i, 6, a, k);
        EXPECT_NEAR(strands.product[n], strands.load[n], 1e-9) << "strand " << k << ", row " << i << ", component " << a;
      }
}
TEST(Parity, TheProductOfAStrandsMatrixWithASolutionIsItsForces) {
  for (const bool damped : {false, true}) {
    expect_inverse<IsotropicLink>(damped);
    expect_inverse<AnisotropicLink>(damped);
  }
}

TEST(Parity, AStrandIsSolvedForAnyForcesAndExtraStiffnessAsADenseMatrixIs) { expect_solved(false); }
TEST(Parity, AStrandHeldAtBothEndsIsSolvedAsADenseMatrixIs) { expect_solved(true); }

struct Square {
  const float* x;
  OSIER_FN double operator()(std::size_t i) const { return static_cast<double>(x[i]) * static_cast<double>(x[i]); }
};
struct Add {
  OSIER_FN void operator()(double& sum, double x) const { sum += x; }
};

TEST(Parity, SumsDependOnNeitherThreadsNorBackend) {
  constexpr Index kItems = 10007, kBlock = 128;
  Random random(3);
  std::vector<float> x(kItems);
  for (float& value : x) value = static_cast<float>(random.number());
  std::vector<double> partial(blocks_of(kItems, kBlock));
  const Square square{x.data()};
  const double one = reduce(Executor(1), kItems, kBlock, partial.data(), square, Add{}, 0.0);
  const double three = reduce(Executor(3), kItems, kBlock, partial.data(), square, Add{}, 0.0);
  double twin = 0;
  launch_reduce(Backend::host, kItems, kBlock, partial.data(), &twin, square, Add{}, 0.0);
  EXPECT_EQ(one, three);
  EXPECT_EQ(one, twin);
  EXPECT_GT(one, kItems / 4.0);
}

TEST(Parity, BuffersKeepWhatIsCopiedIntoThem) {
  const float in[3] = {1, 2, 3};
  float out[3] = {};
  Buffer<float> a(Backend::host, in, 3);
  const Buffer<float> b(std::move(a));
  b.copy_to(out);
  EXPECT_EQ(std::memcmp(in, out, sizeof in), 0);
}

}  // namespace
}  // namespace osier::parity
