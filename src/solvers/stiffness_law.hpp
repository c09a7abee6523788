#pragma once

#include <cstdint>

namespace osier {

/// One stiffness and Kelvin-Voigt time for stretch and shear and one for bending and twisting, or one for each axis.
enum class StiffnessLaw : std::uint8_t { isotropic, anisotropic };

}  // namespace osier
