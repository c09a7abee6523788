// osier reproduce: figures of papers, run again and judged.
#include <fmt/format.h>

#include "commands.hpp"
#include "io/atomic_file.hpp"
#include "osier/error.hpp"
#include "osier/reproduce.hpp"
#include "output_check.hpp"

namespace osier::cli {

namespace {

struct ReproduceArguments {
  std::string paper, output, scenes;
  ReproduceOptions options;
  bool list = false, quiet = false;
};

int list() {
  for (const Paper& p : papers()) {
    fmt::print("{}: {}\n", p.name, p.citation);
    for (const PaperFigure& f : p.figures) fmt::print("  {:>3}  {}\n", f.number, f.title);
  }
  return kDone;
}

int run(ReproduceArguments& o) {
  if (o.list) return list();
  o.options.scenes = o.scenes.empty() ? find_paper_scenes() : std::filesystem::path(o.scenes);
  if (o.options.scenes.empty())
    throw InputError({{"scenes/paper", "is not found from here or from the program", "name the folder with --scenes"}});
  if (o.paper.empty()) throw InputError({{"PAPER", "is missing", "name a paper; --list shows them"}});
  if (o.output.empty()) o.output = o.paper + ".html";
  Problems problems;
  check_output_file("--output", o.output, problems);
  problems.throw_if_any();
  if (!o.quiet) o.options.started = [](const std::string& what) { fmt::print(stderr, "{}\n", what); };
  const Reproduction result = reproduce(o.paper, o.options);
  fmt::print("{}", reproduction_table(result));
  write_file_atomically(o.output, reproduction_html(result));
  if (!o.quiet) fmt::print("report: {}\n", o.output);
  return result.failed() == 0 ? kDone : kRunFailed;
}

}  // namespace

Command add_reproduce(CLI::App& app) {
  auto o = std::make_shared<ReproduceArguments>();
  CLI::App* sub = app.add_subcommand("reproduce", "Run the figures of a paper again and compare");
  sub->add_option("PAPER", o->paper, "The paper, by the name of its solver");
  sub->add_option("--figure", o->options.figures, "Only this figure; may be given several times");
  sub->add_option("-o,--output", o->output, "The report (default: PAPER.html)");
  sub->add_option("--scenes", o->scenes, "Folder of the papers' scenes (default: scenes/paper)");
  sub->add_flag("--list", o->list, "List papers and figures instead of running them");
  sub->add_flag("--quiet", o->quiet, "No progress");
  return {sub, [o] { return run(*o); }};
}

}  // namespace osier::cli
