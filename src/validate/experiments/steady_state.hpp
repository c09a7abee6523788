// Where a time-stepping solver comes to rest, and where the exact minimum of the same energy lies.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class SteadyState final : public Experiment {
 public:
  std::string vertex;
  int load_steps = 4;

  static const char* kind() { return "steady_state"; }
  static const char* help() {
    return "Runs the scene to its end and solves its statics by `newton`. Columns: x, y, z (of a vertex, where the run ends) "
           "[m], "
           "exact_x, exact_y, exact_z (in equilibrium) [m], speed (largest of any vertex at the end) [m/s].";
  }
  template <class F>
  void fields(F& f) {
    f("vertex", vertex, "Which vertex, as `rod:end`", {.required = true});
    f("load_steps", load_steps, "Of the statics", {.min = 1});
  }
  std::vector<std::string> columns() const override { return {"x", "y", "z", "exact_x", "exact_y", "exact_z", "speed"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
