// Taking part in a running simulation: pulling a vertex, switching forces, going on after the scene has changed.
#include <gtest/gtest.h>

#include "osier/osier.hpp"
#include "support/scenes.hpp"

namespace osier {
namespace {

constexpr const char* kRod = R"({
  "rods": [{"name": "a", "shape": {"type": "line", "from": [0,0,0], "to": [1,0,0]}, "segments": 10, "material": "m"}],
  "materials": {"m": {"stretch_shear": 1000, "bend_twist": 0.5, "line_density": 0.5, "radius": 0.01}},
  "constraints": [{"type": "clamp", "vertices": "a:start"}],
  "forces": [{"type": "gravity"}, {"type": "drag", "rate": 2}],
  "analysis": {"type": "dynamic", "duration": 1, "step": 0.005, "steps_per_frame": 7, "integrator": "implicit_euler"}
})";

Scene rod(std::vector<std::string> overrides = {}) {
  LoadOptions options;
  options.overrides = std::move(overrides);
  return Scene::parse(kRod, "rod", ".", options);
}

void run(Simulation& simulation, int steps) {
  for (int i = 0; i < steps; ++i) simulation.step();
}

TEST(TakingPart, APullBringsTheVertexNearItsTargetAndLettingGoSetsItFree) {
  Simulation pulled(rod()), free(rod());
  const Vec3d target{0.7, 0.3, 0.4};
  pulled.pull(10, target);
  run(pulled, 400), run(free, 400);
  const double apart = norm(free.state().vertex_position[10] - target);
  ASSERT_GT(apart, 0.3);
  // The spring is some ten times as stiff as the rod in bending.
  EXPECT_LT(norm(pulled.state().vertex_position[10] - target), 0.15 * apart);
  pulled.stop_pulling();
  run(pulled, 4000), run(free, 4000);
  EXPECT_LT(norm(pulled.state().vertex_position[10] - free.state().vertex_position[10]), 1e-6);
}

// With k (target - x_new) = c v_new alone, a step leaves the part c/(h k + c) of the distance.
TEST(TakingPart, AnInfinitelyStiffPullIsAsStableAsAPin) {
  for (const char* solver : {R"({"name":"automatic"})", R"({"name":"newton"})"}) {
    Simulation simulation(rod({std::string("/solver=") + solver}));
    const Vec3d target{0.8, 0.2, 0.1};
    const double k = 1e12, c = 2 * std::sqrt(k * simulation.model().vertex_mass[10]), left = c / (0.005 * k + c);
    simulation.pull(10, target, k);
    double distance = norm(simulation.state().vertex_position[10] - target);
    for (int i = 0; i < 200; ++i) {
      simulation.step();
      distance = 1.01 * left * distance + 1e-8;  // the rod pulls too, with some hundred N
      ASSERT_LT(norm(simulation.state().vertex_position[10] - target), distance) << solver << " step " << i;
    }
  }
}

TEST(TakingPart, WhatCannotBePulledIsSaidSo) {
  Simulation simulation(rod());
  EXPECT_THROW(simulation.pull(0, {0, 1, 0}), InputError);   // clamped
  EXPECT_THROW(simulation.pull(11, {0, 1, 0}), InputError);  // there are 11 vertices
  EXPECT_THROW(simulation.pull(-1, {0, 1, 0}), InputError);
  EXPECT_THROW(simulation.pull(10, {0, std::nan(""), 0}), InputError);
  Simulation statics(rod({R"(/analysis={"type":"static"})", R"(/forces=[{"type":"gravity"}])"}));
  EXPECT_THROW(statics.pull(10, {0, 1, 0}), InputError);
}

TEST(TakingPart, WithoutGravityARodAtRestStaysThere) {
  Simulation simulation(rod());
  simulation.enable_force(0, false);
  const std::vector<Vec3d> start = simulation.state().vertex_position;
  run(simulation, 50);
  EXPECT_LT(test::farthest(start, simulation.state().vertex_position), 1e-12);
  EXPECT_EQ(simulation.diagnostics().external, 0);
  simulation.enable_force(0, true);
  run(simulation, 50);
  EXPECT_GT(test::farthest(start, simulation.state().vertex_position), 0.01);
}

TEST(TakingPart, GoingOnInANewSimulationOfTheSameSceneChangesNothing) {
  const auto difference = [](const char* solver) {
    const std::vector<std::string> with{std::string("/solver=") + solver};
    Simulation whole(rod(with)), first(rod(with));
    run(whole, 60), run(first, 25);
    Simulation second(rod(with));
    EXPECT_TRUE(second.continue_from(first));
    EXPECT_EQ(second.state().time, first.state().time);
    run(second, 35);
    return test::farthest(second.state().vertex_position, whole.state().vertex_position);
  };
  EXPECT_EQ(difference(R"({"name": "stable_cosserat", "iterations": 4})"), 0);
  // Direct solves start from the forces of the step before, which a new solver does not have: the same where they converge to.
  EXPECT_LT(difference(R"({"name": "direct","tolerance":1e-9})"), 1e-12);
  EXPECT_LT(difference(R"({"name":"newton"})"), 1e-12);
}

TEST(TakingPart, TimeGoesOnWhereTheStepHasChanged) {
  Simulation first(rod());
  run(first, 30);
  Simulation second(rod({"/analysis/step=0.001"}));
  ASSERT_TRUE(second.continue_from(first));
  EXPECT_NEAR(second.state().time, 0.15, 1e-12);
  second.step();
  EXPECT_NEAR(second.state().time, 0.151, 1e-12);
}

TEST(TakingPart, BrokenSegmentsStayBroken) {
  const std::vector<std::string> weak{"/fracture={\"strain_limit\": 1e-3}", "/materials/m/stretch_shear=1000"};
  Simulation first(rod(weak));
  run(first, 100);
  ASSERT_LT(first.diagnostics().segments_alive, 10);
  Simulation second(rod(weak));
  ASSERT_TRUE(second.continue_from(first));
  EXPECT_EQ(second.model().segment_alive, first.model().segment_alive);
  EXPECT_EQ(second.diagnostics().segments_alive, first.diagnostics().segments_alive);
}

TEST(TakingPart, AnotherGraphIsRefused) {
  Simulation first(rod()), second(rod({"/rods/0/segments=12"}));
  run(first, 5);
  EXPECT_FALSE(second.continue_from(first));
  EXPECT_EQ(second.state().time, 0);
}

}  // namespace
}  // namespace osier
