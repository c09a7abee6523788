// One rod of the solver `generalized_alpha`: cells between stations, six boundary rows at either end, and what is known of them
// between steps.
#pragma once

#include <array>
#include <vector>

#include "exec/aligned.hpp"
#include "math/quat.hpp"
#include "solvers/generalized_alpha/dispatch.hpp"
#include "solvers/generalized_alpha/newton_view.hpp"

namespace osier::generalized_alpha {

/// What a rod is made of.
struct RodModel {
  std::vector<Cell<double>> cells;
  std::vector<Sym3<double>> stiffness;  ///< K = (EI1, EI2, GJ) per station [N m^2]
  std::vector<Sym3<double>> viscosity;  ///< C per station [N m^2 s]
  std::vector<Vec3d> lumped;            ///< the same share of rhoI per station, times h^2/4 [kg m^3]
  std::vector<Quatd> offset;            ///< per cell, from the axes of its middle to the material frame of its segment at rest
  bool closed = false;                  ///< whether the last station is the first one again

  std::size_t cell_count() const { return cells.size(); }
  std::size_t station_count() const { return cells.size() + 1; }
  /// Units in which one tolerance fits all unknowns: length, mean line density and largest bending stiffness.
  double length = 1, line_density = 1, bending = 1;
  void find_units();
  /// Takes from the stiffness and viscosity of stations what box equations of cells that are turned at rest add to it
  /// (docs/theory/generalized_alpha.md, section 9).
  void soften();
  /// Lets two thirds of the mass and of the moments of inertia stand at stations: waves along the rod are then of fourth order
  /// (docs/theory/generalized_alpha.md, section 3).
  void lump();
  double time_unit() const;   ///< L^2 sqrt(rhoA/EI) [s]
  double force_unit() const;  ///< EI/L^2 [N]
};

/// What a rod carries from step to step.
struct RodState {
  std::vector<Station<double>> x;
  std::vector<Rates<double>> rate, rate_before;
  std::vector<Quatd> frame;                                                   ///< of stations
  std::vector<Vec3d> place;                                                   ///< of stations [m]
  std::vector<Vec3d> strain, strain_rate, strain_rate_before, strain_second;  ///< per cell
  Vec3d place_rate, place_rate_before;   ///< of the station from which places are found [m/s]
  std::array<Vec3d, 2> lead, lead_turn;  ///< mean velocities that held ends had in the last step [m/s], [rad/s]
  double dt = 0;                         ///< of the last step [s]
  int history = 0;                       ///< stored rates: 0, so that a step has to be one of backward Euler, 1 or 2
  bool second_known = false;             ///< whether rates of rates are stored, for steps of length dt

  void resize(std::size_t cells);
};

/// What acts on a rod at one time.
struct Loads {
  std::vector<CellLoad<double>> cells;
  std::array<EndLoad<double>, 2> ends;
  void resize(std::size_t n) {
    cells.assign(n, {});
    ends = {};
  }
};

/// What acts on a rod over a step.
struct RodControl {
  Loads start, end;
  std::vector<CellDrag<double>> drag;  ///< per cell
  std::array<double, 2> end_drag{};    ///< [kg/s]
  std::array<bool, 2> place_held{}, frame_held{};
  std::array<Guide, 2> guide{};       ///< of held places
  std::array<Vec3d, 2> guide_axis{};  ///< world axes, unit
  void resize(std::size_t cells);
  bool any_load = true;    ///< whether any cell has a load in world axes, which turns with the frames
  bool any_couple = true;  ///< and whether any of them is a couple
  /// The station from which frames and places are found: one that is held, if there is one.
  bool from_last() const {
    const auto firm = [&](std::size_t e) { return place_held[e] ? (guide[e] == Guide::none ? 2 : 1) : 0; };
    if (frame_held[0] != frame_held[1]) return frame_held[1];
    return firm(1) > firm(0);
  }
};

struct Outcome {
  bool converged = false;
  int iterations = 0;
  int steps = 0;                       ///< into which the step was divided
  double residual = 0;                 ///< largest force, or moment over length, that is left over [N]
  double scale = 0;                    ///< largest force at work [N]
  double inertia = 0;                  ///< largest force of inertia on a cell [N]
  std::size_t worst = 0;               ///< cell
  std::array<Vec3d, 2> force, couple;  ///< what holds an end exerts on it [N], [N m]
};

/// The material frame of a cell's segment: that of its middle, moved by (h/4) (k_left - k_right), so that the turns between
/// segments, and that from a clamp to its segment, are those of the stations' curvatures.
Quatd segment_frame(const RodModel& model, const RodState& state, std::size_t cell);

/// Frames and places along a rod, from the station `from` where they are known.
void sweep_frames(const RodModel& model, RodState& state, bool from_last);

/// Changes curvatures by what takes least energy, so that a closed rod ends where it begins; frames and places with them. False
/// where that is too far.
bool close_rod(const RodModel& model, RodState& state);

/// Energy of motion and of deformation that the scheme keeps: that of the means of cells [J].
double box_energy(const RodModel& model, const RodState& state);

/// Steps of rods, with memory for the longest of them.
class RodStepper {
 public:
  explicit RodStepper(Simd simd = Simd::off) : triangulate_(triangulate_by(simd)) {}
  /// One step of length dt; where Newton's method fails, in up to 64 parts, each begun with backward Euler. `state` is that of
  /// before where nothing helps.
  Outcome step(const RodModel& model, const RodControl& control, const Weights& weights, double dt, const NewtonGoal& goal,
               RodState& state);
  /// Equilibrium under the loads at the end of the control, by growing steps of backward Euler. `tolerance`: forces of inertia
  /// that may be left, relative to the largest force at work.
  Outcome relax(const RodModel& model, const RodControl& control, double tolerance, int max_iterations, const NewtonGoal& goal,
                RodState& state);

  /// The same step as step(), in turns with others in lanes: what Newton's method starts from,
  void begin_step(const RodModel& model, const RodControl& control, const Weights& weights, double dt, const RodState& state);
  /// the arrays that it works on,
  NewtonView<double>& view() { return view_; }
  /// and what becomes of its result.
  Outcome end_step(const RodModel& model, const RodControl& control, int iterations, RodState& state);

 private:
  /// Which part of the control's step is at hand, and how held ends move.
  struct Part {
    double from = 0, to = 1;
    double closure = 0.5;  ///< share of the gap of a held end that a step closes
    bool restart = false;
    bool still = false;  ///< on the way to an equilibrium, where there is no inertia
  };
  Outcome attempt(const RodModel& model, const RodControl& control, const Stage& stage, const Part& part, const NewtonGoal& goal,
                  RodState& state);
  void begin(const RodModel& model, const RodControl& control, const Stage& stage, const Part& part, const RodState& state);
  void find_laws(const RodModel& model);
  void find_bows(const RodModel& model, const Part& part, const RodState& state);
  void lead_ends(const RodModel& model, const RodControl& control, const Part& part, const RodState& state);
  void show(const RodModel& model, const RodControl& control);
  bool accept(const RodModel& model, const RodControl& control, RodState& state);
  void place_first(const RodControl& control, RodState& state) const;
  void tell(const RodModel& model, const RodControl& control, Outcome& outcome) const;

  Triangulate triangulate_;
  NewtonView<double> view_{};
  Stage stage_;
  Loads start_, end_;  ///< of the part at hand
  std::vector<Station<double>> x_, before_;
  std::vector<Rates<double>> rate_, rate_before_;  ///< the latter moved to where this step expects them
  std::vector<Vec3d> strain_before_, strain_rate_before_, strain_second_before_;
  std::vector<Vec3d> second_rest_;
  bool rates_known_ = false, second_known_ = false;
  Vec3d place_rate_before_;
  std::vector<StageEnd<double>> y_;
  std::vector<Vec3d> turn_;
  std::vector<Quatd> frame_, frame_before_;
  std::vector<StrainLaw<double>> law_;
  std::vector<CellForce<double>> force_;
  std::vector<Residual<double>> residual_;
  std::array<EndResidual<double>, 2> end_residual_{};
  std::array<EndHold<double>, 2> hold_{};
  std::array<Vec3d, 2> lead_, lead_turn_;
  Units<double> units_{};
  std::vector<double> dx_;
  AlignedArray<double> kept_;
  RodState state_before_, state_open_;
};

}  // namespace osier::generalized_alpha
