#include "validate/experiments/rest_drift.hpp"

#include <numbers>

#include "validate/experiments/workbench.hpp"

namespace osier::validate {

/// Rest frames, present frames and targets turned alike: still at rest, but no joint's rest rotation is simple any more.
static void twist_frames(Workbench& w, double most, Random& random) {
  const Vec3d e3{0, 0, 1};
  std::vector<Quatd> turn(static_cast<std::size_t>(w.model.frame_count()));
  for (Index s = 0; s < w.model.segment_count(); ++s) turn[s] = axis_angle(e3, most * random.symmetric());
  for (std::size_t f = 0; f < turn.size(); ++f) {
    w.state.frame_rotation[f] = normalized(w.state.frame_rotation[f] * turn[f]);
    w.control.frame_target[f] = normalized(w.control.frame_target[f] * turn[f]);
  }
  for (Index j = 0; j < w.model.joint_count(); ++j) {
    const auto [a, b] = w.model.joint_frames[j];
    w.model.joint_rest_rotation[j] = normalized(conj(turn[a]) * w.model.joint_rest_rotation[j] * turn[b]);
  }
}

std::vector<double> RestDrift::examine(const Json& json, const std::filesystem::path& folder) {
  Workbench w(json, folder);
  Random random(seed);
  twist_frames(w, twist * std::numbers::pi / 180, random);
  State state = w.state;
  const auto solver = w.solver();
  const std::vector<Vec3d>&x = state.vertex_position, &x0 = w.state.vertex_position;
  double place = 0, shape = 0;
  for (int i = 1; i <= steps; ++i) {
    if (solver->step(w.input(), state).non_finite) throw RunError("the state is not finite");
    if (i % 500 != 0 && i != steps) continue;
    place = std::max(place, farthest(x, x0));
    for (std::size_t a = 0; a < x.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) shape = std::max(shape, std::abs(norm(x[a] - x[b]) - norm(x0[a] - x0[b])));
  }
  return {place, shape};
}

}  // namespace osier::validate
