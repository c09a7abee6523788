// Gradients and Hessian blocks of the two energies against central differences of their values, at random states.
#include <gtest/gtest.h>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "support/differences.hpp"
#include "support/isotropic_bend_twist.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

constexpr double kGradient = 1e-7, kHessian = 1e-6;

struct Stretched {
  double k;
  Vec3d p, axis;  ///< edge over length, material axis
  Quatd q;
  double value(const Vec3d& dp, const Vec3d& w) const { return stretch_shear::value(k, p + dp, rotate(turned(w, q), axis)); }
  Vec3d image() const { return rotate(q, axis); }
  double scale() const { return k * (norm(p) + norm(axis)) * norm(axis); }
};

/// Elastic (axis e3) and damping (axis e3 + Gamma) forms; edges from crushed to 0.02 of their length to stretched threefold,
/// and in every direction against d3, backwards included.
Stretched random_stretched(Random& random) {
  Stretched s;
  s.k = random.log_range(1e-3, 1e5);
  s.p = random.log_range(0.02, 3) * random.direction();
  s.q = random.rotation();
  s.axis = {0, 0, 1};
  if (random.flip()) s.axis = s.axis + random.range(0, 2) * random.direction();
  return s;
}

TEST(StretchShear, GradientsMatchCentralDifferences) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const Stretched s = random_stretched(random);
    const Vec3d gp = gradient_of([&](const Vec3d& d) { return s.value(d, {}); });
    const Vec3d gw = gradient_of([&](const Vec3d& w) { return s.value({}, w); });
    ASSERT_LT(norm(gp - stretch_shear::gradient_p(s.k, 1.0, s.p, s.image())), kGradient * s.scale()) << i;
    ASSERT_LT(norm(gw - stretch_shear::gradient_w(s.k, s.p, s.image())), kGradient * s.scale()) << i;
  }
}

TEST(StretchShear, HessianBlocksMatchCentralDifferences) {
  Random random(2);
  int indefinite = 0;
  for (int i = 0; i < 500; ++i) {
    const Stretched s = random_stretched(random);
    const Mat3<double> pp = hessian_of([&](const Vec3d& d) { return s.value(d, {}); });
    const Mat3<double> pw = mixed_of([&](const Vec3d& d, const Vec3d& w) { return s.value(d, w); });
    const Mat3<double> ww = hessian_of([&](const Vec3d& w) { return s.value({}, w); });
    ASSERT_LT(largest_difference(pp, identity3(s.k)), kHessian * s.scale()) << i;
    ASSERT_LT(largest_difference(pw, stretch_shear::hessian_pw(s.k, s.image())), kHessian * s.scale()) << i;
    ASSERT_LT(largest_difference(ww, stretch_shear::hessian_ww(s.k, s.p, s.image())), kHessian * s.scale()) << i;
    indefinite += dot(s.p, s.image()) < 0;
  }
  EXPECT_GT(indefinite, 100) << "the sample must contain compressed states with an indefinite block";
}

/// Elastic and damping term of one segment, written out, against the one generalised axis that stands for both.
TEST(StretchShear, GeneralisedAxisGivesTheGradientOfElasticityAndDampingTogether) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const double k = random.log_range(1e-3, 1e5), alpha = random.log_range(1e-3, 1e3);
    const Vec3d p = random.log_range(0.02, 3) * random.direction(), p_prev = random.log_range(0.02, 3) * random.direction();
    const Quatd q = random.rotation(), q_prev = random.rotation();
    const Vec3d strain = stretch_shear::local_strain(p_prev, q_prev);
    const auto value = [&](const Vec3d& dp, const Vec3d& w) {
      const Quatd t = turned(w, q);
      // |Gamma - Gamma_prev| is measured in the material frame; a rotation away it is |p - q (e3 + Gamma_prev) q'|.
      const Vec3d rate = stretch_shear::local_strain(p + dp, t) - strain;
      return stretch_shear::value(k, p + dp, director3(t)) + 0.5 * alpha * k * norm2(rate);
    };
    const Vec3d image = rotate(q, stretch_shear::generalised_axis(alpha, strain));
    const double scale = k * (1 + alpha) * (1 + norm2(p) + norm2(p_prev));
    const Vec3d gp = gradient_of([&](const Vec3d& d) { return value(d, {}); });
    const Vec3d gw = gradient_of([&](const Vec3d& w) { return value({}, w); });
    ASSERT_LT(norm(gp - stretch_shear::gradient_p(k, 1 + alpha, p, image)), kGradient * scale) << i;
    ASSERT_LT(norm(gw - stretch_shear::gradient_w(k, p, image)), kGradient * scale) << i;
    const Mat3<double> ww = hessian_of([&](const Vec3d& w) { return value({}, w); });
    ASSERT_LT(largest_difference(ww, stretch_shear::hessian_ww(k, p, image)), kHessian * scale) << i;
  }
}

struct Bent {
  double k;
  Quatd a, b, rest;
  double value(const Vec3d& wa, const Vec3d& wb) const {
    return isotropic::value(k, bend_twist::deviation(turned(wa, a), turned(wb, b), rest));
  }
  Quatd deviation() const { return bend_twist::deviation(a, b, rest); }
};

/// Joint angles from 0 to 170 degrees away from any rest rotation; every quaternion with either sign. (The energy has a kink at
/// 180 degrees, where the pole changes.)
Bent random_bent(Random& random) {
  Bent s{random.log_range(1e-3, 1e5), random.rotation(), {}, random.rotation()};
  const double angle = random.flip() ? random.range(0, 2.97) : random.log_range(1e-6, 0.1);
  s.b = normalized(axis_angle(random.direction(), angle) * s.a * s.rest);
  if (random.flip()) s.b = -s.b;
  return s;
}

TEST(BendTwist, ValueIsThePapersQuadraticWithTheNearerPole) {
  Random random(4);
  for (int i = 0; i < 5000; ++i) {
    const Bent s = random_bent(random);
    const Quatd omega = conj(s.a) * s.b;
    const double paper = 0.5 * s.k * std::min(norm2(omega - s.rest), norm2(omega + s.rest));
    ASSERT_NEAR(s.value({}, {}), paper, 1e-14 * s.k) << i;
  }
}

TEST(BendTwist, GradientsMatchCentralDifferencesForBothPoles) {
  Random random(5);
  int poles[2] = {0, 0};
  for (int i = 0; i < 2000; ++i) {
    const Bent s = random_bent(random);
    const Vec3d g = isotropic::gradient_wb(s.k, s.deviation());
    const Vec3d ga = gradient_of([&](const Vec3d& w) { return s.value(w, {}); });
    const Vec3d gb = gradient_of([&](const Vec3d& w) { return s.value({}, w); });
    ASSERT_LT(norm(gb - g), kGradient * s.k) << i;
    ASSERT_LT(norm(ga + g), kGradient * s.k) << i;
    ++poles[s.deviation().w < 0];
  }
  EXPECT_GT(poles[0], 500);
  EXPECT_GT(poles[1], 500);
}

/// At a joint angle of 1e-5 the gradient is itself small: it must be right relative to its own size.
TEST(BendTwist, GradientOfTinyAnglesIsRightRelativeToItself) {
  Random random(6);
  for (int i = 0; i < 500; ++i) {
    Bent s{1.0, random.rotation(), {}, random.rotation()};
    const Vec3d w = 1e-5 * random.direction();
    s.b = turned(w, s.a * s.rest);
    if (random.flip()) s.b = -s.b;
    // E = k (1 - cos(angle/2)): dE/dw = (k/2) sin(angle/2) along w.
    const Vec3d expected = (0.5 * std::sin(0.5e-5)) * normalized(w);
    ASSERT_LT(norm(isotropic::gradient_wb(s.k, s.deviation()) - expected), 1e-10 * norm(expected)) << i;
    ASSERT_NEAR(s.value({}, {}), 2 * std::pow(std::sin(0.25e-5), 2), 1e-10 * 1.25e-11) << i;
  }
}

TEST(BendTwist, HessianBlocksMatchCentralDifferencesForBothPoles) {
  Random random(7);
  int poles[2] = {0, 0};
  for (int i = 0; i < 500; ++i) {
    const Bent s = random_bent(random);
    const Mat3<double> same = isotropic::hessian_same(s.k, s.deviation());
    const Mat3<double> aa = hessian_of([&](const Vec3d& w) { return s.value(w, {}); });
    const Mat3<double> bb = hessian_of([&](const Vec3d& w) { return s.value({}, w); });
    const Mat3<double> ab = mixed_of([&](const Vec3d& wa, const Vec3d& wb) { return s.value(wa, wb); });
    ASSERT_LT(largest_difference(aa, same), kHessian * s.k) << i;
    ASSERT_LT(largest_difference(bb, same), kHessian * s.k) << i;
    ASSERT_LT(largest_difference(ab, isotropic::hessian_cross(s.k, s.deviation())), kHessian * s.k) << i;
    ++poles[s.deviation().w < 0];
  }
  EXPECT_GT(poles[0], 100);
  EXPECT_GT(poles[1], 100);
}

/// b.q of one joint is k - E while the pole stays, from either end; with the other pole it would be lower by 2 k |c|.
TEST(BendTwist, PullIsTheNegativeEnergyUpToAConstantFromBothEnds) {
  Random random(8);
  for (int i = 0; i < 2000; ++i) {
    const Bent s = random_bent(random);
    const double e = s.value({}, {});
    ASSERT_NEAR(dot(bend_twist::local_b(s.a, s.k * s.rest, s.b), s.b), s.k - e, 1e-14 * s.k) << i;
    ASSERT_NEAR(dot(bend_twist::local_b(s.b, s.k * conj(s.rest), s.a), s.a), s.k - e, 1e-14 * s.k) << i;
  }
}

}  // namespace
}  // namespace osier::test
