// The direct method for chains in lanes: every instruction set, every way to hold an end, cut chains, strands of any length.
#include <bit>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec/simd.hpp"
#include "model/chains.hpp"
#include "solvers/newton/newton.hpp"
#include "solvers/systems/chains/chain_direct.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

/// One stiffness and Kelvin-Voigt time for stretch and shear, one for bend and twist.
std::string isotropic(double tau) {
  return fmt::format(
      R"("m": {{"stretch_shear": 2000, "bend_twist": 0.02, "line_density": 0.05, "radius": 0.003, "tau_stretch": {0}, "tau_bend": {0}}})",
      tau);
}

/// A strip, whose six stiffnesses all differ, four times as stiff one way as the other.
std::string strip(double tau) {
  return fmt::format(
      R"("m": {{"stretch": 2000, "shear": [700, 900], "bend": [0.012, 0.05], "twist": 0.02, "line_density": 0.05, "radius": 0.003,
               "tau_stretch": {}, "tau_shear": {}, "tau_bend": {}, "tau_twist": {}}})",
      tau, 2 * tau, 0.7 * tau, 3 * tau);
}

/// From a data sheet: a soft rubber tape.
std::string tape(double tau) {
  return fmt::format(
      R"("m": {{"young": 2e6, "poisson": 0.45, "density": 1200, "section": {{"type": "rectangle", "width": 0.012, "height": 0.004}},
               "tau_stretch": {0}, "tau_bend": {0}}})",
      tau);
}

/// Curved strands of different lengths, each held in another way.
std::string strands(int count, int segments, const std::string& material) {
  std::string rods, constraints;
  const auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ",\n") + item; };
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("s{}", i);
    add(rods, fmt::format(R"({{"name": "{}", "material": "m", "segments": {},
        "shape": {{"type": "helix", "radius": {}, "pitch": 0.1, "turns": 1.5, "center": [{}, 0, 0]}}}})",
                          name, segments - 3 * (i % 4), 0.05 + 0.01 * (i % 3), 0.3 * i));
    const char* ways[] = {R"({{"type": "clamp", "vertices": "{0}:start"}})",
                          R"({{"type": "pin", "vertices": "{0}:start"}}, {{"type": "fix", "segments": "{0}:start"}})",
                          R"({{"type": "pin", "vertices": "{0}:start"}})",
                          R"({{"type": "clamp", "vertices": ["{0}:start", "{0}:end"]}})",
                          R"({{"type": "pin", "vertices": ["{0}:start", "{0}:end"]}},
                             {{"type": "fix", "segments": ["{0}:start", "{0}:end"]}})",
                          R"({{"type": "pin", "vertices": "{0}:end"}})",
                          R"({{"type": "clamp", "vertices": "{0}:end"}})"};
    if (i % 8 != 7) add(constraints, fmt::format(fmt::runtime(ways[i % 8]), name));  // one flies
  }
  return fmt::format(R"({{
    "materials": {{{}}},
    "rods": [{}], "constraints": [{}],
    "forces": [{{"type": "gravity"}}, {{"type": "drag", "rate": 0.3}}],
    "analysis": {{"type": "dynamic", "step": 0.002, "duration": 1}}}})",
                     material, rods, constraints);
}
std::string strands(int count, int segments, double tau) { return strands(count, segments, isotropic(tau)); }

/// Chains of all lengths with a stiffness and a Kelvin-Voigt time for every axis of every segment, the largest `ratio` times the
/// smallest, and frames about `strain` radians away from rest; clamped at one end, or both, or free.
StepProblem random_chains(std::uint64_t seed, Damping damping, double ratio, double strain, bool torque) {
  Random random(seed);
  StepProblem p;
  p.h = 0.004;
  RodGraph& g = p.graph;
  std::vector<std::vector<Index>> chains;
  for (int n : {9, 30, 31, 7, 28, 12, 33, 17, 16, 8, 25, 11, 29, 30, 10, 21, 5, 300}) {
    const Vec3d from{static_cast<double>(chains.size()), 0, 0};
    std::vector<Index> path{g.add_vertex(from)};
    for (Index v : random_walk(g, from, n - 1, 0.2, random)) path.push_back(v);
    add_twisted_chain(g, path, random_section(random, damping), false, 0.5, random);
    chains.push_back(path);
  }
  p.model = compile_graph(g);
  p.state = initial_state(g, p.model);
  for (std::size_t i = 0; i < chains.size(); i += 3)
    p.state.frame_rotation.push_back(add_clamp(p.model, g, p.state, i % 2 == 0 ? chains[i].front() : chains[i].back()).rotation);
  update_topology(p.model);
  make_anisotropic(p, std::sqrt(ratio), random);
  p.control = still_control(p.model, p.state);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    if (i % 3 == 0) p.control.vertex_fixed[i % 2 == 0 ? chains[i].front() : chains[i].back()] = 1;
    if (i % 5 == 1) p.control.vertex_fixed[chains[i].back()] = 1;
  }
  for (Index v = 0; v < p.model.vertex_count(); ++v) {
    p.control.vertex_force[v] = 2.0 * random.in_cube();
    p.control.vertex_damping[v] = random.range(0, 0.5);
    p.state.vertex_velocity[v] = random.in_cube();
    if (!p.control.vertex_fixed[v]) p.state.vertex_position[v] += (0.1 * strain) * random.in_cube();
  }
  p.state.vertex_velocity_previous = p.state.vertex_velocity;
  p.control.has_torque = torque;
  for (Index s = 0; s < p.model.segment_count() && torque; ++s) {
    if (s % 2 == 0) p.control.frame_torque[s] = 0.05 * random.in_cube();
    if (s % 3 == 0) p.control.frame_torque_material[s] = 0.05 * random.in_cube();
  }
  for (Index s = 0; s < p.model.segment_count(); ++s) {
    Quatd& q = p.state.frame_rotation[s];
    q = normalized(rotation_exp(strain * random.in_cube()) * q);
    if (random.flip()) q = -q;
  }
  return p;
}

std::string direct(const char* precision, Simd simd, const std::string& more = R"("tolerance": 1e-9)") {
  return fmt::format(R"({{"name": "direct", "precision": "{}", "simd": "{}", {}}})", precision, simd_name(simd), more);
}

std::vector<Simd> sets_here() {
  std::vector<Simd> sets;
  for (Simd s : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512})
    if (simd_available(s)) sets.push_back(s);
  return sets;
}

/// Largest distance over what moved, after a few steps.
void compare(const std::string& text, const char* precision, double allowed) {
  Simulation newton(scene_with(text, R"({"name": "newton", "tolerance": 1e-13})"));
  const State start = newton.state();
  constexpr int kSteps = 5;
  for (int i = 0; i < kSteps; ++i) ASSERT_FALSE(newton.step().not_converged);
  const double motion = farthest(newton.state().vertex_position, start.vertex_position);
  ASSERT_GT(motion, 1e-5);
  for (Simd simd : sets_here()) {
    const std::string more = std::string(precision) == "float" ? R"("iterations": 6)" : R"("tolerance": 1e-9)";
    Simulation other(scene_with(text, direct(precision, simd, more)));
    for (int i = 0; i < kSteps; ++i) ASSERT_FALSE(other.step().not_converged) << simd_name(simd);
    EXPECT_LE(farthest(other.state().vertex_position, newton.state().vertex_position), allowed * motion) << simd_name(simd);
    EXPECT_LE(farthest(other.state().vertex_velocity, newton.state().vertex_velocity), 10 * allowed * motion / 0.002)
        << simd_name(simd);
  }
}

TEST(DirectLanes, FindNewtonsStepsHoweverTheEndsAreHeld) {
  compare(strands(17, 24, 0), "double", 1e-7);
  compare(strands(17, 24, 0.003), "double", 1e-7);
}

TEST(DirectLanes, FindNewtonsStepsInFloat) {
  compare(strands(17, 24, 0), "float", 2e-5);
  compare(strands(17, 24, 0.003), "float", 2e-5);
}

TEST(DirectLanes, FindNewtonsStepsOfAnisotropicStrands) {
  for (const auto& material : {strip, tape})
    for (double tau : {0.0, 0.003}) {
      compare(strands(17, 24, material(tau)), "double", 1e-7);
      compare(strands(17, 24, material(tau)), "float", 2e-5);
    }
}

/// A chain longer than a few hundred vertices is cut into as many pieces as there are lanes. 8 chains are too few to fill lanes.
TEST(DirectLanes, FindNewtonsStepsForChainsCutIntoPieces) {
  for (int segments : {300, 513}) compare(strands(7, segments, 0.001), "double", 1e-6);
  compare(strands(7, 300, 0), "float", 2e-4);
}

TEST(DirectLanes, FindNewtonsStepsForAnisotropicChainsCutIntoPieces) {
  for (int segments : {300, 513}) compare(strands(7, segments, strip(0.001)), "double", 1e-6);
  compare(strands(7, 300, strip(0)), "float", 2e-4);
}

/// Both laws in one model, beside a chain that lanes do not take.
TEST(DirectLanes, TakeBothLawsAtOnce) {
  std::string text = strands(17, 20, strip(0.001));
  text.replace(text.find("\"m\": {"), 0,
               R"("plain": {"stretch_shear": 2000, "bend_twist": 0.02, "line_density": 0.05, "radius": 0.003}, )");
  for (const char* name : {"s2", "s5", "s11"}) {
    const std::string before = fmt::format(R"("name": "{}", "material": "m")", name);
    ASSERT_NE(text.find(before), std::string::npos);
    text.replace(text.find(before), before.size(), fmt::format(R"("name": "{}", "material": "plain")", name));
  }
  const std::size_t at = text.find("],\n    \"forces\"");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 1, R"(, {"type": "pin", "vertices": "s2:9"}])");
  compare(text, "double", 1e-7);
}

/// A rod that swings about a pin, as stiff against stretching and shearing as one likes: the same motion in as many iterations,
/// in lanes and (with rotational inertia) node by node. 1e9 N and more stand for a rod that does not stretch.
TEST(DirectLanes, DoNotMindHowStiffSegmentsAre) {
  const auto text = [](bool per_axis, double stretch, bool inertia) {
    const std::string material =
        per_axis ? fmt::format(R"("stretch": {}, "shear": {}, "bend": [0.001, 0.002], "twist": 0.001)", stretch, 0.4 * stretch)
                 : fmt::format(R"("stretch_shear": {}, "bend_twist": 0.001)", stretch);
    return fmt::format(R"({{
      "rotational_inertia": {}, "materials": {{"m": {{{}, "line_density": 0.01, "radius": 0.002}}}},
      "rods": [{{"name": "r", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 50, "material": "m"}}],
      "constraints": [{{"type": "pin", "vertices": "r:start"}}], "forces": [{{"type": "gravity"}}],
      "analysis": {{"type": "dynamic", "step": 0.004, "duration": 1}}}})",
                       inertia, material);
  };
  constexpr int kSteps = 150;
  for (bool per_axis : {false, true})
    for (bool inertia : {false, true}) {
      Simulation newton(scene_with(text(per_axis, 1e9, inertia), R"({"name": "newton", "tolerance": 1e-13})"));
      for (int i = 0; i < kSteps; ++i) ASSERT_FALSE(newton.step().not_converged);
      for (double stretch : {1e9, 1e12, 1e15})
        for (const char* precision : {"double", "float"}) {
          const std::string what = fmt::format("{} {} {} {}", per_axis, inertia, stretch, precision);
          Simulation simulation(
              scene_with(text(per_axis, stretch, inertia), direct(precision, Simd::automatic, R"("tolerance": 1e-6)")));
          int iterations = 0;
          for (int i = 0; i < kSteps; ++i) {
            const StepReport report = simulation.step();
            ASSERT_FALSE(report.not_converged) << what;
            iterations += report.iterations;
          }
          EXPECT_LE(iterations, 3 * kSteps) << what;
          EXPECT_LE(farthest(simulation.state().vertex_position, newton.state().vertex_position),
                    std::string(precision) == "float" ? 5e-5 : 1e-6)
              << what;
        }
    }
}

/// One strand is thrown about for a step: it is given up, and nothing of that is left in the next step, nor in its neighbours.
TEST(DirectLanes, ForgetWhatWentNowhere) {
  Simulation simulation(scene_with(strands(17, 20, strip(0.001)), direct("double", Simd::automatic)));
  for (int i = 0; i < 5; ++i) simulation.step();
  const Model& m = simulation.model();
  const std::vector<Chain> chains = find_chains(m);
  const Executor executor(1);
  const auto check = [&]<class T>(T, double wild) {
    for (Simd simd : sets_here()) {
      systems::ChainDirect<T> lanes;
      lanes.bind(m, chains, StiffnessLaw::anisotropic, simd, executor);
      const auto step = [&](State& state) {
        return lanes.step(lanes::view_of(m, simulation.control(), state, simulation.time_step()), {.tolerance = 1e-3}, executor);
      };
      State before = simulation.state(), thrown = simulation.state(), after = simulation.state();
      ASSERT_EQ(step(before).energy_rose, 0u);
      Random random(3);
      for (Index i = 1; i < chains[3].vertices; ++i)
        thrown.vertex_position[chains[3].first_vertex + i] += wild * random.in_cube();
      const std::uint32_t energy_rose = step(thrown).energy_rose;
      EXPECT_EQ(std::popcount(energy_rose), 1) << simd_name(simd);
      for (int i = 0; i < 2; ++i) {
        after = simulation.state();
        EXPECT_EQ(step(after).energy_rose, 0u) << simd_name(simd);
      }
      EXPECT_LE(farthest(after.vertex_position, before.vertex_position), 1e-5) << simd_name(simd);
    }
  };
  check(double{}, 1e18);
  check(float{}, 1e12);
}

/// Rods welded start to start along a line: joints of half a turn, of which q and -q are equally near.
TEST(DirectLanes, BendJointsOfHalfATurnTheRightWay) {
  Random random(5);
  std::string rods, welds, clamps;
  const auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  // All in planes that contain gravity and d1, which bends them about d2 alone: the real part of the joints stays 0.
  const Vec3d down = normalized(Vec3d{0.5, -1, 0.3}), along = normalized(cross(down, {0.2, 0.3, 1}));
  for (int i = 0; i < 24; ++i) {
    const double angle = random.range(-1, 1);
    const Vec3d d = std::cos(angle) * along + std::sin(angle) * down, x = static_cast<double>(i) * Vec3d{0, 0, 1},
                up = cross(cross(along, down), d);
    const auto rod = [&](const char* name, const Vec3d& to) {
      add(rods, fmt::format(R"({{"name": "{}{}", "shape": {{"type": "line", "from": [{}, {}, {}], "to": [{}, {}, {}]}},
                               "segments": 8, "material": "m", "up": [{}, {}, {}]}})",
                            name, i, x.x, x.y, x.z, to.x, to.y, to.z, up.x, up.y, up.z));
    };
    rod("l", x + 0.6 * d), rod("r", x - 0.6 * d);
    add(welds, fmt::format(R"({{"vertices": ["l{0}:start", "r{0}:start"]}})", i));
    add(clamps, fmt::format(R"("l{}:end")", i));
  }
  const std::string text = fmt::format(R"({{
    "materials": {{"m": {{"young": 1e7, "poisson": 0.3, "density": 1000, "radius": 0.01}}}}, "rods": [{}], "welds": [{}],
    "constraints": [{{"type": "clamp", "vertices": [{}]}}],
    "forces": [{{"type": "gravity", "acceleration": [{}, {}, {}]}}], "analysis": {{"type": "dynamic", "step": 0.004, "duration": 1}}}})",
                                       rods, welds, clamps, 9.8 * down.x, 9.8 * down.y, 9.8 * down.z);
  constexpr int kSteps = 50;  // rounding decides which way a joint goes
  const auto run = [&](const std::string& solver) {
    Simulation simulation(scene_with(text, solver));
    for (int k = 0; k < kSteps; ++k) simulation.step();
    return simulation.state().vertex_position;
  };
  const auto exact = run(R"({"name": "newton", "tolerance": 1e-13})");
  for (Simd simd : sets_here())
    EXPECT_LE(farthest(run(direct("float", simd, R"("iterations": 6)")), exact), 2e-5) << simd_name(simd);
}

/// Random chains whose segments and joints all differ, far from rest, with frames of either sign: lanes alone, without anything
/// that would save them.
TEST(DirectLanes, FindNewtonsStepOfRandomAnisotropicChains) {
  for (int i = 0; i < 12; ++i) {
    // Far from rest and alike, or near it and as different as a strip's.
    const double ratio = i < 8 ? 3 : 30, strain = i < 8 ? 0.1 : 0.02;
    const StepProblem p =
        random_chains(400 + static_cast<std::uint64_t>(i), static_cast<Damping>(i % 4), ratio, strain, i % 3 == 1);
    State exact = p.state;
    ASSERT_FALSE(newton::Settings{}.make(p.model)->step(p.input(), exact).not_converged);
    const double motion = farthest(exact.vertex_position, p.state.vertex_position);
    const std::vector<Chain> chains = find_chains(p.model);
    const auto check = [&]<class T>(T, double allowed) {
      for (Simd simd : sets_here()) {
        systems::ChainDirect<T> lanes;
        const Executor executor(1);
        lanes.bind(p.model, chains, StiffnessLaw::anisotropic, simd, executor);
        State state = p.state;
        const systems::ChainOutcome outcome =
            lanes.step(lanes::view_of(p.model, p.control, state, p.h), {.iterations = 40}, executor);
        EXPECT_EQ(outcome.energy_rose, 0u) << i << " " << simd_name(simd);
        EXPECT_LE(farthest(state.vertex_position, exact.vertex_position), allowed * motion) << i << " " << simd_name(simd);
        for (std::size_t s = 0; s < p.model.segment_alive.size(); ++s)
          EXPECT_LE(farthest({state.frame_rotation[s]}, {exact.frame_rotation[s]}), 100 * allowed) << i << " " << simd_name(simd);
      }
    };
    check(double{}, 1e-7);
    check(float{}, 2e-5);
  }
}

/// Lanes beside a chain with a hinge and one that is pinned in the middle.
TEST(DirectLanes, LeaveTheRestOfTheModelToTheTreeRecursion) {
  std::string text = strands(9, 20, 0.001);
  const std::string hinge =
      R"(, {"type": "hinge", "vertex": "s7:start", "axis": [0, 0, 1]}, {"type": "pin", "vertices": "s2:9"}])";
  const std::size_t at = text.find("],\n    \"forces\"");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 1, hinge);
  compare(text, "double", 1e-7);
}

TEST(DirectLanes, ThreadsDoNotChangeABit) {
  for (const char* precision : {"float", "double"})
    for (const std::string& text : {strands(70, 24, isotropic(0.001)), strands(70, 24, strip(0.001))}) {
      const auto run = [&](int threads) {
        LoadOptions options;
        options.overrides.push_back("/solver=" + direct(precision, Simd::automatic, R"("iterations": 2)"));
        options.threads = threads;
        Simulation sim(Scene::parse(text, "strands", ".", options));
        for (int i = 0; i < 5; ++i) sim.step();
        return sim.state();
      };
      const State one = run(1);
      for (int threads : {2, 3, 7}) EXPECT_TRUE(identical(one, run(threads))) << precision << " " << threads;
    }
}

/// The largest steps in use, from wild velocities: nothing is lost, whatever lanes gave up was done otherwise.
TEST(DirectLanes, StayFiniteFromWildVelocities) {
  for (const char* precision : {"float", "double"})
    for (const std::string& text : {strands(16, 24, isotropic(0)), strands(16, 24, strip(0))}) {
      LoadOptions options;
      options.overrides = {"/solver=" + direct(precision, Simd::automatic, R"("tolerance": 1e-3)"), "/analysis/step=0.0333"};
      Simulation sim(Scene::parse(text, "strands", ".", options));
      Random random(7);
      for (Vec3d& v : sim.mutable_state().vertex_velocity) v = 20.0 * random.in_cube();
      for (int i = 0; i < 30; ++i) EXPECT_FALSE(sim.step().non_finite);
      EXPECT_LT(extent(sim.state()), 100);
    }
}

}  // namespace
}  // namespace osier::test
