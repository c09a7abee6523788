// What a run under a certificate has shown so far: that nothing passed through anything, and where energy and momentum went.
#pragma once

#include <limits>
#include <string>

#include "osier/types.hpp"

namespace osier {

/// Sums over all steps so far [J]. With T the kinetic energy, E the elastic energy and U that of contact barriers, the budget is
///
///   (T + E + U) now - at the start = loads + driven + stiffening + broken + left - friction - damping - step
struct EnergyBudget {
  double loads = 0;       ///< work of forces and torques
  double driven = 0;      ///< work of constraints and of moving obstacles
  double stiffening = 0;  ///< energy of barriers whose stiffness or core follows their load
  double broken = 0;      ///< energy that went or came with what broke or let go
  double left = 0;        ///< work of what iterations have left of the equations
  double friction = 0;    ///< lost to friction between things that touch
  double damping = 0;     ///< lost to drag and to damping of the material
  double step = 0;        ///< lost to the time step: implicit Euler damps motion
};

struct CertificateReport {
  long steps = 0;
  // In the last step.
  double time = 0;
  double gap = std::numeric_limits<double>::quiet_NaN();  ///< smallest, of surfaces; less than 0: squeezed; NaN: nothing near [m]
  Index gap_a = -1, gap_b = -1;                           ///< segments; b < 0: obstacle -1 - b
  int contacts = 0;                                       ///< pairs that repel each other
  double contact_energy = 0;                              ///< of barriers [J]
  // In all steps.
  double least_gap = std::numeric_limits<double>::quiet_NaN();
  Index least_a = -1, least_b = -1;
  double least_time = 0;
  int most_contacts = 0;
  double penetration = 0;             ///< largest, below the distance that a pair is promised [m]
  EnergyBudget energy;                ///< in all steps
  double energy_error = 0;            ///< largest part of a step's energies that the budget does not explain
  double momentum_error = 0;          ///< largest sum of internal forces, over the sum of their sizes
  double angular_momentum_error = 0;  ///< largest sum of internal moments, over the sum of their sizes
  double friction_couple = 0;         ///< largest couple that friction along centrelines exerts on the whole [N m]
  long curves = 0, curve_pairs = 0;   ///< closed curves; pairs of them whose linking numbers are counted
  std::string failure;                ///< what went wrong first; empty: nothing

  /// A pair, for reports: "segment 12 of rod `a` and segment 3 of rod `b`".
  std::string gap_names, least_names;
};

}  // namespace osier
