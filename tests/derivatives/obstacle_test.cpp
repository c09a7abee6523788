// Shapes of obstacles: their distances, derivatives and bounds of motion against differences and sampling; and contact with them.
#include <gtest/gtest.h>

#include "contact/contact_step.hpp"
#include "obstacles/mesh/mesh_surface.hpp"
#include "support/contact_scene.hpp"
#include "support/obstacles.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

struct Case {
  const char* name;
  std::shared_ptr<contact::Obstacle> obstacle;
};

std::vector<Case> cases(const Motion& motion, bool tilts) {
  const Quatd turned = normalized(Quatd{0.2, -0.4, 0.1, 0.8});
  std::vector<Case> list{
      {"sphere", made(sphere_of({0.1, 0.2, -0.1}, 0.5), motion)},
      {"capsule", made(capsule_of({-0.3, 0.1, 0}, {0.4, 0.2, 0.3}, 0.3), motion)},
      {"box", made(box_of({0.1, 0, 0.2}, {0.6, 0.9, 0.4}, turned), motion)},
      {"cylinder", made(cylinder_of({-0.3, 0.1, 0}, {0.4, 0.2, 0.3}, 0.4), motion)},
      {"room", made(sphere_of({0.1, 0.2, -0.1}, 2, true), motion)},
      {"cell", made(box_of({0.1, 0, 0.2}, {3, 3.2, 3.4}, turned, true), motion)},
      {"can", made(cylinder_of({-1, -1, -1}, {1, 1.2, 1.3}, 2, true, true), motion)},
  };
  if (!tilts) {
    list.push_back({"plane", made(plane_of({0, -0.8, 0}, {0.1, 1, 0.2}), motion)});
    list.push_back({"bore", made(cylinder_of({-1, -1, -1}, {1, 1.2, 1.3}, 2, true), motion)});
  }
  return list;
}

std::vector<Index> features_of(const contact::Obstacle& obstacle) {
  std::vector<Index> list;
  obstacle.features_near({{-1e3, -1e3, -1e3}, {1e3, 1e3, 1e3}}, list);
  return list;
}

TEST(Obstacles, NormalsAndCurvaturesAreDerivativesOfTheDistance) {
  Random random(4);
  for (const Case& c : cases({}, false))
    for (const Index f : features_of(*c.obstacle))
      for (int i = 0; i < 200; ++i) {
        const Vec3d x = 1.2 * random.in_cube(), e = random.in_cube();
        const auto at = [&](double t) { return c.obstacle->nearest(f, x + t * e, x + t * e, 0, 0); };
        const contact::ObstaclePoint p = at(0);
        if (c.obstacle->kind() == contact::Obstacle::Kind::convex && p.distance < 1e-3) continue;
        constexpr double t = 1e-5;
        EXPECT_NEAR(norm(p.normal), 1, 1e-12) << c.name;
        EXPECT_NEAR((at(t).distance - at(-t).distance) / (2 * t), dot(p.normal, e), 1e-6) << c.name;
        const Vec3d bent = (1 / (2 * t)) * (at(t).normal - at(-t).normal);
        const Vec3d expected = p.curvature * e;
        // Where a neighbourhood of the point belongs to two parts of the surface the second derivative jumps.
        const Vec3d one = (1 / t) * (at(t).normal - p.normal), other = (1 / t) * (p.normal - at(-t).normal);
        if (norm(one - other) > 1e-2 * (1 + norm(one))) continue;
        EXPECT_LT(norm(bent - expected), 1e-3 * (1 + norm(expected))) << c.name;
        EXPECT_LT(std::abs(c.obstacle->nearest(f, p.point, p.point, 0, 0).distance), 1e-12) << c.name;
      }
}

TEST(Obstacles, TheNearestPlaceOfASegmentIsTheNearest) {
  Random random(6);
  for (const Case& c : cases({}, false)) {
    if (c.obstacle->kind() == contact::Obstacle::Kind::hollow) continue;
    for (int i = 0; i < 200; ++i) {
      const Vec3d a = 1.5 * random.in_cube(), b = 1.5 * random.in_cube();
      for (const double regular : {0.0, 0.02}) {
        const contact::ObstaclePoint p = c.obstacle->nearest(0, a, b, 0, regular);
        constexpr int n = 400;
        double least = 1e9;
        for (int k = 0; k <= n; ++k) {
          const double s = static_cast<double>(k) / n;
          const Vec3d x = a + s * (b - a);
          least = std::min(least, c.obstacle->nearest(0, x, x, 0, 0).distance + 0.5 * regular * (s - 0.5) * (s - 0.5));
        }
        EXPECT_LE(p.distance, least + 1e-9) << c.name;
        EXPECT_GT(p.distance, least - 1e-2) << c.name;
      }
    }
  }
}

/// Against ternary search, which a convex function cannot lead astray. Lists and guard take this distance for a bound. The first
/// triangle is one between whose edge and corner Newton's method went to and fro for ever.
TEST(Obstacles, TheNearestPlaceOfASegmentToATriangleIsTheNearest) {
  Random random(17);
  const auto check = [](const std::array<Vec3d, 3>& corners, const Vec3d& a, const Vec3d& b) {
    auto frames = std::make_shared<MeshFrames>();
    frames->triangles = {{0, 1, 2}};
    frames->points = {{corners[0], corners[1], corners[2]}};
    const MeshSurface triangle(frames, {});
    for (const double regular : {0.0, 2e-4, 0.02}) {
      const auto distance = [&](double s) {
        const Vec3d x = a + s * (b - a);
        return triangle.nearest(0, x, x, 0, 0).distance + 0.5 * regular * (s - 0.5) * (s - 0.5);
      };
      double low = 0, high = 1;
      for (int i = 0; i < 100; ++i) {
        const double third = (high - low) / 3;
        (distance(low + third) > distance(high - third) ? low : high) +=
            distance(low + third) > distance(high - third) ? third : -third;
      }
      ASSERT_NEAR(triangle.nearest(0, a, b, 0, regular).distance, distance(0.5 * (low + high)), 1e-8 * norm(b - a));
    }
  };
  check({Vec3d{0.026381, 0.096035, 0.028766}, Vec3d{0.018229, 0.095355, 0.032915}, Vec3d{0.025383, 0.083706, 0.045833}},
        {0.015122468163340938, 0.10067082053622696, 0.029261744357233541},
        {0.029758676434444183, 0.097344360233934696, 0.029227168309499906});
  for (int i = 0; i < 2000; ++i) {
    const double height = std::pow(10.0, random.range(-4, 0));
    const Vec3d lift{0, 0, height};
    const auto flat = [&] { return Vec3d{random.range(-1, 1), random.range(-1, 1), 0.1 * height * random.range(-1, 1)}; };
    check({flat(), flat(), flat()}, flat() + lift, flat() + lift);
  }
}

/// reach() and support() bound the motion at every share; a body that turns about itself alone has not moved.
TEST(Obstacles, BoundsOfMotionHold) {
  Random random(9);
  Motion motion = turning(random.in_cube(), {0.3, -0.2, 0.5}, 0.9);
  motion.translate.keys = {{0, {}}, {1, {0.2, -0.1, 0.3}}};
  for (const Case& c : cases(motion, true)) {
    c.obstacle->set_step(0.2, 0.7);
    EXPECT_TRUE(c.obstacle->is_moving());
    for (const Index f : features_of(*c.obstacle))
      for (int i = 0; i < 300; ++i) {
        const Vec3d x = 2.0 * random.in_cube(), n = normalized(random.in_cube());
        const double from = random.range(0, 1), to = random.range(from, 1), middle = random.range(from, to);
        const double here = c.obstacle->nearest(f, x, x, from, 0).distance;
        EXPECT_GE(c.obstacle->nearest(f, x, x, middle, 0).distance, here - c.obstacle->reach(f, from, middle) - 1e-12) << c.name;
        if (c.obstacle->kind() == contact::Obstacle::Kind::hollow) continue;
        const double way = to - from, t = (middle - from) / way;
        const double advance =
            c.obstacle->support(f, n, to) - c.obstacle->support(f, n, from) + 0.5 * c.obstacle->bend(f) * way * way;
        EXPECT_LE(c.obstacle->support(f, n, middle) - c.obstacle->support(f, n, from), t * advance + 1e-12) << c.name;
      }
  }
}

TEST(Obstacles, SupportIsThatOfTheSurface) {
  Random random(3);
  const auto check = [&](const ObstacleSpec& spec, double accuracy) {
    const auto obstacle = spec.make();
    const Surface surface = spec.surface();
    for (int i = 0; i < 50; ++i) {
      const Vec3d n = normalized(random.in_cube());
      double most = -1e9;
      for (const Vec3d& p : surface.points) most = std::max(most, dot(n, p));
      EXPECT_NEAR(obstacle->support(0, n, 0), most, accuracy) << spec.type();
    }
    for (const Vec3d& p : surface.points) EXPECT_LT(std::abs(obstacle->nearest(0, p, p, 0, 0).distance), 1e-9) << spec.type();
  };
  check(sphere_of({1, 2, 3}, 0.4), 0.02);
  check(capsule_of({0, 1, 0}, {1, 1, 2}, 0.3), 0.02);
  check(box_of({0, 1, 0}, {1, 1, 2}, normalized(Quatd{1, 2, 3, 4})), 1e-12);
  check(cylinder_of({0, 1, 0}, {1, 1, 2}, 0.3), 0.02);
}

TEST(Obstacles, BoxesThatTheSurfaceEntersAreFound) {
  Random random(12);
  Motion motion = moving({0.5, 0.2, -0.1});
  for (const Case& c : cases(motion, false)) {
    c.obstacle->set_step(0, 1);
    const std::vector<Index> all = features_of(*c.obstacle);
    for (int i = 0; i < 500; ++i) {
      const Vec3d middle = 2.5 * random.in_cube();
      const Vec3d half = random.log_range(1e-2, 1) * Vec3d{1, 0.3, 0.6};
      std::vector<Index> found;
      c.obstacle->features_near({middle - half, middle + half}, found);
      for (const Index f : all)
        for (const double share : {0.0, 0.5, 1.0})
          for (int k = 0; k < 5; ++k) {
            const Vec3d r = random.in_cube(), x = middle + Vec3d{r.x * half.x, r.y * half.y, r.z * half.z};
            if (c.obstacle->nearest(f, x, x, share, 0).distance > 0) continue;
            EXPECT_TRUE(std::find(found.begin(), found.end(), f) != found.end()) << c.name;
          }
    }
  }
}

/// A crumpled rod between a floor, a ball, a bar and the inside of a bore: the gradient and the product of the step's contact
/// energy.
class Surrounded : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<Vec3d> points;
    for (int i = 0; i <= 40; ++i) points.push_back({0.01 * i - 0.2, 4.1e-3 + 1e-4 * std::sin(0.9 * i), 1e-3 * std::cos(0.4 * i)});
    scene_.add_rod(points, {.young = 1e6, .radius = 4e-3});
    scene_.settings.rods = false;
    scene_.friction = 0.4;
    scene_.obstacles = {made(plane_of({0, 0, 0}, {0, 1, 0})), made(sphere_of({-0.1, 0.058, 0}, 0.05)),
                        made(cylinder_of({0.1, 0.0581, -0.1}, {0.1, 0.0581, 0.1}, 0.05), moving({0, 0, 0.01})),
                        made(cylinder_of({-0.2, 3.8e-3, 0}, {0.2, 3.8e-3, 0}, 5e-3, true))};
    scene_.build();
    scene_.begin();
    scene_.contacts.set_step(0, kStep);
    step_.begin(scene_.contacts, scene_.model, scene_.control, scene_.state, kStep);
    u_.resize(scene_.state.vertex_position.size());
    for (Vec3d& u : u_) u = 2e-5 * random_.in_cube();
    step_.linearise(u_);
  }
  std::vector<Vec3d> moved(const std::vector<Vec3d>& p, double t) const {
    std::vector<Vec3d> u = u_;
    for (std::size_t v = 0; v < u.size(); ++v) u[v] += t * p[v];
    return u;
  }
  static double product(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
    return sum;
  }
  static constexpr double kStep = 1.0 / 240;
  Random random_{17};
  ContactScene scene_;
  contact::ContactStep step_;
  std::vector<Vec3d> u_;
};

TEST_F(Surrounded, TouchesAllOfThem) {
  std::array<int, 4> touches{};
  for (const contact::Contact& c : step_.contacts()) ++touches[c.pair.obstacle()];
  for (const int n : touches) EXPECT_GT(n, 0);
}

TEST_F(Surrounded, GradientIsTheDerivativeOfTheValue) {
  std::vector<Vec3d> g(u_.size());
  step_.add_gradient(g);
  for (int i = 0; i < 10; ++i) {
    std::vector<Vec3d> p(u_.size());
    for (Vec3d& x : p) x = random_.in_cube();
    constexpr double t = 1e-9;
    const double slope = (step_.value(moved(p, t)) - step_.value(moved(p, -t))) / (2 * t);
    EXPECT_NEAR(slope, product(g, p), 1e-5 * std::sqrt(product(g, g) * product(p, p)));
  }
}

TEST_F(Surrounded, ProductIsTheSecondDerivativeOfTheValue) {
  for (int i = 0; i < 10; ++i) {
    std::vector<Vec3d> p(u_.size()), image(u_.size());
    for (Vec3d& x : p) x = random_.in_cube();
    step_.add_product(p, image);
    constexpr double t = 3e-8;
    const double curved = (step_.value(moved(p, t)) - 2 * step_.value(u_) + step_.value(moved(p, -t))) / (t * t);
    EXPECT_NEAR(curved, product(p, image), 1e-3 * std::abs(curved));
  }
}

}  // namespace
}  // namespace osier::test
