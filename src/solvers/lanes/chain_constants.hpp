// The constants of a chain, which do not change from step to step, and their order in a row (chain_plan.hpp).
#pragma once

#include "solvers/lanes/stiffness_law.hpp"

namespace osier::lanes {

/// Constants per row and lane for sweeps with one stiffness.
enum ChainConstant : int {
  kMass,
  kInverseLength,
  kStretch,  ///< k^ss
  kTargetX,  ///< k^bt times rest rotation, as the second frame of the joint sees it
  kTargetY,
  kTargetZ,
  kTargetW,
  kUndampedConstants,
  kTauStretch = kUndampedConstants,
  kTauBend,
  kDampedConstants
};
/// Constants for the direct solver, which reads rest rotations from the model.
enum DirectConstant : int {
  kBend = kStretch + 1,  ///< k^bt
  kUndampedDirectConstants,
  kTauStretchDirect = kUndampedDirectConstants,
  kTauBendDirect,
  kDampedDirectConstants
};
/// Constants of the anisotropic law after mass and inverse length: three numbers each, about d1, d2, d3.
enum AxisConstant : int {
  kStretchAxes = kInverseLength + 1,
  kBendAxes = kStretchAxes + 3,
  kUndampedAxisConstants = kBendAxes + 3,
  kTauStretchAxes = kUndampedAxisConstants,
  kTauBendAxes = kTauStretchAxes + 3,
  kDampedAxisConstants = kTauBendAxes + 3
};
/// Constants of the anisotropic law for sweeps: the length, and k^ss over its square. Joints are read from the model, since only
/// the beginning of a step needs them.
enum SweepAxisConstant : int {
  kLengthOfSweep = kMass + 1,
  kStretchOfSweep,
  kUndampedSweepAxisConstants = kStretchOfSweep + 3,
  kTauStretchOfSweep = kUndampedSweepAxisConstants,
  kDampedSweepAxisConstants = kTauStretchOfSweep + 3
};
enum class ChainUse : std::uint8_t { sweeps, direct };
OSIER_FN constexpr int constants_per_row(StiffnessLaw law, bool damped, ChainUse use = ChainUse::sweeps) {
  if (law == StiffnessLaw::anisotropic && use == ChainUse::sweeps)
    return damped ? kDampedSweepAxisConstants : kUndampedSweepAxisConstants;
  if (law == StiffnessLaw::anisotropic) return damped ? kDampedAxisConstants : kUndampedAxisConstants;
  if (use == ChainUse::direct) return damped ? kDampedDirectConstants : kUndampedDirectConstants;
  return damped ? kDampedConstants : kUndampedConstants;
}

}  // namespace osier::lanes
