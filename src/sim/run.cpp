// A whole run: frames, recording, timing, interruption.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/text.hpp"
#include "exec/simd.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"
#include "sim/critical_loads.hpp"
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
  if (options.certify) simulation.certify();
  RunStats stats;
  stats.vertices = simulation.model().vertex_count();
  stats.segments = simulation.model().segment_count();
  for (std::uint8_t clamp : simulation.model().joint_is_clamp) stats.joints += clamp ? 0 : 1;
  stats.solver = setup.spec.solver->name();
  stats.ends_by_count = setup.ends_by_count;
  stats.threads = setup.spec.execution.threads;
  stats.precision = setup.spec.execution.precision_name();
  stats.device = setup.spec.execution.device_name();
  stats.simd = simd_name(simd_resolved(setup.spec.solver->simd_on(setup.model)));

  int first = 0;  // frame that is there already
  Checkpoint checkpoint;
  std::unique_ptr<Recorder> recorder;
  if (options.resume) {
    checkpoint = read_checkpoint(options.folder);
    expect_same(checkpoint, setup);
    if (options.certify)
      throw InputError({{"--certify", "a certificate is about a whole run, and its accounts are not saved", "leave it out"}});
    simulation.restore(checkpoint.simulation);
    stats.take_counts(checkpoint.counts);
    stats.resumed_from = first = checkpoint.frame;
    recorder = std::make_unique<Recorder>(options.folder, setup, simulation, checkpoint, options.writers);
  } else {
    if (!options.folder.empty()) recorder = std::make_unique<Recorder>(options.folder, setup, simulation);
    for (const auto& w : options.writers) w->begin(simulation.model(), run_info(setup));
  }
  const int frames = options.frames >= 0 ? options.frames : options.resume ? checkpoint.frames : simulation.frame_count();
  if (simulation.is_static() && frames > simulation.frame_count())
    throw InputError({{"--frames", fmt::format("{} is more than the {} load steps", frames, simulation.frame_count()),
                       "raise /analysis/load_steps"}});
  if (!options.resume && recorder && !setup.spec.output.checkpoint.off) checkpoint = checkpoint_of(setup);
  checkpoint.frames = frames;
  CheckpointRhythm rhythm(setup.spec.output.checkpoint);
  const auto save = [&](int index) {
    if (!recorder || simulation.is_certified() || !rhythm.is_due(index)) return;
    checkpoint.frame = index;
    checkpoint.counts.take_counts(stats);
    checkpoint.simulation = simulation.save();
    const bool waits = rhythm.waits();
    recorder->save(checkpoint, waits);
    rhythm.saved(waits);
  };
  const auto record = [&](int index, long iterations, double seconds) {
    if (options.frame_done) options.frame_done(simulation);
    if (!recorder && options.writers.empty()) return;
    const Diagnostics d = simulation.diagnostics();
    Frame frame = simulation.frame(index);
    frame.report = frame_report(d, static_cast<int>(iterations), seconds);
    frame.report->state_hash = simulation.state_hash();
    if (recorder) recorder->frame(simulation, frame, d);
    for (const auto& w : options.writers) w->write(frame);
  };
  const int steps = simulation.steps_per_frame();
  const auto interrupted = [&] { return options.interrupt && options.interrupt->load(std::memory_order_relaxed); };
  FrameTimer timer;
  const Clock::time_point start = Clock::now();
  stats.frames = first;
  if (!options.resume) {
    record(0, 0, 0);  // a run that cannot even write this has not begun
    save(0);
  }
  try {
    for (int f = first + 1; f <= frames && !stats.interrupted && !simulation.finished(); ++f) {
      double solving = 0;
      long iterations = 0;
      int ahead = 0;
      if (!recorder || !recorder->wants_every_step()) ahead = simulation.run_ahead(steps - 1);
      if (ahead > 0) {
        const StepReport& report = simulation.last_report();
        stats.judge(report, simulation.state().time);
        solving += report.seconds;
        iterations += report.iterations;
        stats.iterations += report.iterations;
        stats.steps += ahead;
        stats.interrupted = interrupted();
      }
      for (int i = ahead; i < steps && !stats.interrupted; ++i) {
        // The residual costs about a sweep: it is measured once a frame, and where a line of diagnostics needs it.
        const bool measure = i + 1 == steps || (recorder && recorder->wants_residual_every_step());
        const StepReport report = simulation.step(measure);
        stats.judge(report, simulation.state().time);
        solving += report.seconds;
        iterations += report.iterations;
        stats.iterations += report.iterations;
        stats.steps += 1;
        if (recorder) recorder->step(simulation);
        if ((stats.interrupted = interrupted())) break;
      }
      if (!stats.interrupted) timer.add(solving, stats.vertices, iterations);
      record(f, iterations, solving);
      stats.frames = f;
      if (!stats.interrupted) save(f);
      if (options.progress) options.progress(f, frames, timer.ms.empty() ? 0 : timer.ms.back());
    }
  } catch (const CertificateError& e) {
    stats.error = e.what();
    if (simulation.state().step_index > static_cast<long>(stats.frames) * steps) record(++stats.frames, 0, 0);
  } catch (const NonFiniteError& e) {
    stats.error = e.what();
    stats.non_finite = true;
  } catch (const RunError& e) {
    stats.error = e.what();
  }
  if (recorder) {
    recorder->end(stats.error.empty(), stats.error.empty() && !stats.interrupted);
    if (const auto earlier = recorder->earlier_run(); !earlier.empty() && !stats.error.empty())
      stats.error += fmt::format("; the results of the run before are kept in {}", earlier.string());
  }
  for (const auto& w : options.writers) w->end();
  stats.certified = simulation.is_certified();
  stats.certificate = simulation.certificate();

  stats.wall_seconds = seconds_since(start);
  stats.simulated_seconds = simulation.state().time;
  if (!timer.ms.empty()) {
    std::sort(timer.ms.begin(), timer.ms.end());
    stats.ms_per_frame_min = timer.ms.front();
    stats.ms_per_frame_median = timer.ms[timer.ms.size() / 2];
  }
  stats.start_unstable_modes = simulation.start_unstable_modes();
  const Traits traits = scene.setup().spec.solver->traits();
  const DynamicAnalysis* dynamic = scene.setup().spec.dynamic();
  const bool finds_equilibrium = !dynamic || (dynamic->start && dynamic->start->run.empty());
  const bool not_counted =
      stats.error.empty() && (dynamic ? stats.start_unstable_modes : simulation.diagnostics().unstable_modes) < 0;
  stats.stability_unknown = finds_equilibrium && traits.statics && (!traits.leaves_unstable || not_counted);
  stats.follows_paths = traits.stability;
  stats.steps_by_others = simulation.steps_by_others();
  stats.steps_divided = simulation.steps_divided();
  stats.steps_turned = simulation.steps_turned();
  stats.steps_damped = simulation.steps_damped();
  stats.welds_not_met = simulation.welds_not_met();
  stats.branches_left = simulation.branches_left();
  stats.ns_per_vertex_iteration = std::max(timer.best_ns, 0.0);
  const Diagnostics d = simulation.diagnostics();
  stats.energy_total = d.total();
  stats.max_stretch = d.max_stretch;
  stats.max_bend = d.max_bend;
  stats.residual = d.residual;
  if (const PathTaken* path = simulation.path()) {
    stats.path = *path;
    const double duration = scene.setup().spec.statics()->duration;
    for (CriticalPoint& p : stats.path->critical_points) p.loads = loads_at(scene.setup(), p.load * duration);
    if (!stats.path->critical_points.empty()) {
      stats.instability_time = stats.path->critical_points.front().load * duration;
      stats.critical_loads = stats.path->critical_points.front().loads;
    }
  } else if (simulation.finished()) {
    stats.instability_time = simulation.state().time;
    stats.critical_loads = loads_at(scene.setup(), stats.instability_time);
  }
  stats.snaps = simulation.snaps();
  if (stats.snaps.count > 0) stats.snap_loads = loads_at(scene.setup(), stats.snaps.at);
  stats.vertices_alive = d.vertices_alive;
  stats.segments_alive = d.segments_alive;
  return stats;
}

void RunStats::take_counts(const RunStats& other) {
  steps = other.steps, iterations = other.iterations;
  steps_not_converged = other.steps_not_converged;
  steps_held_back = other.steps_held_back, held_back_at = other.held_back_at;
  steps_judged = other.steps_judged, steps_not_solved = other.steps_not_solved;
  worst_residual = other.worst_residual, worst_residual_at = other.worst_residual_at;
}

void RunStats::judge(const StepReport& report, double time) {
  steps_not_converged += report.not_converged ? 1 : 0;
  if (report.held_back && steps_held_back++ == 0) held_back_at = time;
  if (report.residual_relative < 0) return;
  steps_judged += 1;
  steps_not_solved += report.residual_relative > kUnsolved ? 1 : 0;
  if (report.residual_relative <= worst_residual) return;
  worst_residual = report.residual_relative;
  worst_residual_at = time;
}

std::vector<std::string> RunStats::remarks() const {
  std::vector<std::string> list;
  if (steps_not_converged > 0)
    list.push_back(fmt::format("{} of {} steps stopped above their tolerance", steps_not_converged, steps));
  if (steps_not_solved > 0)
    list.push_back(
        fmt::format("{} of {} steps that were examined, one per frame, left more than {:g} % of the largest force: the "
                    "motion is not that of the rods. Use more iterations, or the solver `direct`, or a smaller step",
                    steps_not_solved, steps_judged, 100 * kUnsolved));
  if (!list.empty() && worst_residual >= 0)
    list.push_back(fmt::format("the worst step examined left {:.2g} of the largest force, at t = {:.4g} s", worst_residual,
                               worst_residual_at));
  if (welds_not_met > 0)
    list.push_back(
        fmt::format("{} of the welds and joints that close in time had not closed by the end: their vertices never came "
                    "as near as `within`",
                    welds_not_met));
  if (steps_held_back > 0)
    list.push_back(
        fmt::format("in {} of {} steps, first at t = {:.4g} s, prescribed motion was held back: it would have torn rods through "
                    "something. Constraints and obstacles were not where their keyframes say",
                    steps_held_back, steps, held_back_at));
  if (start_unstable_modes > 0)
    list.push_back(fmt::format("the equilibrium in which it started is unstable, in {} direction{}", start_unstable_modes,
                               start_unstable_modes == 1 ? "" : "s"));
  if (steps_by_others > 0)
    list.push_back(fmt::format(
        "in {} of {} steps the solver that `automatic` had chosen did not converge, and another one, in double, took them",
        steps_by_others, steps));
  if (steps_divided > 0)
    list.push_back(fmt::format("{} of {} steps did not converge as a whole and were divided", steps_divided, steps));
  if (steps_turned > 0)
    list.push_back(
        fmt::format("{} of {} steps were divided, because prescribed motion turns something by more than a quarter turn in them",
                    steps_turned, steps));
  if (steps_damped > 0)
    list.push_back(fmt::format(
        "{} of {} steps were taken by implicit Euler, because the midpoint rule would have made energy: the step is too "
        "long for the motion. Use a smaller `step`, or `bdf2`",
        steps_damped, steps));
  if (branches_left.kept_at >= 0 && instability_time < 0)
    list.push_back(fmt::format("equilibria that are unstable were kept, at last at pseudo-time {:.6g} s: rods would leave them",
                               branches_left.kept_at));
  if (snaps.count > 0)
    list.push_back(fmt::format(
        "at pseudo-time {:.6g} s{}{} the equilibrium {}, and within a load step the rods {} to another branch, with turns of up "
        "to {:.3g} degrees{}. To follow the path of equilibria, say `control` arc_length; to stop there, `stop_at_instability`",
        snaps.at, snap_loads.empty() ? "" : ", at ", join(snap_loads, "; "),
        snaps.is_jump ? "came to an end" : "lost its stability", snaps.is_jump ? "snapped" : "buckled",
        snaps.turn * 180 / std::numbers::pi, snaps.count > 1 ? fmt::format("; so they did {} times in all", snaps.count) : ""));
  if (stability_unknown)
    list.push_back(
        "nobody has looked whether the equilibrium is stable: this solver may stay in one that rods would leave, such as a "
        "straight column past its critical load. The solver `direct` leaves those, and says so");
  if (branches_left.count > 0)
    list.push_back(fmt::format(
        "by pseudo-time {:.6g} s the equilibrium had become unstable in {} direction{}; the run left it for a stable one"
        "{}. To stay on the path, say {}`branch` follow, or `control` arc_length, which follows it through limit points, too; to "
        "find the critical load, `stop_at_instability`",
        branches_left.first_at, branches_left.modes, branches_left.modes == 1 ? "" : "s",
        branches_left.count > 1 ? fmt::format(", and did so {} times in all", branches_left.count) : "",
        follows_paths ? "" : "`--solver direct` and "));
  return list;
}

std::vector<std::string> RunStats::path_lines() const {
  if (!path) return {};
  std::vector<std::string> list;
  for (const CriticalPoint& p : path->critical_points)
    list.push_back(fmt::format("{} at load factor {:.8g}{}{}: from {} to {} unstable mode{}",
                               p.is_limit ? "limit point" : "bifurcation", p.load, p.loads.empty() ? "" : ", ",
                               join(p.loads, "; "), p.modes_before, p.modes_after, p.modes_after == 1 ? "" : "s"));
  list.push_back(fmt::format("the path ends at load factor {:.8g} after {} steps{}", path->load, steps,
                             path->is_complete ? ""
                                               : "; the full load is not reached: `stop_at_instability` ends it at its first "
                                                 "critical point, `path_steps` after so many "
                                                 "steps"));
  return list;
}

std::vector<std::string> RunStats::certificate_lines() const {
  if (!certified) return {};
  const CertificateReport& c = certificate;
  std::vector<std::string> list;
  list.push_back(c.failure.empty() ? fmt::format("certificate: {} steps; nothing passed through anything", c.steps)
                                   : fmt::format("certificate: failed after {} steps: {}", c.steps, c.failure));
  list.push_back(c.least_a >= 0 ? fmt::format("smallest gap {:.4g} m, between {}, at t = {:.6g} s; at most {} contacts at a time",
                                              c.least_gap, c.least_names, c.least_time, c.most_contacts)
                                : std::string("nothing came near to anything"));
  const EnergyBudget& e = c.energy;
  const bool motion_only = std::isnan(c.energy_error);  // of a solver with equations of its own
  if (motion_only)
    list.push_back("energy and momentum are not judged: the solver has equations of its own, not those of implicit Euler");
  if (!motion_only)
    list.push_back(fmt::format(
        "energy [J]: loads {:.4g}, driven {:.4g}, stiffening {:.3g}, broken {:.3g}, iterations {:.3g}; lost to friction "
        "{:.4g}, damping {:.4g}, the step {:.4g}",
        e.loads, e.driven, e.stiffening, e.broken, e.left, e.friction, e.damping, e.step));
  if (!motion_only)
    list.push_back(fmt::format("unexplained: {:.2g} of the energy, {:.2g} of the forces, {:.2g} of the moments", c.energy_error,
                               c.momentum_error, c.angular_momentum_error));
  if (c.curve_pairs > 0)
    list.push_back(fmt::format("linking numbers of {} pairs of {} closed curves: {}", c.curve_pairs, c.curves,
                               c.failure.starts_with("the linking") ? "changed" : "unchanged"));
  return list;
}

namespace {

OrderedJson path_json(const PathTaken& path) {
  OrderedJson points = OrderedJson::array();
  for (const CriticalPoint& p : path.critical_points)
    points.push_back({{"kind", p.is_limit ? "limit" : "bifurcation"},
                      {"load_factor", p.load},
                      {"loads", p.loads},
                      {"unstable_modes_before", p.modes_before},
                      {"unstable_modes_after", p.modes_after}});
  return {{"load_factor", path.load},
          {"largest_load_factor", path.most_load},
          {"reached_full_load", path.is_complete},
          {"critical_points", points}};
}

OrderedJson certificate_json(const CertificateReport& c) {
  const auto number = [](double x) { return std::isfinite(x) ? OrderedJson(x) : OrderedJson(nullptr); };
  const EnergyBudget& e = c.energy;
  return {{"steps", c.steps},
          {"failure", c.failure},
          {"smallest_gap", number(c.least_gap)},
          {"smallest_gap_between", c.least_names},
          {"smallest_gap_at", c.least_a >= 0 ? OrderedJson(c.least_time) : OrderedJson(nullptr)},
          {"most_contacts", c.most_contacts},
          {"penetration", c.penetration},
          {"energy",
           {{"loads", e.loads},
            {"driven", e.driven},
            {"stiffening", e.stiffening},
            {"broken", e.broken},
            {"iterations", e.left},
            {"friction", e.friction},
            {"damping", e.damping},
            {"step", e.step}}},
          {"energy_error", number(c.energy_error)},
          {"momentum_error", c.momentum_error},
          {"angular_momentum_error", c.angular_momentum_error},
          {"friction_couple", c.friction_couple},
          {"closed_curves", c.curves},
          {"linking_pairs", c.curve_pairs}};
}

}  // namespace

std::string RunStats::to_json() const {
  const OrderedJson json = {
      {"vertices", vertices},
      {"segments", segments},
      {"joints", joints},
      {"frames", frames},
      {"resumed_from", resumed_from},
      {"steps", steps},
      {"iterations", iterations},
      {"solver", solver},
      {"threads", threads},
      {"precision", precision},
      {"device", device},
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
      {"welds_not_met", welds_not_met},
      {"steps_held_back", steps_held_back},
      {"steps_by_others", steps_by_others},
      {"steps_divided", steps_divided},
      {"steps_turned", steps_turned},
      {"steps_damped", steps_damped},
      {"branches_left", branches_left.count},
      {"branch_left_at", branches_left.count > 0 ? OrderedJson(branches_left.first_at) : OrderedJson(nullptr)},
      {"snaps", snaps.count},
      {"snapped_at", snaps.count > 0 ? OrderedJson(snaps.at) : OrderedJson(nullptr)},
      {"snap_loads", snap_loads},
      {"path", path ? path_json(*path) : OrderedJson(nullptr)},
      {"steps_judged", steps_judged},
      {"steps_not_solved", steps_not_solved},
      {"worst_residual", worst_residual >= 0 ? OrderedJson(worst_residual) : OrderedJson(nullptr)},
      {"worst_residual_at", worst_residual >= 0 ? OrderedJson(worst_residual_at) : OrderedJson(nullptr)},
      {"remarks", remarks()},
      {"start_unstable_modes", start_unstable_modes >= 0 ? OrderedJson(start_unstable_modes) : OrderedJson(nullptr)},
      {"critical_loads", critical_loads},
      {"instability_time", instability_time >= 0 ? OrderedJson(instability_time) : OrderedJson(nullptr)},
      {"vertices_alive", vertices_alive},
      {"segments_alive", segments_alive},
      {"non_finite", non_finite},
      {"interrupted", interrupted},
      {"certificate", certified ? certificate_json(certificate) : OrderedJson(nullptr)},
      {"error", error}};
  return json.dump(2) + "\n";
}

}  // namespace osier
