// osier bench: how fast, and how far from the converged answer.
#include <fmt/format.h>
#include <unistd.h>

#include "commands.hpp"
#include "io/atomic_file.hpp"
#include "osier/bench.hpp"
#include "output_check.hpp"

namespace osier::cli {

namespace {

struct BenchArguments {
  BenchOptions bench;
  std::string json, results;
  bool quiet = false;
};

void check_outputs(const BenchArguments& o) {
  Problems problems;
  check_output_file("--json", o.json, problems);
  check_output_folder("--results", o.results, problems);
  problems.throw_if_any();
}

int bench(BenchArguments& o) {
  check_outputs(o);
  o.bench.folder = find_scenes();
  if (!o.bench.device.empty() && o.bench.suites.empty()) o.bench.suites = {"device"};
  if (!o.quiet) o.bench.progress = [](const std::string& what) { fmt::print(stderr, "{}\n", what); };
  const Bench result = run_bench(o.bench);
  fmt::print("{}", bench_text(result));
  if (!o.json.empty()) write_file_atomically(o.json, bench_json(result));
  if (!o.results.empty()) {
    const std::filesystem::path folder = write_bench_results(result, o.results);
    if (!o.quiet) fmt::print("results: {}\n", folder.string());
  }
  return kDone;
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto o = std::make_shared<BenchArguments>();
  CLI::App* sub = app.add_subcommand("bench", "Measure speed, and the error that goes with it");
  const CLI::Validator not_empty([](std::string& text) { return text.empty() ? std::string("is empty") : std::string{}; }, "");
  sub->add_option("SUITE", o->bench.suites, "scenes, kernels, convergence, scaling, contact or device; all when left out");
  sub->add_option("--scene", o->bench.scenes, "Only this scene's rows (repeatable)")->allow_extra_args(false);
  sub->add_option("--json", o->json, "Write every row to this JSON file")->check(not_empty);
  sub->add_option("--results", o->results,
                  "Write results.csv, tables.md and plots of error over time to a folder of this machine below this one, for "
                  "instance bench/results")
      ->check(not_empty);
  sub->add_option("--threads", o->bench.threads, "Threads in `scenes`, and the most in `scaling` (there: all cores)")
      ->check(CLI::Range(1, 1024));
  sub->add_option("--device", o->bench.device,
                  "Where suite `device` runs, which is then the only one: cuda, or cuda_twin for tests")
      ->check(CLI::IsMember({"cuda", "cuda_twin"}));
  sub->add_flag("--quick", o->bench.quick, "Small sizes, one repetition: shows that it works, measures nothing");
  sub->add_flag("--quiet", o->quiet, "No progress");
  return {sub, [o] { return bench(*o); }};
}

}  // namespace osier::cli
