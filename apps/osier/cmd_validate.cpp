// osier validate: problems with known answers, run and judged.
#include <fmt/format.h>
#include <unistd.h>

#include "commands.hpp"
#include "io/atomic_file.hpp"
#include "osier/validate.hpp"
#include "output_check.hpp"
#include "progress.hpp"

namespace osier::cli {

namespace {

struct ValidateArguments {
  ValidateOptions validate;
  std::string cases, json, report;
  bool list = false, quick = false, quiet = false;
};

int list(const ValidateOptions& options) {
  for (const ValidationCase& c : list_validation_cases(options))
    fmt::print("{:<6} {:<28} {}{}\n", c.name, c.group, c.title, c.needs.empty() ? "" : " (needs " + c.needs + ")");
  return kDone;
}

void check_outputs(const ValidateArguments& o) {
  Problems problems;
  check_output_file("--json", o.json, problems);
  check_output_folder("--report", o.report, problems);
  problems.throw_if_any();
}

int validate(ValidateArguments& o) {
  o.validate.cases = o.cases.empty() ? find_validation_cases() : std::filesystem::path(o.cases);
  if (o.validate.cases.empty())
    throw InputError({{"scenes/validation", "is not found from here or from the program", "name the folder with --cases"}});
  if (o.list) return list(o.validate);
  check_outputs(o);
  o.validate.sweeps = !o.quick && !o.validate.fast;
  Progress progress("validation", o.quiet, "run");
  o.validate.progress = [&](int done, int jobs, double ms) { progress.update(done, jobs, ms); };
  const Validation result = run_validation(o.validate);
  progress.finish();
  fmt::print("{}", validation_table(result));
  if (!o.json.empty()) write_file_atomically(o.json, validation_json(result));
  if (!o.report.empty()) {
    write_validation_report(result, o.report);
    if (!o.quiet) fmt::print("report: {}\n", (std::filesystem::path(o.report) / "index.html").string());
  }
  return result.passed() ? kDone : kRunFailed;
}

}  // namespace

Command add_validate(CLI::App& app) {
  auto o = std::make_shared<ValidateArguments>();
  CLI::App* sub = app.add_subcommand("validate", "Run problems with known answers and compare");
  const CLI::Validator not_empty([](std::string& text) { return text.empty() ? std::string("is empty") : std::string{}; }, "");
  sub->add_option("CASE", o->validate.names, "Cases by name; all when left out");
  sub->add_option("--solver", o->validate.solver, "Run every case with this solver, with its default settings")->check(not_empty);
  sub->add_option("--json", o->json, "Write every row to this JSON file")->check(not_empty);
  sub->add_option("--report", o->report, "Write index.html (tables, plots, shapes) and validation.md to this folder")
      ->check(not_empty);
  sub->add_option("--cases", o->cases, "Folder of case files (default: scenes/validation)")->check(not_empty);
  sub->add_option("--threads", o->validate.threads, "Cases that run at the same time (default: all cores)")
      ->check(CLI::Range(1, 1024));
  sub->add_flag("--list", o->list, "List the cases instead of running them");
  sub->add_flag("--fast", o->validate.fast, "Only the coarse resolutions that are quick, without the four-sweeps column");
  sub->add_flag("--no-sweeps", o->quick, "Leave out the column with four sweeps per step");
  sub->add_flag("--quiet", o->quiet, "No progress");
  return {sub, [o] { return validate(*o); }};
}

}  // namespace osier::cli
