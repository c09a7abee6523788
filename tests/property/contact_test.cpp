// Rods that touch: what they have to do whatever the scene is.
#include <cstring>
#include <gtest/gtest.h>

#include "contact/candidates.hpp"
#include "contact/contact_step.hpp"
#include "contact/drift.hpp"
#include "contact/segment_gap.hpp"
#include "sim/measure.hpp"
#include "solvers/direct/direct.hpp"
#include "solvers/projective/projective.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "support/contact_scene.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

double least_distance(const ContactScene& scene, int apart = 4) {
  const Model& m = scene.model;
  const auto& x = scene.state.vertex_position;
  double least = std::numeric_limits<double>::infinity();
  const auto ends = [&](Index s) { return std::array{x[m.segment_vertices[s][0]], x[m.segment_vertices[s][1]]}; };
  for (Index a = 0; a < m.segment_count(); ++a)
    for (Index b = a + apart; b < m.segment_count(); ++b)
      least = std::min(least, contact::nearest_points({ends(a), ends(b)}, 0, 0).distance);
  return least;
}

/// A thousand segments here and there, some long.
TEST(ContactCandidates, GridFindsWhatBruteForceFinds) {
  Random random(3);
  for (int round = 0; round < 4; ++round) {
    ContactScene scene;
    for (int r = 0; r < 60; ++r) {
      const Vec3d from = 0.3 * random.in_cube();
      scene.add_line(from, from + (r % 10 == 0 ? 3.0 : 0.2) * random.in_cube(), r % 10 == 0 ? 2 : 12,
                     {.radius = random.log_range(1e-3, 2e-2)});
    }
    scene.build();
    scene.begin();
    std::vector<double> ball(scene.state.vertex_position.size());
    for (double& b : ball) b = random.flip() ? 0 : random.log_range(1e-4, 3e-2);
    std::vector<contact::Pair> grid, all;
    contact::Candidates::find_by_brute_force(scene.contacts, scene.model, scene.state.vertex_position, ball, all);
    ASSERT_GT(all.size(), 500U);
    for (int threads : {1, 3}) {
      contact::Candidates().find(scene.contacts, scene.model, scene.state.vertex_position, ball, Executor(threads), grid);
      EXPECT_TRUE(grid == all);
    }
  }
}

/// What moves as a whole, a piece that is twisted, and points that go anywhere.
TEST(ContactDrift, BoundsWhatItMakesOfDistances) {
  Random random(17);
  std::vector<Vec3d> points(3000);
  for (Vec3d& x : points) x = {0.6 * random.unit(), 0.1 * random.unit(), 0.05 * random.unit()};
  const std::vector<std::uint8_t> alive(points.size(), 1);
  const auto turned = [&](const Vec3d& x, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return Vec3d{0, (c - 1) * x.y - s * x.z, s * x.y + (c - 1) * x.z};
  };
  std::vector<Vec3d> anywhere(points.size());
  for (Vec3d& d : anywhere) d = 5e-3 * random.in_cube();
  const std::vector<std::function<Vec3d(std::size_t)>> motions{
      [&](std::size_t v) {
        return turned(points[v], 0.2) + Vec3d{3, 0, 0};
      },
      [&](std::size_t v) { return turned(points[v], 0.6 * (points[v].x - 0.3)); },
      [&](std::size_t v) { return anywhere[v]; },
  };
  for (std::size_t k = 0; k < motions.size(); ++k) {
    contact::Drift drift;
    drift.lay(points, alive);
    drift.fit(motions[k]);
    const double ratio = drift.least_ratio();
    if (k < 2) {
      EXPECT_GT(ratio, 0.85) << k;
      for (std::size_t v = 0; v < points.size(); ++v) EXPECT_LT(norm(drift.at(points[v]) - motions[k](v)), 1e-3) << k;
    }
    double least = 1;
    for (int i = 0; i < 200000; ++i) {
      const Vec3d& x = points[static_cast<std::size_t>(random.below(3000))];
      const Vec3d y = i % 2 == 0 ? points[static_cast<std::size_t>(random.below(3000))] : x + 0.1 * (points[0] - x);
      if (!(norm2(x - y) > 0)) continue;
      const Vec3d at_x = drift.at(x), at_y = drift.at(y);
      least = std::min(least, norm(x + at_x - y - at_y) / norm(x - y));
      const double bent = norm(drift.at(0.5 * (x + y)) - 0.5 * (at_x + at_y));
      EXPECT_LE(bent, drift.most_bend(norm(x - y)) + 1e-14) << k;
    }
    EXPECT_GE(least, ratio * (1 - 1e-12)) << k;
  }
}

/// A stack of rods that flies and turns as a whole, far in every step: no new list for that, and what is near is on the one at
/// hand.
TEST(ContactList, LastsWhileRodsMoveTogether) {
  ContactScene scene;
  for (int i = 0; i < 6; ++i) scene.add_line({-0.1, 0.0085 * i, 0.004 * (i % 2)}, {0.1, 0.0085 * i, 0.004 * (i % 2)}, 20, {});
  scene.build();
  scene.begin();
  const double h = 2e-3, spin = 10;
  const auto& m = scene.model;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    const Vec3d x = scene.state.vertex_position[v];
    scene.state.vertex_velocity[v] = Vec3d{4, 0, -3} + spin * Vec3d{-x.y, x.x, 0};
  }
  contact::ContactStep step;
  int lists = 0;
  for (int i = 0; i < 30; ++i) {
    step.begin(scene.contacts, m, scene.control, scene.state, h, true);
    std::vector<Vec3d> u(scene.state.vertex_position.size());
    step.predict(u);
    step.linearise(u);
    contact::Record record;
    step.tell(record);
    lists += record.lists;
    std::vector<Vec3d> x(u.size());
    for (std::size_t v = 0; v < u.size(); ++v) x[v] = scene.state.vertex_position[v] + u[v];
    std::vector<contact::Pair> near;
    contact::Candidates::find_by_brute_force(scene.contacts, m, x, std::vector<double>(x.size(), 0), near);
    EXPECT_GT(near.size(), 100U);
    EXPECT_TRUE(std::includes(step.pairs().begin(), step.pairs().end(), near.begin(), near.end())) << i;
    scene.state.vertex_position = x;
    for (Index v = 0; v < m.vertex_count(); ++v) {  // on along a circle
      const Vec3d from = x[v] - 4 * h * (i + 1) * Vec3d{1, 0, 0} + 3 * h * (i + 1) * Vec3d{0, 0, 1};
      scene.state.vertex_velocity[v] = Vec3d{4, 0, -3} + spin * Vec3d{-from.y, from.x, 0};
    }
  }
  EXPECT_LE(lists, 4);
}

/// Two rods come along together, far in one step. The first is held up by a third one that lies in their way, and so the second
/// one must be, though it does not move against the first.
TEST(ContactGuard, WhatComesAlongWithARodIsHeldUpWithIt) {
  for (const bool predicts : {false, true}) {
    ContactScene scene;
    for (const double y : {0.0, 0.03, 0.0385, 0.047}) scene.add_line({-0.02, y, 0}, {0.02, y, 0.001}, 8, {});
    scene.build();
    scene.begin();
    const double h = 1e-2;
    const auto& m = scene.model;
    for (Index v = 9; v < m.vertex_count(); ++v) scene.state.vertex_velocity[v] = {0, -5, 0};
    contact::ContactStep step;
    step.begin(scene.contacts, m, scene.control, scene.state, h, predicts);
    std::vector<Vec3d> u(scene.state.vertex_position.size());
    step.predict(u);
    for (std::size_t v = 0; v < u.size(); ++v) scene.state.vertex_position[v] += u[v];
    double least = 1;
    const auto ends = [&](Index s) {
      return std::array{scene.state.vertex_position[m.segment_vertices[s][0]],
                        scene.state.vertex_position[m.segment_vertices[s][1]]};
    };
    for (Index a = 0; a < m.segment_count(); ++a)
      for (Index b = 8 * (a / 8 + 1); b < m.segment_count(); ++b)
        least = std::min(least, contact::nearest_points({ends(a), ends(b)}, 0, 0).distance);
    EXPECT_GE(least, 0.8 * 8e-3) << predicts;
    EXPECT_LT(least, 0.9 * 8e-3) << predicts;  // they did go
    for (Index rod = 0; rod + 1 < 4; ++rod)
      EXPECT_LT(scene.state.vertex_position[9 * rod].y, scene.state.vertex_position[9 * (rod + 1)].y) << predicts;
  }
}

/// One rod falls across another one that is held at its ends.
void add_crossing(ContactScene& scene) {
  scene.add_line({-0.25, 0, 0}, {0.25, 0, 0}, 25, {});
  scene.add_line({0, 0.02, -0.2}, {0.003, 0.021, 0.2}, 20, {});
  scene.build();
  scene.hold(0), scene.hold(25);
  scene.gravity = {0, -9.81, 0};
}

TEST(Contact, ARodThatFallsOnAnotherOneStaysOnTop) {
  for (const char* solver : {"direct", "stable_cosserat", "projective"}) {
    ContactScene scene;
    add_crossing(scene);
    scene.friction = 0.3;
    scene.begin(solver);
    for (int i = 0; i < 400; ++i) {
      scene.step(2e-3);
      ASSERT_GT(least_distance(scene), 0.8 * 8e-3) << solver << " step " << i;
    }
    const auto& x = scene.state.vertex_position;
    EXPECT_GT(x[26 + 10].y, 0.5 * (x[12].y + x[13].y)) << solver;
  }
}

/// However little it weighs against what it takes to bend the rods: its stiffness follows the load.
TEST(Contact, ALightRodRestsAtTheSumOfRadii) {
  ContactScene scene;
  const RoundRod stiff{.young = 1e9};
  scene.add_line({-0.05, 0, 0}, {0.05, 0, 0}, 10, stiff);
  scene.add_line({0, 0.0085, -0.05}, {0, 0.0085, 0.05}, 10, stiff);
  scene.build();
  for (Index v = 0; v <= 10; ++v) scene.hold(v);
  scene.gravity = {0, -9.81, 0};
  scene.begin();
  for (int i = 0; i < 200; ++i) scene.step(4e-3);
  ASSERT_FALSE(scene.touched.touches.empty());
  EXPECT_NEAR(least_distance(scene), 8e-3, 0.02 * 8e-3);
}

/// Two free rods that collide: what one gains the other one loses, and none turns the whole.
TEST(Contact, FreeRodsKeepTheirMomentum) {
  ContactScene scene;
  scene.add_line({-0.1, 0, 0}, {0.1, 0.004, 0}, 16, {.young = 1e5});
  scene.add_line({0.01, 0.012, -0.1}, {0, 0.013, 0.1}, 16, {.young = 1e5});
  scene.friction = 0.2;
  scene.build();
  for (Index v = 17; v < 34; ++v) scene.state.vertex_velocity[v] = {0.1, -1, 0.2};
  direct::Settings settings;
  settings.goal.tolerance = 1e-9;
  scene.begin(settings.make(scene.model));
  const auto momentum = [&] {
    Vec3d sum;
    for (Index v = 0; v < scene.model.vertex_count(); ++v) sum += scene.model.vertex_mass[v] * scene.state.vertex_velocity[v];
    return sum;
  };
  const Vec3d before = momentum();
  double slowed = 0;
  for (int i = 0; i < 100; ++i) {
    scene.step(1e-3);
    EXPECT_LT(norm(momentum() - before), 1e-7 * norm(before)) << i;
    slowed = scene.state.vertex_velocity[25].y;
  }
  EXPECT_GT(slowed, -0.8);  // they did meet
}

/// Sweeps and Newton iterations minimise one energy: where sweeps converge, it is to the same step.
TEST(Contact, SweepsConvergeToTheDirectStep) {
  const auto end_of = [](std::unique_ptr<SolverSettings> settings) {
    ContactScene scene;
    scene.add_line({-0.05, 0, 0}, {0.05, 0, 0}, 5, {.young = 2e4});
    scene.add_line({0, 0.0083, -0.04}, {0.001, 0.0083, 0.04}, 4, {.young = 2e4});
    scene.build();
    scene.hold(0), scene.hold(5);
    scene.gravity = {0, -9.81, 0};
    scene.begin(settings->make(scene.model));
    for (int i = 0; i < 30; ++i) scene.step(1e-3);
    return scene.state.vertex_position;
  };
  auto direct = std::make_unique<direct::Settings>();
  direct->goal.tolerance = 1e-10;
  auto sweeps = std::make_unique<stable_cosserat::Settings>();
  sweeps->tolerance = 1e-9;
  sweeps->max_iterations = 40000;
  auto projective = std::make_unique<projective::Settings>();
  projective->iteration = projective::Iteration::sweeps;
  projective->tolerance = 1e-9;
  projective->max_iterations = 40000;
  const auto a = end_of(std::move(direct)), b = end_of(std::move(sweeps)), c = end_of(std::move(projective));
  double largest = 0, global = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    largest = std::max(largest, norm(a[v] - b[v]));
    global = std::max(global, norm(a[v] - c[v]));
  }
  EXPECT_LT(largest, 2e-7);
  EXPECT_LT(global, 2e-7);
}

TEST(Contact, DoesNotDependOnTheNumberOfThreads) {
  for (const char* solver : {"direct", "stable_cosserat", "projective"}) {
    const auto end_of = [&](int threads) {
      ContactScene scene;
      Random random(8);
      for (int r = 0; r < 40; ++r) {
        const Vec3d from = {0.1 * random.range(-1, 1), 0.02 * r, 0.1 * random.range(-1, 1)};
        scene.add_line(from, from + Vec3d{random.range(-.2, .2), 0, random.range(-.2, .2)}, 20, {.young = 1e5});
      }
      scene.friction = 0.3;
      scene.build();
      scene.hold(0), scene.hold(20);
      scene.gravity = {0, -9.81, 0};
      scene.begin(solver, threads);
      for (int i = 0; i < 40; ++i) scene.step(2e-3);
      return scene.state;
    };
    const State one = end_of(1);
    for (int threads : {2, 3, 7}) {
      const State many = end_of(threads);
      EXPECT_TRUE(same_bits(one.vertex_position, many.vertex_position)) << solver << " on " << threads;
      EXPECT_TRUE(same_bits(one.frame_rotation, many.frame_rotation)) << solver << " on " << threads;
    }
  }
}

/// Loops around each other stay linked, however hard they are torn apart. What leads them is held back.
TEST(Contact, HoldsPrescribedMotionBackThatWouldTearRodsThroughEachOther) {
  ContactScene scene;
  std::vector<Vec3d> ring;
  for (int i = 0; i < 24; ++i)
    ring.push_back({0.05 * std::cos(i * std::numbers::pi / 12), 0.05 * std::sin(i * std::numbers::pi / 12), 0});
  scene.add_rod(ring, {.young = 1e7}, true);
  for (Vec3d& p : ring) p = {p.x + 0.05, 0, p.y};
  scene.add_rod(ring, {.young = 1e7}, true);
  scene.build();
  for (Index v = 0; v < 48; ++v) scene.hold(v);
  scene.begin();
  bool held_back = false;
  for (int i = 0; i < 60; ++i) {
    for (Index v = 24; v < 48; ++v) scene.control.vertex_target[v].x += 0.05;  // 3 m in all
    scene.step(5e-3);
    held_back = held_back || scene.report.held_back;
    double link = 0;  // Gauss' integral over both rings
    const auto& x = scene.state.vertex_position;
    const auto solid = [](Vec3d a, Vec3d b, Vec3d c) {
      a = normalized(a), b = normalized(b), c = normalized(c);
      return 2 * std::atan2(dot(a, cross(b, c)), 1 + dot(a, b) + dot(b, c) + dot(c, a));
    };
    for (int a = 0; a < 24; ++a)
      for (int b = 0; b < 24; ++b) {
        const Vec3d a0 = x[a], a1 = x[(a + 1) % 24], b0 = x[24 + b], b1 = x[24 + (b + 1) % 24];
        link += solid(b0 - a0, b1 - a0, b1 - a1) + solid(b0 - a0, b1 - a1, b0 - a1);
      }
    ASSERT_NEAR(std::abs(link) / (4 * std::numbers::pi), 1, 1e-9) << "step " << i;
  }
  EXPECT_TRUE(held_back);
}

/// A strand that is far from all others is stepped by the lanes, as in a scene without contact.
TEST(Contact, ChangesNothingForRodsThatTouchNothing) {
  const auto end_of = [](bool touch) {
    ContactScene scene;
    for (int r = 0; r < 20; ++r) scene.add_line({0, 0, 0.1 * r}, {0.3, 0, 0.1 * r}, 16, {});
    scene.build();
    for (int r = 0; r < 20; ++r) scene.hold(17 * r);
    scene.gravity = {0, -9.81, 0};
    scene.begin();
    if (!touch) scene.contacts = {};
    for (int i = 0; i < 50; ++i) scene.step(2e-3);
    return scene.state;
  };
  EXPECT_TRUE(same_bits(end_of(true).vertex_position, end_of(false).vertex_position));
}

/// A slack rod that stands on its coil: neighbours along a rod do not push each other, but farther segments do.
TEST(Contact, RodsTouchThemselves) {
  ContactScene scene;
  std::vector<Vec3d> points;
  for (int i = 0; i <= 120; ++i) points.push_back({0.03 * std::cos(0.2 * i), 1.2e-3 * i, 0.03 * std::sin(0.2 * i)});
  scene.add_rod(points, {.young = 3e5, .radius = 2e-3});
  scene.build();
  scene.clamp(0);
  scene.gravity = {0, -9.81, 0};
  scene.begin();
  for (int i = 0; i < 200; ++i) scene.step(2e-3);
  EXPECT_GT(least_distance(scene, 6), 0.8 * 4e-3);
  EXPECT_EQ(scene.unconverged, 0);
}

}  // namespace
}  // namespace osier::test
