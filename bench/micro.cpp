// The arithmetic that runs most often, alone in a loop that stays in the cache, and whole steps of strands, a chain and a tree.
//
//   build/release/bench/osier_micro --benchmark_filter=secular
//
// items_per_second counts local problems, vertices or links; in whole steps vertex-iterations.
#include <benchmark/benchmark.h>

#include "bench/step_problem.hpp"
#include "osier/bench.hpp"
#include "scene/generators/sampling.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"
#include "solvers/systems/tree/tree_factor.hpp"

namespace osier {
namespace {

constexpr int kItems = 1024;

Quatd random_rotation(Random& random) {
  return normalized(Quatd{random.symmetric(), random.symmetric(), random.symmetric(), 1 + random.symmetric()});
}

/// The local problem of a frame near its neighbours, as stiff against stretch as against bending.
template <class T>
void secular_update(benchmark::State& state) {
  Random random(1);
  std::vector<OrientationProblem<T>> problems(kItems);
  for (auto& o : problems) {
    const Quatd q = random_rotation(random);
    o.v = cast<T>(-2.0 * rotate(q, Vec3d{0.1 * random.symmetric(), 0.1 * random.symmetric(), 1}));
    o.eta = {T(0), T(0), T(1)};
    o.b = cast<T>(2.0 * q);
    stable_cosserat::complete_problem<T, false>(o);
  }
  for (auto _ : state)
    for (const auto& o : problems) {
      MaskOf<T> needs_safeguard{};
      benchmark::DoNotOptimize(orientation_secular(o, needs_safeguard));
    }
  state.SetItemsProcessed(state.iterations() * kItems);
}
BENCHMARK_TEMPLATE(secular_update, float);
BENCHMARK_TEMPLATE(secular_update, double);

/// A vertex between two segments.
template <class T>
void position_update(benchmark::State& state) {
  Random random(2);
  const auto vector = [&] { return cast<T>(random.in_cube()); };
  std::vector<Vec3<T>> u(kItems + 2), force(kItems + 1), rhs(kItems);
  for (auto* list : {&u, &force, &rhs})
    for (auto& x : *list) x = vector();
  for (auto _ : state)
    for (std::size_t v = 0; v < kItems; ++v) {
      Vec3<T> sum = rhs[v];
      stable_cosserat::add_segment(sum, T(1), force[v], T(0.3), u[v]);
      stable_cosserat::add_segment(sum, T(-1), force[v + 1], T(0.3), u[v + 2]);
      benchmark::DoNotOptimize(u[v + 1] = T(0.6) * sum);
    }
  state.SetItemsProcessed(state.iterations() * kItems);
}
BENCHMARK_TEMPLATE(position_update, float);
BENCHMARK_TEMPLATE(position_update, double);

/// A chain of links through the articulated compliance recursion, up and down.
template <class T>
void compliance_recursion(benchmark::State& state) {
  Random random(3);
  std::vector<systems::Link<T>> links(kItems);
  std::vector<systems::RootVertex<T>> roots(1);
  for (int i = 0; i < kItems; ++i) {
    systems::Link<T>& l = links[static_cast<std::size_t>(i)];
    l.parent = i - 1;
    if (i == 0) l.root = 0;
    l.arm = {T(0), T(0), T(1)};
    l.x_axes = l.w_axes = rotation_matrix(cast<T>(random_rotation(random)));
    l.x_compliance = l.w_compliance = {T(0.01), T(0.02), T(0.03)};
    l.e = {cast<T>(0.1 * random.in_cube()), cast<T>(0.1 * random.in_cube())};
    l.load_stiffness.xx = identity3(T(1));
    l.load_stiffness.ww = identity3(T(0.1));
    l.force = {cast<T>(random.in_cube()), cast<T>(random.in_cube())};
  }
  systems::TreeFactor<T> factor;
  factor.plan(links, 1, {});
  for (auto _ : state) {
    factor.factor(links, roots, {});
    factor.solve(links, roots, {});
    benchmark::DoNotOptimize(factor.displacement().data());
  }
  state.SetItemsProcessed(state.iterations() * kItems);
}
BENCHMARK_TEMPLATE(compliance_recursion, float);
BENCHMARK_TEMPLATE(compliance_recursion, double);

// --------------------------------------------------------------------------------------------------------------- whole steps

const bench::StepProblem& problem(const std::string& name) {
  static std::map<std::string, bench::StepProblem> made;
  const auto found = made.find(name);
  if (found != made.end()) return found->second;
  bench::Subject subject{.name = name, .text = {}, .file = {}, .overrides = {}};
  if (name == "strands") subject = bench::strands(32000);
  if (name == "tree") subject.file = "trees", subject.overrides = {"/structures/0/count=1"};
  return made.try_emplace(name, subject, 5, find_scenes()).first->second;
}

void step(benchmark::State& state, const char* scene, bench::Variant variant) {
  const bench::StepProblem& p = problem(scene);
  try {
    p.settings(variant);
  } catch (const InputError& e) {
    state.SkipWithError(e.what());
    return;
  }
  bench::StepProblem::Repeated steps = p.repeat(variant);
  int iterations = 0;
  for (auto _ : state) {
    state.PauseTiming();
    steps.rewind();
    state.ResumeTiming();
    iterations = steps.step().iterations;
  }
  state.SetItemsProcessed(state.iterations() * p.model().vertex_count() * iterations);
}
#define OSIER_STEPS(scene)                                                                             \
  BENCHMARK_CAPTURE(step, scene##_sweep_float, #scene, bench::sweeps(8, Precision::single_precision)); \
  BENCHMARK_CAPTURE(step, scene##_sweep_double, #scene, bench::sweeps(8));                             \
  BENCHMARK_CAPTURE(step, scene##_direct_double, #scene, bench::direct(2))
OSIER_STEPS(strands);
OSIER_STEPS(slinky);
OSIER_STEPS(tree);

}  // namespace
}  // namespace osier

BENCHMARK_MAIN();
