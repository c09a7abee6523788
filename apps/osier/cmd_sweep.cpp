// osier sweep: many runs of a scene with some of its values changed.
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "commands.hpp"
#include "interrupt.hpp"
#include "osier/osier.hpp"
#include "osier/sweep.hpp"
#include "scene_option.hpp"

namespace osier::cli {

namespace {

struct SweepArguments {
  SceneOption scene;
  DesignWords design;
  std::string folder, part;
  std::vector<std::string> merge;
  int jobs = 0;
  bool quiet = false;
};

/// "3/8": the fourth of eight parts.
void read_part(const std::string& text, SweepOptions& options) {
  if (text.empty()) return;
  unsigned long part = 0, parts = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%lu/%lu%c", &part, &parts, &rest) != 2 || parts == 0 || part >= parts)
    throw InputError({{"--part", text + " is not a part of the runs", "write e.g. 0/8 to 7/8"}});
  options.part = part, options.parts = parts;
}

int merge(const SweepArguments& o) {
  Problems problems;
  if (o.folder.empty()) problems.add("--output", "is not given", "say where the whole table goes");
  problems.throw_if_any();
  const SweepTable table = merge_sweeps({o.merge.begin(), o.merge.end()}, o.folder);
  if (!o.quiet)
    fmt::print("{} of {} runs, {} failed -> {}\n", table.rows.size(), table.design.rows.size(), table.failed(), o.folder);
  return table.rows.size() == table.design.rows.size() ? kDone : kRunFailed;
}

int sweep(const SweepArguments& o) {
  if (!o.merge.empty()) return merge(o);
  if (o.scene.threads)
    throw InputError({{"--threads", "every run of a sweep has one thread", "use -j for the number of runs at a time"}});
  SweepOptions options;
  read_part(o.part, options);
  const Design design = design_of(o.design);
  options.folder = o.folder.empty()
                       ? std::filesystem::path("out") / (std::filesystem::path(o.scene.file).stem().string() + "_sweep")
                       : std::filesystem::path(o.folder);
  options.threads = o.jobs > 0 ? o.jobs : all_cores();
  options.load = o.scene.load_options();
  catch_interrupts();
  options.interrupt = &interrupted;
  const bool shows = !o.quiet && ::isatty(STDERR_FILENO) != 0;
  options.progress = [&](std::size_t done, std::size_t all) {
    if (shows && (done % 16 == 0 || done == all)) fmt::print(stderr, "\rrun {}/{}{}", done, all, done == all ? "\n" : "");
  };
  const SweepResult result = run_sweep(o.scene.file, design, options);
  const std::size_t ran = result.table.rows.size() - result.known;
  if (result.interrupted) {
    fmt::print(stderr, "interrupted after {} runs; the same command goes on with the others\n", result.table.rows.size());
    return kRunFailed;
  }
  if (!o.quiet) {
    fmt::print("{} runs in {:.2f} s ({:.0f} a second)", ran, result.seconds, static_cast<double>(ran) / result.seconds);
    if (result.known > 0) fmt::print(", {} were there already", result.known);
    if (result.table.failed() > 0) fmt::print(", {} failed", result.table.failed());
    fmt::print(" -> {}\n", options.folder.string());
  }
  return kDone;
}

}  // namespace

Command add_sweep(CLI::App& app) {
  auto o = std::make_shared<SweepArguments>();
  CLI::App* sub = app.add_subcommand("sweep", "Run a scene many times with other values, into one table");
  o->scene.add_to(*sub)->required(false);
  sub->add_option("--vary", o->design.vary,
                  "What changes: /json/pointer=from:to:count (with :log in equal ratios), =from:to with --sample lhs, or =a,b,c "
                  "(repeatable)")
      ->allow_extra_args(false);
  sub->add_option("--sample", o->design.sample,
                  "Every combination (grid), a Latin hypercube (lhs), or the lines of a table (csv)")
      ->check(CLI::IsMember({"grid", "lhs", "csv"}))
      ->capture_default_str();
  sub->add_option("--samples", o->design.samples, "Number of runs of a Latin hypercube")->check(CLI::PositiveNumber);
  sub->add_option("--seed", o->design.seed, "Of the Latin hypercube")->capture_default_str();
  sub->add_option("--from", o->design.from, "Table of runs, whose first line has the pointers");
  sub->add_option("-j,--jobs", o->jobs, "Runs at a time (default: all cores)")->check(CLI::PositiveNumber);
  sub->add_option("--part", o->part, "Only a part of the runs, e.g. 3/8: for several machines, see --merge");
  sub->add_option("--merge", o->merge, "Instead of running: put the tables of these folders together");
  sub->add_option("-o,--output", o->folder,
                  "Folder of the table (default: out/<scene file>_sweep); what is in it is not run again");
  sub->add_flag("--quiet", o->quiet, "Only errors");
  sub->footer("Writes sweep.csv, sweep.h5 and index.html. A run that fails is a row with the reason.");
  sub->callback([o] {
    if (o->scene.file.empty() && o->merge.empty()) throw CLI::RequiredError("SCENE");
  });
  return {sub, [o] { return sweep(*o); }};
}

}  // namespace osier::cli
