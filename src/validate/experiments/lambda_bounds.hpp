// The multiplier of the paper's exact orientation update lies between |v||eta| and |v||eta| + |b|, and makes q a unit.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class LambdaBounds final : public Experiment {
 public:
  int samples = 50, seed = 1;
  double strain = 0.3;

  static const char* kind() { return "lambda_bounds"; }
  static const char* help() {
    return "Iterates Algorithm 1 of Stable Cosserat Rods to its fixed point on the local problems of the scene at random places. "
           "Columns: least, most ((lambda - |v||eta|)/|b| over all iterations; the bounds are 0 and 1), unit (largest ||q| - "
           "1|), "
           "iterations (most needed), problems.";
  }
  template <class F>
  void fields(F& f) {
    f("samples", samples, "Number of random places", {.min = 1});
    f("strain", strain, "How far away: of a segment's length, and in radians", {.min = 0});
    f("seed", seed, "Of the random places");
  }
  std::vector<std::string> columns() const override { return {"least", "most", "unit", "iterations", "problems"}; }
  std::vector<double> examine(const Json& scene, const std::filesystem::path& folder) override;
};

}  // namespace osier::validate
