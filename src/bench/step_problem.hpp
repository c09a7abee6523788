// One time step taken out of a run: where it starts, its loads, and where it must end.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "bench/subject.hpp"
#include "osier/state.hpp"
#include "scene/setup.hpp"

namespace osier::bench {

class StepProblem {
 public:
  /// The step after `steps` converged ones, so that the rods move and are bent.
  StepProblem(const Subject& subject, int steps, const std::filesystem::path& folder);

  const Model& model() const { return scene_.model(); }
  double h() const { return h_; }
  StepInput input() const { return constant_input(model(), control_, h_); }
  std::unique_ptr<SolverSettings> settings(const Variant& variant) const;

  struct Solved {
    State state;
    StepReport report;
  };
  Solved solve(const Variant& variant) const;
  /// The same step as often as one likes, by a solver that is warm.
  class Repeated {
   public:
    Repeated(const StepProblem& problem, std::unique_ptr<Solver> solver);
    void rewind() { state_ = problem_.start_; }
    StepReport step() { return solver_->step(problem_.input(), state_); }

   private:
    const StepProblem& problem_;
    std::unique_ptr<Solver> solver_;
    State state_;
  };
  Repeated repeat(const Variant& variant) const { return {*this, settings(variant)->make(model())}; }

  /// Seconds of one such step: the least of as many as fit into `budget` seconds, three at least.
  struct Timed {
    double least = 0, median = 0;
    int iterations = 0;
  };
  Timed time(const Variant& variant, double budget) const;

  /// Where the step must end, by the reference solver.
  const std::vector<Vec3d>& solution();
  /// max |y - x*|, with y where everything would be if nothing were elastic: the start of the error below.
  double first_error();
  /// max |x - x*| after `iterations`, over first_error().
  double error_after(Variant variant, int iterations);
  /// The least number of iterations whose error is at most `goal`; nothing when `cap` of them do not do. Errors are taken to fall
  /// with the iterations: doubling, then halving the gap down to one part in a hundred.
  std::optional<int> iterations_to(const Variant& variant, double goal, int cap);

 private:
  void prepare(int steps);

  Scene scene_;
  State start_;
  Control control_;
  double h_ = 0;
  std::vector<Vec3d> solution_;
  std::map<std::tuple<SolverRole, Precision, int>, double> errors_;
};

/// Largest distance between two lists of places.
double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b);

}  // namespace osier::bench
