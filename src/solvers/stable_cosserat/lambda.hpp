// How |q| = 1 is met. Apart from the settings, so that kernels need not know those.
#pragma once

#include <cstdint>

namespace osier::stable_cosserat {

enum class Lambda : std::uint8_t { approx, exact, secular };

}  // namespace osier::stable_cosserat
