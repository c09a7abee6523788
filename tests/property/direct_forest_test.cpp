// The direct method for trees in lanes: what the recursion over trees finds one node at a time, for every instruction set, law
// and way to branch.
#include <gtest/gtest.h>
#include <set>

#include "exec/simd.hpp"
#include "solvers/direct/split_solver.hpp"
#include "solvers/newton/newton.hpp"
#include "solvers/systems/forest/forest.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

/// How siblings are tied: each to each, as in trees that are grown; some; or not at all.
enum class Ties { all, some, none };

struct Woods {
  int trees = 4, nodes = 90;
  Ties ties = Ties::all;
  Damping damping = Damping::both;
  double anisotropy = 1;  ///< largest stiffness over smallest
  double bend = 0.7;      ///< about the angle at a joint at rest [rad]
  bool both_ways = true;  ///< every second segment leads towards the root: its joints are turned by half a circle
  double strain = 0.1;
  bool torque = false;
};

/// Trees with up to five branches at a vertex, segments and joints the one way round or the other, every second one clamped and
/// the others with a held frame that moves.
StepProblem random_woods(std::uint64_t seed, const Woods& woods) {
  Random random(seed);
  StepProblem p;
  p.h = 0.004;
  RodGraph& g = p.graph;
  std::vector<Index> roots, first;
  for (int t = 0; t < woods.trees; ++t) {
    const Section section = random_section(random, woods.damping);
    struct Tip {
      Index vertex, segment;
      Vec3d direction;
    };
    std::vector<Tip> tips{{g.add_vertex({3.0 * t, 0, 0}), -1, {0, 0, 1}}};
    roots.push_back(tips[0].vertex);
    int grown = 0;
    for (std::size_t next = 0; grown < woods.nodes; ++next) {
      const Tip from = tips[next];
      const int most = from.segment < 0 || random.range(0, 1) < 0.5 ? 1
                       : random.range(0, 1) < 0.7                   ? 2
                                                                    : 1 + static_cast<int>(random.range(1, 5));
      std::vector<Index> siblings;
      for (int k = 0; k < most; ++k, ++grown) {
        const Vec3d direction = normalized(from.direction + woods.bend * random.direction());
        const Index v = g.add_vertex(g.vertices[from.vertex].rest + (0.2 * random.range(0.8, 1.2)) * direction);
        const bool away = from.segment < 0 || !woods.both_ways || random.flip();
        const Index s = g.add_segment(away ? from.vertex : v, away ? v : from.vertex, section, {});
        Quatd& q = g.segments[s].rest_frame;
        q = normalized(q * axis_angle(Vec3d{0, 0, 1}, woods.bend * random.range(-1, 1)));
        const auto join = [&](Index a, Index b) { random.flip() ? g.add_joint(a, b) : g.add_joint(b, a); };
        if (from.segment >= 0) join(from.segment, s);
        else first.push_back(s);
        for (Index other : siblings)
          if (woods.ties == Ties::all || (woods.ties == Ties::some && random.flip())) join(other, s);
        siblings.push_back(s);
        tips.push_back({v, s, direction});
      }
    }
  }
  p.model = compile_graph(g);
  p.state = initial_state(g, p.model);
  for (std::size_t t = 0; t < roots.size(); t += 2)
    p.state.frame_rotation.push_back(add_clamp(p.model, g, p.state, roots[t]).rotation);
  update_topology(p.model);
  p.state.frame_velocity.resize(p.state.frame_rotation.size());
  if (woods.anisotropy > 1) make_anisotropic(p, std::sqrt(woods.anisotropy), random);
  p.control = still_control(p.model, p.state);
  for (std::size_t t = 0; t < roots.size(); ++t) {
    p.control.vertex_fixed[roots[t]] = 1;
    p.control.vertex_target[roots[t]] += 0.003 * random.in_cube();
    if (t % 2 == 0) continue;
    p.control.frame_control[first[t]] = FrameControl::fixed;
    p.control.frame_target[first[t]] = normalized(rotation_exp(0.02 * random.in_cube()) * p.control.frame_target[first[t]]);
  }
  for (Index v = 0; v < p.model.vertex_count(); ++v) {
    p.control.vertex_force[v] = random.in_cube();
    p.control.vertex_damping[v] = random.range(0, 0.5);
    p.state.vertex_velocity[v] = 0.5 * random.in_cube();
    if (!p.control.vertex_fixed[v]) p.state.vertex_position[v] += (0.1 * woods.strain) * random.in_cube();
  }
  p.state.vertex_velocity_previous = p.state.vertex_velocity;
  turn_frames(p, woods.strain, random);
  if (woods.torque) add_torques(p, 0.02, Loose::turned, random);
  return p;
}

std::vector<Simd> sets_here() {
  std::vector<Simd> sets;
  for (Simd s : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512})
    if (simd_available(s)) sets.push_back(s);
  return sets;
}

/// Steps by one solver, from one state.
State after_steps(Solver& solver, const StepProblem& p, int steps = 3) {
  State state = p.state;
  for (int i = 0; i < steps; ++i) {
    const StepReport report = solver.step(p.input(), state);
    EXPECT_FALSE(report.non_finite);
    EXPECT_FALSE(report.not_converged);
  }
  return state;
}

/// Largest distance of two states over the motion from the start, of vertices and of the ends of segments.
double apart(const StepProblem& p, const State& a, const State& b) {
  double distance = 0, motion = 0;
  for (std::size_t v = 0; v < a.vertex_position.size(); ++v) {
    distance = std::max(distance, norm(a.vertex_position[v] - b.vertex_position[v]));
    motion = std::max(motion, norm(b.vertex_position[v] - p.state.vertex_position[v]));
  }
  for (Index s = 0; s < p.model.segment_count(); ++s) {
    const Quatd d = a.frame_rotation[s] * conj(b.frame_rotation[s]);
    distance = std::max(distance, p.model.segment_rest_length[s] * 2 * norm(Vec3d{d.x, d.y, d.z}));
  }
  EXPECT_GT(motion, 0);
  return distance / motion;
}

State by_newton(const StepProblem& p, int steps = 3) {
  newton::Settings exact;
  exact.tolerance = 1e-13;
  return after_steps(*exact.make(p.model), p, steps);
}

void expect_newtons_steps(const StepProblem& p, const char* what) {
  SCOPED_TRACE(what);
  const State reference = by_newton(p);
  for (Simd simd : sets_here())
    for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
      SCOPED_TRACE(simd_name(simd));
      const bool in_double = precision == Precision::double_precision;
      const systems::Options options{
          .tolerance = in_double ? 1e-9 : 1e-6, .max_iterations = 200, .precision = precision, .simd = simd};
      ASSERT_EQ(direct::segments_in_lanes(p.model, p.control, options), p.model.segment_count()) << what;
      EXPECT_LT(apart(p, after_steps(*direct::make_solver(p.model, options), p), reference), in_double ? 1e-7 : 1e-4)
          << what << ", " << simd_name(simd) << (in_double ? ", double" : ", float");
    }
}

TEST(DirectForest, FindsNewtonsSteps) {
  for (std::uint64_t seed : {1, 2, 3}) {
    expect_newtons_steps(random_woods(seed, {}), "tied");
    expect_newtons_steps(random_woods(seed, {.ties = Ties::some}), "some tied");
    expect_newtons_steps(random_woods(seed, {.ties = Ties::none, .damping = Damping::none}), "without ties or damping");
    expect_newtons_steps(random_woods(seed, {.trees = 1, .nodes = 40, .damping = Damping::bend}), "one small tree");
  }
}

/// Joints are bent a little at rest: where it is more, springs along the axes halfway between their frames are a poor model
/// of unequal stiffnesses, in lanes or not, and iterations many.
TEST(DirectForest, KnowsEveryAxisAndTorques) {
  for (std::uint64_t seed : {11, 12}) {
    expect_newtons_steps(random_woods(seed, {.anisotropy = 3, .bend = 0.3, .both_ways = false, .strain = 0.02}), "anisotropic");
    expect_newtons_steps(
        random_woods(
            seed,
            {.ties = Ties::some, .damping = Damping::none, .anisotropy = 3, .bend = 0.3, .both_ways = false, .strain = 0.02}),
        "without damping");
    expect_newtons_steps(random_woods(seed, {.bend = 0.3, .both_ways = false, .strain = 0.02, .torque = true}), "torques");
  }
}

/// By lanes alone, with nobody to do again what goes wrong: the same steps, in few iterations.
template <class T>
void expect_lanes_to_do(const StepProblem& p, StiffnessLaw law, Simd simd, int most_iterations) {
  const systems::Tree tree = systems::build_tree(p.model, p.control);
  systems::Forest<T> forest;
  forest.bind(p.model, p.control, tree, systems::nodes_for_lanes(p.model, p.control, tree), law, simd);
  State state = p.state;
  constexpr bool kDouble = sizeof(T) == 8;
  for (int i = 0; i < 3; ++i) {
    const systems::ChainOutcome outcome =
        forest.step(lanes::view_of(p.model, p.control, state, p.h), {.tolerance = kDouble ? 1e-9 : 1e-5}, Executor(1));
    EXPECT_EQ(outcome.energy_rose, 0u) << simd_name(simd);
    EXPECT_EQ(outcome.unsettled, 0u) << simd_name(simd);
    EXPECT_LE(outcome.iterations, most_iterations) << simd_name(simd);
    state.vertex_velocity.swap(state.vertex_velocity_previous);
    for (Index f = p.model.segment_count(); f < p.model.frame_count(); ++f) state.frame_rotation[f] = p.control.frame_target[f];
  }
  EXPECT_LT(apart(p, state, by_newton(p)), kDouble ? 1e-7 : 1e-4) << simd_name(simd);
}

TEST(DirectForest, NeedsNobodysHelpWhereTreesSway) {
  const Woods calm{.strain = 0.02};
  Woods some = calm, none = calm, axes = calm;
  some.ties = Ties::some, some.damping = Damping::none;
  none.ties = Ties::none;
  axes.anisotropy = 2, axes.bend = 0.3, axes.both_ways = false;
  for (Simd simd : sets_here()) {
    for (const Woods& woods : {calm, some, none}) {
      expect_lanes_to_do<double>(random_woods(71, woods), StiffnessLaw::isotropic, simd, 6);
      expect_lanes_to_do<float>(random_woods(71, woods), StiffnessLaw::isotropic, simd, 6);
    }
    expect_lanes_to_do<double>(random_woods(72, axes), StiffnessLaw::anisotropic, simd, 30);
    expect_lanes_to_do<double>(random_woods(73, calm), StiffnessLaw::anisotropic, simd, 30);  // which knows equal stiffnesses too
  }
}

/// With the exact curvature of bent joints and pulled segments, corrections shrink like their squares.
TEST(DirectForest, ConvergesLikeNewtonsMethod) {
  const StepProblem p = random_woods(21, {.strain = 0.02});
  const State reference = by_newton(p, 1);
  double error[4];
  for (int n = 1; n <= 3; ++n)
    error[n] = apart(p, after_steps(*direct::make_solver(p.model, {.iterations = n}), p, 1), reference);
  EXPECT_LT(error[2], 0.1 * error[1]);
  EXPECT_LT(error[3], 0.1 * error[2]);
  EXPECT_LT(error[2], 1e-3);
}

TEST(DirectForest, IsTheSameForAnyNumberOfThreads) {
  const StepProblem p = random_woods(31, {.trees = 3, .nodes = 2000, .strain = 0.02});
  for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
    State alone;
    for (int threads : {1, 2, 3, 7}) {
      State state = after_steps(*direct::make_solver(p.model, {.precision = precision, .threads = threads}), p);
      if (threads == 1) alone = state;
      for (std::size_t v = 0; v < state.vertex_position.size(); ++v) {
        ASSERT_EQ(norm(state.vertex_position[v] - alone.vertex_position[v]), 0) << threads << " threads, vertex " << v;
        ASSERT_EQ(norm(state.vertex_velocity[v] - alone.vertex_velocity[v]), 0) << threads << " threads, vertex " << v;
      }
      for (std::size_t f = 0; f < state.frame_rotation.size(); ++f)
        ASSERT_EQ(norm2(state.frame_rotation[f] - alone.frame_rotation[f]), 0) << threads << " threads, frame " << f;
    }
  }
}

TEST(DirectForest, PutsEveryNodeIntoOneRowBelowItsParent) {
  const StepProblem p = random_woods(41, {.trees = 3, .nodes = 2000});
  const systems::Tree tree = systems::build_tree(p.model, p.control);
  const std::vector<std::uint8_t> wanted = systems::nodes_for_lanes(p.model, p.control, tree);
  for (int lanes : {1, 4, 16}) {
    const systems::ForestPlan plan = systems::plan_forest(p.model, p.control, tree, wanted, lanes);
    ASSERT_GT(plan.branches.size(), 1u);
    std::set<Index> seen;
    for (int s = 0; s < plan.node_slots(); ++s) {
      const systems::ForestSlot& slot = plan.slots[static_cast<std::size_t>(s)];
      if (slot.direction == 0) continue;
      EXPECT_TRUE(seen.insert(slot.segment).second) << "twice";
      if (slot.parent >= plan.node_slots()) continue;
      // Of the same job the parent's row comes first; of another it is the trunk, which is first of all.
      EXPECT_LT(slot.parent / lanes, s / lanes);
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(p.model.segment_count()));
    EXPECT_EQ(plan.nodes, p.model.segment_count());
    const auto in_job = [&](int slot) {
      for (std::size_t b = 0; b < plan.branches.size(); ++b)
        if (slot / lanes >= plan.branches[b].first_row && slot / lanes < plan.branches[b].last_row) return static_cast<int>(b);
      return -1;
    };
    for (int s = 0; s < plan.node_slots(); ++s) {
      const systems::ForestSlot& slot = plan.slots[static_cast<std::size_t>(s)];
      if (slot.direction == 0 || slot.parent >= plan.node_slots()) continue;
      EXPECT_TRUE(in_job(slot.parent) == in_job(s) || in_job(slot.parent) == -1) << "a branch hangs on another";
    }
  }
}

TEST(DirectForest, LeavesAloneWhatIsNotItsOwn) {
  const auto in_lanes = [](const StepProblem& p) { return direct::segments_in_lanes(p.model, p.control); };
  StepProblem p = random_woods(51, {.trees = 2});
  const Index all = p.model.segment_count();
  ASSERT_EQ(in_lanes(p), all);
  const Index tip = p.model.vertex_count() - 1;  // of the second tree
  p.control.vertex_fixed[tip] = 1;
  const Index half = in_lanes(p);
  EXPECT_GT(half, 0);
  EXPECT_LT(half, all);
  // Both ways at once, and the held tip stays.
  const State state = after_steps(*direct::make_solver(p.model, {.tolerance = 1e-9}), p);
  EXPECT_LT(apart(p, state, by_newton(p)), 1e-7);
  EXPECT_EQ(norm(state.vertex_position[tip] - p.control.vertex_target[tip]), 0);
}

/// From frames turned by half a radian and steps of 1/30 s, where a quadratic model means little: the energy falls all the same.
TEST(DirectForest, FallsBackWhereEnergyWouldRise) {
  for (std::uint64_t seed : {61, 62, 63}) {
    StepProblem p = random_woods(seed, {.strain = 0.5});
    p.h = 1.0 / 30;
    State state = p.state;
    const StepReport report = direct::make_solver(p.model, {.tolerance = 1e-9, .max_iterations = 200})->step(p.input(), state);
    EXPECT_FALSE(report.non_finite);
    EXPECT_FALSE(report.not_converged);
    const Phi phi(p);
    Place from{p.state.vertex_position, p.state.frame_rotation}, to{state.vertex_position, state.frame_rotation};
    for (std::size_t v = 0; v < from.x.size(); ++v)
      if (p.control.vertex_fixed[v]) from.x[v] = p.control.vertex_target[v];
    for (std::size_t f = 0; f < from.q.size(); ++f)
      if (p.control.frame_control[f] == FrameControl::fixed) from.q[f] = p.control.frame_target[f];
    EXPECT_LE(phi.value(to).total(), phi.value(from).total());
  }
}

}  // namespace
}  // namespace osier::test
