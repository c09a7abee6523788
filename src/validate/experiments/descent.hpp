// Each orientation update lowers the energy of the whole step, whatever the state.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Descent final : public Experiment {
 public:
  int samples = 50, seed = 1;
  double strain = 0.3;
  std::optional<double> off;

  static const char* kind() { return "descent"; }
  static const char* help() {
    return "Holds everything but one frame and lets the scene's solver step, frame by frame, at random places. Columns: rise "
           "(the "
           "largest rise of the potential over what rounding can hide, 16 eps (|v| + |b|) + 1e-14 |energies|; at least 0), "
           "lowered (share of updates that lower it by more than that), updates.";
  }
  template <class F>
  void fields(F& f) {
    f("samples", samples, "Number of random places", {.min = 1});
    f("strain", strain, "How far away: of a segment's length, and in radians", {.min = 0});
    f("off", off,
      "Starts each update this far from the frame's minimum instead of anywhere: there, an update that misses the minimum by "
      "more "
      "must raise the energy",
      {.unit = "rad", .min = 0});
    f("seed", seed, "Of the random places");
  }
  std::vector<std::string> columns() const override { return {"rise", "lowered", "updates"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
