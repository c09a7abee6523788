// The term of contact in a step's potential against finite differences, and its parts by themselves.
#include <gtest/gtest.h>

#include "contact/contact_step.hpp"
#include "support/contact_scene.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

using contact::ContactStep;

/// Two strands wound around each other, pressed together, with a step under way: contacts of all kinds at once.
class WoundStrands : public ::testing::Test {
 protected:
  void SetUp() override {
    const RoundRod rod{.young = 1e6, .radius = 4e-3, .density = 1000};
    std::vector<Vec3d> points;
    for (int strand = 0; strand < 2; ++strand) {
      points.clear();
      for (int i = 0; i <= 30; ++i) {
        const double a = 0.35 * i + std::numbers::pi * strand;
        points.push_back({3.9e-3 * std::cos(a), 3.9e-3 * std::sin(a), 5.1e-3 * i});
      }
      scene_.add_rod(points, rod);
    }
    scene_.friction = 0.3;
    scene_.build();
    scene_.begin();
    for (Vec3d& v : scene_.state.vertex_velocity) v = 0.05 * random_.in_cube();
    u_.resize(scene_.state.vertex_position.size());
    step_.begin(scene_.contacts, scene_.model, scene_.control, scene_.state, kStep);
    for (Vec3d& u : u_) u = 2e-5 * random_.in_cube();
    step_.linearise(u_);
  }
  double value(const std::vector<Vec3d>& u) const { return step_.value(u); }
  std::vector<Vec3d> moved(const std::vector<Vec3d>& direction, double t) const {
    std::vector<Vec3d> u = u_;
    for (std::size_t v = 0; v < u.size(); ++v) u[v] += t * direction[v];
    return u;
  }
  std::vector<Vec3d> random_field() {
    std::vector<Vec3d> p(u_.size());
    for (Vec3d& x : p) x = random_.in_cube();
    return p;
  }
  std::vector<Vec3d> gradient() const {
    std::vector<Vec3d> g(u_.size());
    step_.add_gradient(g);
    return g;
  }
  static double product(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
    return sum;
  }

  static constexpr double kStep = 1.0 / 240;
  Random random_{11};
  ContactScene scene_;
  ContactStep step_;
  std::vector<Vec3d> u_;
};

TEST_F(WoundStrands, TouchEachOtherInManyPlacesAndRub) {
  ASSERT_GT(step_.contacts().size(), 20U);
  int rubbing = 0;
  for (const contact::Contact& c : step_.contacts()) rubbing += c.limit > 0;
  EXPECT_GT(rubbing, 20);
}

TEST_F(WoundStrands, GradientIsTheDerivativeOfTheValue) {
  const std::vector<Vec3d> g = gradient();
  for (int i = 0; i < 10; ++i) {
    const std::vector<Vec3d> p = random_field();
    constexpr double t = 1e-9;
    const double slope = (value(moved(p, t)) - value(moved(p, -t))) / (2 * t);
    EXPECT_NEAR(slope, product(g, p), 1e-5 * std::sqrt(product(g, g) * product(p, p)));
  }
}

TEST_F(WoundStrands, ProductIsTheSecondDerivativeOfTheValue) {
  for (int i = 0; i < 10; ++i) {
    const std::vector<Vec3d> p = random_field();
    std::vector<Vec3d> image(p.size());
    step_.add_product(p, image);
    constexpr double t = 3e-8;
    const double curved = (value(moved(p, t)) - 2 * value(u_) + value(moved(p, -t))) / (t * t);
    EXPECT_NEAR(curved, product(p, image), 2e-4 * std::abs(curved));
  }
}

TEST_F(WoundStrands, PushesAddUpToNothingAndTurnNothing) {
  const std::vector<Vec3d> g = gradient();
  Vec3d force, couple;
  double size = 0;
  for (std::size_t v = 0; v < g.size(); ++v) {
    force += g[v];
    couple += cross(scene_.state.vertex_position[v] + u_[v], g[v]);
    size += norm(g[v]);
  }
  EXPECT_LT(norm(force), 1e-13 * size);
  // Friction acts at two places a diameter apart and turns the pair; the normal forces alone turn nothing.
  Vec3d normal_couple;
  for (const contact::Contact& c : step_.contacts())
    for (std::size_t j = 0; j < 4; ++j) {
      const Vec3d x = scene_.state.vertex_position[c.vertex[j]] + u_[c.vertex[j]];
      normal_couple += cross(x, (-c.weight[j] * c.force) * c.n);
    }
  EXPECT_LT(norm(normal_couple), 1e-13 * size);
  EXPECT_LT(norm(couple), 0.02 * size);
}

TEST_F(WoundStrands, BlocksOfSingleVerticesMajoriseTheHessian) {
  std::vector<Mat3<double>> blocks(u_.size());
  step_.add_diagonal(blocks);
  for (int i = 0; i < 20; ++i) {
    const std::vector<Vec3d> p = random_field();
    std::vector<Vec3d> image(p.size());
    double most = 0;
    for (std::size_t v = 0; v < p.size(); ++v) most += dot(p[v], blocks[v] * p[v]);
    // Of the stiffnesses of normals and friction; what the contact's turning adds is not in the blocks.
    double curved = 0;
    for (const contact::Contact& c : step_.contacts()) {
      Vec3d q;
      for (std::size_t j = 0; j < 4; ++j) q += c.weight[j] * p[c.vertex[j]];
      curved += c.stiffness * dot(c.n, q) * dot(c.n, q);
    }
    EXPECT_LE(curved, most);
  }
}

/// The distance of V25: E = -k (d - 1)^2 ln d with d in units of the range; its force and stiffness at s.
TEST(ContactBarrier, HasTheForcesOfItsEquation) {
  const double expected[][2] = {{1e-3, .981854}, {1e-2, .943376}, {.1, .828526}, {1, .532436}, {10, .122152}};  // F range/k, s
  for (const auto& [force, s] : expected) EXPECT_NEAR(contact::barrier(s, 1, 1).force, force, 2e-5 * force / (1 - s));
  for (double s : {0.9, 0.5, 0.1, 1e-3, 5e-6}) {
    const double t = 1e-6 * s;
    const auto energy = [](double x) { return contact::barrier_energy(x, 2e-3, 3); };
    EXPECT_NEAR(contact::barrier(s, 2e-3, 3).force, -(energy(s + t) - energy(s - t)) / (2 * t * 2e-3),
                1e-4 * contact::barrier(s, 2e-3, 3).force);
  }
  EXPECT_EQ(contact::barrier(1, 1, 1).force, 0);
}

/// Nearest points against a fine search, parallel and degenerate segments included.
TEST(SegmentGap, IsTheSmallestDistance) {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    contact::TwoSegments p{{random.in_cube(), random.in_cube()}, {random.in_cube(), random.in_cube()}};
    if (i % 3 == 0)
      p.b[1] = p.b[0] + (random.flip() ? 1.0 : -1.0) * p.edge_a() + random.log_range(1e-12, 1e-2) * random.in_cube();
    const double distance = contact::nearest_points(p, 0, 0).distance;
    double least = 1e9;
    constexpr int n = 200;
    for (int a = 0; a <= n; ++a)
      for (int b = 0; b <= n; ++b)
        least = std::min(least, norm(p.b[0] + (double(b) / n) * p.edge_b() - p.a[0] - (double(a) / n) * p.edge_a()));
    EXPECT_LE(distance, least + 1e-12);
    EXPECT_GT(distance, least - 0.02);
  }
}

}  // namespace
}  // namespace osier::test
