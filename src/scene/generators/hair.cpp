#include "scene/generators/hair.hpp"

#include <fmt/format.h>
#include <numbers>

#include "scene/generators/curve_shapes.hpp"
#include "scene/generators/growing.hpp"

namespace osier {

namespace {

constexpr double kFullTurn = 2 * std::numbers::pi;

/// Point i of n on the unit sphere within `angle` of `pole`, all at nearly the same distance from their neighbours: equal steps
/// in height are equal areas, and turning by the golden angle keeps successive points apart (a Fibonacci lattice).
Vec3d fibonacci_cap(int i, int n, const Vec3d& pole, double angle) {
  const double height = 1 - (1 - std::cos(angle)) * (i + 0.5) / n;
  const double turn = i * std::numbers::pi * (3 - std::sqrt(5.0));
  const Vec3d u = any_across(pole), v = cross(pole, u);
  return height * pole + std::sqrt(std::max(0.0, 1 - height * height)) * (std::cos(turn) * u + std::sin(turn) * v);
}

}  // namespace

/// Of the tightest curls.
double Hair::segments_per_turn() const {
  if (curl_radius == 0) return INFINITY;
  const double turn = (1 - curl_variation) * std::hypot(kFullTurn * curl_radius, curl_pitch);
  return turn * (vertices - 1) / (length * (1 + length_variation));
}

GraphSize Hair::size() const {
  const double segments = static_cast<double>(strands) * (vertices - 1.0);
  return {.segments = segments, .joints = segments, .rods = static_cast<double>(strands)};
}

void Hair::check(Problems& problems) const {
  if (!(head.x > 0 && head.y > 0 && head.z > 0)) problems.add(where + "/head", "has no size", "use three positive lengths");
  if (norm2(crown) == 0) problems.add(where + "/crown", "is a zero vector", "give a direction");
  if (const double n = segments_per_turn(); n < 4)
    problems.add(where + "/vertices", fmt::format("leaves {:.2g} segments for the tightest turn of a curl", n),
                 "use more vertices, shorter hair or larger curls");
}

/// Helix through the root. The speed along a helix is constant, so equal fractions are equal lengths.
Vec3d Hair::Curl::at(double fraction) const {
  const double angle = kFullTurn * turns * fraction;
  const Vec3d v = cross(axis, across);
  const auto around = [&](double a) { return std::cos(a) * across + (hand * std::sin(a)) * v; };
  return root + radius * (around(phase + angle) - around(phase)) + (pitch * turns * fraction) * axis;
}

Hair::Curl Hair::curl(int strand, Random& random) const {
  const Vec3d on_sphere = fibonacci_cap(strand, strands, normalized(crown), scalp * kFullTurn / 360);
  const auto varied = [&](double value, double variation) { return value * (1 + variation * random.symmetric()); };
  Curl c;
  c.root = center + times(head, on_sphere);
  const Vec3d normal = normalized(Vec3d{on_sphere.x / head.x, on_sphere.y / head.y, on_sphere.z / head.z});
  c.axis = leaning(normal, lean * kFullTurn / 360, random);
  c.across = any_across(c.axis);
  const double own_length = varied(length, length_variation), size = varied(1, curl_variation);
  c.radius = size * curl_radius;
  c.pitch = size * curl_pitch;
  c.turns = own_length / std::hypot(kFullTurn * c.radius, c.pitch);
  c.phase = std::numbers::pi * random.symmetric();
  c.hand = random.symmetric() < 0 ? -1 : 1;
  return c;
}

void Hair::build(RodGraph& graph, const std::string& prefix) const {
  const std::vector<Section> sections(static_cast<std::size_t>(vertices) - 1, {.stretch_shear = stretch_shear,
                                                                               .bend_twist = bend_twist,
                                                                               .line_density = line_density,
                                                                               .radius = radius,
                                                                               .tau_stretch = tau,
                                                                               .tau_bend = tau});
  Random random(seed);
  std::vector<Vec3d> points(static_cast<std::size_t>(vertices));
  RootGroup roots(graph, prefix, strands, vertices);
  for (int i = 0; i < strands; ++i) {
    Curl c = curl(i, random);
    c.radius *= widening(kFullTurn * c.turns / (vertices - 1));  // strands are as long as their curves
    for (int k = 0; k < vertices; ++k) points[static_cast<std::size_t>(k)] = c.at(static_cast<double>(k) / (vertices - 1));
    roots.grow(points, sections);
  }
}

}  // namespace osier
