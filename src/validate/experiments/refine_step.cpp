#include "validate/experiments/refine_step.hpp"

#include <cmath>
#include <fmt/format.h>

#include "validate/trial.hpp"

namespace osier::validate {

std::vector<double> RefineStep::limit(double coarse, double middle, double fine, double method_order) {
  const double p = std::exp2(method_order), p1 = std::exp2(method_order + 1);
  const double first = (p * middle - coarse) / (p - 1), second = (p * fine - middle) / (p - 1);
  return {std::log2(std::abs((coarse - middle) / (middle - fine))), (p1 * second - first) / (p1 - 1)};
}

std::vector<double> RefineStep::examine(const Json& scene, const std::filesystem::path& folder) {
  std::vector<double> values;
  for (const double share : {1.0, 0.5, 0.25}) {
    Json finer = scene;
    finer["analysis"]["step"] = share * scene.at("analysis").at("step").get<double>();
    Outcome out;
    run_to_end(finer, instruments.value, instruments.where, folder, out);
    if (out.steps_not_converged > 0)
      throw RunError(fmt::format("{} of {} steps did not converge", out.steps_not_converged, out.steps));
    values.push_back(evaluate(quantity.text, out.values));
  }
  const std::vector<double> limits = limit(values[0], values[1], values[2], method_order);
  values.insert(values.end(), limits.begin(), limits.end());
  return values;
}

}  // namespace osier::validate
