// Damping resists changes of strain: a strained rod that turns as a whole is not damped.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class RigidSpin final : public Experiment {
 public:
  int samples = 10, seed = 1;
  double strain = 0.3;

  static const char* kind() { return "rigid_spin"; }
  static const char* help() {
    return "Moves the scene, strained at random, as a rigid body within one step. Columns: energy (of damping, over the elastic "
           "energy), force, moment (of damping, over the largest of the others), strained (elastic energy) [J].";
  }
  template <class F>
  void fields(F& f) {
    f("samples", samples, "Number of random states", {.min = 1});
    f("strain", strain, "How strained: of a segment's length, and in radians", {.min = 0});
    f("seed", seed, "Of the random states");
  }
  std::vector<std::string> columns() const override { return {"energy", "force", "moment", "strained"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
