#include "forces/wind.hpp"

#include <cmath>
#include <numbers>

#include "math/vec3.hpp"

namespace osier {

void Wind::bind(const Names&, Problems& problems) {
  if (norm2(direction) == 0) problems.add(where + "/direction", "is the zero vector", "give a direction");
}

Wind::Moment Wind::moment(double t) const {
  const double M = 1 / 0.3;
  return {.direction = normalized(direction),
          .wave_number = 2 * std::numbers::pi / wavelength,
          .travelled = speed.integral(t),
          .scale = speed.at(t) / (bias + 2 * M),
          .offset = M + bias};
}

Vec3d Wind::Moment::velocity(const Vec3d& x) const {
  const double phase = wave_number * (dot(direction, x) - travelled);
  double S = 0, factor = 1;
  for (int k = 0; k < 3; ++k, factor *= 0.7) S += factor * std::sin(factor * phase);
  return (scale * (S + offset)) * direction;
}

void Wind::apply(const LoadContext& c, Control& control) const {
  const Moment now = moment(c.time);
  c.each_vertex([&](Index v) {
    if (!c.model.vertex_alive[v]) return;
    const Vec3d wind = now.velocity(c.state.vertex_position[v]);
    const Vec3d dv = wind - c.state.vertex_velocity[v];
    double across = 0;  // sum of l |dv x t|
    for (Index e : c.model.vertex_segments.of(v)) {
      const auto [a, b] = c.model.segment_vertices[e / 2];
      const Vec3d edge = c.state.vertex_position[b] - c.state.vertex_position[a];
      if (const double length2 = norm2(edge); length2 > 0)
        across += c.model.segment_rest_length[e / 2] * std::sqrt(norm2(cross(dv, edge)) / length2);
    }
    const double K = c.ramp * coefficient * std::sqrt(c.model.vertex_mass[v]) * across;
    control.vertex_force[v] += K * wind;
    control.vertex_damping[v] += K;
  });
}

}  // namespace osier
