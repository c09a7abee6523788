// A simulation that is led while it runs: poses, motors, values of the scene; copies; scenes from arrays.
#include <gtest/gtest.h>

#include "contact/record.hpp"
#include "osier/osier.hpp"
#include "support/scenes.hpp"

namespace osier {
namespace {

ModelBuilder cable() {
  std::vector<Vec3d> points;
  for (int i = 0; i <= 20; ++i) points.push_back({0.05 * i, 0, 0});
  ModelBuilder builder;
  builder.material("m", {.young = 1e6, .density = 1000, .radius = 0.005})
      .rod({.name = "cable", .material = "m", .points = points})
      .clamp("cable:start", "hand")
      .gravity({0, -9.81, 0})
      .dynamics(1e-3, 1);
  return builder;
}

void run(Simulation& simulation, int steps) {
  for (int i = 0; i < steps; ++i) simulation.step();
}

const std::vector<Vec3d>& places(const Simulation& simulation) { return simulation.state().vertex_position; }

TEST(Leading, AConstraintIsInItsPoseAtTheEndOfTheStep) {
  const Scene scene = cable().build();
  Simulation simulation(scene);
  const Quatd quarter{0, 0, std::sqrt(0.5), std::sqrt(0.5)};
  simulation.lead_constraint(*scene.constraint("hand"), {{0.01, 0.02, 0}, quarter});
  simulation.step();
  EXPECT_LT(norm(places(simulation)[0] - Vec3d{0.01, 0.02, 0}), 1e-15);
  const Quatd started = Simulation(scene).state().frame_rotation.back();
  EXPECT_LT(norm(simulation.state().frame_rotation.back() - quarter * started), 1e-12);
  run(simulation, 3);  // and stays
  EXPECT_LT(norm(places(simulation)[0] - Vec3d{0.01, 0.02, 0}), 1e-15);
}

TEST(Leading, StepsThatTurnFarAreDivided) {
  Simulation simulation(cable().build());
  simulation.lead_constraint(0, {{}, {0.9999, 0, 0, 0.0141}});  // almost half a turn
  simulation.step();
  EXPECT_EQ(simulation.steps_turned(), 1);
}

TEST(Leading, BySmallStepsItIsTheMotionOfTheScene) {
  ModelBuilder keyed = cable();
  keyed.set("/constraints/0/motion", R"({"translate": {"keys": [[0, [0, 0, 0]], [1, [0, 0.5, 0]]]}})");
  Simulation wanted(keyed.build()), led(cable().build());
  for (int i = 1; i <= 40; ++i) {
    led.lead_constraint(0, {{0, 0.5 * led.time_step() * i, 0}, {}});
    led.step();
  }
  run(wanted, 40);
  EXPECT_LT(test::farthest(places(wanted), places(led)), 1e-9);
}

TEST(Leading, WhatMakesNoSenseIsRefused) {
  Simulation simulation(cable().build());
  EXPECT_THROW(simulation.lead_constraint(0, {{0, std::nan(""), 0}, {}}), InputError);
  EXPECT_THROW(simulation.lead_constraint(0, {{}, {0, 0, 0, 0}}), InputError);
  EXPECT_THROW(simulation.lead_constraint(0, {{}, {}}, -1), InputError);
  EXPECT_THROW(simulation.drive_motor(0, 1), InputError);
  EXPECT_THROW(simulation.set("/rods/0/shape/points/3", "[0.15, 0.01, 0]"), InputError);
  EXPECT_THROW(simulation.set("/materials/m/young", "-1"), InputError);
  EXPECT_THROW(simulation.set("/forces/0/acceleration", "\"down\""), InputError);
  simulation.release_constraint(0);
  simulation.step();
  EXPECT_THROW(simulation.lead_constraint(0, {{}, {}}), InputError);
  Simulation statics(cable().statics(1).build());
  EXPECT_THROW(statics.lead_constraint(0, {{}, {}}), InputError);
}

TEST(Leading, ValuesOfForcesActAsIfTheSceneHadThem) {
  ModelBuilder other = cable();
  other.set("/forces/0/acceleration", "[0, 0, -3]");
  Simulation wanted(other.build()), changed(cable().build());
  changed.set("/forces/0/acceleration", "[0, 0, -3]");
  run(wanted, 20), run(changed, 20);
  EXPECT_EQ(test::farthest(places(wanted), places(changed)), 0);
  EXPECT_EQ(Scene::parse(changed.scene_json()).json(), Scene::parse(wanted.scene_json()).json());
}

TEST(Leading, ArraysOfTheStateStayWhereTheyAre) {
  for (const char* solver : {"direct", "newton", "stable_cosserat", "projective"}) {
    Simulation simulation(cable().set("/solver/name", std::string("\"") + solver + "\"").build());
    simulation.keep_addresses();
    const State& s = simulation.state();
    const Vec3d *x = s.vertex_position.data(), *v = s.vertex_velocity.data();
    const Quatd* q = s.frame_rotation.data();
    const auto stayed = [&] {
      const State& now = simulation.state();
      return now.vertex_position.data() == x && now.vertex_velocity.data() == v && now.frame_rotation.data() == q;
    };
    for (int i = 0; i < 3; ++i) {
      simulation.step();
      EXPECT_TRUE(stayed()) << solver;
    }
    const Simulation before = simulation.copy();
    simulation.set("/materials/m/young", "2e6");
    EXPECT_TRUE(stayed()) << solver;
    simulation.step();
    simulation.assign(before.copy());
    EXPECT_TRUE(stayed()) << solver;
    EXPECT_EQ(test::farthest(places(simulation), places(before)), 0) << solver;
  }
}

TEST(Leading, ExchangedVelocitiesAreThoseOfASimulationThatNobodyLooksAt) {
  for (const char* solver : {"stable_cosserat", "direct"}) {
    const Scene scene = cable().set("/solver/name", std::string("\"") + solver + "\"").build();
    Simulation watched(scene), plain(scene);
    watched.keep_addresses();
    run(watched, 7), run(plain, 7);
    EXPECT_EQ(test::farthest(watched.state().vertex_velocity, plain.state().vertex_velocity), 0) << solver;
    EXPECT_EQ(test::farthest(watched.state().vertex_velocity_previous, plain.state().vertex_velocity_previous), 0) << solver;
  }
}

TEST(Leading, ACopyGoesOnAlikeAndAlone) {
  Simulation simulation(cable().build());
  simulation.lead_constraint(0, {{0, 0.02, 0}, {}}, 0.05);
  simulation.set("/forces/0/acceleration", "[0, 0, -5]");
  run(simulation, 20);
  Simulation copy = simulation.copy();
  const std::vector<Vec3d> kept = places(copy);
  run(simulation, 30);
  EXPECT_EQ(test::farthest(kept, places(copy)), 0);
  run(copy, 30);
  EXPECT_EQ(test::farthest(places(simulation), places(copy)), 0);
}

/// Everything that can be set at run time, with contact and friction in between.
Scene busy_scene() {
  return Scene::parse(R"({
    "materials": {"m": {"young": 1e6, "density": 1000, "radius": 0.005, "friction": 0.4}},
    "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 16, "material": "m"},
             {"name": "b", "shape": {"type": "line", "from": [0, 0.2, 0.2], "to": [1, 0.2, 0.2]}, "segments": 8, "material": "m"}],
    "contact": {},
    "obstacles": [{"type": "sphere", "name": "ball", "center": [0.5, -0.04, 0], "radius": 0.03}],
    "constraints": [{"type": "clamp", "name": "hand", "vertices": "a:start"},
                    {"type": "pin", "name": "eye", "vertices": "a:end", "motion": {"with": "ball"}},
                    {"type": "pin", "vertices": "b:start"},
                    {"type": "motor", "name": "drill", "segment": "b:start", "speed": 3},
                    {"type": "pin", "name": "peg", "vertices": "b:end"}],
    "forces": [{"type": "gravity"}, {"type": "force", "vertices": "b:end", "force": [0, 0, 0.01]}, {"type": "drag", "rate": 1}],
    "solver": {"name": "direct"}, "analysis": {"type": "dynamic", "step": 0.002, "duration": 1}})");
}

void meddle(Simulation& simulation) {
  run(simulation, 5);
  simulation.lead_constraint(0, {{0, 0.02, 0}, {0, 0, 0.1, 0.995}}, 0.06);
  simulation.lead_obstacle(0, {{0.5, 0.08, 0}, {}}, 0.1);
  simulation.drive_motor(3, 20);
  run(simulation, 5);
  simulation.drive_motor(3, -8);
  simulation.set("/forces/0/acceleration", "[0, -5, 0.1]");
  simulation.enable_force(2, false);
  simulation.release_constraint(4);
  simulation.pull(12, {0.7, 0.1, 0});
  run(simulation, 10);
}

TEST(Leading, CopiesTakeTheSameStepsToTheLastBit) {
  Simulation simulation(busy_scene());
  meddle(simulation);
  Simulation copy = simulation.copy(), second = copy.copy();
  simulation.drive_motor(3, 5), copy.drive_motor(3, 5), second.drive_motor(3, 5);
  int steps_in_contact = 0;
  for (int i = 0; i < 60; ++i) {
    simulation.step(), copy.step(), second.step();
    if (!simulation.touched().touches.empty()) ++steps_in_contact;
    ASSERT_EQ(simulation.state_hash(), copy.state_hash()) << i;
    ASSERT_EQ(simulation.state_hash(), second.state_hash()) << i;
  }
  EXPECT_GT(steps_in_contact, 5);  // the ball was lifted into the cable
}

TEST(Leading, WhatWasSetAtRunTimeIsSaved) {
  Simulation simulation(busy_scene()), fresh(busy_scene()), other(busy_scene());
  meddle(simulation);
  const std::string saved = simulation.save();
  run(simulation, 30);
  fresh.restore(saved);
  EXPECT_EQ(fresh.scene_json(), Simulation(simulation.copy()).scene_json());
  run(fresh, 30);
  EXPECT_EQ(simulation.state_hash(), fresh.state_hash());
  // What was set otherwise in between is undone.
  other.lead_constraint(1, {{1, 0.3, 0}, {}}), other.set("/forces/1/force", "[0, 1, 0]"), other.drive_motor(3, 100);
  run(other, 3);
  other.restore(saved);
  run(other, 30);
  EXPECT_EQ(simulation.state_hash(), other.state_hash());
}

TEST(Leading, ACopyOfAPathByArcLengthFollowsIt) {
  ModelBuilder builder = cable();
  builder.set("/analysis", R"({"type": "static", "control": "arc_length", "path_steps": 12})");
  Simulation path(builder.build());
  run(path, 4);
  Simulation copy = path.copy();
  run(path, 3), run(copy, 3);
  EXPECT_EQ(path.state_hash(), copy.state_hash());
  EXPECT_EQ(path.pseudo_time(), copy.pseudo_time());
}

TEST(Leading, ARingOfArraysCloses) {
  std::vector<Vec3d> ring;
  for (int i = 0; i < 12; ++i) ring.push_back({std::cos(i * 0.5235987755982988), std::sin(i * 0.5235987755982988), 0});
  ModelBuilder builder;
  builder.material("m", {.young = 1e6, .density = 1000, .radius = 0.01}).rod({.material = "m", .points = ring, .closed = true});
  const Scene scene = builder.build();
  EXPECT_EQ(scene.model().segment_count(), 12);
  EXPECT_TRUE(scene.model().rods.front().closed);
  EXPECT_EQ(scene.model().rods.front().name, "rod0");
}

}  // namespace
}  // namespace osier
