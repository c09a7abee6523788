// How many iterations one step takes, for sweeps and for the direct solver, from soft to stiff and from short steps to a whole
// frame. Error: max |x - x*| over that of the inertial guess, x* by Newton's method.
#include <fmt/format.h>

#include "bench/step_problem.hpp"
#include "bench/suites.hpp"

namespace osier::bench {

namespace {

struct Case {
  Subject subject;
  double short_step;  ///< [s]
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (int n : {20, 100, 1000})
    for (const auto& [word, young] : {std::pair{"soft", 1e7}, std::pair{"stiff", 1e9}})
      list.push_back({cantilever(fmt::format("cantilever_{}_{}", word, n), n, young), 1e-3});
  list.push_back({{.name = "slinky", .text = {}, .file = {}, .overrides = {}}, 3e-4});
  // Under its weight alone like the others, and in the scene's wind, which drags the lightest twigs along.
  const Subject tree{.name = "tree_in_wind", .text = {}, .file = "trees", .overrides = {"/structures/0/count=1"}};
  Subject still = tree.with("/forces/2/coefficient=0");
  still.name = "tree";
  list.push_back({still, 1e-3});
  list.push_back({tree, 1e-3});
  return list;
}

void measure(Context& c, const Case& k, double h) {
  const bool quick = c.options.quick;
  const Subject subject = k.subject.with(fmt::format("/analysis/step={:.17g}", h));
  c.say(fmt::format("convergence: {}, h = {:.2g} s", subject.name, h));
  StepProblem problem(subject, h < 0.01 ? 30 : 4, c.options.folder);
  const int sweep_cap = quick ? 64 : 32768, direct_cap = 20;
  for (const Variant& v : {sweeps(1), direct(1)}) {
    const int cap = v.role == SolverRole::sweeps ? sweep_cap : direct_cap;
    try {
      for (double goal : {1e-3, 1e-6}) {
        BenchRow row = row_for("convergence", "convergence", subject.name, load(subject, v, c.options.folder), v);
        row.goal = goal;
        const std::optional<int> needed = problem.iterations_to(v, goal, cap);
        row.reached = needed.has_value();
        row.iterations = needed.value_or(cap);
        row.error = problem.error_after(v, needed.value_or(cap));
        row.error_m = *row.error * problem.first_error();
        c.rows.push_back(row);
      }
    } catch (const RunError& e) {  // a graph that it does not take, for one
      c.say(fmt::format("convergence: {}, {}: left out, {}", subject.name, v.name(), e.what()));
    }
  }
}

}  // namespace

std::vector<std::string> scenes_of_convergence() {
  std::vector<std::string> names;
  for (const Case& k : cases()) names.push_back(k.subject.name);
  return names;
}

void run_convergence(Context& c) {
  for (const Case& k : cases())
    if (c.wants(k.subject.name))
      for (double h : {k.short_step, 1.0 / 30}) measure(c, k, h);
}

}  // namespace osier::bench
