// Forces, moments, strains and curvatures along a rod, against what statics gives by hand.
#include "sim/readout.hpp"

#include <array>

#include "analytic/reference.hpp"
#include "model/rod_graph.hpp"
#include "sim/measure.hpp"
#include "solvers/newton/newton.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

const std::vector<double> kPlaces{0, 0.01, 0.13, 0.25, 0.37, 0.5, 0.618, 0.81, 0.97, 1};

/// On a rod of equal segments numbered from `first`.
Readout read_at(const Model& m, const State& state, double at, Index segments, Index first = 0) {
  const Index i = std::min(segments - 1, static_cast<Index>(at * segments));
  return read_out(m, state, first + i, at * segments - i);
}
Readout read_at(const Simulation& s, double at, Index segments, Index first = 0) {
  return read_at(s.model(), s.state(), at, segments, first);
}

void expect_near(const Vec3d& found, const Vec3d& expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(found.x, expected.x, tolerance) << what << " 1";
  EXPECT_NEAR(found.y, expected.y, tolerance) << what << " 2";
  EXPECT_NEAR(found.z, expected.z, tolerance) << what << " 3";
}

/// A rod of 1 m along x with d1 along y and d2 along z; EA = GA = 1000 N, EI = GJ = 2 N m^2.
std::string straight_rod(int n, const std::string& constraints, const std::string& forces) {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "up": [0, 1, 0],
              "material": {{"stretch_shear": 1000, "bend_twist": 2, "line_density": 1, "radius": 0.01}}}}],
    "constraints": [{}],
    "forces": [{}],
    "analysis": {{"type": "static"}}
  }})",
                     n, constraints, forces);
}
const std::string kClampStart = R"({"type": "clamp", "vertices": "rod:start"})";

TEST(Readout, CantileverUnderATipLoadHasTheMomentOfItsLeverAllAlong) {
  const double P = 1e-4;
  for (int n : {1, 2, 7, 20}) {
    const Simulation s = settle(
        straight_rod(n, kClampStart, fmt::format(R"({{"type": "force", "vertices": "rod:end", "force": [0, {}, 0]}})", -P)));
    for (double at : kPlaces) {
      const Readout r = read_at(s, at, n);
      const std::string what = fmt::format("{} segments, at {}:", n, at);
      expect_near(r.position, {at, 0, 0}, P, what + " position");
      expect_near(r.tangent, {1, 0, 0}, P, what + " tangent");
      expect_near(r.force, {-P, 0, 0}, 1e-4 * P, what + " force");
      expect_near(r.strain, {-P / 1000, 0, 0}, 1e-7 * P, what + " strain");
      expect_near(r.moment, {0, -P * (1 - at), 0}, 1e-6 * P, what + " moment");
      expect_near(r.curvature, {0, -P * (1 - at) / 2, 0}, 1e-6 * P, what + " curvature");
    }
  }
}

TEST(Readout, StretchedRodHasTheTensionOfItsStretchAllAlong) {
  const double F = 50;
  const Simulation s = settle(straight_rod(9, kClampStart, R"({"type": "force", "vertices": "rod:end", "force": [50, 0, 0]})"));
  for (double at : kPlaces) {
    const Readout r = read_at(s, at, 9);
    expect_near(r.position, {at * (1 + F / 1000), 0, 0}, 1e-9, "position");
    expect_near(r.force, {0, 0, F}, 1e-6, "force");
    expect_near(r.strain, {0, 0, F / 1000}, 1e-9, "strain");
    expect_near(r.moment, {0, 0, 0}, 1e-9, "moment");
  }
}

TEST(Readout, RodTwistedBetweenTwoClampsHasTheSameTorqueAllAlong) {
  const double angle = 0.5;
  const std::string turned = fmt::format(
      R"({{"type": "clamp", "vertices": "rod:end", "motion": {{"rotate": {{"axis": [1, 0, 0], "angle": {{"keys": [[0, 0], [1, {}]]}}}}}}}})",
      angle * 180 / RodS::pi);
  const Simulation s = settle(straight_rod(20, kClampStart + ", " + turned, ""));
  for (double at : kPlaces) {
    const Readout r = read_at(s, at, 20);
    expect_near(r.moment, {0, 0, 2 * angle}, 1e-4, fmt::format("moment at {}", at));
    expect_near(r.curvature, {0, 0, angle}, 1e-4, fmt::format("twist at {}", at));
  }
  const Model& m = s.model();  // the half-joints of both clamps count along the rod
  for (Index j = 0; j < m.joint_count(); ++j) {
    EXPECT_NEAR(joint_moment_material(m, s.state(), j).z, 2 * angle, 1e-4);
    EXPECT_NEAR(joint_curvature(m, s.state(), j).z, angle, 1e-4);
  }
}

TEST(Readout, RingAndArcHaveTheCurvatureOfTheirRadius) {
  for (const char* shape : {R"({"type": "circle", "radius": 0.5, "keep": "points"})",
                            R"({"type": "arc", "radius": 0.5, "angle": 200, "keep": "points"})"})
    for (int n : {6, 24}) {
      const Simulation s(Scene::parse(
          fmt::format(R"({{"rods": [{{"name": "rod", "shape": {}, "segments": {}, "up": [0, 0, 1], "material": {}}}]}})", shape,
                      n, RodS::material())));
      const Vec3d turn = cross(s.state().vertex_position[0], s.state().vertex_position[1]);  // about +z or -z
      for (double at : kPlaces) {
        const Readout r = read_at(s, at, n);
        expect_near(r.curvature, {turn.z > 0 ? 2.0 : -2.0, 0, 0}, 1e-9, fmt::format("{} at {}: curvature", shape, at));
        expect_near(r.moment, {}, 1e-9, "moment");
        expect_near(r.force, {}, 1e-9, "force");
      }
    }
}

TEST(Readout, ClosedRodReadsTheSameAtItsStartAndItsEnd) {
  Simulation s(Scene::parse(R"({
    "rods": [{"name": "rod", "shape": {"type": "circle", "radius": 0.5}, "segments": 40,
              "material": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1, "radius": 0.01}}],
    "forces": [{"type": "force", "vertices": "rod:10", "force": [0, 3, 1]}],
    "analysis": {"type": "dynamic", "step": 0.01, "duration": 0.3, "fps": 100}, "solver": {"name": "newton"}})"));
  for (int i = 0; i < 30; ++i) s.step();
  const Readout a = read_at(s, 0, 40), b = read_at(s, 1, 40);
  EXPECT_GT(norm(a.moment), 1e-3);
  EXPECT_GT(norm(a.force), 1e-3);
  for (const auto& [start, end] : {std::pair{a.position, b.position},
                                   {a.tangent, b.tangent},
                                   {a.force, b.force},
                                   {a.moment, b.moment},
                                   {a.strain, b.strain},
                                   {a.curvature, b.curvature}})
    expect_near(end, start, 1e-9, "component");
}

/// Every section of a heavy cantilever that bends by a right angle almost, compared with a fine one.
TEST(Readout, HeavyCantileverConvergesAtSecondOrderEverywhere) {
  const double weight = 10 * RodS::EI;
  const auto solve = [&](int n) {
    return settle(fmt::format(R"({{
      "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "up": [0, 1, 0], "material": {}}}],
      "constraints": [{}],
      "forces": [{{"type": "gravity", "acceleration": [0, {}, 0]}}],
      "analysis": {{"type": "static", "load_steps": 4, "tolerance": 1e-11}}
    }})",
                              n, RodS::material(), kClampStart, -weight / RodS::mu));
  };
  const int fine_n = 1280;
  const Simulation fine = solve(fine_n);
  Convergence held, root_force, root_tension, root_moment, force, moment, strain, curvature, place, tangent;
  for (int n : {40, 80, 160}) {
    const Simulation s = solve(n);
    const Readout root = read_at(s, 0, n);
    // The reaction holds the whole weight, across a section that the clamp keeps upright.
    root_force.add(n, (root.force.x + weight) / weight);
    root_tension.add(n, root.force.z / weight);
    held.add(n, (section_force_material(s.model(), s.state(), 0).x + weight) / weight);
    root_moment.add(n, (root.moment.y - read_at(fine, 0, fine_n).moment.y) / root.moment.y);
    double worst[6] = {};
    for (int i = 0; i <= 97; ++i) {
      const Readout r = read_at(s, i / 97.0, n), exact = read_at(fine, i / 97.0, fine_n);
      const double errors[6] = {norm(r.force - exact.force),       norm(r.moment - exact.moment),
                                norm(r.strain - exact.strain),     norm(r.curvature - exact.curvature),
                                norm(r.position - exact.position), norm(r.tangent - exact.tangent)};
      for (int k = 0; k < 6; ++k) worst[k] = std::max(worst[k], errors[k]);
    }
    Convergence* const all[6] = {&force, &moment, &strain, &curvature, &place, &tangent};
    for (int k = 0; k < 6; ++k) all[k]->add(n, worst[k]);
  }
  root_force.expect_second_order("shear at the root", 40, 160);
  root_tension.expect_second_order("tension at the root", 40, 160);
  root_moment.expect_second_order("moment at the root", 40, 160);
  force.expect_second_order("force", 40, 160);
  moment.expect_second_order("moment", 40, 160);
  strain.expect_second_order("strain", 40, 160);
  curvature.expect_second_order("curvature", 40, 160);
  place.expect_second_order("position", 40, 160);
  tangent.expect_second_order("tangent", 40, 160);
  EXPECT_NEAR(held.order(40, 160), 1, 0.2) << "the last middle's value, carried to the root: " << held.text();
}

TEST(Readout, AnisotropicRodAnswersOnEachAxisWithItsOwnStiffness) {
  const int n = 8;
  RodGraph g;
  Section section;
  section.stretch_shear = PerAxis(300, 500, 1000);
  section.bend_twist = PerAxis(2, 3, 0.7);
  section.line_density = 1;
  std::vector<Index> path;
  for (int i = 0; i <= n; ++i) path.push_back(g.add_vertex({static_cast<double>(i) / n, 0, 0}));
  g.add_chain("rod", path, section, false, Vec3d{0, 1, 0});
  Model m = compile_graph(g);
  State state = initial_state(g, m);
  state.frame_rotation.push_back(add_clamp(m, g, state, 0).rotation);
  state.frame_velocity.emplace_back();
  update_topology(m);
  Control control = still_control(m, state);
  const Vec3d F{3e-5, 1e-5, -2e-5};
  const double torque = 4e-5;
  control.vertex_fixed[0] = 1;
  control.vertex_force[n] = F;
  control.has_torque = true;
  control.frame_torque[n - 1] = {torque, 0, 0};
  const auto solver = newton::Settings{}.make(m);
  const StepReport report = solver->solve_static(constant_input(m, control), state, {.tolerance = 1e-12, .max_iterations = 100});
  ASSERT_FALSE(report.not_converged);
  for (double at : {0.0, 0.2, 0.5, 0.8}) {
    const Readout r = read_at(m, state, at, n);
    const Vec3d moment{-F.z * (1 - at), F.y * (1 - at), torque};  // lever x force, in (y, z, x)
    expect_near(r.force, {F.y, F.z, F.x}, 1e-8, "force");
    expect_near(r.strain, {F.y / 300, F.z / 500, F.x / 1000}, 1e-11, "strain");
    expect_near(r.moment, moment, 1e-8, "moment");
    expect_near(r.curvature, {moment.x / 2, moment.y / 3, moment.z / 0.7}, 1e-8, "curvature");
  }
  for (Index j = 0; j < m.joint_count(); ++j) {
    const Vec3d material = joint_moment_material(m, state, j), k = joint_curvature(m, state, j);
    expect_near(material, {2 * k.x, 3 * k.y, 0.7 * k.z}, 1e-9, "law");
    EXPECT_NEAR(norm(material), norm(joint_moment(m, state, j)), 1e-15);
  }
}

/// A rod of 1 m along x, and at its middle another one of 0.4 m along z whose tip carries P.
TEST(Readout, BranchHandsItsMomentToTheRodThatCarriesIt) {
  const double P = 1e-4;
  const std::string material = R"({"stretch_shear": 1000, "bend_twist": 2, "line_density": 1, "radius": 0.01})";
  const Simulation s = settle(fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 8, "up": [0, 1, 0], "material": {0}}},
             {{"name": "branch", "shape": {{"type": "line", "from": [0.5, 0, 0], "to": [0.5, 0, 0.4]}}, "segments": 4, "up": [0, 1, 0], "material": {0}}}],
    "welds": [{{"vertices": ["rod:mid", "branch:start"]}}],
    "constraints": [{1}],
    "forces": [{{"type": "force", "vertices": "branch:end", "force": [0, {2}, 0]}}],
    "analysis": {{"type": "static"}}
  }})",
                                          material, kClampStart, -P));
  for (double at : {0.0, 0.2, 0.4, 0.4999}) {
    const Readout r = read_at(s, at, 8);
    expect_near(r.force, {-P, 0, 0}, 1e-3 * P, fmt::format("force at {}", at));
    expect_near(r.moment, {0, -P * (0.5 - at), 0.4 * P}, 1e-3 * P, fmt::format("moment at {}", at));
    expect_near(r.curvature, {0, -P * (0.5 - at) / 2, 0.2 * P}, at < 0.37 ? 1e-3 * P : 0.2 * P, "curvature");
  }
  for (double at : {0.5, 0.7, 1.0}) {
    const Readout r = read_at(s, at, 8);
    expect_near(r.force, {}, 1e-3 * P, fmt::format("force at {}", at));
    expect_near(r.moment, {}, 1e-3 * P, fmt::format("moment at {}", at));
  }
  for (double at : {0.0, 0.3, 0.9}) {  // d1 along y, d2 along -x: the far end sinks about +x
    const Readout r = read_at(s, at, 4, 8);
    expect_near(r.force, {-P, 0, 0}, 1e-3 * P, fmt::format("force of the branch at {}", at));
    expect_near(r.moment, {0, -0.4 * P * (1 - at), 0}, 1e-3 * P, fmt::format("moment of the branch at {}", at));
    expect_near(r.curvature, {0, -0.2 * P * (1 - at), 0}, 1e-3 * P, "curvature of the branch");
  }
}

TEST(Readout, ClampInsideARodHasAMomentOnEachSide) {
  const double P = 1e-4;
  const Simulation s = settle(straight_rod(8, R"({"type": "clamp", "vertices": "rod:mid"})",
                                           R"({"type": "force", "vertices": "rod:end", "force": [0, 1e-4, 0]})"));
  const Readout before = read_out(s.model(), s.state(), 3, 1), after = read_out(s.model(), s.state(), 4, 0);
  expect_near(before.moment, {}, 1e-6 * P, "moment before");
  expect_near(before.force, {}, 1e-6 * P, "force before");
  expect_near(after.moment, {0, 0.5 * P, 0}, 1e-6 * P, "moment after");
  expect_near(after.force, {P, 0, 0}, 1e-6 * P, "force after");
}

TEST(Readout, BrokenSegmentsAndTheirJointsReadZeroAndTheRestGoesOn) {
  const Simulation s = settle(straight_rod(8, kClampStart, R"({"type": "force", "vertices": "rod:end", "force": [1, -0.1, 0]})"));
  Model m = s.model();
  m.segment_alive[5] = 0;
  update_topology(m);
  const Readout broken = read_out(m, s.state(), 5, 0.3), end = read_out(m, s.state(), 4, 1);
  for (const Vec3d& v : {broken.force, broken.moment, broken.strain, broken.curvature, end.moment}) EXPECT_EQ(norm(v), 0);
  EXPECT_GT(norm(broken.position), 0.5);
  EXPECT_GT(end.force.z, 0.5);
  EXPECT_EQ(norm(joint_curvature(m, s.state(), 5)), 0);
  EXPECT_EQ(norm(joint_moment_material(m, s.state(), 5)), 0);
}

TEST(Readout, FramesCarryTheSectionsOnlyWhenAsked) {
  const std::string text = straight_rod(8, kClampStart, R"({"type": "force", "vertices": "rod:end", "force": [1, -0.1, 0]})");
  const Frame plain = settle(text).frame(1);
  EXPECT_TRUE(plain.segment_force.empty() && plain.joint_moment.empty());
  LoadOptions options;
  options.overrides.push_back("/output/sections=true");
  Simulation s(Scene::parse(text, "test", ".", options));
  s.step();
  const Frame frame = s.frame(1);
  ASSERT_EQ(frame.segment_force.size(), 8u);
  ASSERT_EQ(frame.joint_moment.size(), 8u);  // seven joints and a half-joint
  ASSERT_EQ(frame.segment_curvature.size(), 8u);
  expect_near(frame.segment_force[3], section_force_material(s.model(), s.state(), 3), 0, "force");
  expect_near(frame.segment_strain[3], section_strain(s.model(), s.state(), 3), 0, "strain");
  expect_near(frame.joint_moment[7], read_at(s, 0, 8).moment, 1e-15, "moment at the clamp");
  expect_near(frame.segment_moment[0], 0.5 * (frame.joint_moment[7] + frame.joint_moment[0]), 1e-15, "moment in the middle");
}

}  // namespace
}  // namespace osier::test
