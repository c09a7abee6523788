// Hair: a fibre that absorbs nothing gives back what it gets, samples follow their density, and thin fibres cover what they
// should.
#include "render/fiber_bsdf.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <random>

namespace osier::render {
namespace {

constexpr double kPi = std::numbers::pi;

struct Draws {
  std::mt19937 random{7};
  float operator()() { return std::uniform_real_distribution<float>(0, 1)(random); }
  Point2 pair() {
    const float x = (*this)(), y = (*this)();
    return {x, y};
  }
};

/// From the eye at the latitude theta above the plane across the fibre, which runs along a slanted axis.
struct Setting {
  float theta, h;
  FiberLook look;
  Vec3f tangent = normalized(Vec3f{0.3F, 0.8F, -0.5F});
  Vec3f to_eye() const {
    const Basis around(tangent);
    return std::sin(theta) * tangent + std::cos(theta) * around.a;
  }
  FiberBsdf with(const Rgb& absorption) const { return {tangent, to_eye(), h, absorption, look}; }
};

std::vector<Setting> settings() {
  std::vector<Setting> list;
  for (const float theta : {-1.2F, 0.0F, 0.6F})
    for (const float h : {-0.9F, 0.0F, 0.6F})
      for (const float rough : {0.2F, 0.3F, 0.9F})
        list.push_back({theta, h, {.roughness_along = rough, .roughness_across = rough, .tilt = 2, .index = 1.55F}, {}});
  for (Setting& s : list) s.tangent = normalized(Vec3f{0.3F, 0.8F, -0.5F});
  return list;
}

/// Over the sphere, evenly in sin theta and phi: with enough cells the integrand is smooth at this roughness.
template <class F>
double over_sphere(const Setting& s, const F& f) {
  constexpr int kSin = 120, kPhi = 160;
  const Basis around(s.tangent);
  double sum = 0;
  for (int i = 0; i < kSin; ++i)
    for (int j = 0; j < kPhi; ++j) {
      const double z = -1 + 2 * (i + 0.5) / kSin, r = std::sqrt(1 - z * z), phi = 2 * kPi * (j + 0.5) / kPhi;
      const Vec3f d = static_cast<float>(z) * s.tangent + static_cast<float>(r) * (static_cast<float>(std::cos(phi)) * around.a +
                                                                                   static_cast<float>(std::sin(phi)) * around.b);
      sum += f(d);
    }
  return sum * 4 * kPi / (kSin * kPhi);
}

TEST(Fiber, WhiteHairInAWhiteRoomGivesBackAllLight) {
  for (const Setting& s : settings()) {
    const FiberBsdf white = s.with({0, 0, 0});
    EXPECT_NEAR(over_sphere(s, [&](const Vec3f& d) { return white.value(d).y; }), 1, 0.01)
        << s.theta << " " << s.h << " " << s.look.roughness_along;
  }
}

TEST(Fiber, AbsorbingHairGivesBackLessInEveryColour) {
  for (const Setting& s : settings()) {
    const FiberBsdf brown = s.with({0.1F, 0.4F, 2});
    const double red = over_sphere(s, [&](const Vec3f&d) { return brown.value(d).x; }),
                 blue = over_sphere(s, [&](const Vec3f&d) { return brown.value(d).z; });
    EXPECT_LT(red, 1.001);
    EXPECT_LT(blue, red);
    EXPECT_GT(blue, 0.03);  // what the surface mirrors has no colour
  }
}

TEST(Fiber, DensityIntegratesToOneAndSamplesFollowIt) {
  for (const Setting& s : settings()) {
    const FiberBsdf brown = s.with({0.1F, 0.4F, 2});
    EXPECT_NEAR(over_sphere(s, [&](const Vec3f& d) { return brown.density(d); }), 1, 0.01);
    // The mean of a function over samples is its integral against the density: directions towards the tangent and aside.
    Draws draw;
    constexpr int kDraws = 10'000;
    const Basis around(s.tangent);
    const auto tests = [&](const Vec3f& d) {
      return std::array{dot(d, s.tangent), dot(d, around.a), dot(d, around.b), dot(d, around.a) * dot(d, around.a)};
    };
    std::array<double, 4> mean{};
    double back = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto [direction, weight] = brown.sample(draw.pair(), draw.pair());
      ASSERT_NEAR(norm(direction), 1, 1e-4);
      back += weight.x / kDraws;
      for (std::size_t k = 0; k < 4; ++k) mean[k] += tests(direction)[k] / kDraws;
    }
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(mean[k], over_sphere(s, [&](const Vec3f& d) { return brown.density(d) * tests(d)[k]; }), 0.02) << k;
    EXPECT_NEAR(back, over_sphere(s, [&](const Vec3f& d) { return brown.value(d).x; }), 0.02);
  }
}

TEST(Fiber, ASmoothFibreMirrorsAtItsSurfaceAsGeometrySays) {
  // R alone: an index near one mirrors nothing else; at offset h light comes from 2 asin(h) round the fibre, tilted by twice the
  // scales.
  for (const float h : {-0.7F, 0.0F, 0.5F}) {
    Setting s{0.3F, h, {.roughness_along = 0.05F, .roughness_across = 0.05F, .tilt = 0, .index = 1.55F}};
    const FiberBsdf black = s.with({50, 50, 50});  // what enters does not come back
    const Basis around(s.tangent);
    const Vec3f across = around.a, aside = cross(s.tangent, across);
    const float phi = -2 * std::asin(h), theta = -0.3F;
    const Vec3f mirror = std::sin(theta) * s.tangent + std::cos(theta) * (std::cos(phi) * across + std::sin(phi) * aside);
    double peak = 0;
    Vec3f where;
    Draws draw;
    for (int i = 0; i < 4000; ++i) {
      const Vec3f d = black.sample(draw.pair(), draw.pair()).direction;
      if (black.value(d).y > peak) peak = black.value(d).y, where = d;
    }
    EXPECT_GT(dot(where, mirror), 0.99) << h;
    EXPECT_GE(black.value(mirror).y, 0.9 * peak) << h;
  }
}

TEST(Fiber, AbsorptionGrowsAsTheColourDarkensAndVanishesForWhite) {
  EXPECT_EQ(absorption_of({1, 1, 1}, 0.3F).x, 0);
  const Rgb a = absorption_of({0.8F, 0.4F, 0.1F}, 0.3F);
  EXPECT_LT(a.x, a.y);
  EXPECT_LT(a.y, a.z);
}

}  // namespace
}  // namespace osier::render
