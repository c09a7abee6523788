// A whole run: frames, recording, timing, interruption.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exec/simd.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"
#include "sim/recorder.hpp"

namespace osier {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Solver time of each frame, apart from recording.
struct FrameTimer {
  std::vector<double> ms;
  double best_ns = -1;
  void add(double seconds, Index vertices, long iterations) {
    ms.push_back(1e3 * seconds);
    const double work = static_cast<double>(vertices) * static_cast<double>(iterations);
    if (work <= 0) return;
    const double ns = 1e9 * seconds / work;
    if (best_ns < 0 || ns < best_ns) best_ns = ns;
  }
};

}  // namespace

RunStats run_scene(const Scene& scene, const RunOptions& options) {
  const Setup& setup = scene.setup();
  Simulation simulation(scene);
  RunStats stats;
  stats.vertices = simulation.model().vertex_count();
  stats.segments = simulation.model().segment_count();
  for (std::uint8_t clamp : simulation.model().joint_is_clamp) stats.joints += clamp ? 0 : 1;
  stats.solver = setup.spec.solver->name();
  stats.threads = setup.spec.execution.threads;
  stats.precision = setup.spec.execution.precision_name();
  stats.simd = simd_name(simd_resolved(setup.spec.solver->simd_on(setup.model)));

  const int frames = options.frames >= 0 ? options.frames : simulation.frame_count();
  if (simulation.is_static() && frames > simulation.frame_count())
    throw InputError({{"--frames", fmt::format("{} is more than the {} load steps", frames, simulation.frame_count()),
                       "raise /analysis/load_steps"}});
  std::unique_ptr<Recorder> recorder;
  if (!options.folder.empty()) recorder = std::make_unique<Recorder>(options.folder, setup, simulation);
  for (const auto& w : options.writers) w->begin(simulation.model(), run_info(setup));
  const auto record = [&](int index, long iterations, double seconds) {
    if (!recorder && options.writers.empty()) return;
    const Diagnostics d = simulation.diagnostics();
    Frame frame = simulation.frame(index);
    frame.report = frame_report(d, static_cast<int>(iterations), seconds);
    if (recorder) recorder->frame(simulation, frame, d);
    for (const auto& w : options.writers) w->write(frame);
  };
  const int steps = simulation.steps_per_frame();
  const auto interrupted = [&] { return options.interrupt && options.interrupt->load(std::memory_order_relaxed); };
  FrameTimer timer;
  const Clock::time_point start = Clock::now();
  try {
    record(0, 0, 0);
    for (int f = 1; f <= frames && !stats.interrupted && !simulation.finished(); ++f) {
      double solving = 0;
      long iterations = 0;
      for (int i = 0; i < steps; ++i) {
        // The residual costs about a sweep; it is measured where a diagnostics line needs it.
        const bool measure =
            recorder && setup.spec.output.diagnostics != Rate::none && (i + 1 == steps || recorder->wants_residual_every_step());
        const StepReport report = simulation.step(measure);
        solving += report.seconds;
        iterations += report.iterations;
        stats.iterations += report.iterations;
        stats.steps += 1;
        stats.steps_not_converged += report.not_converged ? 1 : 0;
        if (recorder) recorder->step(simulation);
        if ((stats.interrupted = interrupted())) break;
      }
      if (!stats.interrupted) timer.add(solving, stats.vertices, iterations);
      record(f, iterations, solving);
      stats.frames = f;
      if (options.progress) options.progress(f, frames, timer.ms.empty() ? 0 : timer.ms.back());
    }
  } catch (const NonFiniteError& e) {
    stats.error = e.what();
    stats.non_finite = true;
  } catch (const RunError& e) {
    stats.error = e.what();
  }
  if (recorder) recorder->end();
  for (const auto& w : options.writers) w->end();

  stats.wall_seconds = seconds_since(start);
  stats.simulated_seconds = simulation.state().time;
  if (!timer.ms.empty()) {
    std::sort(timer.ms.begin(), timer.ms.end());
    stats.ms_per_frame_min = timer.ms.front();
    stats.ms_per_frame_median = timer.ms[timer.ms.size() / 2];
  }
  stats.ns_per_vertex_iteration = std::max(timer.best_ns, 0.0);
  const Diagnostics d = simulation.diagnostics();
  stats.energy_total = d.total();
  stats.max_stretch = d.max_stretch;
  stats.max_bend = d.max_bend;
  stats.residual = d.residual;
  if (simulation.finished()) stats.instability_time = simulation.state().time;
  stats.vertices_alive = d.vertices_alive;
  stats.segments_alive = d.segments_alive;
  return stats;
}

std::string RunStats::to_json() const {
  const OrderedJson json = {{"vertices", vertices},
                            {"segments", segments},
                            {"joints", joints},
                            {"frames", frames},
                            {"steps", steps},
                            {"iterations", iterations},
                            {"solver", solver},
                            {"threads", threads},
                            {"precision", precision},
                            {"simd", simd},
                            {"ms_per_frame_min", ms_per_frame_min},
                            {"ms_per_frame_median", ms_per_frame_median},
                            {"ns_per_vertex_iteration", ns_per_vertex_iteration},
                            {"wall_seconds", wall_seconds},
                            {"simulated_seconds", simulated_seconds},
                            {"energy_total", energy_total},
                            {"max_stretch", max_stretch},
                            {"max_bend", max_bend},
                            {"residual", residual},
                            {"steps_not_converged", steps_not_converged},
                            {"instability_time", instability_time >= 0 ? OrderedJson(instability_time) : OrderedJson(nullptr)},
                            {"vertices_alive", vertices_alive},
                            {"segments_alive", segments_alive},
                            {"non_finite", non_finite},
                            {"interrupted", interrupted},
                            {"error", error}};
  return json.dump(2) + "\n";
}

}  // namespace osier
