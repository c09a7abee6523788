// The energy of springs and dampers against central differences, and the bound that position solves rely on.
#include "energies/vertex_spring.hpp"

#include <gtest/gtest.h>

#include "support/differences.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

using vertex_spring::Law;
using Terms = vertex_spring::Terms<double>;

Terms random_terms(Random& random) {
  Terms s;
  s.law = std::array{Law::length, Law::all_directions, Law::one_direction}[static_cast<std::size_t>(random.range(0, 2.999))];
  s.k = random.log_range(1e-2, 1e4);
  s.damping = random.flip() ? random.log_range(1e-2, 1e4) : 0;
  s.rest = s.law == Law::length ? random.log_range(0.1, 10) : 0;
  s.axis = random.direction();
  s.start = random.log_range(0.1, 10) * random.direction();
  return s;
}

double value(const Terms& s, const Vec3d& d) { return vertex_spring::elastic_value(s, d) + vertex_spring::viscous_value(s, d); }

TEST(VertexSpring, GradientAndHessianMatchCentralDifferences) {
  Random random(3);
  int compressed = 0;
  for (int i = 0; i < 1000; ++i) {
    const Terms s = random_terms(random);
    const Vec3d d = random.log_range(0.2, 10) * random.direction();
    const double scale = (s.k + s.damping) * (norm(d) + s.rest + norm(s.start));
    const Vec3d g = gradient_of([&](const Vec3d& x) { return value(s, d + x); });
    const Mat3<double> H = hessian_of([&](const Vec3d& x) { return value(s, d + x); });
    ASSERT_LT(norm(g - vertex_spring::gradient(s, d)), 1e-6 * scale) << i;
    ASSERT_LT(largest_difference(H, vertex_spring::hessian(s, d)), 1e-4 * scale) << i;
    compressed += s.law == Law::length && vertex_spring::tension(s, d) < 0;
  }
  EXPECT_GT(compressed, 50);
}

TEST(VertexSpring, TheUpperHessianIsAnUpperBound) {
  Random random(4);
  for (int i = 0; i < 5000; ++i) {
    const Terms s = random_terms(random);
    const Vec3d d = random.log_range(0.1, 10) * random.direction(), step = random.log_range(1e-3, 30) * random.direction();
    const double model =
        value(s, d) + dot(vertex_spring::gradient(s, d), step) + 0.5 * dot(step, vertex_spring::upper_hessian(s) * step);
    ASSERT_LE(value(s, d + step), model + 1e-9 * (std::abs(model) + value(s, d))) << i;
  }
}

TEST(VertexSpring, TurnsWithTheWorld) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    Terms s = random_terms(random);
    const Vec3d d = random.direction();
    const Quatd q = random.rotation();
    const double before = value(s, d);
    s.axis = rotate(q, s.axis), s.start = rotate(q, s.start);
    ASSERT_NEAR(value(s, rotate(q, d)), before, 1e-12 * (s.k + s.damping) * 1000);
  }
}

}  // namespace
}  // namespace osier::test
