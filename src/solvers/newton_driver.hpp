// The Gauss-Newton iterations of a step, whatever solves their linear systems: the recursion along a tree (tree_engine.cpp) or
// conjugate gradients on blocks (block_engine.cpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "solvers/driver_options.hpp"
#include "solvers/settling.hpp"
#include "solvers/step_model.hpp"
#include "solvers/systems/tree/tree.hpp"

namespace osier::systems {

/// How much of the energy's curvature an iteration has (docs/theory/direct.md).
enum class Curvature : std::uint8_t {
  positive,  ///< what is positive by construction
  exact,     ///< with compression and the couples of shear forces, which may make the whole indefinite
};

/// The axes of a segment with a stiffness for each turn with its frame, which gives a couple n x (p - axis). At the first guess
/// of a step n is as large as segments are stiff, and means nothing: that of the last solve is never far off, and the same once
/// iterations have converged. Far from equilibrium, where the energy is to fall, only the gradient itself will do.
enum class Couples : std::uint8_t { of_last_force, of_strain };

/// The algorithm, whatever its linear algebra.
class Engine {
 public:
  explicit Engine(const Options& options) : options_(options), executor_(options.threads) {}
  virtual ~Engine() = default;
  virtual std::size_t bytes() const = 0;
  /// For what is held now: memory, and the tree for those that have one.
  virtual void arrange(const Model& m, Tree tree) = 0;
  /// Another model: forces of earlier steps mean nothing any more.
  void rebind() {
    forget_forces();
    wait_ = next_wait_ = 0;
    outlook_.forget();
  }
  /// Leaves the state as it is where float finds no way down: has_given_up().
  StepReport step(const Model& m, const Control& c, State& state, double h);
  bool has_given_up() const { return given_up_; }

 protected:
  virtual void forget_forces() = 0;
  /// Corrections for the state at hand, and forces for the next time. False if the exact curvature is not positive.
  virtual bool solve(Curvature curvature) = 0;
  /// Whether `couples_` makes a difference.
  virtual bool has_couples() const { return false; }
  /// Whether that was done to the accuracy it should have.
  virtual bool was_solved() const { return true; }
  /// The same for positions at the frames at hand, for which the energy is quadratic: their minimum.
  virtual void solve_positions() = 0;
  /// Adds a share of the corrections to u and q.
  virtual void move(double share) = 0;
  /// Largest turn of the corrections [rad] and largest correction [m]; not a number if one of them is none.
  virtual double largest_turn() = 0;
  virtual double largest_correction() = 0;
  virtual void locate_trouble(StepReport& report) const = 0;
  /// Of the torques, along the corrections.
  virtual double torque_work() const = 0;

  void correct();
  double extent();
  double free_motion();
  void move_to(double share);
  void settle_positions();
  bool descend();
  struct Correction {
    std::vector<Vec3d> x, w;  ///< per vertex, per segment
  };
  virtual Correction correction() const = 0;
  void store(State& state, StepReport& report);
  /// The largest f(i) that is not negative; not a number if one of them is none.
  template <class F>
  double largest(std::size_t n, const F& f);

  Options options_;
  Executor executor_;
  StepModel step_;
  Outlook outlook_;
  bool was_exact_ = false;        ///< the curvature of the last solve
  int wait_ = 0, next_wait_ = 0;  ///< steps until the exact curvature is tried again, and how many the next time that it fails
  Couples couples_ = Couples::of_last_force;
  bool given_up_ = false;
  double turned_ = 0;  ///< largest turn of the corrections [rad]
  double share_ = 0;   ///< of the corrections that is in u and q
  std::vector<double> block_largest_;
};

template <class F>
double Engine::largest(std::size_t n, const F& f) {
  constexpr std::size_t kBlock = 128;
  const auto add = [](double x, double& most, double& all) { most = std::max(most, x), all += x; };
  const auto result = [](double most, double all) {
    return std::isfinite(all) ? most : std::numeric_limits<double>::quiet_NaN();
  };
  block_largest_.resize((n + kBlock - 1) / kBlock);
  executor_.for_each(
      block_largest_.size(),
      [&](std::size_t block) {
        double most = 0, all = 0;
        for (std::size_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) add(f(i), most, all);
        block_largest_[block] = result(most, all);
      },
      kBlock);
  double most = 0, all = 0;
  for (double x : block_largest_) add(x, most, all);
  return result(most, all);
}

std::unique_ptr<Engine> make_tree_engine(const Options& options);
std::unique_ptr<Engine> make_block_engine(const Options& options);

}  // namespace osier::systems
