// Mode shapes: their equation, their ends, their largest value.
#include "scene/generators/mode_shape.hpp"

#include <gtest/gtest.h>
#include <numbers>

#include "math/vec3.hpp"
#include "osier/osier.hpp"

namespace osier {
namespace {

constexpr double kPi = std::numbers::pi;

ModeShape mode(ModeKind kind, std::optional<ModeEnds> ends, int number) {
  ModeShape m;
  m.to = {2, 0, 0}, m.vibration = kind, m.ends = ends, m.number = number, m.amplitude = 0.01, m.direction = {0, 3, 0};
  if (kind == ModeKind::axial) m.direction = {};
  Problems problems;
  m.prepare({}, problems);
  EXPECT_TRUE(problems.empty());
  return m;
}

/// d^n phi/ds^n by central differences.
double derivative(const ModeShape& m, double s, int order, double e = 2e-3) {
  if (order == 0) return m.displacement(s);
  return (derivative(m, s + e, order - 1, e) - derivative(m, s - e, order - 1, e)) / (2 * e);
}

TEST(ModeShape, HasTheRootsOfTheCharacteristicEquations) {
  const double clamped_free[] = {1.875104068711961, 4.694091132974175, 7.854757438237613, 10.995540734875467, 14.13716839104647};
  const double clamped_clamped[] = {4.730040744862704, 7.853204624095838, 10.995607838001671};
  for (int n = 1; n <= 5; ++n)
    EXPECT_NEAR(mode(ModeKind::bending, {}, n).wave_number(), clamped_free[n - 1], 1e-14 * clamped_free[n - 1]);
  for (int n = 1; n <= 3; ++n)
    EXPECT_NEAR(mode(ModeKind::bending, ModeEnds::clamped_clamped, n).wave_number(), clamped_clamped[n - 1], 1e-13);
  EXPECT_DOUBLE_EQ(mode(ModeKind::bending, ModeEnds::pinned_pinned, 3).wave_number(), 3 * kPi);
  EXPECT_DOUBLE_EQ(mode(ModeKind::axial, {}, 2).wave_number(), 1.5 * kPi);
}

TEST(ModeShape, SolvesTheBeamEquationInside) {
  for (ModeEnds ends : {ModeEnds::clamped_free, ModeEnds::clamped_clamped, ModeEnds::pinned_pinned})
    for (int n : {1, 2, 3}) {
      const ModeShape m = mode(ModeKind::bending, ends, n);
      const double b4 = std::pow(m.wave_number(), 4);
      for (double s : {0.2, 0.5, 0.7})
        EXPECT_NEAR(derivative(m, s, 4) / b4, m.displacement(s), 1e-3) << Choices<ModeEnds>::names[static_cast<int>(ends)] << n;
    }
}

TEST(ModeShape, MeetsItsEnds) {
  for (int n : {1, 2, 3}) {
    const double b = mode(ModeKind::bending, {}, n).wave_number();
    for (ModeEnds ends : {ModeEnds::clamped_free, ModeEnds::clamped_clamped}) {
      const ModeShape m = mode(ModeKind::bending, ends, n);
      EXPECT_NEAR(m.displacement(0), 0, 1e-14);
      EXPECT_NEAR(derivative(m, 0, 1) / b, 0, 1e-3);
    }
    const ModeShape free = mode(ModeKind::bending, ModeEnds::clamped_free, n);
    EXPECT_NEAR(derivative(free, 1, 2) / (b * b), 0, 1e-3);
    EXPECT_NEAR(derivative(free, 1, 3) / (b * b * b), 0, 1e-3);
    EXPECT_NEAR(mode(ModeKind::bending, ModeEnds::clamped_clamped, n).displacement(1), 0, 1e-12);
  }
}

TEST(ModeShape, IsOneWhereItIsLargest) {
  for (ModeEnds ends : {ModeEnds::clamped_free, ModeEnds::clamped_clamped, ModeEnds::pinned_pinned, ModeEnds::fixed_free})
    for (int n : {1, 2, 5, 40}) {
      const ModeShape m = mode(ends == ModeEnds::fixed_free ? ModeKind::axial : ModeKind::bending, ends, n);
      double largest = 0;
      for (int i = 0; i <= 20000; ++i) largest = std::max(largest, std::abs(m.displacement(i / 20000.0)));
      EXPECT_NEAR(largest, 1, 1e-4) << n;
      EXPECT_LE(largest, 1 + 1e-12);
    }
  EXPECT_DOUBLE_EQ(mode(ModeKind::bending, {}, 4).displacement(1), 1);
}

TEST(ModeShape, DisplacesAcrossTheLineOrAlongIt) {
  ModeShape in_place = mode(ModeKind::bending, ModeEnds::pinned_pinned, 1);
  in_place.keep = CurveKeep::points;
  const std::vector<Vec3d> bent = in_place.sample(4);
  ASSERT_EQ(bent.size(), 5u);
  EXPECT_DOUBLE_EQ(bent[1].x, 0.5);
  EXPECT_NEAR(bent[1].y, 0.01 * std::sin(kPi / 4), 1e-15);
  EXPECT_NEAR(bent[2].y, 0.01, 1e-15);
  const std::vector<Vec3d> stretched = mode(ModeKind::axial, {}, 1).sample(2);
  EXPECT_NEAR(stretched[1].x, 1 + 0.01 * std::sin(kPi / 4), 1e-15);
  EXPECT_DOUBLE_EQ(stretched[2].x, 2.01);
  EXPECT_EQ(stretched[2].y, 0);
}

TEST(ModeShape, BendingDoesNotStretch) {
  for (ModeEnds ends : {ModeEnds::clamped_free, ModeEnds::clamped_clamped, ModeEnds::pinned_pinned, ModeEnds::free_free}) {
    ModeShape m = mode(ModeKind::bending, ends, 2);
    m.amplitude = 0.1;
    const std::vector<Vec3d> bent = m.sample(20);
    for (std::size_t i = 0; i + 1 < bent.size(); ++i) EXPECT_NEAR(norm(bent[i + 1] - bent[i]), 0.1, 1e-14);
    EXPECT_NEAR(bent[7].y, 0.1 * m.displacement(0.35), 1e-15);
    EXPECT_LT(bent.back().x, 2);
    EXPECT_DOUBLE_EQ(m.length(), 2);
  }
}

TEST(ModeShape, OfAFreeRodHasItsEquationItsEndsAndNoMomentum) {
  for (int n : {1, 2, 3}) {
    const ModeShape m = mode(ModeKind::bending, ModeEnds::free_free, n);
    const double b = m.wave_number(), b4 = std::pow(b, 4);
    EXPECT_NEAR(b, mode(ModeKind::bending, ModeEnds::clamped_clamped, n).wave_number(), 1e-12);
    EXPECT_NEAR(derivative(m, 0.4, 4) / b4, m.displacement(0.4), 1e-3);
    for (double end : {0.0, 1.0}) {
      EXPECT_NEAR(derivative(m, end, 2) / (b * b), 0, 1e-3);
      EXPECT_NEAR(derivative(m, end, 3) / (b * b * b), 0, 1e-3);
      EXPECT_NEAR(std::abs(m.displacement(end)), 1, 1e-10);
    }
    double momentum = 0;
    for (int i = 0; i < 10000; ++i) momentum += 1e-4 * m.displacement(1e-4 * (i + 0.5));
    EXPECT_NEAR(momentum, 0, 1e-7);
  }
}

/// Pointers of what a scene with this pose is told.
std::string complaint(const std::string& pose) {
  try {
    Scene::parse(R"({"rods": [{"name": "r", "segments": 4, "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]},
      "pose": {"type": "mode", "from": [0, 0, 0], "to": [1, 0, 0], )" +
                 pose + R"(}, "material": {"stretch_shear": 1, "bend_twist": 1, "line_density": 1}}]})");
  } catch (const InputError& e) {
    std::string list;
    for (const Problem& p : e.problems()) list += p.where.substr(p.where.rfind('/') + 1) + " ";
    return list;
  }
  return "";
}

TEST(ModeShape, SaysWhatDoesNotFitTogether) {
  EXPECT_EQ(complaint(R"("amplitude": 0.01, "direction": [0, 1, 0])"), "");
  EXPECT_EQ(complaint(R"("amplitude": 0.01, "kind": "axial")"), "");
  EXPECT_EQ(complaint(R"("amplitude": 0.01)"), "direction ");
  EXPECT_EQ(complaint(R"("amplitude": 2, "direction": [0, 1, 0])"), "amplitude ");
  EXPECT_EQ(complaint(R"("amplitude": 0.01, "direction": [2, 0, 0])"), "direction ");
  EXPECT_EQ(complaint(R"("amplitude": 0.01, "kind": "axial", "direction": [0, 1, 0])"), "direction ");
  EXPECT_EQ(complaint(R"("amplitude": 0.01, "kind": "axial", "ends": "pinned_pinned")"), "ends ");
  EXPECT_EQ(complaint(R"("amplitude": 0.01, "ends": "fixed_free", "direction": [0, 1, 0])"), "ends ");
  EXPECT_EQ(complaint(R"("amplitude": 0.9, "kind": "axial")"), "amplitude ");
  EXPECT_EQ(complaint(R"("amplitude": 0.01, "number": 0, "direction": [0, 1, 0])"), "number ");
}

}  // namespace
}  // namespace osier
