// Rods and obstacles: what they have to do whatever the scene is.
#include <gtest/gtest.h>

#include "certificate/obstacle_distance.hpp"
#include "sim/measure.hpp"
#include "solvers/direct/direct.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "support/contact_scene.hpp"
#include "support/obstacles.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

const Vec3d kGravity{0, -9.81, 0};
constexpr double kCore = 0.8 - 1e-6;  ///< in radii: what the guard keeps, but for rounding

/// The least distance of all segments from an obstacle where it is at the end of the step, over the segments' radius.
double gap(const ContactScene& scene, std::size_t obstacle) {
  double least = std::numeric_limits<double>::infinity(), share = 1;
  const auto o = scene.contacts.obstacles()[obstacle]->clone();
  for (const SolverMemory& memory : scene.state.memory) {
    if (memory.name != "contact/late_obstacles") continue;
    const auto& v = memory.values;
    for (std::size_t i = 0; i < v.size(); i += 2 + static_cast<std::size_t>(v[i + 1]))
      if (static_cast<std::size_t>(v[i]) == obstacle)
        o->start_from(std::span(v).subspan(i + 2, static_cast<std::size_t>(v[i + 1]))), share = 0;
  }
  std::vector<Index> features;
  o->features_near({{-1e3, -1e3, -1e3}, {1e3, 1e3, 1e3}}, features);
  for (Index s = 0; s < scene.model.segment_count(); ++s) {
    const auto [a, b] = scene.model.segment_vertices[s];
    const auto& x = scene.state.vertex_position;
    for (const Index f : features)
      least = std::min(least, contact::distance_of(*o, f, x[a], x[b], share) / scene.contacts.radius(s));
  }
  return least;
}

Vec3d push_of(const ContactScene& scene, std::size_t obstacle) {
  Vec3d sum;
  for (const contact::Touch& touch : scene.touched.touches)
    if (touch.pair.with_obstacle() && touch.pair.obstacle() == obstacle) sum += touch.push;
  return sum;
}

double weight(const ContactScene& scene) {
  double mass = 0;
  for (const double m : scene.model.vertex_mass) mass += m;
  return mass * norm(kGravity);
}

TEST(Obstacle, AFloorCarriesTheWeightOfARope) {
  for (const char* solver : {"direct", "stable_cosserat"}) {
    ContactScene scene;
    scene.add_line({-0.2, 0.006, 0}, {0.2, 0.03, 0}, 20, {.young = 1e5});
    scene.obstacles = {made(plane_of({0, 0, 0}, {0, 1, 0}))};
    scene.build();
    scene.gravity = kGravity;
    auto settings = make_settings(solver);
    if (auto* sweeps = dynamic_cast<stable_cosserat::Settings*>(settings.get()))
      sweeps->tolerance = 1e-4, sweeps->max_iterations = 500;
    scene.begin(settings->make(scene.model));
    for (int i = 0; i < 500; ++i) {
      scene.step(4e-3);
      ASSERT_GT(gap(scene, 0), kCore) << solver << " step " << i;
    }
    const Vec3d push = push_of(scene, 0);
    EXPECT_NEAR(push.y, weight(scene), (solver[0] == 'd' ? 1e-5 : 2e-2) * weight(scene)) << solver;
    EXPECT_LT(std::abs(push.x) + std::abs(push.z), 1e-3 * push.y);
    for (const contact::Touch& touch : scene.touched.touches) EXPECT_LT(std::abs(touch.gap), 0.25 * 4e-3) << solver;
  }
}

/// A vertex that is held in the floor's range carries whatever the contact's stiffness is, so that this one stays high. What lies
/// beside it carries its own weight alone and rests at its radius.
TEST(Obstacle, AHeldVertexDoesNotLiftWhatLiesBesideIt) {
  ContactScene scene;
  scene.add_line({0, 4e-3, 0}, {0.8, 4e-3, 0}, 80, {.young = 1e9});
  scene.obstacles = {made(plane_of({0, 0, 0}, {0, 1, 0}))};
  scene.build();
  scene.hold(0);
  scene.gravity = kGravity;
  scene.begin();
  for (int i = 0; i < 200; ++i) scene.step(0.01);
  for (const Index v : {5, 20, 40, 80}) EXPECT_NEAR(scene.state.vertex_position[v].y, 4e-3, 0.02 * 4e-3) << v;
}

/// The angle of the slope against that of friction, arctan 0.5 = 26.6 degrees. The rod is laid down first, on a level floor:
/// gravity leans afterwards.
TEST(Obstacle, ARodSticksBelowTheAngleOfFrictionWithoutCreepAndSlidesAboveIt) {
  constexpr double h = 1.0 / 240;
  struct Slide {
    double half, end, speed_half, speed_end;
  };
  const auto way_down = [](double degrees) {
    ContactScene scene;
    scene.add_line({-0.1, 4e-3, 0}, {0.1, 4e-3, 0}, 20, {});
    scene.obstacles = {made(plane_of({0, 0, 0}, {0, 1, 0}), {}, 0.5)};
    scene.settings.slip = 1e-3;
    scene.build();
    scene.gravity = kGravity;
    scene.begin();
    for (int i = 0; i < 240; ++i) scene.step(h);
    const double start = scene.state.vertex_position[10].x;
    Slide slide{};
    for (int i = 1; i <= 240; ++i) {
      const double a = std::min(1.0, i / 60.0) * degrees * std::numbers::pi / 180;
      scene.gravity = 9.81 * Vec3d{std::sin(a), -std::cos(a), 0};
      scene.step(h);
      if (i == 120) slide.half = scene.state.vertex_position[10].x - start, slide.speed_half = scene.state.vertex_velocity[10].x;
    }
    slide.end = scene.state.vertex_position[10].x - start, slide.speed_end = scene.state.vertex_velocity[10].x;
    return slide;
  };
  const Slide below = way_down(24);
  EXPECT_LT(std::abs(below.end), 1e-3 * 4e-3);  // the anchor's elastic part, less than the slip
  EXPECT_LT(std::abs(below.end - below.half), 1e-8);
  for (const double degrees : {30.0, 45.0}) {
    const double a = degrees * std::numbers::pi / 180, expected = 9.81 * (std::sin(a) - 0.5 * std::cos(a));
    const Slide above = way_down(degrees);
    EXPECT_NEAR(above.speed_end - above.speed_half, 0.5 * expected, 0.01 * 0.5 * expected) << degrees;
  }
}

/// A ball of 10 cm radius comes at rods with 50 m/s: 21 cm in a step. It pushes a single row before it.
TEST(Obstacle, AFastBallPushesRodsAndDoesNotPassThroughThem) {
  ContactScene scene;
  for (int r = 0; r < 3; ++r) scene.add_line({0.35, 0.03 * r - 0.03, -0.15}, {0.35, 0.03 * r - 0.03, 0.15}, 16, {});
  scene.obstacles = {made(sphere_of({0, 0, 0}, 0.1), moving({5, 0, 0}, 0.1))};
  scene.build();
  scene.begin();
  for (int i = 0; i < 24; ++i) {
    scene.step(1.0 / 240);
    ASSERT_GT(gap(scene, 0), kCore) << "step " << i;
    EXPECT_FALSE(scene.report.held_back) << "step " << i;
  }
  // What was in the way of the ball is before it or beside it.
  for (Index v = 0; v < scene.model.vertex_count(); ++v) {
    const Vec3d p = scene.state.vertex_position[v];
    EXPECT_TRUE(p.x > 5 || std::hypot(p.y, p.z) > 0.09) << p.x << ' ' << p.y << ' ' << p.z;
  }
}

/// A heap that it runs into may hold it back, but nothing passes through anything.
TEST(Obstacle, AFastBallDoesNotPassThroughAHeap) {
  ContactScene scene;
  for (int r = 0; r < 12; ++r) {
    const Vec3d from{0.35 + 0.03 * (r % 4), 0.03 * (r / 4) - 0.03, -0.15};
    scene.add_line(from, from + Vec3d{0, 0, 0.3}, 16, {});
  }
  scene.obstacles = {made(sphere_of({0, 0, 0}, 0.1), moving({5, 0, 0}, 0.1))};
  scene.build();
  scene.begin();
  for (int i = 0; i < 24; ++i) {
    scene.step(1.0 / 240);
    ASSERT_GT(gap(scene, 0), kCore) << "step " << i;
  }
}

TEST(Obstacle, AFastBoxTurnsThroughRodsWithoutPassingThem) {
  ContactScene scene;
  for (int r = 0; r < 6; ++r) scene.add_line({0.1 + 0.03 * r, 0.03, -0.1}, {0.1 + 0.03 * r, 0.035, 0.1}, 10, {});
  scene.obstacles = {made(box_of({0, 0, 0}, {0.8, 0.02, 0.4}), turning({0, 0, 1}, {0, 0, 0}, 15))};
  scene.build();
  scene.begin();
  for (int i = 0; i < 100; ++i) {
    scene.step(1.0 / 240);
    ASSERT_GT(gap(scene, 0), kCore) << "step " << i;
  }
  // All of them have been swept along.
  for (Index v = 0; v < scene.model.vertex_count(); ++v) EXPECT_GT(norm(scene.state.vertex_velocity[v]), 0.1);
}

/// A rod is pushed into a bore that is too short for it: it buckles and coils up inside.
TEST(Obstacle, ARodStaysInATube) {
  for (const bool hollow : {true, false}) {
    ContactScene scene;
    scene.add_line({-0.4, 0.002, 0}, {0.4, -0.002, 0.001}, 60, {.young = 1e7, .radius = 2e-3});
    if (hollow) scene.obstacles = {made(cylinder_of({-0.5, 0, 0}, {0.5, 0, 0}, 0.02, true))};
    else {
      TubeObstacle tube;
      tube.from = {-0.5, 0, 0}, tube.to = {0.5, 0, 0}, tube.inner = 0.02, tube.outer = 0.024;
      scene.obstacles = {made(tube)};
    }
    scene.friction = 0.1;
    scene.build();
    scene.hold(0), scene.hold(60);
    scene.begin();
    for (int i = 0; i < 200; ++i) {
      scene.control.vertex_target[60].x -= 1e-3;
      scene.step(1.0 / 240);
      ASSERT_GT(gap(scene, 0), kCore) << hollow << " step " << i;
    }
    double widest = 0;
    for (Index v = 0; v < scene.model.vertex_count(); ++v)
      widest = std::max(widest, std::hypot(scene.state.vertex_position[v].y, scene.state.vertex_position[v].z));
    EXPECT_LT(widest, 0.02 - kCore * 2e-3);
    EXPECT_GT(widest, 0.02 - 1.5 * 2e-3) << "it touches the wall";
  }
}

/// Rods in a bore that is moved away follow it.
TEST(Obstacle, AMovingBoreTakesRodsAlong) {
  ContactScene scene;
  scene.add_line({-0.1, 0, 0}, {0.1, 0, 0}, 20, {});
  scene.obstacles = {made(cylinder_of({-0.5, 0, 0}, {0.5, 0, 0}, 0.02, true), moving({0, 5, 0}, 0.25))};
  scene.build();
  scene.begin();
  for (int i = 0; i < 100; ++i) {
    scene.step(1.0 / 240);
    ASSERT_GT(gap(scene, 0), kCore) << "step " << i;
    EXPECT_FALSE(scene.report.held_back) << "step " << i;
  }
  for (Index v = 0; v < scene.model.vertex_count(); ++v) EXPECT_GT(scene.state.vertex_position[v].y, 4.9);
}

/// Two plates that would close on a rod are held back, say so, and come on when they are given way.
TEST(Obstacle, PlatesThatPinchARodAreHeldBack) {
  Motion down, up;
  down.translate.keys = {{0, {}}, {0.2, {0, -0.1, 0}}, {0.4, {0, -0.1, 0}}, {0.6, {}}};
  up.translate.keys = {{0, {}}, {0.2, {0, 0.1, 0}}, {0.4, {0, 0.1, 0}}, {0.6, {}}};
  ContactScene scene;
  scene.add_line({-0.1, 0, 0}, {0.1, 0, 0}, 20, {.young = 1e8});
  scene.obstacles = {made(box_of({0, 0.1, 0}, {1, 0.04, 1}), down), made(box_of({0, -0.1, 0}, {1, 0.04, 1}), up)};
  scene.build();
  scene.begin();
  bool late = false;
  for (int i = 0; i < 168; ++i) {
    scene.step(1.0 / 240);
    late = late || scene.report.held_back;
    ASSERT_GT(std::min(gap(scene, 0), gap(scene, 1)), kCore) << "step " << i;
    for (const contact::Touch& touch : scene.touched.touches) ASSERT_GT(touch.gap, (kCore - 1) * 4e-3) << "step " << i;
  }
  EXPECT_TRUE(late);
  EXPECT_FALSE(scene.report.held_back);
  EXPECT_GT(gap(scene, 0), 2);
}

/// What the obstacle loses the rods gain, step by step.
TEST(Obstacle, ActionIsReaction) {
  ContactScene scene;
  scene.add_line({-0.1, 0.05, 0}, {0.1, 0.052, 0}, 20, {});
  scene.obstacles = {made(sphere_of({0.01, 0, 0.001}, 0.045), moving({0.3, 0.5, 0}), 0.4)};
  scene.build();
  direct::Settings settings;
  settings.goal.tolerance = 1e-10;
  scene.begin(settings.make(scene.model));
  const auto momentum = [&] {
    Vec3d sum;
    for (Index v = 0; v < scene.model.vertex_count(); ++v) sum += scene.model.vertex_mass[v] * scene.state.vertex_velocity[v];
    return sum;
  };
  double size = 0, error = 0;
  constexpr double h = 1.0 / 240;
  for (int i = 0; i < 60; ++i) {
    const Vec3d before = momentum();
    scene.step(h);
    error = std::max(error, norm(momentum() - before - h * push_of(scene, 0)));
    size = std::max(size, h * norm(push_of(scene, 0)));
  }
  EXPECT_GT(size, 0);
  EXPECT_LT(error, 1e-4 * size);  // what the solver leaves
}

/// A bar that turns drags a rope along that is held at one end and has a weight at the other: T2/T1 = e^(mu phi). The rope hardly
/// resists bending, which would lift it off the bar early.
TEST(Obstacle, ARopeOverATurningBarFollowsTheCapstanEquation) {
  constexpr double kMu = 0.3, kRadius = 0.05, kThick = 2e-3, r = kRadius + kThick, h = 1.0 / 240;
  constexpr int kArc = 60, kDown = 20;
  ContactScene scene;
  std::vector<Vec3d> points;
  for (int i = 0; i < kDown; ++i) points.push_back({-r, -0.2 * (kDown - i) / kDown, 0});
  for (int i = 0; i <= kArc; ++i) {
    const double a = std::numbers::pi * i / kArc;
    points.push_back({-r * std::cos(a), r * std::sin(a), 0});
  }
  for (int i = 1; i <= kDown; ++i) points.push_back({r, -0.2 * i / kDown, 0});
  scene.add_rod(points, {.young = 1e8, .radius = kThick, .bend_share = 0.01});
  scene.obstacles = {made(cylinder_of({0, 0, -0.1}, {0, 0, 0.1}, kRadius), turning({0, 0, 1}, {0, 0, 0}, 1), kMu)};
  scene.build();
  const Index last = scene.model.vertex_count() - 1;
  scene.hold(last);
  scene.begin();
  scene.loads.assign(static_cast<std::size_t>(last) + 1, {});
  scene.loads[0] = {0, -1, 0};
  for (Index v = 0; v <= last; ++v) scene.control.vertex_damping[v] = 5 * scene.model.vertex_mass[v];
  for (int i = 0; i < 240; ++i) scene.step(h);
  const auto tension = [&](Index segment) { return norm(section_force(scene.model, scene.state, segment)); };
  EXPECT_NEAR(tension(0), 1, 1e-3);
  EXPECT_NEAR(tension(last - 1) / tension(0), std::exp(kMu * std::numbers::pi), 2e-3 * std::exp(kMu * std::numbers::pi));
  EXPECT_EQ(scene.report.not_converged, false);
}

/// A vertical rope that is let down ends with its tip on the floor: a point contact.
TEST(Obstacle, TheTipOfAHangingRopeStandsOnTheFloor) {
  ContactScene scene;
  scene.add_line({0, 0.3, 0}, {0, 0.0045, 0}, 30, {.young = 1e8});
  scene.obstacles = {made(plane_of({0, 0, 0}, {0, 1, 0}))};
  scene.build();
  scene.gravity = kGravity;
  scene.clamp(0);
  scene.begin();
  for (int i = 0; i < 200; ++i) {
    scene.control.vertex_target[0].y -= 1e-5;
    scene.control.vertex_target[1].y -= 1e-5;
    scene.step(4e-3);
  }
  const Index tip = scene.model.vertex_count() - 1;
  ASSERT_FALSE(scene.touched.touches.empty());
  for (const contact::Touch& touch : scene.touched.touches) EXPECT_EQ(touch.pair.a, tip - 1);
  EXPECT_NEAR(scene.state.vertex_position[tip].y, 4e-3, 0.2 * 4e-3);
  EXPECT_GT(push_of(scene, 0).y, 0);
}

/// The obstacle's normal runs along the rod then, which takes nothing from the limit of friction. The lower vertex is drawn
/// sideways by a fifth of the weight, with a coefficient of one half.
TEST(Obstacle, ARodThatStandsOnItsEndIsHeldByFriction) {
  ContactScene scene;
  scene.add_line({0, 0.1039, 0}, {0, 0.0039, 0}, 1, {});
  scene.obstacles = {made(plane_of({0, 0, 0}, {0, 1, 0}), {}, 0.5)};
  scene.build();
  scene.gravity = kGravity;
  scene.begin();
  for (int i = 0; i < 200; ++i) scene.step(1e-3);  // it comes to rest on the floor
  scene.loads = {{}, {0.2 * weight(scene), 0, 0}};
  const double from = scene.state.vertex_position[1].x;
  double most = 0;  // friction over the normal force
  for (int i = 0; i < 50; ++i) {
    scene.step(1e-3);
    const Vec3d push = push_of(scene, 0);
    if (push.y > 0) most = std::max(most, std::abs(push.x) / push.y);
  }
  // Without friction it would be 6 mm away.
  EXPECT_LT(std::abs(scene.state.vertex_position[1].x - from), 0.1 * 4e-3);
  EXPECT_GT(push_of(scene, 0).y, 0.5 * weight(scene));
  EXPECT_GT(most, 0.2 * 0.99);
  EXPECT_LE(most, 0.5 * (1 + 1e-6));
}

/// Nets have more loops than a tree carries along: a sparse factor preconditions them, and no force of contact may count twice.
TEST(Obstacle, ANetThatFallsOnABallConvergesInAFewIterations) {
  constexpr int kCells = 12;
  constexpr double kCell = 0.02;
  const RoundRod yarn{.young = 1e7, .radius = 1e-3};
  ContactScene scene;
  std::vector<std::vector<Index>> knot(kCells + 1);
  for (int i = 0; i <= kCells; ++i)
    for (int k = 0; k <= kCells; ++k)
      knot[static_cast<std::size_t>(i)].push_back(
          scene.graph.add_vertex({kCell * (i - kCells / 2), 0.1015, kCell * (k - kCells / 2)}));
  for (std::size_t i = 0; i <= kCells; ++i) {
    std::vector<Index> row, column;
    for (std::size_t k = 0; k <= kCells; ++k) row.push_back(knot[i][k]), column.push_back(knot[k][i]);
    scene.graph.add_chain("row" + std::to_string(i), row, section_of(yarn), false);
    scene.graph.add_chain("column" + std::to_string(i), column, section_of(yarn), false);
  }
  scene.obstacles = {made(sphere_of({0.003, 0, 0.004}, 0.1), {}, 0.3)};
  scene.build();
  scene.gravity = kGravity;
  scene.begin();
  for (int i = 0; i < 40; ++i) scene.step(1.0 / 240);
  EXPECT_EQ(scene.unconverged, 0);
  EXPECT_LE(scene.most_iterations, 20);
  EXPECT_LE(static_cast<double>(scene.iterations) / static_cast<double>(scene.steps), 12);
  EXPECT_GT(scene.touched.touches.size(), 20U);
}

}  // namespace
}  // namespace osier::test
