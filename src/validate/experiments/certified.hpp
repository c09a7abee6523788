// A scene under its certificate: whether anything passes through anything, and what motion and topology keep.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Certified final : public Experiment {
 public:
  static const char* kind() { return "certified"; }
  static const char* help() {
    return "Runs the scene to its end under the certificate of contact. Columns: apart (1 where no pair came nearer than it was "
           "promised, otherwise 0), least_gap (smallest distance of two surfaces; negative where they are squeezed) [m], "
           "contacts "
           "(most at a time), curve_pairs (of closed rods), linking_change (largest change of a linking number), momentum_drift "
           "(largest change of the momentum over the sum of the sizes at the start), balance (largest part of a step's energies "
           "that its budget does not explain), internal (largest sum of internal forces over that of their sizes), unsolved "
           "(steps that did not converge).";
  }
  template <class F>
  void fields(F&) {}
  std::vector<std::string> columns() const override {
    return {"apart",          "least_gap", "contacts", "curve_pairs", "linking_change",
            "momentum_drift", "balance",   "internal", "unsolved"};
  }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
