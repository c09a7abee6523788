// A value over time: a constant, or keyframes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/describe.hpp"
#include "math/quat.hpp"

namespace osier {

enum class Interpolation : std::uint8_t { linear, smooth, step };
template <>
struct Choices<Interpolation> {
  static constexpr std::array<const char*, 3> names{"linear", "smooth", "step"};
};

/// Between two keys: along a line, or for rotations along the shorter arc at constant speed.
template <class T>
T blend(const T& a, const T& b, double s) {
  return a + s * (b - a);
}
inline Quatd blend(const Quatd& a, const Quatd& b, double s) {
  return normalized(a * rotation_exp(s * rotation_log(normalized(conj(a) * b))));
}

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
    return blend(a.value, b.value, s);
  }

  /// d/dt; 0 outside the keys and for a constant. Just after t where two pieces meet.
  T slope(double t) const {
    if (keys.size() < 2 || t < keys.front().time || t >= keys.back().time) return T{};
    const auto next = std::upper_bound(keys.begin(), keys.end(), t, [](double u, const Key& k) { return u < k.time; });
    const Key &a = *(next - 1), &b = *next;
    const double s = (t - a.time) / (b.time - a.time);
    const double rate = interpolation == Interpolation::step ? 0 : interpolation == Interpolation::smooth ? 6 * s * (1 - s) : 1;
    return (rate / (b.time - a.time)) * (b.value - a.value);
  }

  /// The sum of size(a, b) over the ways from value to value between two times, there and back added up. size(a, b) is taken
  /// between values that follow each other with no key between.
  template <class Size>
  double way(double from, double to, const Size& size) const {
    double sum = 0;
    T last = at(from);
    for (const Key& k : keys) {
      if (k.time <= from || k.time > to) continue;
      sum += size(last, k.value);
      last = k.value;
    }
    return sum + size(last, at(to));
  }

  /// Integral from 0 to t (negative for t < 0): how far something has come that moves at this rate.
  T integral(double t) const { return antiderivative(t) - antiderivative(0); }

 private:
  /// Integral from the first key's time to t.
  T antiderivative(double t) const {
    T sum{};
    if (keys.empty()) return sum;
    if (t <= keys.front().time) return (t - keys.front().time) * keys.front().value;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
      const Key &a = keys[i], &b = keys[i + 1];
      if (t <= a.time) return sum;
      const double span = b.time - a.time, s = std::min(1.0, (t - a.time) / span);
      double share = 0.5 * s * s;  // integral of the blend from 0 to s
      if (interpolation == Interpolation::smooth) share = s * s * s * (1 - 0.5 * s);
      if (interpolation == Interpolation::step) share = 0;
      sum = sum + (span * s) * a.value + (span * share) * (b.value - a.value);
    }
    if (t > keys.back().time) sum = sum + (t - keys.back().time) * keys.back().value;
    return sum;
  }
};

}  // namespace osier
