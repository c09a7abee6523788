// The distance at which a loaded contact rests, for a stiffness that is given. In a run the stiffness of a contact follows its
// load, so that it rests at one distance whatever the load; in a single step it stands still.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class BarrierGap final : public Experiment {
 public:
  double stiffness = 0;

  static const char* kind() { return "barrier_gap"; }
  static const char* help() {
    return "One step of a scene of two rods that press on each other, every contact with the same stiffness. Columns: d "
           "(distance "
           "of the centrelines above the core, over the range of the barrier: 1 where the force begins, 0 at the core), force "
           "(that the contact exerts) [N], imbalance (sum of the forces on both rods, over the sum of their sizes).";
  }
  template <class F>
  void fields(F& f) {
    f("stiffness", stiffness, "k of the barrier -k (d - 1)^2 ln d", {.unit = "J", .min = 0, .above_min = true, .required = true});
  }
  std::vector<std::string> columns() const override { return {"d", "force", "imbalance"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
