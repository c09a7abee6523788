#pragma once

#include <cstdint>

#include "osier/model.hpp"

namespace osier {

/// One stiffness and Kelvin-Voigt time for stretch and shear and one for bending and twisting, or one for each axis.
enum class StiffnessLaw : std::uint8_t { isotropic, anisotropic };

/// The law of a model: anisotropic if one of its rods is.
inline StiffnessLaw law_of(const Model& m) { return m.is_isotropic() ? StiffnessLaw::isotropic : StiffnessLaw::anisotropic; }

}  // namespace osier
