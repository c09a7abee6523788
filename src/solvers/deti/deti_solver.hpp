// The solver object: what it keeps, and the parts of its step. The conductor is solver.cpp.
//
//   solver.cpp          step(), statics, groups of fibres in lanes
//   solver_state.cpp    between a state and the unknowns of fibres
//   solver_parts.cpp    fibres that hang together: by springs, or for the time that they may touch
//
// Unknowns and mean velocities of sections are solver memory of the vertices. Memory that does not fit the state, because
// somebody else has moved it, is made anew from the state, as at the start.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "contact/contact_step.hpp"
#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "solvers/deti/deti.hpp"
#include "solvers/deti/fibre_energy.hpp"
#include "solvers/deti/fibre_memory.hpp"
#include "solvers/deti/fibre_plan.hpp"
#include "solvers/deti/fibre_reactions.hpp"
#include "solvers/deti/fibre_set.hpp"
#include "solvers/deti/kernels.hpp"
#include "solvers/deti/paper_scheme.hpp"
#include "solvers/solver.hpp"
#include "solvers/solver_memory.hpp"

namespace osier::deti {

/// Where the printed scheme has begun.
inline constexpr MemoryDeclaration kOrigin{"deti/origin", ElementKind::vertex, kUnknowns};

/// Equal fibres side by side.
struct Group {
  Index sections = 0;
  int lanes = 1, fibres = 1;
  std::vector<std::size_t> chain;  ///< per lane
  std::size_t constants = 0;       ///< where its numbers of the model begin
};

class Deti final : public Solver {
 public:
  Deti(const Settings& settings, const Model& model)
      : settings_(settings),
        executor_(settings.execution.threads),
        contact_(settings.execution.threads),
        touching_(settings.execution.threads, settings.execution.simd),
        tied_(settings.execution.threads, settings.execution.simd) {
    arrange(model);
  }

  void rebind(const Model& m, State&) override {
    arrange(m);
    contact_.forget();
  }
  void declare_memory(const Model& m, State& state) const override {
    Memory(m, state);
    if (is_printed()) solver_memory(state, m, kOrigin);
  }
  StepReport step(const StepInput& input, State& state) override;
  StaticReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override;
  void tell_reactions(std::vector<Vec3d>& vertex_force, std::vector<Vec3d>& frame_couple) const override {
    vertex_force = reactions_.force;
    frame_couple = reactions_.couple;
  }

 private:
  void arrange(const Model& m);
  const Chain& chain(std::size_t i) const { return plan_.chains[i]; }
  bool fits(const Chain& c, const State& state, const Memory& memory) const;
  void begin_to_move(const Model& m, const Chain& c, const State& state, Memory& memory, bool known) const;
  void load(const Model& m, const Control& c, const State& state, const Memory& memory, std::size_t fibre, int lane, double h,
            const FibreView& view) const;
  void load_control(const Model& m, const Control& c, const Chain& chain, int lane, double h, const FibreView& view) const;
  void store(const Chain& c, int lane, const FibreView& view, State& state, Memory& memory) const;
  void place_frames(const Chain& c, State& state, const Memory& memory) const;
  void finish(const Model& m, const Control& c, State& state, StepReport& report) const;
  void start_fibres(const StepInput& input, State& state, Memory& memory);
  void meet(const StepInput& input, State& state, Memory& memory, StepReport& report);
  void step_fibres(const StepInput& input, State& state, Memory& memory);
  StepRule rule(double h) const { return {h, settings_.rho, settings_.variant, viscous_}; }
  bool is_krylov() const { return settings_.functions == Functions::krylov; }
  bool is_printed() const { return settings_.scheme == Scheme::paper; }
  const PaperScheme& printed(std::size_t fibre, const FibreView& view);
  void by_krylov(const FibreView& view, double h, bool starts) const;
  void group_fibres();
  void tie_up(const Model& m, const Control& c);
  std::vector<Tie> ties_within(const FibreSet& set, const std::vector<std::size_t>& fibres, const Control& c) const;
  void load_set(const StepInput& input, const Control& c, const State& state, const Memory& memory, FibreSet& set,
                const std::vector<std::size_t>& fibres) const;
  bool take_touching(const Model& m);
  void keep_first_motion(std::size_t fibre, const FibreView& view, int lane, Memory& memory) const;
  /// use(group, view, kernel) for every group, with memory of its own for every thread.
  template <class F>
  void each_group(const F& use) {
    executor_.for_each_job(groups_.size(), [&](std::size_t i) {
      const Group& g = groups_[i];
      FibreView view = view_of(g.sections, g.lanes, settings_.variant, constants_.data() + g.constants,
                               memory_.data() + static_cast<std::size_t>(executor_.worker()) * numbers_of_thread_);
      use(g, view, g.lanes > 1 ? *lanes_ : *single_);
    });
  }

  Settings settings_;
  Executor executor_;
  FibrePlan plan_;
  const FibreKernel *lanes_ = nullptr, *single_ = nullptr;
  std::vector<Group> groups_;
  AlignedArray<double> constants_, memory_;
  std::size_t numbers_of_thread_ = 0;
  FibreReactions reactions_;
  std::vector<std::uint8_t> starts_;                   ///< per chain
  std::vector<std::unique_ptr<PaperScheme>> printed_;  ///< per chain, once it has moved
  std::span<double> origin_;                           ///< of the printed scheme, in the state's memory: 12 per vertex
  bool viscous_ = false;

  struct Place {
    Index chain = -1, section = -1;
  };
  std::vector<Place> place_;                    ///< per vertex
  std::vector<std::array<Index, 2>> tie_ends_;  ///< of the springs at hand
  std::vector<Index> part_;                     ///< per chain: the first of those that springs join it to
  std::vector<std::size_t> tied_fibres_;        ///< chains with springs, in their order
  // A step with contact.
  contact::ContactStep contact_;
  FibreSet touching_, tied_;
  std::vector<std::size_t> touching_fibres_;  ///< chains that the set has
  std::vector<std::uint8_t> touches_;         ///< per chain
  std::vector<std::uint8_t> segment_touches_;
  std::vector<Index> touching_vertex_;  ///< per section of the set
  bool held_back_ = false;
};

}  // namespace osier::deti
