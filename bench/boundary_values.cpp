// Newton iterations of the solver `generalized_alpha` on curved rods of a hundred cells under their weight: one rod by itself,
// and one rod per lane of a SIMD register, with what it takes to put rods into lanes and to take them out again.
//
//   build/release/bench/osier_micro --benchmark_filter=boundary_values --benchmark_repetitions=20
//
// items_per_second counts iterations of one rod.
#include <algorithm>
#include <benchmark/benchmark.h>

#include "solvers/generalized_alpha/lane_group.hpp"

namespace osier::generalized_alpha {
namespace {

constexpr std::size_t kCells = 100;
constexpr double kStep = 0.02;

/// Length, bending stiffness and mass per length are 1.
struct Problem {
  RodModel model;
  RodState state;
  RodControl control;

  Problem() {
    for (std::size_t c = 0; c < kCells; ++c) {
      model.cells.push_back({.h = 1.0 / kCells, .rhoI = {1e-6, 1e-6, 2e-6}, .k0 = {6, 0, 3}, .compliance = {1e-5, 1e-5, 1e-5}});
      model.offset.emplace_back();
    }
    model.stiffness.assign(kCells + 1, diagonal(Vec3d{1, 1, 0.6}));
    model.viscosity.assign(kCells + 1, {});
    model.find_units();
    model.soften();
    model.lump();
    state.resize(kCells);
    sweep_frames(model, state, false);
    control.resize(kCells);
    for (auto& load : control.start.cells) load.left = load.right = {0, -10, 0};
    control.end = control.start;
    control.place_held[0] = control.frame_held[0] = true;
    control.any_couple = false;
    RodStepper stepper;
    for (int i = 0; i < 3; ++i) stepper.step(model, control, weights_of(0.8), kStep, {}, state);
  }
};

void boundary_values_single(benchmark::State& state) {
  const Problem p;
  RodStepper stepper(simd_resolved(Simd::automatic));
  std::int64_t iterations = 0;
  for (auto _ : state) {
    RodState s = p.state;
    iterations += stepper.step(p.model, p.control, weights_of(0.8), kStep, {}, s).iterations;
  }
  state.SetItemsProcessed(iterations);
}
BENCHMARK(boundary_values_single);

void boundary_values_lanes(benchmark::State& state) {
  const Problem p;
  LaneGroup group(simd_resolved(Simd::automatic));
  const auto lanes = static_cast<std::size_t>(group.lanes());
  std::vector<RodStepper> steppers(lanes, RodStepper(simd_resolved(Simd::automatic)));
  std::vector<RodStepper*> list;
  for (RodStepper& s : steppers) list.push_back(&s);
  std::vector<int> iterations(lanes);
  std::int64_t done = 0;
  for (auto _ : state) {
    for (RodStepper& s : steppers) s.begin_step(p.model, p.control, weights_of(0.8), kStep, p.state);
    benchmark::DoNotOptimize(group.solve(list, {}, iterations));
    for (const int i : iterations) done += i;
  }
  state.SetItemsProcessed(done);
}
BENCHMARK(boundary_values_lanes);

}  // namespace
}  // namespace osier::generalized_alpha
