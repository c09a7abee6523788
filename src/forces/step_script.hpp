// Several steps in a row, told in advance: loads that follow one rule everywhere, and holds that move as a whole. A solver whose
// state is not in the memory of the host takes them without a word from there.
#pragma once

#include <memory>
#include <vector>

#include "forces/wind_formula.hpp"
#include "math/quat.hpp"

namespace osier {

/// The loads of one step that follow the same rule at every vertex.
struct FieldLoads {
  Vec3d acceleration{0, 0, 0};    ///< [m/s^2]
  double damping_per_mass = 0;    ///< [1/s]
  double damping_per_length = 0;  ///< [N s/m^2]; half the rest length of every segment at the vertex counts

  OSIER_FN Vec3d force(double mass) const { return mass * acceleration; }
  OSIER_FN double damping(double mass, double length) const { return damping_per_mass * mass + damping_per_length * length; }
};

/// All loads of one step.
struct StepLoads {
  FieldLoads field;
  std::vector<WindMoment> winds;
};

/// Where a constraint has brought what it holds by the end of a step.
struct Mover {
  bool turns = false;
  Quatd turn;
  Vec3d center{0, 0, 0}, shift{0, 0, 0};
  Quatd turn_of_frames;

  OSIER_FN Vec3d place(const Vec3d& x) const { return (turns ? center + rotate(turn, x - center) : x) + shift; }
  OSIER_FN Quatd frame(const Quatd& q) const { return turn_of_frames * q; }
};
struct HeldVertex {
  Index vertex, mover;
  Vec3d place;  ///< before any motion
};
struct HeldFrame {
  Index frame, mover;
  Quatd rotation;
};

/// What is held in all steps of a run, by which mover.
struct ScriptHolds {
  std::vector<HeldVertex> vertices;
  std::vector<HeldFrame> frames;
  Index movers = 0;
};

struct StepScript {
  double h = 0;                   ///< of every step [s]
  std::vector<FieldLoads> loads;  ///< step by step
  std::vector<WindMoment> winds;  ///< step by step, all of a step together
  std::vector<Mover> movers;      ///< step by step, all of a step together
  /// The same object as long as nothing else is held: solvers keep what they have made of it.
  std::shared_ptr<const ScriptHolds> holds;

  int steps() const { return static_cast<int>(loads.size()); }
  Index winds_per_step() const { return loads.empty() ? 0 : static_cast<Index>(winds.size() / loads.size()); }
};

}  // namespace osier
