#include "scene/generators/mode_shape.hpp"

#include <numbers>

#include "math/vec3.hpp"

namespace osier {

namespace {

constexpr double kPi = std::numbers::pi;

/// Root of cos b = sign/cosh b near `guess`; Newton, because the guess is off by e^-b at most.
double beam_root(double sign, double guess) {
  double b = guess;
  for (int i = 0; i < 20; ++i) {
    const double c = sign / std::cosh(b);
    b += (std::cos(b) - c) / (std::sin(b) - c * std::tanh(b));
  }
  return b;
}

/// Where |f| is largest on [0, 1]: a grid finds the hill, golden sections its top.
template <class F>
double largest_value(const F& f, int grid) {
  int best = 0;
  for (int i = 0; i <= grid; ++i)
    if (std::abs(f(static_cast<double>(i) / grid)) > std::abs(f(static_cast<double>(best) / grid))) best = i;
  double low = std::max(0, best - 1), high = std::min(grid, best + 1);
  low /= grid, high /= grid;
  constexpr double kGolden = 0.6180339887498949;
  for (int i = 0; i < 80; ++i) {
    const double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    if (std::abs(f(a)) > std::abs(f(b))) high = b;
    else low = a;
  }
  return f(0.5 * (low + high));
}

}  // namespace

double ModeShape::wave_number() const {
  switch (held()) {
    case ModeEnds::clamped_free:
      return beam_root(-1, (number - 0.5) * kPi);
    case ModeEnds::clamped_clamped:
    case ModeEnds::free_free:
      return beam_root(1, (number + 0.5) * kPi);
    case ModeEnds::pinned_pinned:
      return number * kPi;
    case ModeEnds::fixed_free:
      break;
  }
  return (number - 0.5) * kPi;
}

double ModeShape::plain(double s) const {
  const double b = wave_number();
  if (held() == ModeEnds::pinned_pinned || held() == ModeEnds::fixed_free) return std::sin(b * s);
  const double sign = held() == ModeEnds::clamped_free ? 1 : -1;
  const double excess = (std::exp(-b) + sign * (std::cos(b) - std::sin(b))) / (std::sinh(b) + sign * std::sin(b));  // sigma - 1
  const double wave = std::cos(b * s) - (1 + excess) * std::sin(b * s);
  return std::exp(-b * s) - excess * std::sinh(b * s) + (held() == ModeEnds::free_free ? wave : -wave);
}

double ModeShape::displacement(double s) const { return scale_ * plain(s); }

void ModeShape::prepare(const std::string&, Problems& problems) {
  const Vec3d line = to - from;
  const bool axial = vibration == ModeKind::axial;
  if (norm2(line) == 0) problems.add(where + "/to", "equals `from`: the line has no length", "move one of the two");
  if (axial != (held() == ModeEnds::fixed_free))
    problems.add(where + "/ends", axial ? "is for bending" : "is for axial modes",
                 axial ? "use `fixed_free`" : "use `clamped_free`, `pinned_pinned`, `clamped_clamped` or `free_free`");
  if (axial && has_direction_) problems.add(where + "/direction", "has no effect on an axial mode", "leave it out");
  if (!axial && norm2(line) > 0) {
    const Vec3d across = direction - (dot(direction, line) / norm2(line)) * line;
    if (norm(across) <= 1e-6 * norm(direction))
      problems.add(where + "/direction", "is missing, zero or along the line", "give a direction across the line");
    else direction = normalized(across);
  }
  if (axial && std::abs(amplitude) * wave_number() >= norm(line))
    problems.add(where + "/amplitude", "is so large that points of the line pass each other", "use a smaller one");
  const bool free_tip = held() != ModeEnds::pinned_pinned && held() != ModeEnds::clamped_clamped;
  scale_ = 1 / (free_tip ? plain(1) : largest_value([&](double s) { return plain(s); }, 64 * number));
  if (!unstretched() || problems.mentions(where)) return;
  const double width = 1.0 / (256 * number);
  const double steepest =
      largest_value([&](double s) { return (displacement(s + width) - displacement(s)) / width; }, 64 * number);
  if (std::abs(amplitude * steepest) >= norm(line))
    problems.add(where + "/amplitude", "is so large that the rod would stand across the line", "use a smaller one");
}

double ModeShape::length() const { return unstretched() ? norm(to - from) : polyline_length(sample(256 * number), false); }

std::vector<Vec3d> ModeShape::sample(int segments) const {
  const Vec3d along = normalized(to - from);
  const Vec3d way = amplitude * (vibration == ModeKind::axial ? along : direction);
  const double l = norm(to - from) / segments;
  std::vector<Vec3d> points;
  double advance = 0;  // along the line
  for (int i = 0; i <= segments; ++i) {
    const double s = static_cast<double>(i) / segments;
    if (unstretched() && i > 0) {
      const double across = amplitude * (displacement(s) - displacement(static_cast<double>(i - 1) / segments));
      advance += std::sqrt(std::max(0.0, l * l - across * across));
    }
    const Vec3d place = unstretched() ? from + advance * along : (1 - s) * from + s * to;
    points.push_back(place + displacement(s) * way);
  }
  return points;
}

}  // namespace osier
