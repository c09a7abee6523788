// The energies with a stiffness per axis: gradients and Hessian blocks against central differences, and the paper's energy as the
// special case of equal stiffnesses.
#include <gtest/gtest.h>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "support/differences.hpp"
#include "support/isotropic_bend_twist.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

constexpr double kGradient = 1e-7, kHessian = 1e-6;

Vec3d random_stiffness(Random& random) {
  return {random.log_range(1e-3, 1e3), random.log_range(1e-3, 1e3), random.log_range(1e-3, 1e3)};
}
double most(const Vec3d& k) { return std::max({k.x, k.y, k.z}); }

struct Stretched {
  Vec3d k, p, rest;
  Quatd q;
  double value(const Vec3d& dp, const Vec3d& w) const {
    return stretch_shear::value(k, stretch_shear::strain(p + dp, turned(w, q), rest));
  }
  Vec3d force() const { return stretch_shear::section_force(k, stretch_shear::strain(p, q, rest), q); }
  Mat3<double> tensor() const { return rotated_diagonal(rotation_matrix(q), k); }
  double scale() const { return most(k) * (norm(p) + norm(rest)) * (1 + norm(p)); }
};

Stretched random_stretched(Random& random) {
  Stretched s{random_stiffness(random), random.log_range(0.02, 3) * random.direction(), {0, 0, 1}, random.rotation()};
  if (random.flip()) s.rest = s.rest + random.range(0, 1) * random.direction();
  return s;
}

TEST(AnisotropicStretchShear, GradientsMatchCentralDifferences) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Stretched s = random_stretched(random);
    const Vec3d n = s.force();
    ASSERT_LT(norm(gradient_of([&](const Vec3d& d) { return s.value(d, {}); }) - n), kGradient * s.scale()) << i;
    ASSERT_LT(norm(gradient_of([&](const Vec3d& w) { return s.value({}, w); }) - stretch_shear::gradient_w(n, s.p)),
              kGradient * s.scale())
        << i;
  }
}

TEST(AnisotropicStretchShear, HessianBlocksMatchCentralDifferences) {
  Random random(2);
  for (int i = 0; i < 500; ++i) {
    const Stretched s = random_stretched(random);
    const Mat3<double> C = s.tensor();
    const Vec3d n = s.force();
    const Mat3<double> pp = hessian_of([&](const Vec3d& d) { return s.value(d, {}); });
    const Mat3<double> pw = mixed_of([&](const Vec3d& d, const Vec3d& w) { return s.value(d, w); });
    const Mat3<double> ww = hessian_of([&](const Vec3d& w) { return s.value({}, w); });
    ASSERT_LT(largest_difference(pp, C), kHessian * s.scale()) << i;
    ASSERT_LT(largest_difference(pw, stretch_shear::hessian_pw(C, s.p, n)), kHessian * s.scale()) << i;
    ASSERT_LT(largest_difference(ww, stretch_shear::hessian_ww(C, s.p, n)), kHessian * s.scale()) << i;
  }
}

TEST(AnisotropicStretchShear, EqualStiffnessesAreThePapersEnergyToRounding) {
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    Stretched s = random_stretched(random);
    const double k = s.k.x;
    s.k = {k, k, k};
    const Vec3d d = rotate(s.q, s.rest);
    ASSERT_NEAR(s.value({}, {}), stretch_shear::value(k, s.p, d), 1e-14 * s.scale()) << i;
    ASSERT_LT(norm(s.force() - stretch_shear::gradient_p(k, 1.0, s.p, d)), 1e-14 * s.scale()) << i;
    ASSERT_LT(norm(stretch_shear::gradient_w(s.force(), s.p) - stretch_shear::gradient_w(k, s.p, d)), 1e-14 * s.scale()) << i;
    ASSERT_LT(largest_difference(stretch_shear::hessian_ww(s.tensor(), s.p, s.force()), stretch_shear::hessian_ww(k, s.p, d)),
              1e-14 * s.scale())
        << i;
  }
}

struct Bent {
  Quatd K, a, b, rest;
  double value(const Vec3d& wa, const Vec3d& wb) const {
    return bend_twist::value4(K, bend_twist::difference(K, conj(turned(wa, a)) * turned(wb, b), rest));
  }
  Quatd r() const { return conj(a) * b; }
  Quatd D() const { return bend_twist::difference(K, r(), rest); }
  double k() const { return most(imag(K)); }
  Vec3d gradient() const { return rotate(a, bend_twist::gradient_material(K, r(), D())); }
  Mat3<double> same() const {
    const Mat3<double> R = rotation_matrix(a);
    return R * bend_twist::hessian_material(K, r(), D()) * transposed(R);
  }
};

/// Angles up to 170 degrees away from any rest rotation, but away from the kink where the pole changes.
Bent random_bent(Random& random, bool equal = false) {
  for (;;) {
    const Vec3d k = random_stiffness(random);
    Bent s{bend_twist::stiffness4(equal ? Vec3d{k.x, k.x, k.x} : k), random.rotation(), {}, random.rotation()};
    const double angle = random.flip() ? random.range(0, 2.9) : random.log_range(1e-6, 0.1);
    s.b = normalized(axis_angle(random.direction(), angle) * s.a * s.rest);
    if (random.flip()) s.b = -s.b;
    const Quatd weighted_rest = bend_twist::times(s.K, s.rest);
    if (std::abs(dot(s.r(), weighted_rest)) > 0.05 * norm(weighted_rest)) return s;
  }
}

TEST(AnisotropicBendTwist, GradientsMatchCentralDifferences) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const Bent s = random_bent(random);
    ASSERT_LT(norm(gradient_of([&](const Vec3d& w) { return s.value({}, w); }) - s.gradient()), kGradient * s.k()) << i;
    ASSERT_LT(norm(gradient_of([&](const Vec3d& w) { return s.value(w, {}); }) + s.gradient()), kGradient * s.k()) << i;
  }
}

TEST(AnisotropicBendTwist, HessianBlocksMatchCentralDifferences) {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    const Bent s = random_bent(random);
    const Mat3<double> aa = hessian_of([&](const Vec3d& w) { return s.value(w, {}); });
    const Mat3<double> bb = hessian_of([&](const Vec3d& w) { return s.value({}, w); });
    const Mat3<double> ab = mixed_of([&](const Vec3d& wa, const Vec3d& wb) { return s.value(wa, wb); });
    ASSERT_LT(largest_difference(aa, s.same()), kHessian * s.k()) << i;
    ASSERT_LT(largest_difference(bb, s.same()), kHessian * s.k()) << i;
    ASSERT_LT(largest_difference(ab, -1.0 * s.same() + skew(0.5 * s.gradient())), kHessian * s.k()) << i;
  }
}

TEST(AnisotropicBendTwist, EqualStiffnessesAreThePapersEnergyToRounding) {
  Random random(6);
  for (int i = 0; i < 5000; ++i) {
    const Bent s = random_bent(random, true);
    const double k = s.k();
    const Quatd r = bend_twist::deviation(s.a, s.b, s.rest);
    ASSERT_NEAR(s.value({}, {}), isotropic::value(k, r), 1e-14 * k) << i;
    ASSERT_LT(norm(s.gradient() - isotropic::gradient_wb(k, r)), 1e-14 * k) << i;
    ASSERT_LT(largest_difference(s.same(), isotropic::hessian_same(k, r)), 1e-14 * k) << i;
  }
}

/// Around any rest rotation, the resistance to a small turn across the rest axis is that of the axes halfway between the frames.
TEST(AnisotropicBendTwist, SmallTurnsAreResistedInTheFrameHalfwayBetween) {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    const Vec3d k = random_stiffness(random);
    const Vec3d axis = random.direction(), across = normalized(cross(axis, random.direction()));
    const double angle = random.range(0, 1.5), turn = 1e-6;
    const Quatd K = bend_twist::stiffness4(k), q0 = axis_angle(axis, angle), half = axis_angle(axis, 0.5 * angle);
    // The second frame turned about `across`, given in the axes halfway.
    const Quatd r = normalized(half * axis_angle(across, turn) * half);
    const double expected = 0.5 * 0.25 * turn * turn * dot(across, times(k, across));
    ASSERT_NEAR(bend_twist::value4(K, bend_twist::difference(K, r, q0)), expected, 1e-4 * expected) << i;
  }
}

}  // namespace
}  // namespace osier::test
