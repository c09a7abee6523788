// The gradient of the incremental potential against central differences of its value, at random places around the scene.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class GradientCheck final : public Experiment {
 public:
  int samples = 3, seed = 1;
  double strain = 0.3;

  static const char* kind() { return "gradient_check"; }
  static const char* help() {
    return "Gradient of the potential that a step minimises (inertia, stretch and shear, bending and twisting, damping, torques) "
           "against central differences of its value. Columns: position, frame (largest errors over the largest gradient).";
  }
  template <class F>
  void fields(F& f) {
    f("samples", samples, "Number of random places", {.min = 1});
    f("strain", strain, "How far away: of a segment's length, and in radians", {.min = 0});
    f("seed", seed, "Of the random places");
  }
  std::vector<std::string> columns() const override { return {"position", "frame"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
