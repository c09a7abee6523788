// The wind's push: the formula on a segment where it can be done by hand, and the same for every instruction set.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "forces/wind_kernels.hpp"
#include "math/vec3.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

constexpr Simd kAll[] = {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512};

/// Stars of up to five segments: vertex 6 i is tied to as many of the next five as i % 6.
struct Blown {
  std::vector<Vec3d> position, velocity, force;
  std::vector<double> mass, rest_length, damping;
  std::vector<Index> start{0}, entry, ends;
  WindView view{};

  explicit Blown(int stars) {
    Random random(17);
    std::vector<std::vector<Index>> lists(static_cast<std::size_t>(6 * stars));
    for (int i = 0; i < 6 * stars; ++i) {
      position.push_back(30.0 * random.in_cube());
      velocity.push_back(4.0 * random.in_cube());
      mass.push_back(random.range(0.01, 2));
    }
    for (Index i = 0; i < stars; ++i)
      for (Index k = 1; k <= i % 6; ++k) {
        const auto s = static_cast<Index>(rest_length.size());
        ends.push_back(6 * i), ends.push_back(6 * i + k);
        lists[static_cast<std::size_t>(6 * i)].push_back(2 * s);
        lists[static_cast<std::size_t>(6 * i + k)].push_back(2 * s + 1);
        rest_length.push_back(random.range(0.1, 1));
      }
    for (const auto& list : lists) {
      entry.insert(entry.end(), list.begin(), list.end());
      start.push_back(static_cast<Index>(entry.size()));
    }
    force.assign(position.size(), {1, 2, 3});
    damping.assign(position.size(), 0.5);
    view.moment.direction = normalized(Vec3d{2, 0, 3});
    view.moment.wave_number = 2 * std::numbers::pi / 20, view.moment.travelled = 37.5;
    view.moment.scale = 15 / (2 / 0.3), view.moment.offset = 1 / 0.3, view.moment.strength = 3;
    look();
  }
  void look() {
    view.position = position.data(), view.velocity = velocity.data(), view.mass = mass.data();
    view.rest_length = rest_length.data(), view.segment_start = start.data(), view.segment = entry.data();
    view.segment_vertices = ends.data(), view.force = force.data(), view.damping = damping.data();
  }
  Index count() const { return static_cast<Index>(position.size()); }
};

TEST(Wind, AcrossASegmentIsTheFormulaDoneByHand) {
  for (Simd simd : kAll) {
    if (!simd_available(simd)) continue;
    // Phase 0: S = 0, so that the wind is U (M + b)/(2 M + b) d = U/2 d; the segment stands at 30 degrees to it.
    std::vector<Vec3d> position{{0, 0, 0}, {std::cos(std::numbers::pi / 6), 0.5, 0}}, velocity{{0, 0, 0}, {0, 0, 0}};
    std::vector<Vec3d> force(2);
    std::vector<double> mass{4, 4}, length{0.7}, damping(2);
    const std::vector<Index> start{0, 1, 2}, entry{0, 1}, ends{0, 1};
    const double U = 8, M = 1 / 0.3;
    const WindMoment moment{.direction = {1, 0, 0}, .wave_number = 1, .scale = U / (2 * M), .offset = M, .strength = 3};
    const WindView view{.moment = moment,
                        .position = position.data(),
                        .velocity = velocity.data(),
                        .mass = mass.data(),
                        .rest_length = length.data(),
                        .segment_start = start.data(),
                        .segment = entry.data(),
                        .segment_vertices = ends.data(),
                        .force = force.data(),
                        .damping = damping.data()};
    wind_kernel(simd)(view, 0, 1);
    const double K = 3 * 2 * 0.7 * (U / 2) * 0.5;  // c sqrt(m) l |dv| sin(30 degrees)
    EXPECT_NEAR(damping[0], K, 1e-14 * K);
    EXPECT_NEAR(norm(force[0] - Vec3d{K * U / 2, 0, 0}), 0, 1e-13 * K * U);
    EXPECT_EQ(norm2(force[1]) + damping[1], 0) << "not asked for";
  }
}

/// A rod at 30 degrees to a steady wind of 8 m/s that moves along with a part of it: the force on one end.
TEST(Wind, InPhysicalWordsIsThatOfACylinderInCrossFlow) {
  for (Simd simd : kAll) {
    if (!simd_available(simd)) continue;
    std::vector<Vec3d> position{{0, 0, 0}, {std::cos(std::numbers::pi / 6), 0.5, 0}}, velocity{{1, 2, 0}, {1, 2, 0}};
    std::vector<Vec3d> force(2);
    std::vector<double> mass{4, 4}, length{0.7}, damping(2), radius{0.01, 0.01};
    const std::vector<Index> start{0, 1, 2}, entry{0, 1}, ends{0, 1};
    const double rho = 1.2, Cd = 1.1, d = 0.02;
    const WindMoment moment{.direction = {1, 0, 0}, .scale = 8, .offset = 1, .strength = 0.25 * rho * Cd, .physical = true};
    const WindView view{.moment = moment,
                        .radius = radius.data(),
                        .position = position.data(),
                        .velocity = velocity.data(),
                        .mass = mass.data(),
                        .rest_length = length.data(),
                        .segment_start = start.data(),
                        .segment = entry.data(),
                        .segment_vertices = ends.data(),
                        .force = force.data(),
                        .damping = damping.data()};
    wind_kernel(simd)(view, 0, 2);
    const Vec3d dv{7, -2, 0}, t = position[1], normal = dv - dot(dv, t) * t;
    const Vec3d half = (0.25 * rho * Cd * d * 0.7 * norm(normal)) * normal;  // of 1/2 rho Cd d l |v_n| v_n
    for (int v : {0, 1}) {
      EXPECT_NEAR(norm(force[v] - damping[v] * velocity[v] - half), 0, 1e-13 * norm(half)) << "at the present velocity";
      EXPECT_NEAR(damping[v], 0.25 * rho * Cd * d * 0.7 * norm(normal), 1e-14);
    }
  }
}

TEST(Wind, InPhysicalWordsIsTheSameForEveryInstructionSet) {
  Blown one(50);
  const std::vector<double> radius(one.position.size(), 0.03);
  one.view.radius = radius.data(), one.view.moment.physical = true;
  wind_kernel(Simd::off)(one.view, 0, one.count());
  for (Simd simd : kAll) {
    if (simd == Simd::off || !simd_available(simd)) continue;
    Blown many(50);
    many.view.radius = radius.data(), many.view.moment.physical = true;
    wind_kernel(simd)(many.view, 0, many.count());
    for (std::size_t v = 0; v < one.force.size(); ++v)
      EXPECT_NEAR(norm(many.force[v] - one.force[v]), 0, 1e-13 * norm(one.force[v])) << simd_name(simd) << " " << v;
  }
}

TEST(Wind, IsTheSameForEveryInstructionSet) {
  Blown one(50);
  wind_kernel(Simd::off)(one.view, 0, one.count());
  int compared = 0;
  for (Simd simd : kAll) {
    if (simd == Simd::off || !simd_available(simd)) continue;
    ++compared;
    Blown many(50);
    wind_kernel(simd)(many.view, 0, many.count());
    for (std::size_t v = 0; v < one.force.size(); ++v) {
      EXPECT_NEAR(norm(many.force[v] - one.force[v]), 0, 1e-13 * norm(one.force[v])) << simd_name(simd) << " " << v;
      EXPECT_NEAR(many.damping[v], one.damping[v], 1e-13 * one.damping[v]) << simd_name(simd) << " " << v;
    }
  }
  EXPECT_GE(compared, 1);
}

TEST(Wind, DoesNotDependOnWhichVerticesAreBlownTogether) {
  for (Simd simd : kAll) {
    if (!simd_available(simd)) continue;
    Blown whole(20), pieces(20);
    wind_kernel(simd)(whole.view, 0, whole.count());
    for (Index begin = 0, size = 1; begin < pieces.count(); begin += size, size = size % 11 + 1)
      wind_kernel(simd)(pieces.view, begin, std::min(begin + size, pieces.count()));
    for (std::size_t v = 0; v < whole.force.size(); ++v) {
      EXPECT_EQ(norm2(whole.force[v] - pieces.force[v]), 0) << simd_name(simd) << " " << v;
      EXPECT_EQ(whole.damping[v], pieces.damping[v]) << simd_name(simd) << " " << v;
    }
  }
}

}  // namespace
}  // namespace osier::test
