// A rod at rest stays at rest, however its rest shape is curved and its frames are twisted along it.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class RestDrift final : public Experiment {
 public:
  int steps = 100000, seed = 1;
  double twist = 0;

  static const char* kind() { return "rest_drift"; }
  static const char* help() {
    return "Steps the scene from rest, its rest frames turned about their d3 at random. Columns: place (largest displacement of "
           "a "
           "vertex) [m], shape (largest change of the distance of two vertices) [m].";
  }
  template <class F>
  void fields(F& f) {
    f("steps", steps, "Number of steps", {.min = 1});
    f("twist", twist, "Largest turn of a rest frame", {.unit = "°"});
    f("seed", seed, "Of the random turns");
  }
  std::vector<std::string> columns() const override { return {"place", "shape"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
