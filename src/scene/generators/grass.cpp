#include "scene/generators/grass.hpp"

#include <cmath>
#include <numbers>

#include "materials/material.hpp"
#include "scene/generators/curve_shapes.hpp"
#include "scene/generators/growing.hpp"

namespace osier {

namespace {

/// Point i of an even spread over the unit square that can be continued without end: multiples of the two irrational numbers
/// that are hardest to approximate together (the R2 sequence; g is the real root of g^3 = g + 1).
std::pair<double, double> even_spread(int i) {
  constexpr double g = 1.32471795724474602596;
  const auto part = [](double x) { return x - std::floor(x); };
  return {part(0.5 + i / g), part(0.5 + i / (g * g))};
}

/// A blade of the given length that leaves `root` along `up` and turns by `bend` towards `side`, both unit vectors at a right
/// angle. The angle of a constant curvature grows with the length.
Vec3d on_arc(const Vec3d& root, const Vec3d& up, const Vec3d& side, double length, double bend, double fraction) {
  const double a = bend * fraction;
  if (bend < 1e-9) return root + (length * fraction) * up;
  return root + (length / bend) * (std::sin(a) * up + (1 - std::cos(a)) * side);
}

}  // namespace

GraphSize Grass::size() const {
  const double segments = static_cast<double>(blades) * (vertices - 1.0);
  return {.segments = segments, .joints = segments, .rods = static_cast<double>(blades)};
}

void Grass::build(RodGraph& graph, const std::string& prefix) const {
  constexpr double kDegree = std::numbers::pi / 180;
  const Section root_section{.stretch_shear = stretch_shear,
                             .bend_twist = bend_twist,
                             .line_density = line_density,
                             .radius = radius,
                             .tau_stretch = tau,
                             .tau_bend = tau};
  const auto n = static_cast<std::size_t>(vertices);
  std::vector<Section> sections;
  for (std::size_t s = 0; s + 1 < n; ++s) {
    const double middle = (static_cast<double>(s) + 0.5) / static_cast<double>(n - 1);
    sections.push_back(scaled(root_section, 1 - (1 - tip) * middle));
  }
  Random random(seed);
  RootGroup roots(graph, prefix, blades, vertices);
  std::vector<Vec3d> points(n);
  for (int i = 0; i < blades; ++i) {
    const auto [x, z] = even_spread(i);
    const Vec3d root = center + Vec3d{(x - 0.5) * width, 0, (z - 0.5) * depth};
    const Vec3d up = leaning({0, 1, 0}, lean * kDegree, random);
    // It bends the way it leans; an upright one anywhere.
    const Vec3d outward = Vec3d{up.x, 0, up.z} + 1e-6 * random.in_unit_disc();
    const Vec3d side = normalized(outward - dot(outward, up) * up);
    const double length = height * (1 + height_variation * random.symmetric());
    const double bend = 0.5 * (1 + random.symmetric()) * curve * kDegree;
    const double chords = length * widening(bend / static_cast<double>(n - 1));  // the blade is as long as its arc
    for (std::size_t k = 0; k < n; ++k)
      points[k] = on_arc(root, up, side, chords, bend, static_cast<double>(k) / static_cast<double>(n - 1));
    roots.grow(points, sections);
  }
}

}  // namespace osier
