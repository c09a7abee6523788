// Vertices numbered from the other end: the same positions and energies.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Reversal final : public Experiment {
 public:
  static const char* kind() { return "reversal"; }
  static const char* help() {
    return "Runs the scene as it is and with every rod counted from its other end. Columns: position (largest distance of the "
           "two "
           "results, over the size of the scene), stretch_shear and bend_twist (differences of the energies, over their sum), "
           "moved (how far the run goes, over the size).";
  }
  template <class F>
  void fields(F&) {}
  std::vector<std::string> columns() const override { return {"position", "stretch_shear", "bend_twist", "moved"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
