// Benchmarks: how fast, and how far from the converged answer. `osier bench` is this and a command line.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "osier/error.hpp"
#include "osier/types.hpp"

namespace osier {

/// One measurement. What does not apply is left out.
struct BenchRow {
  std::string suite, table;  ///< a suite fills one or two tables
  std::string scene, method, precision, simd;
  std::string device;  ///< suite `device`: its name
  std::string lambda;  ///< sweeps: how |q| = 1 is met
  int threads = 1;
  Index vertices = 0;
  double step = 0;                                              ///< time step h [s]
  std::optional<double> ms_per_frame_min, ms_per_frame_median;  ///< of several runs, each the mean of its frames [ms]
  std::optional<double> ns_per_vertex_iteration;                ///< from the fastest run
  std::optional<double> ns_per_further_iteration;               ///< kernels: what one iteration more adds, per vertex
  std::optional<double> error;       ///< largest distance from the converged positions at the end of any frame, over the motion
  std::optional<double> error_m;     ///< the same in metres
  std::optional<double> iterations;  ///< per step; convergence: until `goal` is met
  std::optional<double> stiffness_ratio;  ///< R = (EA/l)/(m/h^2), the largest
  std::optional<double> goal;             ///< convergence: the error asked for, relative to the first guess
  bool reached = true;                    ///< convergence: false when `iterations` did not do
  std::optional<double> paper_ms;         ///< ms per frame as printed in Stable Cosserat Rods, Table 1
  std::optional<double> slope;            ///< scaling: exponent of time over vertices
  std::optional<double> speedup;          ///< scaling: over one thread
  int steps_per_frame = 0;                ///< contact, device
  std::optional<double> error_fine;       ///< contact: like `error`, from the converged positions with steps a fifth as long
  std::optional<double> broad_phase;      ///< contact: share of the time in which pairs that may touch are found
  std::optional<double> overhead;         ///< contact: time over that without contact, less 1
  std::optional<double> explicit_ns;      ///< fibres: an explicit step of the same network on one thread, per section [ns]
  std::optional<double> explicit_step;    ///< fibres: the longest that is stable [s]
};

struct BenchMachine {
  std::string cpu;
  int cores = 1;  ///< that this process may use
  std::string simd, compiler, version;
};

struct Bench {
  BenchMachine machine;
  bool quick = false;
  bool whole = true;  ///< all suites, all scenes
  std::string suite;  ///< the only one, all its scenes; otherwise empty
  std::vector<BenchRow> rows;
};

struct BenchOptions {
  std::vector<std::string> suites;  ///< of bench_suites(); empty: all
  std::vector<std::string> scenes;  ///< only rows of these; empty: all
  bool quick = false;               ///< small sizes, one repetition: a test, not a measurement
  std::optional<int> threads;       ///< of suite `scenes` (else one), and the most in `scaling` (else as many as there are cores)
  std::string device;               ///< of suite `device`: cuda, which is also what the empty name means, or cuda_twin
  std::filesystem::path folder;     ///< of the scene files
  std::function<void(const std::string& what)> progress;
};

/// scenes, kernels, convergence, scaling, contact, device
std::vector<std::string> bench_suites();
/// Throws InputError for unknown suites and scenes before anything runs.
Bench run_bench(const BenchOptions& options);

BenchMachine this_machine();
/// Tables for a terminal, and the same in Markdown.
std::string bench_text(const Bench& bench);
std::string bench_markdown(const Bench& bench);
std::string bench_json(const Bench& bench);
std::string bench_csv(const Bench& bench);
/// In a folder named after the machine: `results.csv`, `tables.md`, `error_over_time.svg` and one such plot per scene. Quick
/// runs, single suites and other parts of the whole have folders of their own. Returns that folder. Throws RunError when it
/// cannot be written.
std::filesystem::path write_bench_results(const Bench& bench, const std::filesystem::path& folder);

/// `scenes` above the program or above the current folder, or the installed copy. Empty when there is none.
std::filesystem::path find_scenes();

}  // namespace osier
