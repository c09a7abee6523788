// The solver `deti` in scenes, against closed forms, the Kirchhoff rod and the numbers of docs/theory/deti.md.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numbers>

#include "solvers/deti/fibre_statics.hpp"
#include "support/deti.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

constexpr double kPi = std::numbers::pi;

/// A rod of length 1, EI = 1, GJ = 0.6 and mass 1 along x, clamped at its start.
std::string unit_rod(int segments, const std::string& analysis, const std::string& forces, double EA = 1e5,
                     const std::string& constraints = "") {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "segments": {}, "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}},
               "material": {{"stretch_shear": {:.17g}, "bend": 1, "twist": 0.6, "line_density": 1, "radius": 0.001}}}}],
    "constraints": [{{"type": "clamp", "vertices": "rod:start"}}{}], "forces": [{}], "analysis": {}}})",
                     segments, EA, constraints, forces, analysis);
}
std::string gravity(double g) { return fmt::format(R"({{"type": "gravity", "acceleration": [0, 0, {}]}})", -g); }
const std::string kStatic = R"({"type": "static"})";
std::string dynamic(double h) {
  return fmt::format(R"({{"type": "dynamic", "step": {}, "duration": 100, "steps_per_frame": 1}})", h);
}
Vec3d tip(const Simulation& s) { return s.state().vertex_position.back(); }

TEST(DetiStatics, AHeavyCantileverSagsLikeTheElastica) {
  // Height over width; 0.24667 and 1.86393 for the elastica, the others for this network.
  for (const auto& [weight, network, elastica] : {std::tuple{2.0, 0.24442, 0.24667}, {20.0, 1.87829, 1.86393}}) {
    // The network of the numbers has the same springs in all of its cuboids.
    const deti::Fibre rod = straight_fibre({.n = 12});
    deti::FibreEquilibrium fibre(rod, deti::Variant::double_pole);
    deti::FibreView& v = fibre.view();
    for (Index k = 0; k < v.sections; ++k) {
      double* const y = v.y + deti::kUnknowns * k;
      deti::put_section({k / 12.0, 0, 0}, along_x(), 1 / (12 * 1.5), y);
      std::copy_n(y, deti::kUnknowns, v.target + deti::kUnknowns * k);
      std::fill_n(v.free + deti::kUnknowns * k, deti::kUnknowns, k > 0 ? 1.0 : 0.0);
      std::fill_n(v.load + deti::kUnknowns * k, deti::kUnknowns, 0.0);
      v.load[deti::kUnknowns * k + 2] = -weight * v.mass[k];
    }
    EXPECT_FALSE(fibre.solve({}, 1, 1).not_converged);
    const double* const end = v.y + deti::kUnknowns * 12;
    EXPECT_NEAR(-end[2] / end[0], network, 1e-4 * network);
    EXPECT_NEAR(-end[2] / end[0], elastica, 0.01 * elastica);
    Simulation coarse(scene_with(unit_rod(12, kStatic, gravity(weight), 1e6), R"({"name": "deti"})"));
    EXPECT_FALSE(coarse.step().not_converged);
    EXPECT_NEAR(-tip(coarse).z / tip(coarse).x, elastica, 0.01 * elastica);
    Simulation usual(scene_with(unit_rod(24, kStatic, gravity(weight), 1e6), R"({"name": "deti"})"));
    usual.step();
    EXPECT_NEAR(-tip(usual).z / tip(usual).x, elastica, 0.003 * elastica);
  }
}

/// Hair as a helix of radius and pitch 10 mm whose axis hangs down; factors of E and G.
std::string helix(int segments, double fE, double fG, const std::string& analysis, const std::string& more = "") {
  const double r = 3e-5, E = 3.58e9 * fE, G = 1.07e9 * fG, R = 0.01, pitch = 0.01, L = 0.25;
  return fmt::format(R"({{
    "rods": [{{"name": "hair", "segments": {}, "shape": {{"type": "helix", "axis": [0, 0, 1], "start": [1, 0, 0], "radius": 0.01, "pitch": 0.01, "turns": {:.17g}}},
               "material": {{"stretch_shear": {:.17g}, "bend": {:.17g}, "twist": {:.17g}, "line_density": 3.13e-6, "radius": 3e-5}}}}],
    "constraints": [{{"type": "clamp", "vertices": "hair:start", "tangent": [0, {:.17g}, 0.01]}}],
    "forces": [{{"type": "gravity", "acceleration": [0, 0, 9.81]}}], "analysis": {}{}}})",
                     segments, L / std::hypot(2 * kPi * R, pitch), E * kPi * r * r, E * kPi * r * r * r * r / 4,
                     G * kPi * r * r * r * r / 2, 2 * kPi * R, analysis, more);
}

TEST(DetiStatics, AHelixOfHairHangsLikeTheKirchhoffRodForEveryPairOfModuli) {
  struct {
    double E, G;
    Vec3d tip;
    double allowed;
  } const cases[] = {{1, 1, {.01204834, .00291284, .09390297}, 2e-3},   {.25, .25, {.00061648, -.00448908, .1670207}, 2e-3},
                     {4, 4, {.01033766, .00011388, .05568457}, 2e-3},   {1, 4, {.00529468, -.0070054, .05880721}, 1e-2},
                     {4, 1, {.00837318, .01335133, .08801281}, 4e-3},   {1, .25, {-.00407241, .00046034, .14230851}, 2e-2},
                     {4, .25, {.00451043, -.00310545, .13748318}, 7e-2}};
  for (const auto& c : cases) {
    // GJ > 2 EI leaves no room for slender cuboids; the solver chooses.
    Simulation s(scene_with(helix(200, c.E, c.G, R"({"type": "static", "load_steps": 4})"), R"({"name": "deti"})"));
    const Vec3d before = tip(s);
    for (int i = 0; i < 4; ++i) ASSERT_FALSE(s.step().not_converged);
    EXPECT_LE(norm(tip(s) - c.tip) / norm(c.tip - before), c.allowed) << c.E << " " << c.G;
  }
}

TEST(DetiStatics, TheHelixConvergesWithSecondOrder) {
  double error[2];
  for (const int i : {0, 1}) {
    Simulation s(
        scene_with(helix(100 << i, 1, 1, R"({"type": "static", "load_steps": 4})"), R"({"name": "deti", "aspect": 1.5})"));
    const Vec3d before = tip(s), exact{.01204834, .00291284, .09390297};
    for (int n = 0; n < 4; ++n) s.step();
    error[i] = norm(tip(s) - exact) / norm(exact - before);
  }
  EXPECT_LE(error[1], 2e-3);
  EXPECT_GE(error[0] / error[1], std::pow(2, 1.5));
}

TEST(DetiDynamics, AHelixBouncesAlikeForAllStepsAndComesToItsEquilibrium) {
  const std::string own = R"({"name": "deti", "alpha0": 6)";
  Simulation still(scene_with(helix(48, 1, 1, R"({"type": "static", "load_steps": 4})"), R"({"name": "deti"})"));
  for (int i = 0; i < 4; ++i) ASSERT_FALSE(still.step().not_converged);
  for (const std::string& solver : {own + R"(, "variant": "complex_pair"})", own + "}"}) {
    Simulation fine(scene_with(helix(48, 1, 1, dynamic(0.001)), solver)),
        coarse(scene_with(helix(48, 1, 1, dynamic(0.004)), solver));
    for (const double t : {0.1, 0.2, 0.5, 1.0, 3.0}) {
      while (fine.state().time < t - 1e-9) fine.step();
      while (coarse.state().time < t - 1e-9) coarse.step();
      EXPECT_LE(norm(tip(fine) - tip(coarse)), 4e-4) << solver << " t = " << t;
    }
    EXPECT_LE(norm(tip(coarse) - tip(still)), 2e-5) << solver;
  }
}

TEST(DetiDynamics, AFallingRodMovesLikeThatOfTheConvergingSolver) {
  const std::string scene = unit_rod(40, dynamic(0.001), gravity(2) + R"(, {"type": "drag", "rate": 0.5})");
  Simulation own(scene_with(scene, R"({"name": "deti"})")), other(scene_with(scene, R"({"name": "direct"})"));
  for (int i = 1; i <= 1000; ++i) {
    own.step();
    other.step();
    if (i % 100 != 0) continue;
    EXPECT_LE(farthest(own.state().vertex_position, other.state().vertex_position), 0.004) << i;
    EXPECT_LE(farthest(own.state().frame_rotation, other.state().frame_rotation), 0.01) << i;
  }
}

TEST(DetiDynamics, ClampsAndPinsThatMoveLeadTheRod) {
  const std::string turn =
      R"("motion": {"rotate": {"axis": [1, 0, 0], "angle": {"keys": [[0, 0], [1, 90]], "interpolation": "smooth"}}})";
  const std::string pull =
      R"("motion": {"translate": {"keys": [[0, [0, 0, 0]], [1, [-0.2, 0, 0.1]]], "interpolation": "smooth"}})";
  for (const std::string& end :
       {R"({"type": "clamp", "vertices": "rod:end", )" + turn + "}", R"({"type": "pin", "vertices": "rod:end", )" + pull + "}"}) {
    const std::string scene = unit_rod(30, dynamic(0.002), gravity(0.2) + R"(, {"type": "drag", "rate": 4})", 1e4, ", " + end);
    Simulation own(scene_with(scene, R"({"name": "deti"})")), other(scene_with(scene, R"({"name": "direct"})"));
    for (int i = 1; i <= 1000; ++i) own.step(), other.step();
    EXPECT_LE(farthest(own.state().vertex_position, other.state().vertex_position), 0.003) << end;
    EXPECT_LE(farthest(own.state().frame_rotation, other.state().frame_rotation), 0.01) << end;
    EXPECT_EQ(norm(own.state().vertex_position.back() - other.state().vertex_position.back()), 0);
  }
}

/// Ends pushed together by a fifth and turned by half a turn against each other.
std::string buckle(int segments, const std::string& analysis, double time, const std::string& forces) {
  const std::string end = fmt::format(
      R"(, {{"type": "clamp", "vertices": "rod:end", "motion": {{"translate": {{"keys": [[0, [0, 0, 0]], [{0}, [-0.2, 0, 0]]]}},
         "rotate": {{"axis": [1, 0, 0], "angle": {{"keys": [[0, 0], [{0}, 180]]}}}}}}}})",
      time);
  return unit_rod(segments, analysis, forces, 1e4, end);
}
double lateral(const Simulation& s) {
  double most = 0;
  for (const Vec3d& x : s.state().vertex_position) most = std::max(most, std::hypot(x.y, x.z));
  return most;
}

TEST(DetiBuckling, ATwistedRodPushedTogetherBucklesAsItsNetworkDoesInStatics) {
  const std::string soft = R"({"name": "deti", "stretch": "soft", "section_stiffness": 2, "aspect": 1.5)";
  // A push of a thousandth of the buckling load, without which a perfect rod stays straight in dynamics.
  const std::string push = R"({"type": "force", "vertices": "rod:8", "force": [0, 0.02, 0.01]})";
  Simulation moving(scene_with(buckle(16, dynamic(0.002), 2, push), soft + R"(, "alpha0": 4})"));
  while (moving.state().time < 6) moving.step();
  EXPECT_NEAR(lateral(moving), .25208, 3e-4);
  Simulation still(scene_with(buckle(16, R"({"type": "static", "load_steps": 8, "duration": 2})", 2, push), soft + "}"));
  for (int i = 0; i < 8; ++i) ASSERT_FALSE(still.step().not_converged) << i;
  EXPECT_NEAR(lateral(still), .25208, 3e-4);
}

TEST(DetiDynamics, DragLeadsToTheTerminalVelocity) {
  const std::string scene = fmt::format(R"({{
    "rods": [{{"name": "rod", "segments": 6, "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}},
               "material": {{"stretch_shear": 1e4, "bend": 1, "twist": 0.6, "line_density": 1, "radius": 0.001}}}}],
    "forces": [{}, {{"type": "drag", "rate": 5}}], "analysis": {}}})",
                                        gravity(3), dynamic(0.05));
  Simulation s(scene_with(scene, R"({"name": "deti", "alpha0": 3})"));
  for (int i = 0; i < 200; ++i) s.step();
  for (const Vec3d& v : s.state().vertex_velocity) EXPECT_NEAR(v.z, -3.0 / 8, 1e-9);
}

}  // namespace
}  // namespace osier::test
