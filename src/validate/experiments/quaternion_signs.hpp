// q and -q are the same rotation: the signs of frames, of rest rotations and of targets must not matter.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class QuaternionSigns final : public Experiment {
 public:
  int steps = 20, subsets = 5, seed = 1;

  static const char* kind() { return "quaternion_signs"; }
  static const char* help() {
    return "Runs the scene as it is and with the signs of random subsets of its quaternions changed. Columns: position (largest "
           "distance of the two results) [m], frame (largest difference of rotations), flipped (signs changed in all).";
  }
  template <class F>
  void fields(F& f) {
    f("steps", steps, "Steps of each run", {.min = 1});
    f("subsets", subsets, "Number of random subsets", {.min = 1});
    f("seed", seed, "Of the subsets");
  }
  std::vector<std::string> columns() const override { return {"position", "frame", "flipped"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
