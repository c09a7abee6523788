// The Newton iterations of a step, whatever solves their linear systems:
//
//   linearise -> solve -> take the correction, or search along it for a lower energy -> stop rule
//
// The curvature is the exact one where that is positive definite, otherwise the positive one. Parts of a model that are stepped
// apart from each other have a driver each. With contact, corrections go through its guard and always have to lower the energy
// (newton_contact.cpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "contact/contact_step.hpp"
#include "exec/reduce.hpp"
#include "linalg/linear_system.hpp"
#include "solvers/driver_options.hpp"
#include "solvers/settling.hpp"
#include "solvers/step_potential.hpp"

namespace osier::systems {

class NewtonDriver {
 public:
  explicit NewtonDriver(const Options& options) : options_(options), executor_(options.threads) {}
  /// Sets the linear system and binds it to the present holds. Null: binds the system that is there again.
  void arrange(std::unique_ptr<LinearSystem> system) { system_ = std::move(system); }
  LinearSystem* system() { return system_.get(); }
  /// Forgets forces, ratios and turns of earlier steps, which mean nothing for another model.
  void rebind();
  /// What one step leaves behind for the next, but for the linear system.
  void carry(Archive& archive);

  /// Computes the step of the elements of `subset`. In float the search may find no lower energy: then has_given_up(), and there
  /// is nothing to store.
  StepReport solve(const Model& m, const Control& c, const State& state, double h, const Subset& subset);
  /// The same with contact, which begin() of `contact` has set up for this step. The linear system has to know it.
  StepReport solve(const Model& m, const Control& c, const State& state, double h, const Subset& subset,
                   contact::ContactStep& contact);
  const Unknowns& unknowns() const { return z_; }
  bool has_given_up() const { return given_up_; }
  /// Puts the solution into the state. The new velocities go into vertex_velocity_previous: the caller swaps the two when all
  /// parts of a model are done. The frames of anchors are left to the caller, too.
  void store(State& state, StepReport& report);

  std::size_t bytes() const;
  /// The memory of a driver without its linear system.
  static std::size_t bytes(const Model& model);

 private:
  void begin(const Model& m, const Control& c, const State& state, double h, const Subset& subset,
             contact::ContactStep* contact = nullptr);
  bool solve_linear(Curvature curvature, bool frames_move = true);
  void correct();
  void measure_correction();
  Accuracy accuracy();
  double bend(Index s) const;
  double motion();
  double extent();
  double free_motion();
  void move(double share);
  void move_to(double share);
  void settle_positions();
  bool descend();
  /// What a guarded search along a correction has found.
  struct Descent {
    bool lower = false;  ///< an energy that is lower; otherwise the unknowns are those of before
    bool whole = false;  ///< with the whole correction
  };
  Descent descend_guarded(contact::ContactStep& contact);
  void locate_trouble(StepReport& report) const;
  /// The largest f(i) that is not negative; NaN if one of them is.
  template <class F>
  double largest(const IndexList& list, const F& f);

  Options options_;
  Executor executor_;
  std::unique_ptr<LinearSystem> system_;
  StepPotential potential_;
  const Subset* subset_ = nullptr;
  Unknowns z_;  ///< between steps, q holds the frames of the start of the last step
  Outlook outlook_;
  bool was_exact_ = false;        ///< the last solve had the exact curvature
  int wait_ = 0, next_wait_ = 0;  ///< steps until the exact curvature is tried again, and the number for its next failure
  Couples couples_ = Couples::of_last_force;
  bool given_up_ = false;
  bool has_arrived_ = true;        ///< everything prescribed is where it is to be
  double turned_ = 0, moved_ = 0;  ///< largest turn [rad] and largest change of the corrections [m]; NaN if one of them is
  double share_ = 0;               ///< share of the corrections that is in the unknowns
  std::vector<double> block_largest_;
};

template <class F>
double NewtonDriver::largest(const IndexList& list, const F& f) {
  constexpr std::size_t kBlock = 128;
  /// The sum is not finite where one of the values is not.
  struct Largest {
    double most = 0, all = 0;
    void add(double x) {
      most = std::max(most, x);
      all += x;
    }
    double value() const { return std::isfinite(all) ? most : std::numeric_limits<double>::quiet_NaN(); }
  };
  block_largest_.resize(blocks_of(list.size(), kBlock));
  const auto of_range = [&](std::size_t begin, std::size_t end) {
    Largest sum;
    for (std::size_t i = begin; i < end; ++i) sum.add(f(list[i]));
    return sum.value();
  };
  Largest sum;
  reduce_ranges(executor_, list.size(), kBlock, block_largest_.data(), of_range, [&](double&, double x) { sum.add(x); });
  return sum.value();
}

}  // namespace osier::systems
