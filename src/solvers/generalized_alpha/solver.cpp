// Steps of all rods of a model, each by itself. The conductor is step(); a rod's step is in rod.cpp.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "exec/parallel.hpp"
#include "model/held_axes.hpp"
#include "osier/error.hpp"
#include "solvers/generalized_alpha/generalized_alpha.hpp"
#include "solvers/generalized_alpha/lane_group.hpp"
#include "solvers/generalized_alpha/rod_plan.hpp"
#include "solvers/minimiser.hpp"
#include "solvers/systems/sparse/sparse_system.hpp"

namespace osier::generalized_alpha {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// What a rod is stepped with.
struct Workplace {
  explicit Workplace(Simd simd) : stepper(simd) {}
  RodStepper stepper;
  RodControl control;
  RodState state;
};
/// What a thread works with: one place per lane.
struct Workshop {
  explicit Workshop(Simd simd) : lanes(simd), places(at(lanes.lanes()), Workplace(simd)) {}
  LaneGroup lanes;
  std::vector<Workplace> places;
  std::vector<RodStepper*> steppers;
  std::vector<std::size_t> members, rest;
  std::vector<int> iterations;
};
/// Rods with the same number of cells, no more than there are lanes; or a ring by itself.
using Tile = std::vector<std::size_t>;

class GeneralizedAlpha final : public Solver {
 public:
  GeneralizedAlpha(const Settings& settings, const Model& model)
      : settings_(settings),
        executor_(settings.execution.threads),
        shops_(at(executor_.threads()), Workshop(settings.execution.simd)) {
    arrange(model);
  }

  StepReport step(const StepInput& input, State& state) override;
  StaticReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override;
  void rebind(const Model& model, State& state) override {
    RodMemory::declare(model, state);
    arrange(model);
  }
  void declare_memory(const Model& model, State& state) const override { RodMemory::declare(model, state); }
  void tell_reactions(std::vector<Vec3d>& vertex_force, std::vector<Vec3d>& frame_couple) const override;

 private:
  void arrange(const Model& model) {
    rods_ = find_rods(model, settings_.theory == Theory::kirchhoff);
    outcomes_.assign(rods_.size(), {});
    arrange_tiles();
    std::size_t segments = 0;
    for (const Rod& rod : rods_) segments += rod.segments.size();
    const auto alive = std::count(model.segment_alive.begin(), model.segment_alive.end(), std::uint8_t{1});
    if (segments != static_cast<std::size_t>(alive))
      throw RunError("`generalized_alpha` steps rods and rings without branches, and without masses on vertices");
  }
  void arrange_tiles() {
    const std::size_t width = shops_.front().places.size();
    std::map<std::size_t, std::size_t> open;  // by cells: the tile that has room
    tiles_.clear();
    for (std::size_t i = 0; i < rods_.size(); ++i) {
      if (rods_[i].model.closed) {
        tiles_.push_back({i});
        continue;
      }
      const auto [tile, added] = open.try_emplace(rods_[i].segments.size(), tiles_.size());
      if (!added && tiles_[tile->second].size() == width) tile->second = tiles_.size();
      if (tile->second == tiles_.size()) tiles_.emplace_back();
      tiles_[tile->second].push_back(i);
    }
  }
  void step_tile(const Tile& tile, const StepInput& input, State& state, RodMemory& memory, Workshop& shop);
  template <class F>
  void each_rod(const F& f) {
    executor_.for_each_job(rods_.size(), [&](std::size_t i) { f(i, rods_[i], shops_[at(executor_.worker())].places.front()); });
  }
  void take_over(const Rod& rod, const Model& model, const RodMemory& memory, const State& state, Workplace& place) const;
  void finish(const StepInput& input, State& state, StepReport& report) const;
  void relax(const StepInput& input, State& state, const StaticOptions& options);
  void look_at_stability(const StepInput& input, State& state, const StaticOptions& options, StaticReport& report);

  Settings settings_;
  Executor executor_;
  std::vector<Rod> rods_;
  std::vector<Outcome> outcomes_;
  std::vector<Tile> tiles_;
  std::vector<Workshop> shops_;
  std::unique_ptr<Solver> judge_;  ///< of equilibria, by the engine's energy
};

/// The part of the load on an end that goes on from the cell's other end, as weight does: it belongs to the cell. The rest acts
/// on the end. `inner` and `end` are per length; the part is along `inner`, and no more than that.
double share_of_field(const Vec3d& inner, const Vec3d& end) {
  const double size = norm2(inner);
  return size > 0 ? std::clamp(dot(inner, end) / size, 0.0, 1.0) : 0;
}

/// Loads on a rod at one time. What acts on a vertex inside is spread over the two cells there, as its mass is.
void gather(const Rod& rod, const Control& c, const State& state, Loads& to) {
  const std::size_t cells = rod.segments.size();
  to.resize(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    CellLoad<double>& load = to.cells[i];
    const Index a = rod.vertices[i], b = rod.vertices[i + 1];
    load.left = rod.density[i] * c.vertex_force[at(a)], load.right = rod.density[i + 1] * c.vertex_force[at(b)];
  }
  for (std::size_t e = 0; e < 2 && !rod.model.closed; ++e) {
    const std::size_t v = at(e == 0 ? rod.vertices.front() : rod.vertices.back());
    EndLoad<double>& end = to.ends[e];
    end.force = rod.end_share[e] * c.vertex_force[v];
    if (cells > 1) {
      const std::size_t inside = e == 0 ? 1 : cells - 1;
      const double h = rod.model.cells[e == 0 ? 0 : cells - 1].h;
      // Per length: inside, and at the end, whose load stands for half a cell.
      const Vec3d inner = (2 * rod.density[inside]) * c.vertex_force[at(rod.vertices[inside])];
      const Vec3d field = (0.5 * share_of_field(inner, (2 / h) * end.force)) * inner;
      (e == 0 ? to.cells.front().left : to.cells.back().right) = field;
      end.force -= h * field;
    }
    const HeldAxes* const held = held_axes_of(c, static_cast<Index>(v));
    end.place = c.vertex_fixed[v] != 0 ? c.vertex_target[v] : held ? held->target : state.vertex_position[v];
    const Index anchor = rod.anchor[e];
    if (anchor < 0) continue;
    const bool told = c.frame_control[at(anchor)] == FrameControl::fixed;
    end.frame = told ? c.frame_target[at(anchor)] : state.frame_rotation[at(anchor)];
  }
  if (!c.has_torque) return;
  for (std::size_t i = 0; i < cells; ++i) {
    const std::size_t s = at(rod.segments[i]);
    const Vec3d couple = c.frame_torque[s], material = rotate(rod.model.offset[i], c.frame_torque_material[s]);
    // At a free end a couple is one on the end, like that on the last frame of the engine's rods, beyond which nothing bends.
    const bool open = !rod.model.closed, first = open && i == 0 && rod.anchor[0] < 0,
               last = open && i + 1 == cells && rod.anchor[1] < 0;
    if (first || last) {
      EndLoad<double>& end = to.ends[last ? 1 : 0];
      end.couple += couple, end.couple_material += material;
    } else {
      const double h = rod.model.cells[i].h;
      to.cells[i].couple += (1 / h) * couple, to.cells[i].couple_material += (1 / h) * material;
    }
  }
}

/// Loads and holds of a step.
void gather(const Rod& rod, const Control& start, const Control& end, const State& state, RodControl& to) {
  to.resize(rod.segments.size());
  gather(rod, start, state, to.start);
  gather(rod, end, state, to.end);
  for (std::size_t c = 0; c < rod.segments.size(); ++c)
    to.drag[c] = {rod.density[c] * end.vertex_damping[at(rod.vertices[c])],
                  rod.density[c + 1] * end.vertex_damping[at(rod.vertices[c + 1])]};
  for (std::size_t e = 0; e < 2 && !rod.model.closed; ++e) {
    const std::size_t v = at(e == 0 ? rod.vertices.front() : rod.vertices.back());
    const std::size_t cells = rod.segments.size(), cell = e == 0 ? 0 : cells - 1, inside = e == 0 ? 1 : cells - 1;
    const double all = rod.end_share[e] * end.vertex_damping[v], h = rod.model.cells[cell].h;
    double& own = e == 0 ? to.drag[cell].left : to.drag[cell].right;
    own = cells > 1 ? std::min(all / h, rod.density[inside] * end.vertex_damping[at(rod.vertices[inside])]) : 0;
    to.end_drag[e] = all - h * own;
    to.place_held[e] = end.vertex_fixed[v] != 0;
    to.frame_held[e] = rod.anchor[e] >= 0;
    to.guide[e] = Guide::none, to.guide_axis[e] = {};
    if (const HeldAxes* held = held_axes_of(end, static_cast<Index>(v))) {
      to.place_held[e] = true;
      to.guide[e] = held->count == 1 ? Guide::wall : Guide::rail;
      to.guide_axis[e] = held->count == 1 ? held->axis[0] : cross(held->axis[0], held->axis[1]);
    }
  }
  const auto any = [&](const auto& is) {
    return std::any_of(to.start.cells.begin(), to.start.cells.end(), is) ||
           std::any_of(to.end.cells.begin(), to.end.cells.end(), is);
  };
  to.any_couple = any([](const CellLoad<double>& l) { return norm2(l.couple) > 0; });
  to.any_load = to.any_couple || any([](const CellLoad<double>& l) { return norm2(l.left) + norm2(l.right) > 0; });
}

int holds_of(const RodControl& c) {
  int bits = 0;
  for (std::size_t e = 0; e < 2; ++e)
    bits = 16 * bits + (c.place_held[e] ? 1 : 0) + (c.frame_held[e] ? 2 : 0) + 4 * static_cast<int>(c.guide[e]);
  return bits;
}

/// Whether a load comes or goes at once, or a held end begins or ceases to move: the stored rates know nothing of that.
bool jumps(const Rod& rod, const RodControl& c, const RodState& state) {
  constexpr double kShare = 0.5;     ///< of the load
  constexpr double kNotable = 0.05;  ///< of the forces in the rod
  double least = rod.model.force_unit();
  for (const auto& x : state.x) least = std::max(least, norm(x.n));
  least *= kNotable;
  const auto jump = [&](const Vec3d& a, const Vec3d& b, double unit) {
    const double change = norm(b - a) * unit;
    return change > least && change > kShare * std::max(norm(a), norm(b)) * unit;
  };
  for (std::size_t i = 0; i < rod.segments.size(); ++i) {
    const double h = rod.model.cells[i].h;
    const CellLoad<double>&a = c.start.cells[i], &b = c.end.cells[i];
    if (jump(a.left, b.left, h) || jump(a.right, b.right, h) || jump(a.couple, b.couple, h / rod.model.length) ||
        jump(a.couple_material, b.couple_material, h / rod.model.length))
      return true;
  }
  for (std::size_t e = 0; e < 2; ++e) {
    const EndLoad<double>&a = c.start.ends[e], &b = c.end.ends[e];
    if (jump(a.force, b.force, 1) || jump(a.couple, b.couple, 1 / rod.model.length) ||
        jump(a.couple_material, b.couple_material, 1 / rod.model.length))
      return true;
    const bool moves = norm2(b.place - a.place) > 0, moved = norm2(state.lead[e]) > 0;
    constexpr double kStill = 1e-14;  ///< rounding of a frame that is told again
    const bool turns = norm(b.frame - a.frame) > kStill, turned = norm(state.lead_turn[e]) * state.dt > kStill;
    if (c.place_held[e] && moves != moved) return true;
    if (c.frame_held[e] && turns != turned) return true;
  }
  return false;
}

void GeneralizedAlpha::take_over(const Rod& rod, const Model& m, const RodMemory& memory, const State& state,
                                 Workplace& place) const {
  const RodControl& c = place.control;

  if (!memory.load(rod, state, place.state)) start_from(rod, m, state, c.from_last(), place.state);
  else if (memory.holds(rod) != holds_of(c) || jumps(rod, c, place.state)) place.state.history = 0;
}

/// Rods of a tile that are alike take their step side by side in lanes. What does not arrive there takes it by itself.
void GeneralizedAlpha::step_tile(const Tile& tile, const StepInput& input, State& state, RodMemory& memory, Workshop& shop) {
  const Model& m = input.model;
  const NewtonGoal goal{settings_.tolerance, settings_.max_iterations};
  const Weights weights = settings_.weights();
  const auto keep = [&](std::size_t k, const Outcome& outcome) {
    const Rod& rod = rods_[tile[k]];
    Workplace& place = shop.places[k];
    outcomes_[tile[k]] = outcome;
    if (!outcome.converged) return;
    memory.store(rod, place.state, holds_of(place.control));
    store_state(rod, m, place.state, state);
  };
  const auto alone = [&](std::size_t k) {
    Workplace& place = shop.places[k];
    keep(k, place.stepper.step(rods_[tile[k]].model, place.control, weights, input.h, goal, place.state));
  };
  shop.rest.clear();
  for (std::size_t k = 0; k < tile.size(); ++k) {
    const Rod& rod = rods_[tile[k]];
    Workplace& place = shop.places[k];
    gather(rod, input.start, input.end, state, place.control);
    take_over(rod, m, memory, state, place);
    if (tile.size() > 1) place.stepper.begin_step(rod.model, place.control, weights, input.h, place.state);
    shop.rest.push_back(k);
  }
  while (!shop.rest.empty()) {
    const NewtonRule& rule = shop.places[shop.rest.front()].stepper.view();
    shop.members.clear(), shop.steppers.clear();
    std::erase_if(shop.rest, [&](std::size_t k) {
      if (tile.size() > 1 && !step_together(rule, shop.places[k].stepper.view())) return false;
      shop.members.push_back(k), shop.steppers.push_back(&shop.places[k].stepper);
      return true;
    });
    if (shop.members.size() == 1) {
      alone(shop.members.front());
      continue;
    }
    shop.iterations.assign(shop.members.size(), 0);
    const unsigned arrived = shop.lanes.solve(shop.steppers, goal, shop.iterations);
    for (std::size_t i = 0; i < shop.members.size(); ++i) {
      const std::size_t k = shop.members[i];
      Workplace& place = shop.places[k];
      if (((arrived >> i) & 1u) == 0) alone(k);
      else keep(k, place.stepper.end_step(rods_[tile[k]].model, place.control, shop.iterations[i], place.state));
    }
  }
}

StepReport GeneralizedAlpha::step(const StepInput& input, State& state) {
  RodMemory memory(input.model, state);
  executor_.for_each_job(tiles_.size(),
                         [&](std::size_t i) { step_tile(tiles_[i], input, state, memory, shops_[at(executor_.worker())]); });
  StepReport report;
  finish(input, state, report);
  for (std::size_t i = 0; i < rods_.size(); ++i)
    if (!outcomes_[i].converged)
      throw RunError(
          fmt::format("`generalized_alpha`: Newton's method did not solve the step to t = {:.6g} s of the rod at vertex {}, not "
                      "even in {} parts; "
                      "use a shorter step, more segments, or `direct`",
                      state.time + input.h, rods_[i].vertices.front(), outcomes_[i].steps));
  return report;
}

void GeneralizedAlpha::relax(const StepInput& input, State& state, const StaticOptions& options) {
  const Model& m = input.model;
  RodMemory memory(m, state);
  const NewtonGoal goal{std::min(settings_.tolerance, options.tolerance), settings_.max_iterations};
  each_rod([&](std::size_t i, const Rod& rod, Workplace& place) {
    gather(rod, input.end, input.end, state, place.control);
    std::fill(place.control.drag.begin(), place.control.drag.end(), CellDrag<double>{0, 0});
    place.control.end_drag = {};
    take_over(rod, m, memory, state, place);
    outcomes_[i] = place.stepper.relax(rod.model, place.control, options.tolerance, options.max_iterations, goal, place.state);
    if (!outcomes_[i].converged) return;
    memory.store(rod, place.state, holds_of(place.control));
    store_state(rod, m, place.state, state);
  });
}

StaticReport GeneralizedAlpha::solve_static(const StepInput& input, State& state, const StaticOptions& options) {
  relax(input, state, options);
  StaticReport report;
  finish(input, state, report);
  if (!report.not_converged) look_at_stability(input, state, options, report);
  return report;
}

/// Long steps of backward Euler stay at equilibria that rods would leave. The engine's energy has its equilibrium next to this
/// one: its Hessian tells the directions in which energy falls, and the way down leads next to the equilibrium of another branch.
void GeneralizedAlpha::look_at_stability(const StepInput& input, State& state, const StaticOptions& options,
                                         StaticReport& report) {
  constexpr int kMostIterations = 100;
  if (!judge_) judge_ = systems::make_minimiser(std::make_unique<systems::SparseSystem>());
  judge_->rebind(input.model, state);
  State other = state;
  const StaticReport told = judge_->solve_static(
      input, other,
      {.tolerance = options.tolerance, .max_iterations = kMostIterations, .leave_unstable = options.leave_unstable});
  if (told.not_converged || told.non_finite) return;
  report.unstable_modes = told.unstable_modes;
  if (told.branches_left == 0) return;
  const int iterations = report.iterations;
  state.vertex_position = other.vertex_position, state.frame_rotation = other.frame_rotation;
  relax(input, state, options);
  report = {};
  finish(input, state, report);
  report.iterations += iterations;
  report.unstable_modes = told.unstable_modes;
  report.branches_left = told.branches_left, report.modes_left = told.modes_left;
}

void GeneralizedAlpha::finish(const StepInput& input, State& state, StepReport& report) const {
  const Control& c = input.end;
  for (Index f = input.model.segment_count(); f < input.model.frame_count(); ++f)
    if (c.frame_control[at(f)] == FrameControl::fixed) state.frame_rotation[at(f)] = c.frame_target[at(f)];
  report.residual = report.residual_relative = 0;
  for (std::size_t i = 0; i < rods_.size(); ++i) {
    const Outcome& o = outcomes_[i];
    report.iterations = std::max(report.iterations, o.iterations);
    report.not_converged = report.not_converged || !o.converged;
    const double relative = o.scale > 0 ? o.residual / o.scale : 0;
    if (relative < report.residual_relative) continue;
    report.residual_relative = relative, report.residual = o.residual;
    report.worst_vertex = rods_[i].vertices[std::min(o.worst, rods_[i].vertices.size() - 1)];
  }
}

void GeneralizedAlpha::tell_reactions(std::vector<Vec3d>& vertex_force, std::vector<Vec3d>& frame_couple) const {
  for (std::size_t i = 0; i < rods_.size(); ++i)
    for (std::size_t e = 0; e < 2; ++e) {
      const Rod& rod = rods_[i];
      vertex_force[at(e == 0 ? rod.vertices.front() : rod.vertices.back())] += outcomes_[i].force[e];
      if (rod.anchor[e] >= 0) frame_couple[at(rod.anchor[e])] += outcomes_[i].couple[e];
    }
}

}  // namespace

std::unique_ptr<Solver> Settings::make(const Model& model) const { return std::make_unique<GeneralizedAlpha>(*this, model); }

}  // namespace osier::generalized_alpha
