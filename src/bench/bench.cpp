// Which suites there are, and running those that were asked for.
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <thread>

#include "bench/suites.hpp"
#include "core/folders.hpp"
#include "core/text.hpp"
#include "exec/simd.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"

namespace osier {

namespace bench {

std::span<const Suite> suites() {
  static const Suite list[] = {
      {"scenes", "the paper's scenes, and error over time for sweeps and direct steps", run_scenes, scenes_of_scenes},
      {"kernels", "one step of strands, a chain and a tree, for each method and number type", run_kernels, scenes_of_kernels},
      {"convergence", "iterations that one step takes to an error of 1e-3 and 1e-6", run_convergence, scenes_of_convergence},
      {"scaling", "time over the number of vertices and of threads", run_scaling, scenes_of_scaling},
      {"contact", "a frame of a knit by sweeps and by Newton, its cost over size, and contact where nothing touches", run_contact,
       scenes_of_contact},
      {"fibres", "a step of many fibres by the damped exponential integrator, against an explicit one", run_fibres,
       scenes_of_fibres},
      {"device", "whole frames on a CUDA device, where there is one", run_device, scenes_of_device},
  };
  return list;
}

bool Context::wants(const std::string& scene) const {
  return options.scenes.empty() || std::find(options.scenes.begin(), options.scenes.end(), scene) != options.scenes.end();
}

BenchRow row_for(const char* suite, const char* table, const std::string& subject, const Scene& scene, const Variant& variant) {
  const Setup& setup = scene.setup();
  BenchRow row;
  row.suite = suite, row.table = table, row.scene = subject, row.method = variant.name();
  if (variant.role == SolverRole::sweeps) row.lambda = variant.lambda;
  row.precision = setup.spec.execution.precision_name();
  row.simd = simd_name(simd_resolved(setup.spec.solver->simd_on(setup.model)));
  row.threads = setup.spec.execution.threads;
  row.vertices = setup.model.vertex_count();
  if (const auto* dynamic = setup.spec.dynamic()) {
    row.step = dynamic->time_step();
    row.stiffness_ratio = setup.model.stiffness_ratio(dynamic->time_step());
  }
  return row;
}

namespace {

void check(const BenchOptions& options, const std::vector<const Suite*>& chosen) {
  Problems problems;
  const bool asked = !options.device.empty() || (chosen.size() == 1 && chosen.front()->run == run_device);
  if (asked && options.device != "cuda_twin") Execution{.device = Device::cuda}.check(problems);
  std::vector<std::string> scenes;
  for (const Suite* s : chosen)
    for (const std::string& name : s->scenes())
      if (std::find(scenes.begin(), scenes.end(), name) == scenes.end()) scenes.push_back(name);
  for (const std::string& name : options.scenes) {
    if (std::find(scenes.begin(), scenes.end(), name) != scenes.end()) continue;
    const std::string guess = closest(name, scenes);
    problems.add("--scene", fmt::format("\"{}\" is not in these suites", shorten(name)),
                 guess.empty() ? "use one of " + join(scenes, ", ") : "did you mean `" + guess + "`?");
  }
  if (options.folder.empty() || !std::filesystem::is_directory(options.folder))
    problems.add("scenes", "the scene files are not found from here or from the program", "start in Osier's folder");
  problems.throw_if_any();
}

}  // namespace
}  // namespace bench

std::vector<std::string> bench_suites() {
  std::vector<std::string> names;
  for (const bench::Suite& s : bench::suites()) names.emplace_back(s.name);
  return names;
}

BenchMachine this_machine() {
  BenchMachine m;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; m.cpu.empty() && std::getline(info, line);)
    if (line.starts_with("model name")) m.cpu = line.substr(std::min(line.find(':') + 2, line.size()));
  if (m.cpu.empty()) m.cpu = "unknown processor";
  m.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  m.simd = simd_name(simd_resolved(Simd::automatic));
#if defined(__clang__)
  m.compiler = "Clang " __clang_version__;
#else
  m.compiler = "GCC " __VERSION__;
#endif
  m.version = version();
  return m;
}

Bench run_bench(const BenchOptions& options) {
  std::vector<const bench::Suite*> chosen;
  Problems problems;
  for (const std::string& name : options.suites.empty() ? bench_suites() : options.suites) {
    const auto all = bench::suites();
    const auto found = std::find_if(all.begin(), all.end(), [&](const bench::Suite& s) { return name == s.name; });
    if (found != all.end()) {
      if (std::find(chosen.begin(), chosen.end(), &*found) == chosen.end()) chosen.push_back(&*found);
      continue;
    }
    const std::string guess = closest(name, bench_suites());
    problems.add(fmt::format("\"{}\"", shorten(name)), "is not a suite",
                 guess.empty() ? "use " + join(bench_suites(), ", ") : "did you mean `" + guess + "`?");
  }
  problems.throw_if_any();
  bench::check(options, chosen);
  const bool whole = options.scenes.empty() && chosen.size() == bench::suites().size();
  const std::string only = options.scenes.empty() && chosen.size() == 1 ? chosen.front()->name : "";
  Bench result{.machine = this_machine(), .quick = options.quick, .whole = whole, .suite = only, .rows = {}};
  bench::Context context{options, result.rows};
  for (const bench::Suite* s : chosen) s->run(context);
  return result;
}

std::filesystem::path find_scenes() { return find_data_folder("scenes", "share/osier/scenes"); }

}  // namespace osier
