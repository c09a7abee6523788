// Which instructions this machine has, and which of them to use. Sources of kernels are compiled once per instruction set
// (osier_kernels in CMakeLists.txt) and may contain nothing but templates over their own pack type: anything else compiled with
// wider instructions could be linked in place of the portable version.
#pragma once

#include <array>
#include <cstdint>

#include "core/describe.hpp"

namespace osier {

enum class Simd : std::uint8_t { automatic, off, sse2, avx2, avx512 };
template <>
struct Choices<Simd> {
  static constexpr std::array<const char*, 5> names{"auto", "off", "sse2", "avx2", "avx512"};
};

/// Whether this machine (and this build) can run it. `automatic` and `off` always.
bool simd_available(Simd simd);
/// `automatic` becomes the widest available; anything else stays.
Simd simd_resolved(Simd simd);
const char* simd_name(Simd simd);

}  // namespace osier
