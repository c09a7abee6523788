// osier run: simulate a scene and write its results.
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "commands.hpp"
#include "core/text.hpp"
#include "interrupt.hpp"
#include "osier/osier.hpp"
#include "output_check.hpp"
#include "progress.hpp"
#include "scene_option.hpp"
#include "sim/checkpoint.hpp"
#include "view/page.hpp"
#include "view/recording.hpp"

namespace osier::cli {

namespace {

struct RunArguments {
  SceneOption scene;
  std::string folder, stats, resume;
  std::filesystem::path html;
  int frames = -1;
  bool quiet = false, strict = false, certify = false;
};

void write_stats(const std::string& file, const RunStats& stats) {
  std::ofstream out(file);
  out << stats.to_json();
  if (!out.flush()) throw RunError(file + ": cannot be written");
}

int run(const RunArguments& o) {
  Problems problems;
  if (!o.resume.empty() && !o.folder.empty())
    problems.add("--output", "a resumed run continues in its own folder", "leave it out");
  if (!o.resume.empty() && o.scene.file.empty() && o.scene.changes_results())
    problems.add("--resume", "the scene of a run cannot be changed on the way", "leave options of the scene other than --threads out");
  problems.throw_if_any();
  const bool from_checkpoint = !o.resume.empty() && o.scene.file.empty();
  const Scene scene = from_checkpoint ? scene_of_checkpoint(o.resume, all_cores(), o.scene.threads) : o.scene.load();
  check_output_file("--stats", o.stats, problems);
  if (!o.html.empty() && view::viewer_page().empty())
    problems.add("--html", "this osier was built without the viewer's page", view::viewer_page_remedy());
  const std::filesystem::path folder = !o.resume.empty()  ? std::filesystem::path(o.resume)
                                       : o.folder.empty() ? std::filesystem::path("out") / scene.name()
                                                          : std::filesystem::path(o.folder);
  // The folder of the results need not be there yet.
  const bool among_results = o.html.parent_path().lexically_normal() == (folder / "").parent_path().lexically_normal();
  const bool makes_its_folder = among_results && !std::filesystem::exists(folder);
  if (!makes_its_folder) check_output_file("--html", o.html.string(), problems);
  problems.throw_if_any();
  if (!o.quiet) print_warnings(scene);

  catch_interrupts();
  Progress progress(scene.name(), o.quiet);
  RunOptions options;
  options.folder = folder;
  options.frames = o.frames;
  options.resume = !o.resume.empty();
  options.certify = o.certify;
  options.interrupt = &interrupted;
  options.progress = [&](int frame, int frames, double ms) { progress.update(frame, frames, ms); };
  if (!o.html.empty()) options.writers.push_back(std::make_shared<view::HtmlWriter>(o.html, view::viewer_page(), folder));
  const RunStats stats = run_scene(scene, options);
  progress.finish();
  if (!o.stats.empty()) write_stats(o.stats, stats);

  for (const std::string& remark : stats.remarks()) fmt::print(stderr, "warning: {}\n", remark);
  if (!o.quiet || !stats.certificate.failure.empty())
    for (const std::string& line : stats.certificate_lines()) fmt::print("{}\n", line);
  if (!stats.error.empty()) {
    fmt::print(stderr, "error: {}\n{} frames kept in {}\n", stats.error, stats.frames + 1, folder.string());
    return kRunFailed;
  }
  if (stats.interrupted) {
    fmt::print(stderr, "interrupted at t = {:.4g} s; the files in {} are complete up to here{}\n", stats.simulated_seconds,
               folder.string(),
               has_checkpoint(folder) ? fmt::format("; to go on: osier run --resume {}", folder.string()) : std::string());
    return kRunFailed;
  }
  if (!o.quiet) {
    for (const std::string& line : stats.path_lines()) fmt::print("{}\n", line);
    if (stats.instability_time >= 0 && !stats.path)
      fmt::print("the equilibrium becomes unstable at pseudo-time {:.8g} s{}{}\n", stats.instability_time,
                 stats.critical_loads.empty() ? "" : ", at ", join(stats.critical_loads, "; "));
    fmt::print("{} frames, {} steps in {:.2f} s ({:.2f} ms/frame, {:.1f} ns per vertex and iteration) -> {}\n", stats.frames,
               stats.steps, stats.wall_seconds, stats.ms_per_frame_median, stats.ns_per_vertex_iteration, folder.string());
    if (stats.ends_by_count && stats.worst_residual >= 0)
      fmt::print(
          "steps end after a fixed number of iterations, not by a tolerance: of {} examined, the worst left {:.2g} of the "
          "largest force, at t = {:.4g} s\n",
          stats.steps_judged, stats.worst_residual, stats.worst_residual_at);
    if (!o.html.empty()) fmt::print("to look at in a browser: {}\n", o.html.string());
  }
  if (o.strict && stats.steps_not_converged + stats.steps_not_solved > 0) {
    fmt::print(stderr, "error: not every step is solved, which --strict asks for\n");
    return kRunFailed;
  }
  return kDone;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto o = std::make_shared<RunArguments>();
  CLI::App* sub = app.add_subcommand("run", "Simulate a scene");
  o->scene.add_to(*sub)->required(false);
  const CLI::Validator not_empty([](std::string& text) { return text.empty() ? std::string("is empty") : std::string{}; }, "");
  const CLI::Validator not_negative(
      [](std::string& text) { return text.starts_with("-") ? text + " is negative" : std::string{}; }, "");
  sub->add_option("-o,--output", o->folder, "Folder for the results (default: out/<scene name>)")->check(not_empty);
  sub->add_option(
         "--resume", o->resume,
         "Continue the interrupted run in this folder from its last checkpoint, as if nothing had happened; without SCENE the "
         "scene is that of the run")
      ->check(not_empty);
  sub->add_option("--frames", o->frames, "Number of frames instead of the scene's")->check(not_negative);
  sub->add_option("--stats", o->stats, "Write counts and timings to this JSON file")->check(not_empty);
  sub->add_option("--html", o->html, "Also write the run to this file, as one self-contained page for the browser")
      ->check(not_empty);
  sub->add_flag("--strict", o->strict,
                "Exit with 1 when steps are not converged, or left more than a tenth of the largest force");
  sub->add_flag(
      "--certify", o->certify,
      "Check every step by code that shares nothing with the solver: nothing passes through anything, energy and momentum "
      "balance. A run that fails this ends with exit code 1, and the state before it is the last frame");
  sub->add_flag("--quiet", o->quiet, "Only errors, and warnings of steps that are not solved");
  sub->callback([o] {
    if (o->scene.file.empty() && o->resume.empty()) throw CLI::RequiredError("SCENE");
  });
  return {sub, [o] { return run(*o); }};
}

}  // namespace osier::cli
