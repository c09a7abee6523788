// The scene argument and the options that change it, shared by run, check, info and view.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/text.hpp"
#include "osier/scene.hpp"

namespace osier::cli {

inline int all_cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

inline void print_warnings(const Scene& scene) {
  for (const std::string& w : scene.warnings()) fmt::print(stderr, "warning: {}\n", printable(w));
}

struct SceneOption {
  std::string file, solver, precision, simd, device;
  std::optional<int> threads;
  std::vector<std::string> sets;

  /// Returns the option of the file.
  CLI::Option* add_to(CLI::App& app) {
    CLI::Option* scene = app.add_option("SCENE", file, "Scene file (JSON)")->required();
    add_changes_to(app);
    return scene;
  }
  /// All but the file, for commands that take other files too.
  void add_changes_to(CLI::App& app) {
    app.add_option("--solver", solver, "Another solver, with its default settings");
    app.add_option("--precision", precision, "Number type of the kernels: float or double");
    app.add_option("--threads", threads, "Threads of loads and solver (default: all cores)");
    app.add_option("--simd", simd, "Instructions of the kernels: auto, off, sse2, avx2 or avx512");
    app.add_option("--device", device, "Where the solver's kernels run: cpu or cuda");
    app.add_option("--set", sets, "Change a value of the scene: /json/pointer=value (repeatable)")->allow_extra_args(false);
  }

  bool changes_results() const {
    return !solver.empty() || !precision.empty() || !simd.empty() || !device.empty() || !sets.empty();
  }
  bool changes_something() const { return changes_results() || threads; }

  Scene load() const { return Scene::load(file, load_options()); }

  LoadOptions load_options() const {
    LoadOptions options;
    options.solver = solver;
    options.overrides = sets;
    options.precision = precision;
    options.threads = threads;
    options.simd = simd;
    options.device = device;
    options.default_threads = all_cores();
    return options;
  }
};

}  // namespace osier::cli
