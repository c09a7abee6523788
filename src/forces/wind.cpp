#include "forces/wind.hpp"

#include <numbers>

#include "exec/simd_dispatch.hpp"
#include "forces/wind_kernels.hpp"
#include "math/vec3.hpp"

namespace osier {

WindKernel wind_kernel(Simd simd) {
  return with_simd(simd, []<Simd S> { return wind_kernel_for<S>(); });
}

void Wind::bind(const Names&, Problems& problems) {
  if (norm2(direction) == 0) problems.add(where + "/direction", "is the zero vector", "give a direction");
}

void Wind::apply_field(const LoadContext& c, Index begin, Index end, Control& control) const {
  const double M = 1 / 0.3;
  const WindView view{.direction = normalized(direction),
                      .wave_number = 2 * std::numbers::pi / wavelength,
                      .travelled = speed.integral(c.time),
                      .scale = speed.at(c.time) / (bias + 2 * M),
                      .offset = M + bias,
                      .strength = c.ramp * coefficient,
                      .position = c.state.vertex_position.data(),
                      .velocity = c.state.vertex_velocity.data(),
                      .mass = c.model.vertex_mass.data(),
                      .rest_length = c.model.segment_rest_length.data(),
                      .segment_start = c.model.vertex_segments.start.data(),
                      .segment = c.model.vertex_segments.entry.data(),
                      .segment_vertices = reinterpret_cast<const Index*>(c.model.segment_vertices.data()),
                      .force = control.vertex_force.data(),
                      .damping = control.vertex_damping.data()};
  wind_kernel(c.simd)(view, begin, end);
}

}  // namespace osier
