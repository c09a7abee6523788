// Watches a run step by step, and judges it by a path of its own: whether anything passed through anything (certificate/), and
// whether energy and momentum went where forces took them.
//
// Energy. Let r be what a step has left of its equations, and dx, w the motion of its vertices and frames. Then, for implicit
// Euler and with v' = dx/h,
//
//   sum r.dx + r.w = dT + sum m/2 |v' - v|^2 + grad E.(dx, w) + grad U.dx + friction + damping - loads
//
// is an identity. Its left side is made from what the solver has solved, its right side from velocities, from the section forces
// and moments that are written out (sim/measure.hpp) and from the barriers of pairs that are found here. On what is held, r is
// the force of the constraint, and its share is the work that drives the rods.
//
// Momentum. Forces between rods and within them add up to nothing, and so do their moments. Friction acts along centrelines, a
// diameter apart: the couple that it exerts on the whole is booked by itself.
//
// A step may end nowhere lower than where it began, or above it: the minimum of its potential is no higher than the potential at
// its start, so that T + E + U gains at most T' less the loss to the step. More than that is energy out of nothing. What a solver
// calls solved is solved: at most kMostLeft of the largest force is left.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "certificate/linking.hpp"
#include "certificate/motion_check.hpp"
#include "certificate/path_recorder.hpp"
#include "osier/certificate.hpp"
#include "sim/reaction.hpp"

namespace osier {

class Certifier {
 public:
  /// Is told what the contacts do from now on, which it has to outlive. `rounding`: relative, of the solver's numbers;
  /// `solves`: the solver means its steps to be solutions.
  Certifier(const Model& model, const State& initial, Contacts& contacts, int threads, double rounding, bool solves);
  ~Certifier();
  Certifier(const Certifier&) = delete;
  Certifier& operator=(const Certifier&) = delete;

  /// A step is tried from here, which is where the last one ended that was accepted.
  void begin(const Model& model, const State& start);
  /// It has ended. `potential` has been begun for it, and `balance` has been measured.
  void end(const StepPotential& potential, const StepBalance& balance, const State& end, const StepReport& report);
  /// The same of a solver with equations of its own: what passed through what is judged, and no energy or momentum.
  void end_of_motion(const State& end);
  /// It counts, and has led here. Returns what is wrong with it; empty: nothing.
  std::string accept(const State& end);

  const CertificateReport& report() const { return report_; }

 private:
  /// What contact did in the step at hand.
  struct ContactAccount {
    double energy_start = 0, energy_end = 0;
    double work = 0, turnover = 0;  ///< of barriers on rods; of its parts, without signs
    double friction_work = 0;       ///< on rods
    double friction_loss = 0;
    double obstacle_work = 0, obstacle_push_work = 0;  ///< of all that moves obstacles; against normal forces alone
    Vec3d obstacle_force, obstacle_moment, friction_couple;
    double force_size = 0;
  };
  /// What springs did in the step at hand.
  struct SpringAccount {
    std::vector<double> work;            ///< against rods, one of each
    double driven = 0, driven_size = 0;  ///< by the places they are tied to, and without signs
    double damping = 0, step = 0;        ///< lost
    double energy_start = 0, energy_end = 0, noise = 0;
  };
  class Observer;
  struct Step;

  const Model& model() const { return *m_; }
  void measure(const StepPotential& potential, const StepBalance& balance, const State& end, const StepReport& report);
  void measure_momentum(const StepPotential& potential, const StepBalance& balance, const State& end, Step& step) const;
  std::vector<Vec3d> displacements(const State& end) const;
  SpringAccount account_of_springs(const StepPotential& potential, const State& end) const;
  void take_springs_off(const StepPotential& potential, const State& end, const Vec3d& centre, Vec3d& force, Vec3d& couple,
                        double& size) const;
  double kinetic(const State& state) const;
  std::string names(Index a, Index b) const;
  std::string about(const certificate::Collision& collision) const;
  std::string what_is_wrong() const;

  const Model* m_;
  Contacts& contacts_;
  Executor executor_;
  double rounding_;
  bool solves_;
  std::unique_ptr<Observer> observer_;
  certificate::MotionCheck check_;
  certificate::Linking linking_;
  long link_every_ = 1;
  State start_;              ///< of the step at hand
  State last_;               ///< the end of the last accepted one
  double last_elastic_ = 0;  ///< with the model of then
  double last_kinetic_ = 0, last_contact_ = 0;
  std::vector<std::uint8_t> segment_alive_, joint_alive_;
  std::string fault_;  ///< of the step at hand, found before it began
  std::unique_ptr<Step> step_;
  CertificateReport report_;
};

}  // namespace osier
