#include "forces/wind.hpp"

#include <fmt/format.h>
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

void Wind::check(const Model& model, Problems& problems) const {
  if (!drag_coefficient || diameter) return;
  for (Index v = 0; v < model.vertex_count(); ++v)
    if (!(model.vertex_radius[v] > 0)) {
      problems.add(where + "/diameter", fmt::format("is missing, and vertex {} has no radius", v),
                   "give `diameter`, or give the materials a radius");
      return;
    }
}

WindMoment Wind::moment(double time, double ramp) const {
  const double M = 1 / 0.3;
  return {.direction = normalized(direction),
          .wave_number = steady ? 0 : 2 * std::numbers::pi / wavelength,
          .travelled = steady ? 0 : speed.integral(time),
          .scale = steady ? speed.at(time) : speed.at(time) / (bias + 2 * M),
          .offset = steady ? 1 : M + bias,  // the sum of sines is 0 at phase 0
          .strength = ramp * (drag_coefficient ? 0.25 * air_density * *drag_coefficient : coefficient),
          .physical = drag_coefficient.has_value(),
          .diameter = diameter.value_or(0)};
}

bool Wind::tell(double time, StepLoads& loads) const {
  loads.winds.push_back(moment(time, 1));
  return true;
}

void Wind::apply_field(const LoadContext& c, Index begin, Index end, Control& control) const {
  const WindView view{.moment = moment(c.time, c.ramp),
                      .radius = c.model.vertex_radius.data(),
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
