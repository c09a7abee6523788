// Rods that touch each other, as they stand at the end of the last step. Forces are those that act on vertices, so that what is
// added up is what moves the rods.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Touching final : public Instrument {
 public:
  static const char* kind() { return "touching"; }
  static const char* help() {
    return "Contacts of rods with each other and with themselves at the end. Columns: count (pairs of segments that push), force "
           "(size of the sum of the forces on the later one of two rods, friction included) [N], gap (least distance of two "
           "centrelines over the sum of radii), arc (mean length of rod between two places of a rod that touch, weighted by "
           "their force) [m], imbalance (sum of all these forces over the sum of their sizes), couple (likewise of their "
           "moments).";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
  }
  void prepare(const Scene& scene, Problems&) override { scene_ = &scene; }
  std::vector<std::string> columns() const override { return {"count", "force", "gap", "arc", "imbalance", "couple"}; }
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  const Scene* scene_ = nullptr;
};

}  // namespace osier::validate
