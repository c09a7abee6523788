// A cross-section as the energy sees it.
#pragma once

#include <limits>

#include "osier/types.hpp"

namespace osier {

/// Cross-section properties of a piece of rod: what Material makes of moduli, density and shape.
struct Section {
  PerAxis stretch_shear{};                                           ///< GA1, GA2, EA [N]
  PerAxis bend_twist{};                                              ///< EI1, EI2, GJ [N m^2]
  double line_density = 0;                                           ///< [kg/m]
  double radius = 0;                                                 ///< [m], of the smallest circle around the section
  PerAxis tau_stretch{};                                             ///< [s]
  PerAxis tau_bend{};                                                ///< [s]
  PerAxis inertia{};                                                 ///< rho I1, rho I2, rho (I1 + I2), per length [kg m]
  double strain_limit = std::numeric_limits<double>::infinity();     ///< [-]
  double curvature_limit = std::numeric_limits<double>::infinity();  ///< [1/m]
  double twist_limit = std::numeric_limits<double>::infinity();      ///< [rad/m]
  bool bends() const { return bend_twist.any(); }                    ///< otherwise it is a cable
};

}  // namespace osier
