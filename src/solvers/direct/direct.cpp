#include "solvers/direct/direct.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "solvers/direct/device_solver.hpp"
#include "solvers/direct/hanging_strands.hpp"
#include "solvers/direct/split_solver.hpp"
#include "solvers/systems/tree/tree.hpp"
#include "solvers/systems/tree/tree_system.hpp"

namespace osier::direct {

using systems::Tree;
using systems::TreePlan;
using systems::TreeRow;

namespace {

/// How much more work the recursion has than along a chain, in words.
std::string shape_of(const Tree& tree) {
  using Kind = TreeRow::Kind;
  const auto any = [&](std::initializer_list<Kind> kinds) {
    return std::any_of(tree.rows.begin(), tree.rows.end(),
                       [&](const TreeRow& r) { return std::find(kinds.begin(), kinds.end(), r.kind) != kinds.end(); });
  };
  const TreePlan plan = tree.plan();
  const double times = plan.work() / (TreePlan::kWorkOfLink * std::max(1, plan.node_count()));
  if (times < 1.05) return "as cheap as along a chain";
  std::vector<std::string> causes;
  if (any({Kind::close_segment})) causes.emplace_back("loops");
  if (any({Kind::close_joint})) causes.emplace_back("joints where rods meet");
  if (any({Kind::hold_vertex, Kind::hold_frame, Kind::hinge_frame})) causes.emplace_back("supports");
  return fmt::format("with {:.1f} times the work of a chain because of {}", times, fmt::join(causes, ", "));
}

}  // namespace

systems::Options Settings::options() const {
  systems::Options options{.iterations = goal.iterations.value_or(0),
                           .precision = execution.precision,
                           .threads = execution.threads,
                           .simd = execution.simd};
  if (goal.tolerance) options.tolerance = *goal.tolerance;
  if (goal.max_iterations) options.max_iterations = *goal.max_iterations;
  return options;
}

std::unique_ptr<Solver> Settings::make(const Model& model) const {
  if (execution.elsewhere()) return make_on_device(model, options(), execution.device);
  return make_solver(model, options());
}

void Settings::check(const Model& model, bool, Problems& problems) const {
  if (execution.elsewhere()) check_strands(model, problems);
}

SolverPlan Settings::plan(const Model& m, const Control& c, double h) const {
  if (execution.elsewhere())
    return {name(), fmt::format("{} by kernels of {}; the host takes rods whose energy rises",
                                are_hanging(m) && held_otherwise(m, c).empty()
                                    ? "strand by strand,"
                                    : "along rods that are cut into pieces of 32 segments, in double,",
                                execution.device_name())};
  if (h == 0 && c.has_vertex_terms())
    return {name(), "Newton's method on a sparse factor, because of springs or of vertices held along single directions"};
  if (h == 0)
    return {name(), (systems::TreeSystem::suits(m, c)
                         ? "Newton's method on the recursion along the rods, "
                         : "Newton's method on a sparse factor, which suits this graph better; the recursion: ") +
                        shape_of(systems::build_tree(m, c))};
  const RestPlan rest = plan_rest(m, c, h, options());
  if (rest.plan.loops == Loops::sparse)
    return {name(), fmt::format("springs or single directions by a sparse factor; {} of {} segments in SIMD lanes",
                                segments_in_lanes(m, c, options()), m.segment_count())};
  const bool by_blocks = rest.plan.loops == Loops::blocks;
  return {name(), fmt::format("{}; {} of {} segments in SIMD lanes",
                              by_blocks ? fmt::format("by conjugate gradients because of loops, some {:.0f} for a solve",
                                                      rest.plan.iterations)
                                        : shape_of(systems::build_tree(m, c)),
                              segments_in_lanes(m, c, options()) + (by_blocks ? rest.segments : 0), m.segment_count())};
}

void Settings::warn(const Model&, double, bool, std::vector<std::string>& warnings) const {
  const double floor = execution.in_float() ? systems::kFloatFloor : systems::kDoubleFloor;
  if (!goal.tolerance || *goal.tolerance >= floor) return;
  warnings.push_back(fmt::format(
      "`tolerance` {:.3g} may be below what `precision` {} gives, up to {:.3g} of a step's motion: steps end where corrections "
      "stop shrinking{}",
      *goal.tolerance, execution.precision_name(), floor, execution.in_float() ? "; use `precision` double" : ""));
}

std::optional<std::size_t> Settings::bytes(const Model& model, const Control& control, double h) const {
  return direct::bytes(model, control, h, options());
}

}  // namespace osier::direct
