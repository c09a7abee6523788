// The printed two-step scheme of `deti`, kept for the record, and moduli that change while a fibre moves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/scenes.hpp"

namespace osier::test {
namespace {

/// A clamped rod of length 1, EI = 1 and unit mass under a weight.
std::string rod(int segments, const std::string& material, double g, double h, const std::string& more = "") {
  return fmt::format(
      R"({{"rods": [{{"name": "a", "segments": {}, "material": {{"stretch_shear": 1e4, "bend": 1, "twist": 0.6, "line_density": 1, "radius": 0.001{}}},
    "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}}}],
    "constraints": [{{"type": "clamp", "vertices": "a:start"}}], "forces": [{{"type": "gravity", "acceleration": [0, 0, {}]}}{}],
    "analysis": {{"type": "dynamic", "step": {}, "duration": 10, "steps_per_frame": 1}}}})",
      segments, material, -g, more, h);
}
double tip_after(const std::string& text, const std::string& solver, double time) {
  Simulation s(scene_with(text, solver));
  while (s.state().time < time - 1e-9) s.step();
  return s.state().vertex_position.back().z;
}

TEST(DetiPaperScheme, IsRightWhereAFibreHardlyMoves) {
  const std::string text = rod(8, "", 1e-4, 0.002);
  const double own = tip_after(text, R"({"name": "deti"})", 1),
               printed = tip_after(text, R"({"name": "deti", "scheme": "paper"})", 1);
  EXPECT_NEAR(printed, own, 1e-3 * std::abs(own));
  EXPECT_LT(own, -1e-5) << "something must happen";
}

TEST(DetiPaperScheme, ComesToRestFarFromWhereForcesBalance) {
  const std::string text = rod(8, "", 20, 0.001);
  // Its filter scales the response of stiff modes to constant forces, also in steps a fifth as long (0.13 instead of 0.09).
  EXPECT_LT(tip_after(text, R"({"name": "deti", "alpha0": 4})", 4), -0.8);
  EXPECT_GT(tip_after(text, R"({"name": "deti", "alpha0": 4, "scheme": "paper"})", 4), -0.2);
}

TEST(ChangingModuli, AFibreThatGetsStifferComesToTheEquilibriumOfTheEndWithAnySolver) {
  const std::string text =
      rod(20, R"(, "young_over_time": {"keys": [[0, 1], [0.5, 4]]})", 0.5, 0.01, R"(, {"type": "drag", "rate": 6})");
  // w L^4/(8 EI) at four times the stiffness; `direct` has the shear of the material, which adds 0.0006 of it, and 20 segments.
  for (const char* solver : {R"({"name": "deti"})", R"({"name": "direct"})"})
    EXPECT_NEAR(tip_after(text, solver, 4), -0.5 / 32, 0.006 * 0.5 / 32) << solver;
}

}  // namespace
}  // namespace osier::test
