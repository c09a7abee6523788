#include "validate/experiments/rigid_motion.hpp"

#include <nlohmann/json.hpp>
#include <numbers>

#include "validate/experiments/scene_transforms.hpp"
#include "validate/experiments/workbench.hpp"

namespace osier::validate {

std::vector<double> RigidMotion::examine(const Json& json, const std::filesystem::path& folder) {
  const Quatd turn = axis_angle(normalized(axis), angle * std::numbers::pi / 180);
  const Scene here = Scene::parse(json.dump(), "case", folder);
  const State a = final_state(here), b = final_state(Scene::parse(moved_scene(json, turn, shift).dump(), "case", folder));
  std::vector<Vec3d> positions = a.vertex_position;
  for (Vec3d& x : positions) x = rotate(turn, x) + shift;
  std::vector<Quatd> frames = a.frame_rotation;
  for (Quatd& q : frames) q = turn * q;
  const double size = extent(a.vertex_position);
  return {farthest(positions, b.vertex_position) / size, farthest(frames, b.frame_rotation),
          farthest(a.vertex_position, here.initial_state().vertex_position) / size};
}

}  // namespace osier::validate
