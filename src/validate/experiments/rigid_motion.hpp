// Frame indifference: the scene turned and shifted must do the same, turned and shifted.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class RigidMotion final : public Experiment {
 public:
  Vec3d axis{1, 2, 3}, shift;
  double angle = 0;

  static const char* kind() { return "rigid_motion"; }
  static const char* help() {
    return "Runs the scene as it is and turned and shifted. Columns: position (largest distance of the two results, over the "
           "size "
           "of the scene), frame (largest difference of quaternions), moved (how far the run goes, over the size).";
  }
  template <class F>
  void fields(F& f) {
    f("axis", axis, "Axis of the turn, through the origin");
    f("angle", angle, "Angle of the turn", {.unit = "°"});
    f("shift", shift, "Shift after the turn", {.unit = "m"});
  }
  std::vector<std::string> columns() const override { return {"position", "frame", "moved"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
