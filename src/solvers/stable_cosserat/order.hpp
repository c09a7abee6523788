// The order of the updates of a sweep. Apart from the settings, which kernels must not include.
#pragma once

#include <cstdint>

namespace osier::stable_cosserat {

enum class Order : std::uint8_t { gauss_seidel, red_black, jacobi };

}  // namespace osier::stable_cosserat
