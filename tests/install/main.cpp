// Builds a cantilever from points, bends it a little by its end, and compares with P L^3/(3 E I). Then a cable is led by its end.
#include <osier/osier.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>

static bool tip_follows_the_beam_formula() {
  const double length = 0.5, radius = 2e-3, young = 2e11, force = 0.1;
  std::vector<osier::Vec3d> points;
  for (int i = 0; i <= 40; ++i) points.push_back({length * i / 40, 0, 0});
  osier::ModelBuilder builder;
  builder.material("steel", {.young = young, .poisson = 0.3, .density = 7850, .radius = radius})
      .rod({.name = "beam", .material = "steel", .points = points})
      .clamp("beam:start")
      .add("forces", R"({"type": "force", "vertices": "beam:end", "force": [0, -0.1, 0]})")
      .statics(1);
  osier::Simulation simulation(builder.build("beam"));
  simulation.step();
  const double inertia = std::numbers::pi * std::pow(radius, 4) / 4;
  const double expected = -force * length * length * length / (3 * young * inertia);
  const double tip = simulation.state().vertex_position.back().y;
  std::printf("tip %.6g m, formula %.6g m\n", tip, expected);
  return std::abs(tip / expected - 1) < 2e-3;  // shear and the sampling
}

static bool a_led_clamp_arrives() {
  std::vector<osier::Vec3d> points;
  for (int i = 0; i <= 20; ++i) points.push_back({0.05 * i, 0, 0});
  osier::ModelBuilder builder;
  builder.material("rubber", {.young = 1e6, .density = 1100, .radius = 5e-3})
      .rod({.name = "cable", .material = "rubber", .points = points})
      .clamp("cable:start", "hand")
      .gravity({0, -9.81, 0})
      .dynamics(1e-3, 1);
  const osier::Scene scene = builder.build("cable");
  osier::Simulation simulation(scene);
  simulation.lead_constraint(*scene.constraint("hand"), {{0, 0.1, 0}, {}}, 0.05);
  for (int i = 0; i < 60; ++i) simulation.step();
  return std::abs(simulation.state().vertex_position.front().y - 0.1) < 1e-12;
}

static bool problems_have_their_places() {
  try {
    osier::ModelBuilder().rod({.points = {}});
  } catch (const osier::InputError& error) {
    return error.problems().front().where == "/rods/0/points";
  }
  return false;
}

int main() {
  int failed = 0;
  const auto check = [&](bool holds, const char* claim) {
    if (!holds) std::printf("failed: %s\n", claim), ++failed;
  };
  check(tip_follows_the_beam_formula(), "the tip follows the beam formula");
  check(a_led_clamp_arrives(), "a led clamp arrives");
  check(problems_have_their_places(), "problems have their places");
  return failed;
}
