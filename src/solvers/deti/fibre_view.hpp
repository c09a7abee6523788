// The numbers of a fibre, or of equal ones side by side, one in each lane. In every array the numbers of all lanes follow each
// other; a section has 12 unknowns (fibre.hpp).
#pragma once

#include <cstddef>

#include "core/describe.hpp"
#include "osier/types.hpp"

namespace osier::deti {

/// Numbers per element in the arrays of a view.
constexpr int kCuboidNumbers = 4 + 2 + 17, kSectionNumbers = 2 + 1 + 6;
/// Places of them: the first are those of stiffnesses and damping times.
constexpr int kOfK1 = 0, kOfKf = 1, kOfKd = 2, kOfKc = 3, kOfTau = 4, kOfTauC = 5, kOfRest = 6;
constexpr int kOfK2 = 0, kOfKx = 1, kOfSectionTau = 2, kOfSectionRest = 3;

/// The filter by which stiff modes are saturated.
enum class Variant : std::uint8_t { complex_pair, double_pole };

/// What all fibres of a step have in common.
struct StepRule {
  double h = 0;    ///< [s]
  double rho = 1;  ///< what a step leaves of the motion of modes that it does not resolve
  Variant variant = Variant::double_pole;
  bool viscous = false;  ///< some spring is damped
};

struct FibreView {
  int lanes = 1;
  Index sections = 0;
  // Of the model.
  double* mass = nullptr;     ///< per section
  double* cuboid = nullptr;   ///< kCuboidNumbers per cuboid
  double* section = nullptr;  ///< kSectionNumbers per section
  // Of the step.
  double* y = nullptr;         ///< unknowns
  double* w = nullptr;         ///< mean velocity of the step to come
  double* velocity = nullptr;  ///< at the end of the step
  double* free = nullptr;      ///< per unknown: 1, or 0 where it is held
  double* target = nullptr;    ///< of unknowns that are held
  double* load = nullptr;      ///< force on unknowns
  double* decay = nullptr;     ///< per section: e^(-alpha_0 h)
  double* reach = nullptr;     ///< per section: root of p_0 = (1 - e^(-alpha_0 h))/(alpha_0 h)
  double* lead = nullptr;      ///< per section: (1 - p_0)/(alpha_0 h), which is 1/2 without drag
  double* starting = nullptr;  ///< per section: 1 where w is not known, since the fibre begins to move
  // Of its linear algebra.
  double* force = nullptr;                       ///< elastic and external
  double *diagonal = nullptr, *above = nullptr;  ///< 144 per section: blocks of the section, and between it and the next one
  double *pole_diagonal = nullptr, *pole_above = nullptr;  ///< complex, of variant `complex_pair`
  double *r1 = nullptr, *r2 = nullptr;                     ///< right-hand sides; complex likewise
  double* kept = nullptr;
};

}  // namespace osier::deti
