// Steps that cannot converge end a run, or cost little, instead of being divided in vain; and all elements moved at once stay
// where they are at rest.
#include <cmath>
#include <gtest/gtest.h>

#include "math/vec3.hpp"
#include "osier/osier.hpp"

namespace osier::test {
namespace {

const char* const kSpun = R"({
  "materials": {"r": {"preset": "rubber", "radius": 0.005}},
  "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 20, "material": "r"}],
  "constraints": [{"type": "pin", "vertices": "a:start"}],
  "forces": [{"type": "torque", "segments": "a:end", "torque": [0.001, 0, 0]}]
})";

TEST(Unresisted, ATorqueEndsTheRunAtItsFirstStep) {
  Simulation s(Scene::parse(kSpun));
  try {
    s.step();
    FAIL() << "taken";
  } catch (const RunError& e) {
    EXPECT_NE(std::string(e.what()).find("nothing resists the torque"), std::string::npos) << e.what();
  }
  EXPECT_EQ(s.state().step_index, 0);
}

TEST(Unresisted, ATorqueInANetEndsTheRunInBothPrecisions) {
  for (const char* precision : {"float", "double"}) {
    Simulation s(Scene::parse(std::string(R"({"structures": [{"type": "net", "knots": false}],
      "forces": [{"type": "torque", "segments": "net.column0:0", "torque": [0.006, -0.02, 0.03]}],
      "solver": {"precision": ")") +
                              precision + R"("}})"));
    EXPECT_THROW(for (int i = 0; i < 100; ++i) s.step(true), RunError) << precision;
    EXPECT_LT(s.state().step_index, 100);
  }
}

// Flat strip closed to a ring; nothing acts. Round rods have the closed form, strips do not.
TEST(Jacobi, ARingAtRestStaysThere) {
  for (const char* section : {R"("radius": 2e-4)", R"("section": {"type": "ellipse", "radius_1": 2e-4, "radius_2": 1.35e-5})"})
    for (const char* goal : {R"("tolerance": 4.4e-4, "max_iterations": 21)", R"("iterations": 4)"}) {
      Simulation s(Scene::parse(std::string(R"({"materials": {"m": {"young": 3.5e9, "density": 159, "poisson": 0.367, )") +
                                section +
                                R"(}}, "rods": [{"shape": {"type": "circle", "radius": 0.32}, "segments": 58, "material": "m"}],
        "solver": {"name": "stable_cosserat", "order": "jacobi", )" +
                                goal + R"(},
        "analysis": {"type": "dynamic", "step": 4e-5, "duration": 0.02, "fps": 1000}})"));
      const std::vector<Vec3d> before = s.state().vertex_position;
      int not_converged = 0;
      for (int i = 0; i < 500; ++i) not_converged += s.step().not_converged ? 1 : 0;
      EXPECT_EQ(not_converged, 0) << section << goal;
      double moved = 0;
      for (std::size_t v = 0; v < before.size(); ++v) moved = std::max(moved, norm(s.state().vertex_position[v] - before[v]));
      EXPECT_LT(moved, 1e-6) << section << goal;
    }
}

}  // namespace
}  // namespace osier::test
