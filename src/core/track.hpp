// A value over time: a constant, or keyframes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "math/vec3.hpp"

namespace osier {

enum class Interpolation : std::uint8_t { linear, smooth, step };

template <class T>
struct Track {
  struct Key {
    double time;
    T value;
  };
  std::vector<Key> keys;  ///< ascending times; empty means "not given"
  Interpolation interpolation = Interpolation::linear;

  Track() = default;
  explicit Track(const T& constant) : keys{{0.0, constant}} {}

  bool given() const { return !keys.empty(); }

  /// Held before the first and after the last key.
  T at(double t) const {
    if (keys.empty()) return T{};
    if (t <= keys.front().time) return keys.front().value;
    if (t >= keys.back().time) return keys.back().value;
    const auto next = std::upper_bound(keys.begin(), keys.end(), t, [](double u, const Key& k) { return u < k.time; });
    const Key &a = *(next - 1), &b = *next;
    double s = (t - a.time) / (b.time - a.time);
    if (interpolation == Interpolation::step) return a.value;
    if (interpolation == Interpolation::smooth) s = s * s * (3 - 2 * s);
    return a.value + s * (b.value - a.value);
  }
};

}  // namespace osier
