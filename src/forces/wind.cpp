#include "forces/wind.hpp"

#include <cmath>
#include <numbers>

#include "math/vec3.hpp"

namespace osier {

void Wind::bind(const Names&, Problems& problems) {
  if (norm2(direction) == 0) problems.add(where + "/direction", "is the zero vector", "give a direction");
}

Vec3d Wind::velocity(const Vec3d& x, double t) const {
  const double U = speed.at(t);
  const Vec3d d = normalized(direction);
  const double phase = 2 * std::numbers::pi / wavelength * (dot(d, x) - speed.integral(t));
  double S = 0, factor = 1;
  for (int k = 0; k < 3; ++k, factor *= 0.7) S += factor * std::sin(factor * phase);
  const double M = 1 / 0.3;
  return (U * (S + M + bias) / (bias + 2 * M)) * d;
}

void Wind::apply(const LoadContext& c, Control& control) const {
  for (Index v = 0; v < c.model.vertex_count(); ++v) {
    if (!c.model.vertex_alive[v]) continue;
    const Vec3d wind = velocity(c.state.vertex_position[v], c.time);
    const Vec3d dv = wind - c.state.vertex_velocity[v];
    double K = 0;
    for (Index e : c.model.vertex_segments.of(v)) {
      const auto [a, b] = c.model.segment_vertices[e / 2];
      const Vec3d t = normalized(c.state.vertex_position[b] - c.state.vertex_position[a]);
      K += coefficient * std::sqrt(c.model.vertex_mass[v]) * c.model.segment_rest_length[e / 2] * norm(cross(dv, t));
    }
    control.vertex_force[v] += (c.ramp * K) * wind;
    control.vertex_damping[v] += c.ramp * K;
  }
}

}  // namespace osier
