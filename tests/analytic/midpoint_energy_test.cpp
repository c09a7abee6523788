// The midpoint rule where frames have no inertia: energy must not come out of nothing, however long the step is.
#include <cmath>

#include "analytic/reference.hpp"

namespace osier::test {
namespace {

std::string led_rope(double step, const std::string& solver) {
  return fmt::format(R"({{
    "rods": [{{"name": "a", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": 20,
      "material": {{"preset": "rubber", "radius": 0.005}}}}],
    "constraints": [{{"type": "pin", "vertices": "a:start", "motion": {{"translate": {{"keys":
      [[0, [0, 0, 0]], [0.2, [0, 0.3, 0]], [0.4, [0, -0.3, 0.1]], [0.6, [0.2, 0.3, 0]]]}}}}}}],
    "forces": [{{"type": "gravity", "acceleration": [0, -9.81, 0]}}], "solver": {{"name": "{}"}},
    "analysis": {{"type": "dynamic", "integrator": "midpoint", "step": {}, "duration": 3, "steps_per_frame": 1}}
  }})",
                     solver, step);
}

// The pin does work until 0.6 s; from then on what the rope has cannot grow.
TEST(Midpoint, MakesNoEnergyAtCoarseSteps) {
  for (const char* solver : {"automatic", "newton"}) {
    Simulation s(Scene::parse(led_rope(5e-3, solver)));
    double at_rest_of_pin = 0;
    for (int i = 0; i < 600; ++i) {
      s.step();
      const double total = s.diagnostics().total();
      if (i == 121) at_rest_of_pin = total;
      if (i > 121) {
        ASSERT_LE(total, 1.1 * std::abs(at_rest_of_pin) + 0.05) << solver << " step " << i;
      }
    }
    EXPECT_GT(s.steps_damped(), 0);
  }
}

TEST(Midpoint, IsLeftAloneWhereStepsAreShort) {
  Simulation s(Scene::parse(R"({
    "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 10,
      "material": {"stretch_shear": 1e3, "bend_twist": 0.1, "line_density": 1}}],
    "constraints": [{"type": "clamp", "vertices": "a:start"}],
    "forces": [{"type": "gravity", "acceleration": [0, -0.05, 0]}],
    "analysis": {"type": "dynamic", "integrator": "midpoint", "step": 1e-3, "duration": 2, "steps_per_frame": 1}
  })"));
  const double before = s.diagnostics().total();
  for (int i = 0; i < 2000; ++i) s.step();
  EXPECT_EQ(s.steps_damped(), 0);
  EXPECT_NEAR(s.diagnostics().total(), before, 1e-5);
}

}  // namespace
}  // namespace osier::test
