// The ways to satisfy |q| = 1. They are apart from the settings, which kernels must not include.
#pragma once

#include <cstdint>

namespace osier::stable_cosserat {

enum class Lambda : std::uint8_t { approx, exact, secular };

}  // namespace osier::stable_cosserat
