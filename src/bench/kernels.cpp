// One step over and over: what a sweep and a direct iteration cost per vertex, without loads, output or start-up.
#include <fmt/format.h>
#include <optional>

#include "bench/step_problem.hpp"
#include "bench/suites.hpp"
#include "exec/simd.hpp"

namespace osier::bench {

namespace {

std::vector<Subject> kernel_subjects(bool quick) {
  const Subject tree{.name = "tree", .text = {}, .file = "trees", .overrides = {"/structures/0/count=1"}};
  const Subject slinky{.name = "slinky", .text = {}, .file = {}, .overrides = {}},
      bridge{.name = "bridge", .text = {}, .file = {}, .overrides = {}};
  const int hair = quick ? 640 : 32000;
  return {strands(hair), strands_anisotropic(hair), curls(quick ? 8 : 64), slinky, tree, bridge};
}

/// All methods, both number types, all instruction sets that this machine has; the paper's lambda once.
std::vector<Variant> variants() {
  constexpr Precision kFloat = Precision::single_precision;
  std::vector<Variant> list;
  Variant approximate = sweeps(8, kFloat);
  approximate.lambda = "approx";
  for (Variant v : {approximate, sweeps(8, kFloat), sweeps(8), projective(8, kFloat), projective(8), direct(2, kFloat), direct(2),
                    boundary_values()})
    for (Simd simd : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512}) {
      if (!simd_available(simd)) continue;
      v.simd = simd;
      list.push_back(v);
    }
  return list;
}

}  // namespace

std::vector<std::string> scenes_of_kernels() {
  std::vector<std::string> names;
  for (const Subject& s : kernel_subjects(true)) names.push_back(s.name);
  return names;
}

void run_kernels(Context& c) {
  for (const Subject& subject : kernel_subjects(c.options.quick)) {
    if (!c.wants(subject.name)) continue;
    c.say(fmt::format("kernels: {}", subject.name));
    const StepProblem problem(subject, c.options.quick ? 1 : 10, c.options.folder);
    for (const Variant& v : variants()) {
      std::optional<Scene> scene;
      try {
        scene = load(subject, v, c.options.folder);
        problem.solve(v);
      } catch (const std::runtime_error&) {
        continue;  // a method without float, or a graph that it does not take
      }
      BenchRow row = row_for("kernels", "kernels", subject.name, *scene, v);
      if (row.simd != simd_name(v.simd)) continue;  // without lanes, and measured so already
      const StepProblem::Timed t = problem.time(v, c.options.quick ? 0 : 0.3);
      const int steps = static_cast<int>(std::ceil(1 / (30 * problem.h()) - 1e-9));
      row.ms_per_frame_min = 1e3 * steps * t.least;
      row.ms_per_frame_median = 1e3 * steps * t.median;
      row.iterations = t.iterations;
      row.ns_per_vertex_iteration = 1e9 * t.least / (static_cast<double>(row.vertices) * t.iterations);
      if (v.iterations == 0) {  // it takes as many as it takes
        c.rows.push_back(row);
        continue;
      }
      // A step loads and stores besides; the difference to a longer one is what iterations cost.
      Variant longer = v;
      longer.iterations = 3 * t.iterations;
      const StepProblem::Timed l = problem.time(longer, c.options.quick ? 0 : 0.3);
      // Where solves inside of an iteration get cheaper as it converges, there is no such thing.
      if (l.iterations > t.iterations && l.least > t.least)
        row.ns_per_further_iteration =
            1e9 * (l.least - t.least) / (static_cast<double>(row.vertices) * (l.iterations - t.iterations));
      c.rows.push_back(row);
    }
  }
}

}  // namespace osier::bench
