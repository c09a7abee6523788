// Sections that are not round, and tapered rods, against beam theory.
#include "analytic/reference.hpp"

namespace osier::test {
namespace {

constexpr double kE = 1e9, kNu = 0.25;

std::string solid(const std::string& shape) {
  return fmt::format(R"({{"young": {}, "poisson": {}, "density": 1000, "section": {}}})", kE, kNu, shape);
}

/// A horizontal cantilever of 1 m along x under a tip force.
std::string cantilever(int n, const std::string& material, const Vec3d& force, const std::string& rod_keys = "") {
  return fmt::format(R"({{
    "rods": [{{"name": "rod", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {}, "material": {}{}}}],
    "constraints": [{{"type": "clamp", "vertices": "rod:start"}}],
    "forces": [{{"type": "force", "vertices": "rod:end", "force": [{}, {}, {}]}}],
    "analysis": {{"type": "static", "load_steps": 2, "tolerance": 1e-9}}
  }})",
                     n, material, rod_keys, force.x, force.y, force.z);
}

Vec3d tip(const std::string& text) { return settle(text).state().vertex_position.back(); }

// d1 along `up`: the moment of a load along d1 turns about d2, so that I2 = A width^2/12 resists it.
TEST(SectionCantilever, BendsAboutTheRightAxis) {
  const std::string blade = solid(R"({"type": "rectangle", "width": 0.01, "height": 0.03})");
  const double A = 3e-4, I1 = A * 9e-4 / 12, I2 = A * 1e-4 / 12, GA = kE / (2 * (1 + kNu)) * A * 12.5 / 14.75;
  for (const auto& [force, I] : {std::pair{Vec3d{0, 0, 1e-3}, I2}, {Vec3d{0, 1e-3, 0}, I1}}) {
    const Vec3d end = tip(cantilever(100, blade, force, R"(, "up": [0, 0, 1])"));
    const double expected = 1e-3 / (3 * kE * I) + 1e-3 / GA;
    EXPECT_NEAR(norm(Vec3d{0, end.y, end.z}) / expected, 1, 6e-5);  // 1/(2 N^2)
  }
}

TEST(SectionCantilever, RotatedRectangleIsTheSwappedOne) {
  const std::string flat = solid(R"({"type": "rectangle", "width": 0.01, "height": 0.03})"),
                    edge = solid(R"({"type": "rectangle", "width": 0.03, "height": 0.01})");
  const Vec3d force{-1, 4, 3};  // large: bends and twists
  const Vec3d a = tip(cantilever(20, flat, force, R"(, "up": [0, 0, 1])")),
              b = tip(cantilever(20, edge, force, R"(, "up": [0, 1, 0])"));
  EXPECT_GT(norm(a - Vec3d{1, 0, 0}), 0.1);
  EXPECT_LT(norm(a - b), 1e-10);
  const Vec3d c = tip(cantilever(20, edge, force, R"(, "up": [0, 0, 1])"));
  EXPECT_GT(norm(a - c), 0.01);  // and the axes matter
}

TEST(SectionCantilever, RoundSectionDoesNotCareHowItsFrameIsTurned) {
  for (const char* shape :
       {R"({"type": "circle", "radius": 0.01})", R"({"type": "tube", "radius": 0.012, "inner_radius": 0.01})"}) {
    const Vec3d force{-1, 4, 3};
    const Vec3d a = tip(cantilever(20, solid(shape), force, R"(, "up": [0, 0, 1])")),
                b = tip(cantilever(20, solid(shape), force, R"(, "up": [0, 0.6, 0.3])"));
    EXPECT_LT(norm(a - b), 1e-10);
  }
}

// r = r0 (1 - c x/L): with EI ~ (1 - c x/L)^4 the integral of P (L - x)^2/EI is P L^3/(3 EI0 (1 - c)), that of P/GA is
// P L/(GA0 (1 - c)).
TEST(TaperedCantilever, TipMatchesTheIntegralAtSecondOrder) {
  const double A = RodS::pi * 1e-4, I = A * 1e-4 / 4, GA = kE / (2 * (1 + kNu)) * A * 7.5 / 8.5, load = 1e-2;
  for (const auto& [end, allowed] : {std::pair{0.5, 7e-4}, {0.2, 3.1e-3}, {2.0, 4.3e-4}}) {
    Convergence convergence;
    const double expected = load * (1 / (3 * kE * I) + 1 / GA) / end;
    for (int n : {20, 50, 100, 200}) {
      const Vec3d x = tip(cantilever(n, solid(R"({"type": "circle", "radius": 0.01})"), {0, 0, load},
                                     fmt::format(R"(, "taper": {{"keys": [[0, 1], [1, {}]]}})", end)));
      convergence.add(n, (x.z - expected) / expected);
    }
    convergence.expect_second_order(fmt::format("taper to {}", end));
    convergence.expect_within({{50, allowed}}, fmt::format("taper to {}", end));
  }
}

// V19: the helix of hair, E/G = 3.35, hanging under its own weight; the tip by shooting on Kirchhoff's equations.
TEST(HairHelix, HangsWhereKirchhoffSays) {
  Convergence convergence;
  const Vec3d reference{0.01204834, 0.00291284, 0.09390297};
  for (int n : {100, 200, 400}) {
    const Simulation s = settle(fmt::format(R"({{
      "rods": [{{"name": "hair", "shape": {{"type": "helix", "center": [0, 0, 0], "axis": [0, 0, 1], "start": [1, 0, 0], "radius": 0.01, "pitch": 0.01, "turns": {}}},
                 "segments": {}, "material": {{"preset": "hair"}}}}],
      "constraints": [{{"type": "clamp", "vertices": "hair:start"}}],
      "forces": [{{"type": "gravity", "acceleration": [0, 0, 9.81]}}],
      "analysis": {{"type": "static", "load_steps": 8}}
    }})",
                                            0.25 / std::hypot(2 * RodS::pi * 0.01, 0.01), n));
    convergence.add(n, norm(s.state().vertex_position.back() - reference));
  }
  convergence.expect_second_order("tip", 100, 400);
  convergence.expect_within({{100, 2.4e-4}, {200, 6e-5}, {400, 1.5e-5}}, "tip");
}

}  // namespace
}  // namespace osier::test
