// What Newton's method of a rod works on, as arrays: of one rod, or of one rod per lane. All arrays have the same order in every
// number type, so that rods are put into lanes and taken out of them number by number.
#pragma once

#include <array>
#include <cstddef>

#include "math/quat.hpp"
#include "solvers/generalized_alpha/box.hpp"
#include "solvers/generalized_alpha/weights.hpp"

namespace osier::generalized_alpha {

template <class T>
struct Rates {
  Vec3<T> u, w, k;
  Vec3<T> turn;    ///< rate of the frame, local axes [rad/s]
  Vec3<T> second;  ///< of k [1/(m s^2)]
};

/// Loads on a cell, world axes, per length; those of its ends turn with them.
template <class T>
struct CellLoad {
  Vec3<T> left, right;      ///< share of the force per length that turns into local axes with the left or the right end [N/m]
  Vec3<T> couple;           ///< world axes [N]
  Vec3<T> couple_material;  ///< local axes [N]
};

template <class T>
struct EndLoad {
  Vec3<T> force;            ///< world axes [N]
  Vec3<T> couple;           ///< world axes [N m]
  Vec3<T> couple_material;  ///< local axes [N m]
  Vec3<T> place;            ///< where the end is held [m]
  Quat<T> frame;            ///< how
};

/// How an end is led.
template <class T>
struct EndHold {
  Vec3<T> velocity;  ///< world axes [m/s]
  Vec3<T> spin;      ///< local axes [rad/s]
  Vec3<T> axis;      ///< of its guide, world axes, unit
  T drag;            ///< of the end itself [kg/s]
};

/// Along which directions an end whose place is held is held.
enum class Guide : std::uint8_t {
  none,  ///< all
  rail,  ///< all but that of the axis
  wall,  ///< that of the axis
};

template <class T>
struct CellDrag {
  T left, right;  ///< [kg/(s m)]
};
template <class T>
struct EndResidual {
  Vec3<T> place, frame;
};
/// Units of a rod: length [m], force [N].
template <class T>
struct Units {
  T length, force;
};

struct NewtonGoal {
  double tolerance = 1e-8;  ///< of corrections, in the units of the rod
  int max_iterations = 25;
};

/// What rods that are stepped together have in common.
struct NewtonRule {
  std::size_t cells = 0;
  Stage stage;
  double second_by_rate = 0;  ///< of rates of rates by rates, both at the stage [1/s]
  std::array<bool, 2> place_held{}, frame_held{};
  std::array<Guide, 2> guide{};
  bool any_load = true;    ///< whether any cell has a load in world axes, which turns with the frames
  bool any_couple = true;  ///< and whether any of them is a couple
  bool closed = false;     ///< whether the last station is the first one again; for single rods
};

template <class T>
struct NewtonView : NewtonRule {
  const Cell<T>* cell;
  const Sym3<T>*stiffness, *viscosity;  ///< of stations
  const Vec3<T>* lumped;
  const CellLoad<T>*start_load, *end_load;
  const CellDrag<T>* drag;
  const EndLoad<T>*start_end, *end_end;
  const EndHold<T>* hold;
  const Units<T>* units;
  const Station<T>* before;
  const Rates<T>* rate_before;
  const Quat<T>* frame_before;
  const Vec3<T>* second_rest;  ///< of k: at the stage, without a rate there [1/(m s^2)]
  const StrainLaw<T>* law;
  // What changes.
  Station<T>* x;
  Rates<T>* rate;
  StageEnd<T>* y;
  Vec3<T>* turn;  ///< of frames over the step, local axes
  Quat<T>* frame;
  CellForce<T>* force;
  Residual<T>* residual;
  EndResidual<T>* end_residual;
  T *dx, *kept;  ///< corrections, and pivot rows

  /// f(array, how many) for all that a rod brings along, and for all that it takes back.
  template <class F>
  void each_input(const F& f) {
    const std::size_t stations = cells + 1, ends = 2;
    f(cell, cells), f(stiffness, stations), f(viscosity, stations), f(lumped, stations);
    f(start_load, cells), f(end_load, cells), f(drag, cells);
    f(start_end, ends), f(end_end, ends), f(hold, ends), f(units, std::size_t{1});
    f(before, stations), f(rate_before, stations), f(frame_before, stations), f(second_rest, stations), f(law, cells);
  }
  template <class F>
  void each_result(const F& f) {
    const std::size_t stations = cells + 1, ends = 2;
    f(x, stations), f(rate, stations), f(y, stations), f(turn, stations), f(frame, stations);
    f(force, cells), f(residual, cells), f(end_residual, ends);
  }
};

}  // namespace osier::generalized_alpha
