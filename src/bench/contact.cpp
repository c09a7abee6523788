// Contact: time and error of one frame of a knit that is being twisted, for sweeps and for Newton steps; the cost over the size
// of the knit; and what contact costs where nothing touches.
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "bench/run_timed.hpp"
#include "bench/step_problem.hpp"
#include "bench/suites.hpp"
#include "contact/record.hpp"
#include "osier/simulation.hpp"

namespace osier::bench {

namespace {

constexpr double kFrame = 1.0 / 30;
constexpr int kSteps = 8;  ///< of a frame, by Newton

/// scenes/knit_twist.json: `rows` rows of as many stitches with 16 segments each.
Subject knit(const std::string& name, int rows, int stitches, int steps_per_frame) {
  return {.name = name,
          .text = {},
          .file = "knit_twist",
          .overrides = {fmt::format("/structures/0/rows={}", rows), fmt::format("/structures/0/stitches={}", stitches),
                        fmt::format("/analysis/step={:.17g}", kFrame / steps_per_frame * (1 + 1e-9))}};
}

/// What some steps took and where they led.
struct Measured {
  double seconds = 0, list_seconds = 0;
  long steps = 0, iterations = 0;
  bool converged = true;
  std::vector<Vec3d> end;
};

Measured measure(Simulation& simulation, int steps) {
  Measured m;
  for (int i = 0; i < steps; ++i) {
    const StepReport report = simulation.step();
    m.seconds += report.seconds;
    m.list_seconds += simulation.touched().list_seconds;
    m.iterations += report.iterations;
    m.converged = m.converged && !report.not_converged;
    ++m.steps;
  }
  m.end = simulation.state().vertex_position;
  return m;
}

/// The same state with other steps from here on.
void go_on(Simulation& simulation, const Simulation& from) {
  if (!simulation.continue_from(from)) throw RunError("a frame cannot go on from another graph");
  simulation.mutable_state().step_index = std::lround(from.state().time / simulation.time_step());
}

void put(const Measured& m, double frames, BenchRow& row) {
  row.ms_per_frame_min = 1e3 * m.seconds / frames;
  row.ms_per_frame_median = row.ms_per_frame_min;
  row.iterations = static_cast<double>(m.iterations) / static_cast<double>(std::max(m.steps, 1L));
  row.ns_per_vertex_iteration = 1e9 * m.seconds / (static_cast<double>(std::max(m.iterations, 1L)) * row.vertices);
  row.broad_phase = m.list_seconds / m.seconds;
}

// ------------------------------------------------------------------------------------------------------ one frame of a knit

struct Budget {
  Variant variant;
  int steps;
};

std::vector<Budget> budgets(bool quick) {
  constexpr Precision kFloat = Precision::single_precision, kDouble = Precision::double_precision;
  if (quick) return {{sweeps(4, kDouble), 84}, {direct(2), 8}};
  return {{sweeps(4, kFloat), 84}, {sweeps(4, kDouble), 84}, {sweeps(16, kDouble), 84}, {direct(1), 8}, {direct(2), 4},
          {direct(2), 8},          {direct(4), 8},           {direct(2), 16},           {direct(0), 8}};
}

void one_frame(Context& c) {
  constexpr const char* kName = "knit";
  if (!c.wants(kName)) return;
  const bool quick = c.options.quick;
  const int rows = quick ? 3 : 8, stitches = quick ? 3 : 12, frames_before = quick ? 1 : 12;
  const auto scene_of = [&](const Budget& b) { return load(knit(kName, rows, stitches, b.steps), b.variant, c.options.folder); };
  const Budget solved{{.role = SolverRole::converging, .tolerance = 1e-5}, kSteps}, fine{solved.variant, 5 * kSteps};
  c.say(fmt::format("contact: {}, {} frames before", kName, frames_before));
  const Scene scene = scene_of(solved);
  Simulation before(scene);
  measure(before, frames_before * kSteps);
  const std::vector<Vec3d> start = before.state().vertex_position;
  const auto frame_by = [&](const Budget& b, BenchRow* row) {
    c.say(fmt::format("contact: {}, {} {} x {} x {}", kName, b.variant.name(), b.variant.execution().precision_name(), b.steps,
                      b.variant.iterations));
    const Scene own = scene_of(b);
    Measured best;
    for (int again = 0; again < (quick || !row ? 1 : 2); ++again) {
      Simulation simulation(own);
      go_on(simulation, before);
      Measured m = measure(simulation, b.steps);
      if (again == 0 || m.seconds < best.seconds) best = std::move(m);
    }
    if (!row) return best;
    *row = row_for("contact", "contact_frame", kName, own, b.variant);
    row->steps_per_frame = b.steps;
    put(best, 1, *row);
    row->reached = best.converged;
    return best;
  };
  const Measured exact = frame_by(solved, nullptr), finer = frame_by(fine, nullptr);
  const double motion = farthest(start, exact.end);
  for (const Budget& b : budgets(quick)) {
    BenchRow row;
    const Measured m = frame_by(b, &row);
    row.error_m = farthest(m.end, exact.end);
    row.error = *row.error_m / motion;
    row.error_fine = farthest(m.end, finer.end) / motion;
    c.rows.push_back(row);
  }
}

// ---------------------------------------------------------------------------------------------------------- cost over size

void over_size(Context& c) {
  constexpr const char* kName = "knit_size";
  if (!c.wants(kName)) return;
  const bool quick = c.options.quick;
  const int most = quick ? 8 : 128, steps = quick ? 1 : 4;
  const std::size_t first = c.rows.size();
  for (int n = quick ? 4 : 16; n <= most; n *= 2) {
    const Variant v = direct(2);
    const Scene scene = load(knit(kName, n, n, kSteps), v, c.options.folder);
    BenchRow row = row_for("contact", "contact_size", kName, scene, v);
    row.steps_per_frame = kSteps;
    c.say(fmt::format("contact: {}, {} vertices", kName, row.vertices));
    Simulation simulation(scene);
    measure(simulation, quick ? 1 : 2);
    put(measure(simulation, steps), static_cast<double>(steps) / kSteps, row);
    c.rows.push_back(row);
  }
  c.rows.back().slope = slope_of(c.rows, first);
}

// ------------------------------------------------------------------------------------------------ where nothing touches

/// Strands of 32 vertices that hang two centimetres from each other, pulled out of their curls by their weight.
Subject strands_apart(int count) {
  std::string rods, roots;
  const int side = static_cast<int>(std::ceil(std::sqrt(count)));
  for (int i = 0; i < count; ++i) {
    const std::string_view comma = i > 0 ? "," : "";
    rods += fmt::format(R"({}{{"name": "s{}", "material": "hair", "segments": 31, "shape": {{"type": "helix", "axis": [0, -1, 0],
        "center": [{:.3f}, 0, {:.3f}], "radius": 0.003, "pitch": 0.03, "turns": 6}}}})",
                        comma, i, 0.02 * (i % side), 0.02 * (i / side));
    roots += fmt::format(R"({}"s{}:start")", comma, i);
  }
  return {.name = "strands_apart",
          .text = fmt::format(R"({{
    "materials": {{"hair": {{"young": 3.5e9, "density": 1320, "radius": 4e-5}}}},
    "rods": [{0}],
    "constraints": [{{"type": "pin", "vertices": [{1}]}}, {{"type": "fix", "segments": [{1}]}}],
    "forces": [{{"type": "gravity"}}, {{"type": "drag", "rate": 2}}],
    "analysis": {{"type": "dynamic", "step": 0.001, "fps": 30}}}})",
                              rods, roots),
          .file = {},
          .overrides = {}};
}

void nothing_touches(Context& c) {
  constexpr const char* kName = "strands_apart";
  if (!c.wants(kName)) return;
  const bool quick = c.options.quick;
  const Subject without = strands_apart(quick ? 16 : 1024), with = without.with("/contact={}");
  for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
    const Variant v = direct(0, precision);
    const Scene free_scene = load(without, v, c.options.folder), scene = load(with, v, c.options.folder);
    c.say(fmt::format("contact: {}, {}", kName, v.execution().precision_name()));
    BenchRow off = row_for("contact", "contact_apart", kName, free_scene, v), on = off;
    // Runs with and without take turns: the machine is not always as fast.
    TimedRun runs_off, runs_on;
    for (int turn = 0; turn < (quick ? 1 : 3); ++turn) {
      const TimedRun a = run_timed(free_scene, quick ? 1 : 3, !quick, 1), b = run_timed(scene, quick ? 1 : 3, !quick, 1);
      if (turn == 0 || a.ms.front() < runs_off.ms.front()) runs_off = a;
      if (turn == 0 || b.ms.front() < runs_on.ms.front()) runs_on = b;
    }
    put_times(runs_off, off);
    put_times(runs_on, on);
    on.method += ", contact";
    on.overhead = *on.ms_per_frame_min / *off.ms_per_frame_min - 1;
    put_error(runs_on, runs_off, on);
    c.rows.push_back(off);
    c.rows.push_back(on);
  }
}

}  // namespace

std::vector<std::string> scenes_of_contact() { return {"knit", "knit_size", "strands_apart"}; }

void run_contact(Context& c) {
  one_frame(c);
  over_size(c);
  nothing_touches(c);
}

}  // namespace osier::bench
