// Equilibria of a fibre: Newton's method on its unknowns with the exact stiffness, shifted where that is indefinite.
#pragma once

#include "exec/aligned.hpp"
#include "solvers/deti/fibre_memory.hpp"
#include "solvers/deti/fibre_plan.hpp"

namespace osier::deti {

/// What a control holds of a section, and where.
struct Held {
  bool centre = false, frame = false;
  double target[kUnknowns]{};
};
Held held_unknowns(const Control& control, const Chain& chain, std::size_t section);

class FibreEquilibrium {
 public:
  FibreEquilibrium(const Fibre& fibre, Variant variant);
  /// Unknowns, loads and what is held have to be put there.
  FibreView& view() { return view_; }
  /// `EI` and `length` say how soft the fibre is.
  StaticReport solve(const StaticOptions& options, double EI, double length);

 private:
  double energy() const;
  void turn_to_targets();
  double residual(Index* worst = nullptr);
  double scale();
  double rounding() const;
  int factor(double shift);
  bool newton_step(double& shift, double least_shift, double most_turn);
  void converge(const StaticOptions& options, double least_shift, StaticReport& report);

  Fibre fibre_;
  AlignedArray<double> model_, step_;
  FibreView view_;
};

}  // namespace osier::deti
