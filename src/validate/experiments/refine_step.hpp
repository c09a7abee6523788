// One number of a run, at a time step, half of it and a quarter of it: its order in the step and its limit.
#pragma once

#include "validate/case.hpp"
#include "validate/instrument.hpp"

namespace osier::validate {

class RefineStep final : public Experiment {
 public:
  RawJson instruments;
  Formula quantity;
  double method_order = 1;

  static const char* kind() { return "refine_step"; }
  static const char* help() {
    return "Runs the scene with its step h, h/2 and h/4. Columns: coarse, middle, fine (the quantity), order (observed), "
           "extrapolated (Richardson, errors of the method's order and the next one taken out).";
  }
  template <class F>
  void fields(F& f) {
    f("quantity", quantity, "Expression of measured names", {.required = true});
    f("instruments", instruments, "What looks on, besides the scene's probes");
    f("order", method_order, "Order of the method in the step", {.min = 1});
  }
  std::vector<std::string> columns() const override { return {"coarse", "middle", "fine", "order", "extrapolated"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
  bool runs_the_scene() const override { return true; }

  /// order and extrapolated, from coarse, middle and fine.
  static std::vector<double> limit(double coarse, double middle, double fine, double method_order);
};

}  // namespace osier::validate
