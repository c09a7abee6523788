#include "validate/experiments/quaternion_signs.hpp"

#include "validate/experiments/workbench.hpp"

namespace osier::validate {

std::vector<double> QuaternionSigns::examine(const Json& json, const std::filesystem::path& folder) {
  const Workbench plain(json, folder);
  const State a = plain.run(steps);
  Random random(seed);
  double position = 0, frame = 0, flipped = 0;
  for (int i = 0; i < subsets; ++i) {
    Workbench changed = plain;
    for (auto* list : {&changed.state.frame_rotation, &changed.control.frame_target, &changed.model.joint_rest_rotation})
      for (Quatd& q : *list)
        if (flip(random)) q = -q, ++flipped;
    const State b = changed.run(steps);
    position = std::max(position, farthest(a.vertex_position, b.vertex_position));
    frame = std::max(frame, farthest(a.frame_rotation, b.frame_rotation));
  }
  return {position, frame, flipped};
}

}  // namespace osier::validate
