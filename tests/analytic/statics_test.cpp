// Statics against the continuum: elastica, roll-up, 45-degree bend, catenary, ring, bracket. References: elliptic integrals and
// shooting (validation catalogue V01, V05, V06, V07, V15, V29b, V32). Tables are errors of the exact discrete minimiser.
#include "analytic/reference.hpp"

namespace osier::test {
namespace {

const std::vector<int> kResolutions{20, 50, 100, 200};

std::string cantilever_scene(int n, const std::string& forces, int load_steps) {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "material": {}}}],
    "constraints": [{{"type": "clamp", "vertices": "rod:start"}}],
    "forces": [{}],
    "analysis": {{"type": "static", "load_steps": {}}}
  }})",
                     n, RodS::material(), forces, load_steps);
}

// V01. theta'' = -Gamma (1 - s) cos(theta), Gamma = mu g L^3/EI. With the scalar stretch/shear law the angles do not depend on
// EA; the drop grows by the elongation mu g L^2/(2 EA), which is added to the reference.
struct HeavyCase {
  double gamma, x, drop;
  std::map<int, double> table;
};

TEST(HeavyCantilever, MatchesTheElasticaAtSecondOrder) {
  const std::vector<HeavyCase> cases{
      {1, 0.9912463953466051, 0.12347140198336488, {{20, 2.5e-3}, {50, 4.0e-4}, {100, 1.0e-4}, {200, 2.5e-5}}},
      {10, 0.6563537612385979, 0.7001997155143189, {{20, 3.3e-3}, {50, 5.4e-4}, {100, 1.35e-4}, {200, 3.4e-5}}},
      {100, 0.1592234, 0.9375239, {{20, 1.7e-2}, {50, 2.8e-3}, {100, 7.1e-4}, {200, 1.8e-4}}},
      {1000, 0.0459865, 0.9811413, {{100, 6.2e-3}, {200, 1.6e-3}}},  // a boundary layer of L/30 at the clamp
  };
  for (const HeavyCase& c : cases) {
    Convergence convergence;
    const double g = c.gamma * RodS::EI / RodS::mu;
    const double reference = (c.drop + RodS::mu * g / (2 * RodS::EA)) / c.x;
    for (int n : kResolutions) {
      const Simulation s =
          settle(cantilever_scene(n, fmt::format(R"({{"type": "gravity", "acceleration": [0, {}, 0]}})", -g), 4));
      const Vec3d tip = s.state().vertex_position.back();
      convergence.add(n, (-tip.y / tip.x - reference) / reference);
    }
    const std::string what = fmt::format("Gamma = {}", c.gamma);
    convergence.expect_within(c.table, what);
    convergence.expect_second_order(what, c.gamma < 1000 ? 50 : 100);
  }
}

TEST(HeavyCantilever, FrozenFrameInsteadOfClampIsOnlyFirstOrder) {
  const double gamma = 10, g = gamma * RodS::EI / RodS::mu;
  const double reference = 1.0668023204330845;
  Convergence convergence;
  for (int n : {50, 200}) {
    std::string text = cantilever_scene(n, fmt::format(R"({{"type": "gravity", "acceleration": [0, {}, 0]}})", -g), 4);
    const std::string clamp = R"({"type": "clamp", "vertices": "rod:start"})";
    text.replace(text.find(clamp), clamp.size(),
                 R"({"type": "pin", "vertices": "rod:start"}, {"type": "fix", "segments": "rod:start"})");
    const Vec3d tip = settle(text).state().vertex_position.back();
    convergence.add(n, (-tip.y / tip.x - reference) / reference);
  }
  EXPECT_NEAR(convergence.order(50, 200), 1.0, 0.1) << convergence.text();
}

// V06. P = alpha EI/L^2 at the tip; the drop grows by P L/EA.
TEST(EndLoadedElastica, MatchesMattiassonAtSecondOrder) {
  struct Case {
    double alpha, w, u;
    std::map<int, double> table;
  };
  const std::vector<Case> cases{
      {1, 0.3017208, 0.0564332, {{20, 3.7e-4}, {50, 5.9e-5}, {100, 1.5e-5}, {200, 3.7e-6}}},
      {10, 0.8106090, 0.5549956, {{20, 1.2e-3}, {50, 2.0e-4}, {100, 5.1e-5}, {200, 1.3e-5}}},
  };
  for (const Case& c : cases) {
    Convergence down, across;
    const double load = c.alpha * RodS::EI;
    const double w = c.w + load / RodS::EA;
    for (int n : kResolutions) {
      const Simulation s = settle(
          cantilever_scene(n, fmt::format(R"({{"type": "force", "vertices": "rod:end", "force": [0, {}, 0]}})", -load), 4));
      const Vec3d tip = s.state().vertex_position.back();
      down.add(n, -tip.y - w);  // the table is in units of L
      across.add(n, (1 - tip.x - c.u) / c.u);
    }
    const std::string what = fmt::format("alpha = {}", c.alpha);
    down.expect_within(c.table, what);
    down.expect_second_order(what + ", drop");
    across.expect_second_order(what + ", shortening");
  }
}

// V07. A couple M = 2 pi t EI/L on the last segment rolls the rod into t turns: tip (sin M, 1 - cos M)/M; the last segment's
// frame has turned by M (1 - l/2).
TEST(RollUp, EndCoupleMakesWholeCirclesAtSecondOrder) {
  struct Case {
    double turns;
    std::map<int, double> tip, angle;
  };
  const std::vector<Case> cases{
      {0.5, {}, {}},
      {1, {{20, 4.2e-3}, {50, 6.6e-4}, {100, 1.6e-4}, {200, 4.1e-5}}, {{20, 2.5e-2}, {50, 4.1e-3}, {100, 1.0e-3}, {200, 2.6e-4}}},
      {2, {{20, 1.7e-2}, {50, 2.7e-3}, {100, 6.6e-4}, {200, 1.6e-4}}, {}},
  };
  for (const Case& c : cases) {
    Convergence tip_error, angle_error;
    const double bend = 2 * RodS::pi * c.turns;  // M L/EI
    for (int n : kResolutions) {
      const Simulation s = settle(cantilever_scene(
          n, fmt::format(R"({{"type": "torque", "segments": "rod:end", "torque": [0, 0, {}]}})", bend * RodS::EI), 8));
      const Vec3d tip = s.state().vertex_position.back();
      tip_error.add(n, norm(tip - Vec3d{std::sin(bend) / bend, (1 - std::cos(bend)) / bend, 0}));
      // Total turn of d3 along the rod, summed joint by joint so that whole turns count.
      double angle = 0;
      Vec3d last{1, 0, 0};
      for (Index k = 0; k < n; ++k) {
        const Vec3d d = director3(s.state().frame_rotation[k]);
        angle += std::atan2(last.x * d.y - last.y * d.x, last.x * d.x + last.y * d.y);
        last = d;
      }
      angle_error.add(n, angle - bend * (1 - 0.5 / n));
    }
    const std::string what = fmt::format("{} turns", c.turns);
    tip_error.expect_within(c.tip, what + ", tip");
    tip_error.expect_second_order(what + ", tip");
    angle_error.expect_within(c.angle, what + ", end angle");
    angle_error.expect_second_order(what + ", end angle");
  }
}

// V05. Bathe and Bolourchi's 45-degree bend of radius 100, unit square, E = 1e7, nu = 0, dead load 600 out of the plane.
TEST(Bend45, MatchesTheScalarModelOfBatheAndBolourchi) {
  const Vec3d reference{15.68508, 47.15129, 53.47331};  // shooting, EA = GA = 1e7, EI = GJ
  Convergence convergence;
  for (int n : kResolutions) {
    const Simulation s = settle(fmt::format(R"({{
      "rods": [{{"name": "rod", "shape": {{"type": "arc", "center": [100, 0, 0], "radius": 100, "start": [-1, 0, 0], "normal": [0, 0, -1], "angle": 45}},
                 "segments": {}, "material": {{"stretch_shear": 1e7, "bend_twist": 833333.3333333334, "line_density": 1}}}}],
      "constraints": [{{"type": "clamp", "vertices": "rod:start", "tangent": [0, 1, 0]}}],
      "forces": [{{"type": "force", "vertices": "rod:end", "force": [0, 0, 600]}}],
      "analysis": {{"type": "static", "load_steps": 6}}
    }})",
                                            n));
    convergence.add(n, norm(s.state().vertex_position.back() - reference));
  }
  convergence.expect_within({{20, 0.0739}, {50, 0.0120}, {100, 0.0030}, {200, 0.00075}}, "tip");
  convergence.expect_second_order("tip");
}

// V15. A chain of length 1 between level supports 0.9 apart, weight w = mu g, no bending to speak of: sag of the elastic
// catenary (Irvine).
TEST(Catenary, SagMatchesTheElasticCatenary) {
  struct Case {
    double stiffness, sag, pull;  // EA/(w L), sag/L, H/(w L)
  };
  for (const Case& c : {Case{1e4, 0.1907732, 0.5598908}, Case{100, 0.1968854, 0.5411260}, Case{20, 0.2179987, 0.4844479}}) {
    Convergence sag;
    double pull = 0;
    for (int n : kResolutions) {
      const Simulation s = settle(fmt::format(R"({{
        "rods": [{{"name": "chain", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {},
                   "pose": {{"type": "points", "points": [[0, 0, 0], [0.45, -0.21794494717703367, 0], [0.9, 0, 0]]}},
                   "material": {{"stretch_shear": {}, "bend_twist": 1e-8, "line_density": 1}}}}],
        "constraints": [{{"type": "pin", "vertices": ["chain:start", "chain:end"]}}],
        "forces": [{{"type": "gravity", "acceleration": [0, -1, 0]}}],
        "analysis": {{"type": "static", "ramp": false}}
      }})",
                                              n, c.stiffness));
      const State& state = s.state();
      sag.add(n, (-state.vertex_position[static_cast<std::size_t>(n / 2)].y - c.sag) / c.sag);
      const Index middle = n / 2;
      const Vec3d strain = static_cast<double>(n) * (state.vertex_position[middle + 1] - state.vertex_position[middle]) -
                           director3(state.frame_rotation[middle]);
      pull = c.stiffness * strain.x;
    }
    const std::string what = fmt::format("EA/wL = {}", c.stiffness);
    sag.expect_within({{20, 1.24e-3}, {50, 2.0e-4}, {100, 5.0e-5}, {200, 1.2e-5}}, what);
    sag.expect_second_order(what);
    EXPECT_NEAR(pull, c.pull, 2e-4 * c.pull) << what;
  }
}

// V29b. A ring pulled or pressed at opposite points; naturally circular. Dv along the load, Dh across, over the diameter.
TEST(Ring, DiametersMatchTheElasticaUnderPullAndPressure) {
  struct Case {
    double load, vertical, horizontal;  // F R^2/EI
  };
  for (const Case& c : {Case{-1, 0.9165281, 1.0706101}, Case{1, 1.0664411, 0.9346804}, Case{5, 1.2242731, 0.7365541},
                        Case{10, 1.3121097, 0.5898269}}) {
    Convergence vertical, horizontal;
    for (int n : kResolutions) {
      const Simulation s = settle(fmt::format(R"({{
        "rods": [{{"name": "ring", "shape": {{"type": "circle", "radius": 1, "start": [0, -1, 0]}}, "segments": {},
                   "material": {{"stretch_shear": 1e7, "bend_twist": 1, "line_density": 1}}}}],
        "constraints": [{{"type": "clamp", "vertices": "ring:0"}}],
        "forces": [{{"type": "force", "vertices": "ring:{}", "force": [0, {}, 0]}}],
        "analysis": {{"type": "static", "load_steps": 4}}
      }})",
                                              n, n / 2, c.load));
      const auto& x = s.state().vertex_position;
      // The widest place lies between vertices: parabola through the three widest.
      const auto widest = [&](double sign) {
        Index best = 1;
        for (Index i = 1; i + 1 < n; ++i)
          if (sign * x[i].x > sign * x[best].x) best = i;
        const double a = sign * x[best - 1].x, b = sign * x[best].x, d = sign * x[best + 1].x;
        return b + (d - a) * (d - a) / (8 * (2 * b - a - d));
      };
      vertical.add(n, (x[static_cast<std::size_t>(n / 2)].y - x[0].y) / 2 - c.vertical);
      horizontal.add(n, (widest(-1) + widest(1)) / 2 - c.horizontal);
    }
    const std::string what = fmt::format("F R^2/EI = {}", c.load);
    vertical.expect_second_order(what + ", vertical");
    horizontal.expect_second_order(what + ", horizontal");
    // No table for this case: the limit of refinement must be the reference itself.
    EXPECT_NEAR(vertical.extrapolated(100, 200), 0, 2e-6) << what << vertical.text();
    EXPECT_NEAR(horizontal.extrapolated(100, 200), 0, 1e-5) << what << horizontal.text();
  }
}

// V32. Leg a = 1 along x, clamped, leg b = 0.5 along y welded to it at a right angle, tip load along z:
// deflection/P = (a^3 + b^3)/(3 EI) + a b^2/GJ = 0.625 for EI = GJ = 1, and (a + b)/EA of shearing.
TEST(Bracket, TipDeflectionOfTwoWeldedRodsMatchesBeamTheory) {
  Convergence convergence;
  const double load = 1e-3, reference = 0.625 + 1.5 / 1e4;
  for (int n : kResolutions) {
    const Simulation s = settle(fmt::format(R"({{
      "materials": {{"unit": {{"stretch_shear": 1e4, "bend_twist": 1, "line_density": 1}}}},
      "rods": [
        {{"name": "a", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "material": "unit"}},
        {{"name": "b", "shape": {{"type": "line", "from": [1, 0, 0], "to": [1, 0.5, 0]}}, "segments": {}, "material": "unit"}}],
      "welds": [{{"vertices": ["a:end", "b:start"]}}],
      "constraints": [{{"type": "clamp", "vertices": "a:start"}}],
      "forces": [{{"type": "force", "vertices": "b:end", "force": [0, 0, {}]}}],
      "analysis": {{"type": "static"}}
    }})",
                                            n, n / 2, load));
    convergence.add(n, s.state().vertex_position.back().z / load / reference - 1);
  }
  convergence.expect_within({{20, 1e-3}, {50, 1.6e-4}, {100, 4e-5}, {200, 1e-5}}, "deflection");
  convergence.expect_second_order("deflection");
}

// A straight rod bent into a quarter circle and clamped there: the moment is EI/R everywhere, at second order although the pose
// is not the rest shape.
TEST(Clamp, OfAPosedRodTakesTheTangentOfThePose) {
  Convergence convergence;
  for (int n : kResolutions) {
    const Simulation s = settle(fmt::format(R"({{
      "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1.5707963267948966, 0, 0]}}, "segments": {},
                 "pose": {{"type": "arc", "radius": 1, "angle": 90}},
                 "material": {{"stretch_shear": 1e5, "bend_twist": 1, "line_density": 1}}}}],
      "constraints": [{{"type": "clamp", "vertices": ["rod:start", "rod:end"]}}],
      "analysis": {{"type": "static"}}
    }})",
                                            n));
    const Model& m = s.model();
    const auto [a, b] = m.joint_frames[n / 2];
    const Quatd r = s.state().frame_rotation[b] * conj(s.state().frame_rotation[a] * m.joint_rest_rotation[n / 2]);
    convergence.add(n, 0.5 * m.joint_stiffness[n / 2].d3 * norm(imag(r)) - 1);
  }
  convergence.expect_second_order("moment");
  EXPECT_NEAR(convergence.extrapolated(100, 200), 0, 1e-5);
}

// A branch or a corner beyond the first segment says nothing about the tangent at the clamp.
TEST(Clamp, TangentIsNotMisledByBranchesAndCorners) {
  const Simulation branch = settle(R"({
    "materials": {"m": {"stretch_shear": 1e5, "bend_twist": 1, "line_density": 1}},
    "rods": [{"name": "r", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 10, "material": "m"},
             {"name": "b", "shape": {"type": "line", "from": [0.1, 0, 0], "to": [0.1, 0.5, 0]}, "segments": 5, "material": "m"}],
    "welds": [{"vertices": ["r:1", "b:start"]}],
    "constraints": [{"type": "clamp", "vertices": "r:start", "tangent": [1, 0, 0]}],
    "analysis": {"type": "static"}
  })");
  EXPECT_NEAR(norm(branch.state().vertex_position[10] - Vec3d{1, 0, 0}), 0, 1e-9);
  const Simulation corner = settle(R"({
    "rods": [{"name": "r", "shape": {"type": "points", "points": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 2, 0]]},
              "material": {"stretch_shear": 1e5, "bend_twist": 1, "line_density": 1}}],
    "constraints": [{"type": "clamp", "vertices": "r:start", "tangent": [1, 0, 0]}],
    "analysis": {"type": "static"}
  })");
  EXPECT_NEAR(norm(corner.state().vertex_position[1] - Vec3d{1, 0, 0}), 0, 1e-9);
}

TEST(Statics, OfARodThatNothingHoldsFailLoudly) {
  Simulation s(Scene::parse(R"({
    "rods": [{"name": "r", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 10,
              "material": {"stretch_shear": 1e3, "bend_twist": 1, "line_density": 0.1}}],
    "forces": [{"type": "force", "vertices": "r:end", "force": [0, -0.1, 0]}],
    "analysis": {"type": "static"}
  })"));
  EXPECT_THROW(s.step(), RunError);
}

}  // namespace
}  // namespace osier::test
