// Rods and their contacts and springs together: conjugate gradients on the exact Hessian of both. The preconditioner is a factor
// of the rods, to which contacts add positive blocks on single vertices.
//
// The exact Hessian may be indefinite: what destabilises two strands that are wound around each other, the force of their contact
// over its distance, cancels against the tension of the strands. Conjugate gradients end where they find that the energy falls
// along a direction, with the correction that they have by then, which descends.
//
// The first direction is the rods' own step and not their solve for the gradient: links may then be as stiff as one likes.
#pragma once

#include <memory>

#include "contact/contact_step.hpp"
#include "core/archive.hpp"
#include "exec/parallel.hpp"
#include "linalg/pcg.hpp"
#include "solvers/step_hessian.hpp"

namespace osier::systems {

class CoupledSystem final : public LinearSystem {
 public:
  /// `rods` has a factor.
  CoupledSystem(std::unique_ptr<LinearSystem> rods, int threads)
      : rods_(std::move(rods)), executor_(threads), hessian_(threads) {}
  /// The contacts of the step; they are linearised by the caller. Without them, the factor of the rods is that of everything.
  void set_contact(const contact::ContactStep& contact) { contact_ = &contact; }

  void forget() override { rods_->forget(); }
  void bind(const Model& m, const Control& c, const Subset& subset, double h) override;
  Signature linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) override;
  bool step(const Accuracy& accuracy) override;
  Vec3d displacement(Index v) const override { return sum_.x[static_cast<std::size_t>(v)]; }
  Vec3d turn(Index s) const override { return sum_.w[static_cast<std::size_t>(s)]; }
  bool was_solved() const override { return solved_; }
  /// Whether the factor of the rods has been of no use since it was made: contacts were stiffer than rods by more than its
  /// arithmetic can tell.
  bool has_lost_digits() const { return lost_digits_; }
  bool solve(const Field& r, Field& z) override;
  void product(const Field& p, Field& image) const override;
  bool has_couples() const override { return rods_->has_couples(); }
  void forget_forces() override { rods_->forget_forces(); }
  void carry(Archive& archive) override {
    rods_->carry(archive);
    archive(lost_digits_);
  }
  std::size_t bytes() const override;
  /// Iterations of conjugate gradients so far.
  long iterations() const { return iterations_; }

 private:
  struct Iteration;
  /// Calls f(part, i) for every entry of a field, on all threads; `part` is &Field::x or &Field::w.
  template <class F>
  void each_entry(const F& f) const {
    const auto vertices = static_cast<std::size_t>(potential_->model().vertex_count());
    const auto frames = static_cast<std::size_t>(potential_->model().frame_count());
    executor_.for_each(vertices + frames, [&](std::size_t i) {
      if (i < vertices) f(&Field::x, i);
      else f(&Field::w, i - vertices);
    });
  }
  double dot(const Field& a, const Field& b) const;
  bool correct(const Accuracy& accuracy);
  bool iterate();

  std::unique_ptr<LinearSystem> rods_;
  Executor executor_;
  const contact::ContactStep* contact_ = nullptr;
  const StepPotential* potential_ = nullptr;
  const Unknowns* z_ = nullptr;
  StepHessian hessian_;
  std::vector<VertexBlock> blocks_;
  Field sum_, left_, scaled_, direction_, image_;
  mutable std::vector<double> partial_;
  bool solved_ = true, frames_move_ = true, lost_digits_ = false;
  long iterations_ = 0;
};

}  // namespace osier::systems
