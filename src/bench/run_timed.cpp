#include "bench/run_timed.hpp"

#include <algorithm>
#include <chrono>

#include "bench/step_problem.hpp"
#include "osier/simulation.hpp"

namespace osier::bench {

TimedRun run_timed(const Scene& scene, int frames, bool repeat, double budget) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); };
  constexpr int kLeast = 3, kMost = 50;
  TimedRun run;
  const auto vertices = static_cast<double>(scene.model().vertex_count());
  const Clock::time_point begin = Clock::now();
  int again = 0;
  do {
    Simulation simulation(scene);
    double time = 0;
    long steps = 0, iterations = 0;
    for (int f = 0; f < frames; ++f) {
      for (int i = 0; i < simulation.steps_per_frame(); ++i, ++steps) {
        const StepReport report = simulation.step();
        time += report.seconds;
        iterations += report.iterations;
        run.converged = run.converged && !report.not_converged;
      }
      if (again > 0) continue;
      run.at.push_back(simulation.state().vertex_position);
      run.motion = std::max(run.motion, farthest(scene.initial_state().vertex_position, run.at.back()));
    }
    const double ns = iterations > 0 ? 1e9 * time / (vertices * static_cast<double>(iterations)) : 0;
    if (run.ms.empty() || ns < run.ns_per_vertex_iteration) run.ns_per_vertex_iteration = ns;
    run.ms.push_back(1e3 * time / frames);
    run.iterations = static_cast<double>(iterations) / static_cast<double>(std::max(steps, 1L));
    ++again;
  } while (repeat && (again < kLeast || seconds(begin) < budget) && again < kMost && seconds(begin) < 10 * budget);
  std::sort(run.ms.begin(), run.ms.end());
  return run;
}

void put_times(const TimedRun& run, BenchRow& row) {
  row.ms_per_frame_min = run.ms.front();
  row.ms_per_frame_median = run.ms[run.ms.size() / 2];
  row.ns_per_vertex_iteration = run.ns_per_vertex_iteration;
  row.iterations = run.iterations;
}

void put_error(const TimedRun& run, const TimedRun& reference, BenchRow& row) {
  double worst = 0;
  for (std::size_t f = 0; f < run.at.size(); ++f) worst = std::max(worst, farthest(run.at[f], reference.at[f]));
  row.error_m = worst;
  row.error = *row.error_m / reference.motion;
}

}  // namespace osier::bench
