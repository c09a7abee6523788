// Time over the number of vertices, where the exponent should be 1, and over the number of threads.
#include <fmt/format.h>
#include <thread>

#include "bench/run_timed.hpp"
#include "bench/step_problem.hpp"
#include "bench/suites.hpp"

namespace osier::bench {

double slope_of(const std::vector<BenchRow>& rows, std::size_t first) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = first; i < rows.size(); ++i) {
    const double x = std::log(rows[i].vertices), y = std::log(*rows[i].ms_per_frame_min);
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

namespace {

void over_vertices(Context& c, const char* name, Subject (*subject_of)(int vertices)) {
  if (!c.wants(name)) return;
  const int most = c.options.quick ? 10000 : 1000000;
  for (const Variant& v : {sweeps(4, Precision::single_precision), direct(1)}) {
    const std::size_t first = c.rows.size();
    for (int n = 100; n <= most; n *= 10) {
      c.say(fmt::format("scaling: {}, {}, {} vertices", name, v.name(), n));
      const Scene scene = load(subject_of(n), v, c.options.folder);
      BenchRow row = row_for("scaling", "vertices", name, scene, v);
      put_times(run_timed(scene, 1, !c.options.quick, 0.3), row);
      c.rows.push_back(row);
    }
    c.rows.back().slope = slope_of(c.rows, first);
  }
}

void over_threads(Context& c, const char* name) {
  if (!c.wants(name)) return;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int most = c.options.threads.value_or(std::max(1, cores));
  Subject subject{.name = name, .text = {}, .file = {}, .overrides = {}};
  if (c.options.quick && subject.name == "hair_wisp") subject = subject.with("/structures/0/strands=64");
  double alone = 0;
  for (int threads = 1;; threads = std::min(2 * threads, most)) {
    c.say(fmt::format("scaling: {}, {} threads", name, threads));
    const Variant v = sweeps(8, Precision::single_precision, threads);
    const Scene scene = load(subject, v, c.options.folder);
    BenchRow row = row_for("scaling", "threads", name, scene, v);
    put_times(run_timed(scene, c.options.quick ? 1 : 5, !c.options.quick, 2), row);
    if (threads == 1) alone = *row.ms_per_frame_min;
    row.speedup = alone / *row.ms_per_frame_min;
    c.rows.push_back(row);
    if (threads == most) break;
  }
}

}  // namespace

std::vector<std::string> scenes_of_scaling() { return {"chain", "strands", "hair_wisp", "trees"}; }

void run_scaling(Context& c) {
  over_vertices(c, "chain", chain);
  over_vertices(c, "strands", strands);
  over_threads(c, "hair_wisp");
  over_threads(c, "trees");
}

}  // namespace osier::bench
