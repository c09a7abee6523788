#include "validate/experiments/lambda_bounds.hpp"

#include <algorithm>

#include "solvers/stable_cosserat/orientation_update.hpp"
#include "validate/experiments/workbench.hpp"

namespace osier::validate {

std::vector<double> LambdaBounds::examine(const Json& json, const std::filesystem::path& folder) {
  const Workbench scene(json, folder);
  if (!scene.model.is_isotropic() || scene.model.has_inertia() || scene.control.has_torque)
    throw RunError("Algorithm 1 is for isotropic rods without rotational inertia and torques");
  Random random(seed);
  double least = 1, most = 0, unit = 0;
  int longest = 0, problems = 0;
  for (int i = 0; i < samples; ++i) {
    Workbench w = scene;
    w.shake(strain, random);
    const Place at = w.nearby(strain, random);
    for (Index s = 0; s < w.model.segment_count(); ++s) {
      const OrientationProblem<double> o = w.local_problem(at, s);
      const double norm_b = norm(o.b);
      double gamma = 1, lambda = 0, last = -1;
      int count = 0;
      for (; count < 5000 && std::abs(lambda - last) > 4e-16 * lambda; ++count) {
        last = lambda;
        lambda = stable_cosserat::iterate_lambda(o, norm_b, gamma);
        least = std::min(least, (lambda - o.s) / norm_b);
        most = std::max(most, (lambda - o.s) / norm_b);
      }
      longest = std::max(longest, count), ++problems;
      const double length = norm(o.Sb + lambda * o.b) / ((lambda - o.s) * (lambda + o.s));  // |q(lambda)|
      unit = std::max(unit, std::abs(length - 1));
    }
  }
  return {least, most, unit, static_cast<double>(longest), static_cast<double>(problems)};
}

}  // namespace osier::validate
