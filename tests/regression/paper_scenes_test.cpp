// The paper's scenes as shipped: what must happen in them happens. The long ones run with OSIER_LONG=1 (./test --long).
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numbers>

#include "math/quat.hpp"
#include "osier/osier.hpp"

namespace osier {
namespace {

Simulation scene(const std::string& name, const std::vector<std::string>& overrides = {}) {
  LoadOptions options;
  options.overrides = overrides;
  return Simulation(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options));
}

bool long_tests() { return std::getenv("OSIER_LONG") != nullptr; }
#define OSIER_LONG_TEST() \
  if (!long_tests()) GTEST_SKIP() << "long; run with ./test --long"

void run_until(Simulation& s, double time) {
  while (s.state().time < time - 1e-9) s.step();
}

TEST(Slingshot, DrawnBandsThrowThePouchForwardWhenReleased) {
  Simulation s = scene("slingshot");
  const Vec3d drawn = s.state().vertex_position[19];
  run_until(s, 0.5);
  EXPECT_NEAR(norm(s.state().vertex_position[19] - drawn), 0, 1e-12);  // held
  double fastest = 0, farthest = drawn.z;
  while (s.state().time < 0.8) {
    s.step();
    fastest = std::max(fastest, s.state().vertex_velocity[19].z);
    farthest = std::max(farthest, s.state().vertex_position[19].z);
  }
  EXPECT_LT(drawn.z, -4.5);
  EXPECT_GT(fastest, 20);    // m/s
  EXPECT_GT(farthest, 0.5);  // past the fork
}

/// 44 ms after the release, where the authors' code has the pouch at 2.74 m; what differs is the jitter of the rubber.
TEST(Slingshot, WithThePapersScheduleThrowsAsFarAsTheAuthors) {
  Simulation s = scene("paper/slingshot");
  run_until(s, 0.5445 - 5e-4);
  EXPECT_NEAR(s.state().vertex_position[19].z, 2.74, 0.06);
}

TEST(Slingshot, CalmsDownAgainAndNothingIsTorn) {
  Simulation s = scene("slingshot");
  run_until(s, 0.55);
  const double shot = s.diagnostics().kinetic;
  EXPECT_GT(shot, 500);
  run_until(s, 3);
  const Diagnostics d = s.diagnostics();
  EXPECT_LT(d.kinetic, 0.02 * shot);  // the drag of the authors alone, 1.2 /s on wood, takes it
  EXPECT_LT(d.max_stretch, 0.1);
}

TEST(Bridge, CarriesItsOwnWeight) {
  Simulation s = scene("bridge", {"/forces/2/speed=0"});
  double worst = 0;
  while (s.state().time < 1.5) {
    s.step();
    worst = std::max(worst, s.state().step_index % 10 == 0 ? s.diagnostics().max_stretch : 0.0);
  }
  EXPECT_LT(worst, 0.005);
  EXPECT_EQ(s.diagnostics().segments_alive, 2298);
}

TEST(Bridge, WithThePapersScheduleHoldsInAStrongWindAndBreaksInAStorm) {
  OSIER_LONG_TEST();
  Simulation wind = scene("paper/bridge", {"/forces/2/speed=7"});
  run_until(wind, 10);
  EXPECT_EQ(wind.diagnostics().segments_alive, 2298);
  Simulation storm = scene("paper/bridge");
  run_until(storm, 10);
  EXPECT_LT(storm.diagnostics().segments_alive, 2290);
  EXPECT_GT(storm.diagnostics().segments_alive, 1500);
}

/// The authors: (0.5406, -4.0508, 3.3438).
TEST(Slinky, WithThePapersScheduleIsWhereTheAuthorsHaveIt) {
  OSIER_LONG_TEST();
  Simulation s = scene("paper/slinky");
  run_until(s, 4);
  EXPECT_NEAR(norm(s.state().vertex_position[1440] - Vec3d{0.5406, -4.0508, 3.3438}), 0, 3e-3);
}

TEST(Slinky, SwingsForFourSecondsWithoutStretching) {
  OSIER_LONG_TEST();
  Simulation s = scene("slinky");
  double deepest = 0;
  while (s.state().time < 4) {
    s.step();
    deepest = std::min(deepest, s.state().vertex_position[1440].y);
  }
  EXPECT_NEAR(s.state().vertex_position[1440].y, -3.367, 5e-3);  // converged, by either integrator
  EXPECT_LT(deepest, -3.5);
  EXPECT_GT(deepest, -6);
  EXPECT_LT(s.diagnostics().max_stretch, 0.2);
}

TEST(Trees, BendInTheWindAndKeepEveryBranch) {
  OSIER_LONG_TEST();
  Simulation s = scene("trees");
  const std::vector<Vec3d> start = s.state().vertex_position;
  run_until(s, 2);
  double moved = 0;
  for (std::size_t v = 0; v < start.size(); ++v) moved = std::max(moved, norm(s.state().vertex_position[v] - start[v]));
  EXPECT_GT(moved, 0.5);
  EXPECT_LT(moved, 12);
  EXPECT_LT(s.diagnostics().max_stretch, 0.1);
}

TEST(Ring, SpringsBackWhenReleased) {
  Simulation s = scene("ring");
  run_until(s, 1.9);
  const double squeezed = s.state().vertex_position[48].y - s.state().vertex_position[0].y;
  const double piece = std::numbers::pi / 96;  // half the turn of a segment: the polygon is as long as the circle
  EXPECT_NEAR(squeezed, piece / std::sin(piece) - 0.7, 1e-9);
  run_until(s, 5);
  EXPECT_GT(s.state().vertex_position[48].y - s.state().vertex_position[0].y, 0.6);
}

}  // namespace
}  // namespace osier
