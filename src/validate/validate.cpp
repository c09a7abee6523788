// Reads cases, runs every trial, judges.
#include "osier/validate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <thread>

#include "core/text.hpp"
#include "exec/parallel.hpp"
#include "osier/simulation.hpp"
#include "solvers/solver.hpp"
#include "validate/judge.hpp"
#include "validate/needs.hpp"
#include "validate/relax.hpp"
#include "validate/shape.hpp"
#include "validate/trial.hpp"

namespace osier {

using namespace validate;

int Validation::count(Verdict verdict) const {
  int n = 0;
  for (const ValidationCase& c : cases)
    for (const ValidationRow& r : c.rows) n += r.verdict == verdict ? 1 : 0;
  return n;
}

namespace {

/// A trial with its normal run and, where it means something, the one with four sweeps.
struct Pair {
  Trial trial;
  bool sweeps = false;
  Outcome normal, four_sweeps;
};

/// Runs that are listed but not run, and what they need.
using Waiting = std::map<const RunSpec*, std::string>;

std::vector<Pair> make_pairs(const std::vector<CaseSpec>& cases, const ValidateOptions& options, Waiting& waiting,
                             Problems& problems) {
  std::vector<Pair> pairs;
  for (const CaseSpec& c : cases)
    for (const RunSpec& r : c.runs) {
      const std::string& lacking = r.needs.empty() ? c.needs : r.needs;
      if (!lacking.empty()) {
        waiting[&r] = lacking;
        continue;
      }
      const std::size_t before = problems.size();
      bool first = true;
      for (const std::optional<int> n : c.resolutions(r, options.fast)) {
        Pair p;
        p.trial = make_trial(c, r, n, problems);
        if ((first || p.trial.shape) && problems.size() == before) check_trial(p.trial, problems);
        if (first && problems.empty()) {
          const std::string unmet = unmet_need(p.trial, options.solver);
          if (!unmet.empty()) {
            waiting[&r] = unmet;
            break;
          }
        }
        p.sweeps = options.sweeps && has_four_sweeps(p.trial);
        pairs.push_back(std::move(p));
        first = false;
      }
    }
  return pairs;
}

void check_solver(const std::string& where, const std::string& solver, Problems& problems) {
  std::vector<std::string> known;
  for (const auto& entry : registry<SolverSettings>()) known.emplace_back(entry.name);
  if (solver.empty() || std::find(known.begin(), known.end(), solver) != known.end()) return;
  const std::string guess = closest(solver, known);
  problems.add(where, fmt::format("`{}` is unknown", shorten(solver)),
               guess.empty() ? "use one of " + join(known, ", ") : "did you mean `" + guess + "`?");
}

void check_solvers(const CaseSpec& c, Problems& problems) {
  const std::string file = c.file.filename().string();
  check_solver(file + "/of_solver", c.of_solver, problems);
  for (const RunSpec& r : c.runs) check_solver(r.where + "/of_solver", r.of_solver, problems);
}

int thread_count(const ValidateOptions& options) {
  return options.threads > 0 ? options.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// The long ones first, so that none is left running alone at the end.
double effort(const Pair& p, Mode mode) {
  const double n = p.trial.resolution.value_or(1);
  return mode == Mode::four_sweeps || !is_static(p.trial.scene) ? 1e3 * n : n;
}

void run_pairs(std::vector<Pair>& pairs, const ValidateOptions& options) {
  std::vector<std::pair<Pair*, Mode>> jobs;
  for (Pair& p : pairs) {
    jobs.emplace_back(&p, Mode::normal);
    if (p.sweeps) jobs.emplace_back(&p, Mode::four_sweeps);
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const auto& a, const auto& b) { return effort(*a.first, a.second) > effort(*b.first, b.second); });
  std::mutex mutex;
  int done = 0;
  Executor(thread_count(options)).for_each_job(jobs.size(), [&](std::size_t i) {
    auto [pair, mode] = jobs[i];
    Outcome& outcome = mode == Mode::normal ? pair->normal : pair->four_sweeps;
    outcome = run_trial(pair->trial, mode, options.solver);
    const std::lock_guard lock(mutex);
    ++done;
    if (options.progress) options.progress(done, static_cast<int>(jobs.size()), 1e3 * outcome.seconds);
  });
}

/// Reference, computed value and error of one expectation.
void fill_row(const ExpectSpec& expect, const Pair& p, ValidationRow& row) {
  row.reference = evaluate(expect.reference.text, p.trial.parameters);
  row.allowed = allowed_error(expect, p.trial.resolution, p.trial.parameters);
  row.solver = p.normal.solver;
  row.iterations = p.normal.iterations;
  row.residual = p.normal.residual;
  row.seconds = p.normal.seconds;
  if (!p.normal.error.empty()) {
    row.note = p.normal.error;
  } else {
    row.computed = evaluate(expect.value.text, p.normal.values);
    row.error = error_of(expect.error, *row.computed, *row.reference);
    if (p.normal.steps_not_converged > 0)
      row.note = fmt::format("{} of {} steps did not converge", p.normal.steps_not_converged, p.normal.steps);
  }
  if (p.sweeps && p.four_sweeps.error.empty()) {
    const double sweeps_error = error_of(expect.error, evaluate(expect.value.text, p.four_sweeps.values), *row.reference);
    if (std::isfinite(sweeps_error)) row.sweeps_error = sweeps_error;
  }
}

ValidationCase describe(const CaseSpec& c) {
  return {.name = c.name,
          .part_of = c.part_of,
          .title = c.title,
          .group = c.group,
          .source = c.source,
          .note = c.note,
          .needs = c.needs,
          .resolution_name = c.resolution ? c.resolution->name : "",
          .rows = {},
          .figures = {}};
}

ValidationRow waiting_row(const CaseSpec& c, const RunSpec& r, const ExpectSpec& e, const std::string& need) {
  ValidationRow row;
  row.run = r.name;
  row.quantity = e.quantity;
  row.verdict = Verdict::waiting;
  row.note = "needs " + need;
  try {
    Problems ignored;
    row.reference = evaluate(e.reference.text, make_trial(c, r, std::nullopt, ignored).parameters);
  } catch (const ExpressionError&) {
    row.reference.reset();  // depends on something that only a run can know
  }
  if (row.reference && !std::isfinite(*row.reference)) row.reference.reset();  // depends on the resolution
  return row;
}

ValidationCase judge_case(const CaseSpec& c, const std::vector<Pair>& pairs, const Waiting& waiting) {
  ValidationCase out = describe(c);
  for (const RunSpec& r : c.runs)
    for (const ExpectSpec* e : c.expectations(r)) {
      if (const auto need = waiting.find(&r); need != waiting.end()) {
        out.rows.push_back(waiting_row(c, r, *e, need->second));
        continue;
      }
      const std::size_t begin = out.rows.size();
      for (const Pair& p : pairs) {
        if (p.trial.run != &r) continue;
        ValidationRow row;
        row.run = r.name;
        row.quantity = e->quantity;
        row.resolution = p.trial.resolution;
        fill_row(*e, p, row);
        out.rows.push_back(std::move(row));
      }
      judge(*e, std::span(out.rows).subspan(begin));
    }
  for (const Pair& p : pairs)
    if (p.trial.spec == &c) add_to_figures(p.trial, p.normal, out.figures);
  return out;
}

bool takes_part(const CaseSpec& c, bool fast) {
  return !fast || (c.needs.empty() && (c.resolution ? !c.resolution->fast.empty() : c.fast));
}

std::vector<CaseSpec> chosen_cases(const ValidateOptions& options, Problems& problems) {
  std::vector<CaseSpec> cases = read_cases(options.cases, options.names, problems);
  std::erase_if(cases, [&](const CaseSpec& c) { return !takes_part(c, options.fast); });
  return cases;
}

}  // namespace

std::vector<ValidationCase> list_validation_cases(const ValidateOptions& options) {
  Problems problems;
  std::vector<ValidationCase> list;
  for (const CaseSpec& c : chosen_cases(options, problems)) list.push_back(describe(c));
  problems.throw_if_any();
  return list;
}

Validation run_validation(const ValidateOptions& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Problems problems;
  check_solver("--solver", options.solver, problems);
  const std::vector<CaseSpec> cases = chosen_cases(options, problems);
  for (const CaseSpec& c : cases) check_solvers(c, problems);
  Waiting waiting;
  std::vector<Pair> pairs = make_pairs(cases, options, waiting, problems);
  problems.throw_if_any();
  run_pairs(pairs, options);
  Validation result;
  result.version = version();
  result.solver = options.solver;
  result.fast = options.fast;
  if (!options.solver.empty()) result.protocol = solver_protocol(options.solver) + "\n";
  if (options.sweeps) result.protocol += four_sweeps_protocol() + "\n";
  for (const CaseSpec& c : cases) result.cases.push_back(judge_case(c, pairs, waiting));
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace osier
