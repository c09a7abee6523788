// One time step of a graph, or of a part of it, by the Newton driver (solvers/newton_driver.hpp) on whatever solves its linear
// systems faster: the recursion along a spanning tree, O(n) on chains and trees and more expensive with loops, or conjugate
// gradients.
// docs/theory/direct.md has the derivations.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "solvers/driver_options.hpp"
#include "solvers/newton_driver.hpp"
#include "solvers/solver.hpp"

namespace osier::direct {

using systems::Loops;
using systems::Options;

class DirectSolver final : public Solver {
 public:
  /// The solver of the whole model.
  explicit DirectSolver(const Model& model, const Options& options = {});
  /// The solver of some segments, for solve() and store().
  DirectSolver(Subset subset, const Options& options);

  void rebind(const Model& model, State& state) override;
  void carry(const Model& model, Archive& archive) override;
  StepReport step(const StepInput& input, State& state) override;
  StaticReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override;
  PathReport follow_path(const Model& m, LoadPath& path, State& state, const StaticOptions& options,
                         const PathStep& step) override;

  /// The two halves of step() for a subset of a model. Other subsets may be stored in between. New velocities go into
  /// vertex_velocity_previous, and the frames of anchors are left to the caller.
  StepReport solve(const StepInput& input, const State& state);
  void store(State& state, StepReport& report);
  /// Changes to another subset and keeps the memory.
  void set_subset(Subset subset);

  std::size_t bytes() const;
  /// The memory that the solver will have.
  static std::size_t bytes(const Model& model, const Subset& subset, const Control& control, double h, const Options& options);

 private:
  Solver& statics(const Model& m, const Control& c);
  void make_fallback();
  void plan(const Model& model, const Control& control, double h);
  void settle_plan(const Model& model, const Control& control, double h);

  Options options_;
  Subset subset_;
  /// The holds at the time of the plan: vertices, then frames with their kind of control.
  std::vector<std::pair<Index, FrameControl>> held_;
  bool planned_ = false;
  double planned_h_ = 0;
  Loops loops_ = Loops::automatic;
  bool had_terms_ = false;  ///< springs, or vertices held along single directions
  bool in_double_ = false;  ///< the last solution is that of `fallback_`
  systems::NewtonDriver driver_;
  std::unique_ptr<DirectSolver> fallback_;  ///< solver in double for steps in which float finds no lower energy
  std::unique_ptr<Solver> statics_;
  std::optional<std::string> kept_system_, kept_statics_;  ///< of a checkpoint, until the objects they belong to are made
};

/// Sets the frames of anchors to where they are held.
void hold_anchors(const Model& model, const Control& control, State& state);

}  // namespace osier::direct
