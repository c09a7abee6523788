// Random numbers that are the same on every machine: std::mt19937_64 is specified to the bit, the mapping is ours.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

#include "math/quat.hpp"

namespace osier::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double range(double low, double high) { return low + (high - low) * unit(); }
  double log_range(double low, double high) { return low * std::pow(high / low, unit()); }
  bool flip() { return (engine_() >> 63) != 0; }
  int below(int n) { return static_cast<int>(unit() * n); }

  double normal() {
    const double u = 1 - unit(), v = unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  /// Uniform in the cube (-1, 1)^3.
  Vec3d in_cube() {
    const double x = range(-1, 1), y = range(-1, 1), z = range(-1, 1);
    return {x, y, z};
  }
  Vec3d direction() {
    const double x = normal(), y = normal(), z = normal();
    return normalized(Vec3d{x, y, z});
  }
  Quatd quaternion() {
    const double x = normal(), y = normal(), z = normal(), w = normal();
    return {x, y, z, w};
  }
  Quatd rotation() { return normalized(quaternion()); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace osier::test
