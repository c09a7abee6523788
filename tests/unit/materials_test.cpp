// Sections against integrals and tables; the way from moduli, density and section to stiffnesses; rods of a scene.
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <numbers>

#include "core/fields.hpp"
#include "materials/material.hpp"
#include "osier/osier.hpp"

namespace osier {
namespace {

using std::numbers::pi;

Material material(const std::string& text, Problems& problems) {
  const Json json = Json::parse(text);
  Material m;
  JsonReader reader(json, "/m", problems);
  m.fields(reader);
  reader.finish();
  return m;
}

Section section(const std::string& text) {
  Problems problems;
  const Section s = material(text, problems).section(problems);
  EXPECT_NO_THROW(problems.throw_if_any()) << text;
  return s;
}

std::vector<Problem> problems_of(const std::string& text) {
  Problems problems;
  material(text, problems).section(problems);
  try {
    problems.throw_if_any();
  } catch (const InputError& e) {
    return e.problems();
  }
  return {};
}

void expect_relative(double value, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(value / expected, 1, tolerance) << what << ": " << value << " instead of " << expected;
}

// --------------------------------------------------------------------------------------------------------------- sections

/// Integral of f(x1, x2) over a section whose extent in x2 at x1 is [low, high](x1), by Gauss-Legendre in x2 and x1 = a sin t.
double integral(double a, const std::function<double(double)>& half_height, const std::function<double(double, double)>& f) {
  static const double node[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static const double weight[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  double sum = 0;
  const int n = 64;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 8; ++k) {
      const double t = pi * ((i + 0.5 + (k < 4 ? 0.5 : -0.5) * node[k % 4]) / n - 0.5), x = a * std::sin(t), h = half_height(x);
      for (int l = 0; l < 8; ++l)
        sum += f(x, (l < 4 ? h : -h) * node[l % 4]) * weight[k % 4] * weight[l % 4] * h * a * std::cos(t) * pi / (2 * n);
    }
  return sum;
}

void expect_moments(const SectionShape& shape, double a, const std::function<double(double)>& half_height,
                    const std::string& what, double hole = 0) {
  const auto over = [&](const std::function<double(double, double)>& f) {
    double value = integral(a, half_height, f);
    if (hole > 0)
      value -= integral(
          hole, [&](double x) { return std::sqrt(std::max(0.0, hole * hole - x * x)); }, f);
    return value;
  };
  const SectionProperties p = shape.properties(0.3);
  expect_relative(p.area, over([](double, double) { return 1.0; }), 1e-9, what + " area");
  expect_relative(p.bend_1, over([](double, double y) { return y * y; }), 1e-9, what + " I1");
  expect_relative(p.bend_2, over([](double x, double) { return x * x; }), 1e-9, what + " I2");
}

TEST(SectionShape, AreasAndMomentsAreTheIntegrals) {
  CircleSection circle(0.3);
  expect_moments(
      circle, 0.3, [](double x) { return std::sqrt(std::max(0.0, 0.09 - x * x)); }, "circle");
  TubeSection tube;
  tube.radius = 0.3, tube.inner_radius = 0.2;
  expect_moments(
      tube, 0.3, [](double x) { return std::sqrt(std::max(0.0, 0.09 - x * x)); }, "tube", 0.2);
  EllipseSection ellipse;
  ellipse.radius_1 = 0.5, ellipse.radius_2 = 0.2;
  expect_moments(
      ellipse, 0.5, [](double x) { return 0.2 * std::sqrt(std::max(0.0, 1 - x * x / 0.25)); }, "ellipse");
  RectangleSection rectangle;
  rectangle.width = 0.8, rectangle.height = 0.3;
  expect_moments(
      rectangle, 0.4, [](double) { return 0.15; }, "rectangle");
  EXPECT_DOUBLE_EQ(rectangle.properties(0).radius, std::hypot(0.4, 0.15));
  EXPECT_EQ(ellipse.properties(0).radius, 0.5);
}

double rectangle_torsion(double width, double height) {
  RectangleSection r;
  r.width = width, r.height = height;
  return r.properties(0).torsion;
}

TEST(SectionShape, TorsionOfARectangleMatchesTheTables) {
  EXPECT_NEAR(rectangle_torsion(1, 1), 0.1405770, 1e-7);  // Timoshenko and Goodier: 0.1406, 0.229, 0.312
  EXPECT_NEAR(rectangle_torsion(2, 1) / 2, 0.228682, 1e-6);
  EXPECT_NEAR(rectangle_torsion(10, 1) / 10, 0.312325, 1e-6);
  const double thin = 1000;  // w h^3/3 (1 - 0.630249 h/w)
  EXPECT_NEAR(rectangle_torsion(thin, 1) / (thin / 3), 1 - 0.630249 / thin, 1e-9);
  EXPECT_EQ(rectangle_torsion(3, 1.7), rectangle_torsion(1.7, 3));
}

TEST(SectionShape, TorsionOfARectangleIsTwiceTheVolumeUnderItsMembrane) {
  // The membrane, lap phi = -2, by double sine series: J = 256 a b/pi^6 sum over odd m, n of 1/(m^2 n^2 (m^2/a^2 + n^2/b^2)).
  for (const auto& [a, b] : {std::pair{1.0, 1.0}, {1.3, 0.7}, {5.0, 1.0}}) {
    double sum = 0;
    for (double m = 2001; m > 0; m -= 2)
      for (double n = 2001; n > 0; n -= 2) sum += 1 / (m * m * n * n * (m * m / (a * a) + n * n / (b * b)));
    expect_relative(rectangle_torsion(a, b), 256 * a * b / std::pow(pi, 6) * sum, 1e-8, fmt::format("{} x {}", a, b));
  }
}

TEST(SectionShape, TorsionOfAnEllipseIsTwiceTheVolumeUnderItsMembrane) {
  EllipseSection e;
  e.radius_1 = 0.5, e.radius_2 = 0.2;
  const double a2 = 0.25, b2 = 0.04;
  const double volume = integral(
      0.5, [&](double x) { return 0.2 * std::sqrt(std::max(0.0, 1 - x * x / a2)); },
      [&](double x, double y) { return a2 * b2 / (a2 + b2) * (1 - x * x / a2 - y * y / b2); });
  expect_relative(e.properties(0).torsion, 2 * volume, 1e-9, "J");
}

TEST(SectionShape, RoundSectionsHaveTheirPolarMoment) {
  EllipseSection e;
  e.radius_1 = e.radius_2 = 0.3;
  TubeSection solid;
  solid.radius = 0.3;
  const SectionProperties c = CircleSection(0.3).properties(0.3);
  EXPECT_DOUBLE_EQ(c.torsion, c.bend_1 + c.bend_2);
  for (const SectionProperties& p : {e.properties(0.3), solid.properties(0.3)}) {
    expect_relative(p.torsion, c.torsion, 1e-14, "J");
    expect_relative(p.bend_1, c.bend_1, 1e-14, "I1");
    expect_relative(p.shear_1, c.shear_1, 1e-14, "k1");
    expect_relative(p.shear_2, c.shear_2, 1e-14, "k2");
  }
}

/// Cowper's definition for an ellipse, semi-axis a along the force, from the flexure function chi = c1 x + c2 (x^3 - 3 x y^2):
/// k = 2 (1 + nu) I/(nu (I' - I)/2 - A/I integral of x (chi + x y^2)), I about the axis of bending, I' the other.
double ellipse_shear_by_definition(double a, double b, double nu) {
  const double c2 = ((2 + nu / 2) * a * a + (1 - nu / 2) * b * b) / (9 * a * a + 3 * b * b), c1 = -a * a * (3 * c2 + nu / 2);
  const auto over = [&](const std::function<double(double, double)>& f) {
    return integral(
        a, [&](double x) { return b * std::sqrt(std::max(0.0, 1 - x * x / (a * a))); }, f);
  };
  const double area = pi * a * b, I = area * a * a / 4, other = area * b * b / 4;
  const double warp = over([&](double x, double y) { return x * (c1 * x + c2 * (x * x * x - 3 * x * y * y)) + x * x * y * y; });
  return 2 * (1 + nu) * I / (nu / 2 * (other - I) - area / I * warp);
}

TEST(SectionShape, ShearCorrectionIsCowpers) {
  EllipseSection e;
  e.radius_1 = 0.5, e.radius_2 = 0.2;
  for (double nu : {0.0, 0.3, 0.5}) {
    expect_relative(e.properties(nu).shear_1, ellipse_shear_by_definition(0.5, 0.2, nu), 1e-8, "k1");
    expect_relative(e.properties(nu).shear_2, ellipse_shear_by_definition(0.2, 0.5, nu), 1e-8, "k2");
    expect_relative(CircleSection(0.3).properties(nu).shear_1, ellipse_shear_by_definition(0.3, 0.3, nu), 1e-8, "circle");
  }
  TubeSection thin;
  thin.radius = 1, thin.inner_radius = 0.9999;
  EXPECT_NEAR(thin.properties(0.3).shear_1, 2 * 1.3 / (4 + 3 * 0.3), 1e-4);  // Cowper's thin tube
  RectangleSection r;
  r.width = 1, r.height = 3;
  EXPECT_NEAR(r.properties(0).shear_1, 5.0 / 6, 1e-15);
  EXPECT_NEAR(r.properties(0.3).shear_2, 0.849673, 1e-6);
}

// -------------------------------------------------------------------------------------------------------------- materials

TEST(Material, ARoundSectionAloneFollowsThePaper) {
  const Section s = section(R"({"young": 2e9, "density": 1000, "radius": 0.01})");
  EXPECT_NEAR(s.stretch_shear.d3, 2e9 * pi * 1e-4, 1e-3);
  EXPECT_NEAR(s.bend_twist.d3, 2e9 * pi * 1e-8 / 4, 1e-9);
  EXPECT_NEAR(s.line_density, 0.314159265, 1e-8);
  EXPECT_TRUE(s.stretch_shear.uniform() && s.bend_twist.uniform());
  const Section tube =
      section(R"({"young": 2e9, "density": 1000, "section": {"type": "tube", "radius": 0.01, "inner_radius": 0.005}})");
  EXPECT_TRUE(tube.stretch_shear.uniform() && tube.bend_twist.uniform());
}

TEST(Material, PoissonRatioGivesTrueShearAndTwist) {
  const double A = pi * 1e-4, I = A * 1e-4 / 4;
  for (double nu : {0.0, 0.3, -0.2}) {  // 0 is a value like any other
    const Section s = section(fmt::format(R"({{"young": 2e9, "poisson": {}, "density": 1000, "radius": 0.01}})", nu));
    const double G = 2e9 / (2 * (1 + nu)), k = 6 * (1 + nu) / (7 + 6 * nu);
    expect_relative(s.stretch_shear.d3, 2e9 * A, 1e-14, "EA");
    expect_relative(s.stretch_shear.d1, k * G * A, 1e-14, "GA1");
    expect_relative(s.stretch_shear.d2, k * G * A, 1e-14, "GA2");
    expect_relative(s.bend_twist.d1, 2e9 * I, 1e-14, "EI");
    expect_relative(s.bend_twist.d3, G * 2 * I, 1e-14, "GJ");
    const Section same = section(fmt::format(R"({{"young": 2e9, "shear_modulus": {}, "density": 1000, "radius": 0.01}})", G));
    expect_relative(same.bend_twist.d3, s.bend_twist.d3, 1e-14, "GJ from G");
    if (nu >= 0) expect_relative(same.stretch_shear.d1, s.stretch_shear.d1, 1e-14, "GA from G");
  }
}

TEST(Material, FibreWhoseGIsIndependentHasItsShearCorrectionWithinBounds) {
  const auto shear_factor = [](double G) {
    const Section s = section(fmt::format(R"({{"young": 2e9, "shear_modulus": {}, "density": 1000, "radius": 0.01}})", G));
    return s.stretch_shear.d1 / (G * pi * 1e-4);
  };
  EXPECT_NEAR(shear_factor(1e8), 0.9, 1e-12);      // E/2G - 1 = 9 counts as 0.5
  EXPECT_NEAR(shear_factor(2e9), 6.0 / 7, 1e-12);  // -0.5 counts as 0
}

TEST(Material, RectangleHasItsAxesTheRightWayRound) {
  const Section s = section(
      R"({"young": 1e9, "poisson": 0.25, "density": 1000, "section": {"type": "rectangle", "width": 0.01, "height": 0.03}})");
  const double A = 3e-4, G = 4e8;
  expect_relative(s.bend_twist.d1, 1e9 * A * 9e-4 / 12, 1e-14, "EI1, about d1: the height counts");
  expect_relative(s.bend_twist.d2, 1e9 * A * 1e-4 / 12, 1e-14, "EI2");
  expect_relative(s.bend_twist.d3, G * rectangle_torsion(0.01, 0.03), 1e-14, "GJ");
  expect_relative(s.stretch_shear.d1, G * A * 12.5 / 14.75, 1e-14, "GA1");
  expect_relative(s.inertia.d1, 1000 * A * 9e-4 / 12, 1e-14, "rho I1");
  expect_relative(s.inertia.d3, 1000 * A * 10e-4 / 12, 1e-14, "rho (I1 + I2)");
  EXPECT_NEAR(s.radius, 0.5 * std::hypot(0.01, 0.03), 1e-16);
}

TEST(Material, SpecificKeysWinOverCombinedOnesAndThoseOverSI) {
  const std::string si = R"("young": 1e9, "poisson": 0.25, "density": 1000, "radius": 0.01)";
  const Section plain = section("{" + si + "}");
  Section s = section("{" + si + R"(, "twist": 7})");
  EXPECT_EQ(s.bend_twist, PerAxis(plain.bend_twist.d1, plain.bend_twist.d2, 7));
  EXPECT_EQ(s.stretch_shear, plain.stretch_shear);
  s = section("{" + si + R"(, "bend_twist": 5, "bend": [3, 4]})");
  EXPECT_EQ(s.bend_twist, PerAxis(3, 4, 5));
  s = section("{" + si + R"(, "stretch_shear": 50, "stretch": 60})");
  EXPECT_EQ(s.stretch_shear, PerAxis(50, 50, 60));
  s = section("{" + si + R"(, "shear": [8, 9]})");
  EXPECT_EQ(s.stretch_shear, PerAxis(8, 9, plain.stretch_shear.d3));
  s = section(R"({"stretch": 10, "shear": 4, "bend": [1, 2], "twist": 0, "line_density": 2})");
  EXPECT_EQ(s.stretch_shear, PerAxis(4, 4, 10));
  EXPECT_EQ(s.bend_twist, PerAxis(1, 2, 0));
  EXPECT_TRUE(s.bends());
  EXPECT_FALSE(s.inertia.any());
  EXPECT_FALSE(section(R"({"stretch_shear": 10, "bend": 0, "twist": 0, "line_density": 2})").bends());
}

TEST(Material, LineDensityAndSectionGiveTheInertia) {
  const Section s = section(R"({"stretch_shear": 10, "bend_twist": 1, "line_density": 2, "radius": 0.1})");
  expect_relative(s.inertia.d1, 2 * 0.01 / 4, 1e-14, "m r^2/4 per length");
  expect_relative(s.inertia.d3, 2 * 0.01 / 2, 1e-14, "m r^2/2 per length");
}

TEST(Material, DampingTimesPerMode) {
  const std::string raw = R"({"stretch_shear": 10, "bend_twist": 1, "line_density": 2, "tau_stretch": 1, "tau_bend": 2)";
  Section s = section(raw + "}");
  EXPECT_EQ(s.tau_stretch, PerAxis(1));
  EXPECT_EQ(s.tau_bend, PerAxis(2));
  s = section(raw + R"(, "tau_shear": 3, "tau_twist": 0})");
  EXPECT_EQ(s.tau_stretch, PerAxis(3, 3, 1));
  EXPECT_EQ(s.tau_bend, PerAxis(2, 2, 0));
}

TEST(Material, PresetsAreDefaults) {
  const Section hair = section(R"({"preset": "hair"})");
  EXPECT_NEAR(hair.bend_twist.d1, 2.277498e-9, 1e-15);  // the paper's hair
  EXPECT_NEAR(hair.bend_twist.d3, 1.361409e-9, 1e-15);
  EXPECT_NEAR(hair.line_density, 3.13e-6, 1e-18);
  const Section wire = section(R"({"preset": "steel_wire", "radius": 0.0005})");
  const double I = pi * std::pow(0.0005, 4) / 4;
  expect_relative(wire.bend_twist.d1, 206e9 * I, 1e-14, "EI");
  expect_relative(wire.bend_twist.d3, 81.5e9 * 2 * I, 1e-14, "GJ");
  const Section changed =
      section(R"({"preset": "steel_wire", "radius": 0.0005, "young": 200e9, "poisson": 0.3, "density": 8000})");
  expect_relative(changed.bend_twist.d1, 200e9 * I, 1e-14, "EI of its own E");
  expect_relative(changed.bend_twist.d3, 200e9 / 2.6 * 2 * I, 1e-14, "GJ of its own ratio");
  expect_relative(changed.line_density, 8000 * pi * 0.0005 * 0.0005, 1e-14, "mass");
  const Section flat = section(R"({"preset": "hair", "section": {"type": "ellipse", "radius_1": 4e-5, "radius_2": 2e-5}})");
  EXPECT_EQ(flat.radius, 4e-5);
  for (const Preset& p : presets()) {
    EXPECT_GT(p.young, p.shear_modulus) << p.name;
    EXPECT_GT(std::string(p.source).size(), 20u) << p.name;
    section(fmt::format(R"({{"preset": "{}", "section": {{"type": "rectangle", "width": 0.001, "height": 0.002}}}})", p.name));
  }
}

TEST(Material, TaperScalesAreasAndMoments) {
  const Section s = section(R"({"preset": "steel_wire", "radius": 0.001})"),
                big = section(R"({"preset": "steel_wire", "radius": 0.003})");
  const Section t = scaled(s, 3);
  expect_relative(t.stretch_shear.d3, big.stretch_shear.d3, 1e-14, "EA");
  expect_relative(t.stretch_shear.d1, big.stretch_shear.d1, 1e-14, "GA");
  expect_relative(t.bend_twist.d1, big.bend_twist.d1, 1e-14, "EI");
  expect_relative(t.bend_twist.d3, big.bend_twist.d3, 1e-14, "GJ");
  expect_relative(t.line_density, big.line_density, 1e-14, "mass");
  expect_relative(t.inertia.d1, big.inertia.d1, 1e-14, "inertia");
  expect_relative(t.radius, big.radius, 1e-14, "radius");
}

TEST(Material, MissingQuantitiesAreNamedAllAtOnce) {
  EXPECT_EQ(problems_of(R"({"young": 1e6})").size(), 3u);
  auto p = problems_of(R"({"stretch": 100, "bend": [1, 2], "line_density": 1})");
  ASSERT_EQ(p.size(), 2u);
  EXPECT_EQ(p[0].what, "`shear` is missing");
  EXPECT_EQ(p[1].what, "`twist` is missing");
  p = problems_of(R"({"young": 1e9, "section": {"type": "rectangle", "width": 1, "height": 2}})");
  ASSERT_EQ(p.size(), 2u);  // and the line density
  EXPECT_EQ(p[1].what, "`poisson` or `shear_modulus` is missing");
  EXPECT_TRUE(
      problems_of(
          R"({"young": 1e9, "density": 1, "shear": 1, "twist": 1, "section": {"type": "rectangle", "width": 1, "height": 2}})")
          .empty());
}

TEST(Material, ContradictionsAndIdleKeysAreProblems) {
  const auto expect = [](const std::string& text, const std::string& where, const std::string& word) {
    const auto p = problems_of(text);
    ASSERT_EQ(p.size(), 1u) << text;
    EXPECT_EQ(p[0].where, where) << text;
    EXPECT_NE(to_string(p[0]).find(word), std::string::npos) << to_string(p[0]);
  };
  const std::string raw = R"({"stretch_shear": 10, "bend_twist": 1, "line_density": 2)";
  expect(raw + R"(, "radius": 1, "section": {"type": "circle", "radius": 1}})", "/m", "both `radius` and `section`");
  expect(raw + R"(, "section": {"type": "tube", "radius": 1, "inner_radius": 1}})", "/m/section/inner_radius", "smaller");
  expect(raw + R"(, "young": 1e9})", "/m/young", "no effect");
  expect(raw + R"(, "density": 1e3})", "/m/density", "no effect");
  expect(raw + R"(, "bend": 1, "twist": 2})", "/m/bend_twist", "no effect");
  expect(raw + R"(, "stretch": 1, "shear": 2})", "/m/stretch_shear", "no effect");
  expect(raw + R"(, "preset": "steel_wire", "radius": 1})", "/m/preset", "no effect");
  expect(raw + R"(, "preset": "stel_wire"})", "/m/preset", "`steel_wire`?");
  expect(R"({"stretch": 1, "shear": [1, 0], "bend_twist": 1, "line_density": 1})", "/m/shear/1", "above 0 N");
  expect(R"({"young": 1e9, "poisson": 0.3, "shear_modulus": 1e9, "density": 1, "radius": 1})", "/m", "both `poisson`");
  expect(R"({"young": 1e9, "poisson": -1, "density": 1, "radius": 1})", "/m/poisson", "above -1");
}

// ---------------------------------------------------------------------------------------------------------- rods of a scene

Scene scene(const std::string& rod, const std::string& more = "") {
  return Scene::parse(fmt::format(
      R"({{"materials": {{"m": {{"preset": "steel_wire", "section": {{"type": "rectangle", "width": 0.001, "height": 0.003}}}}}},
    "rods": [{{"name": "a", "material": "m", {}}}]{}}})",
      rod, more));
}
const std::string kLine = R"("shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]})";

TEST(Sampling, MassAndStiffnessDoNotDependOnIt) {
  const double mass = 7850 * 3e-6, EA = 206e9 * 3e-6, EI1 = 206e9 * 3e-6 * 9e-6 / 12;
  const std::string points = R"("shape": {"type": "points", "points": [[0,0,0], [0.1,0,0], [0.15,0,0], [0.5,0,0], [1,0,0]]})";
  for (const std::string& rod : {kLine + R"(, "segments": 20)", kLine + R"(, "segments": 200)", points}) {
    const Scene s = scene(rod, R"(, "rotational_inertia": true)");
    const Model& m = s.model();
    double total = 0, compliance = 0, bend = 0, turn = 0, ends = 0;
    for (double v : m.vertex_mass) total += v;
    for (Index i = 0; i < m.segment_count(); ++i) {
      const double l = m.segment_rest_length[i];
      compliance += l * l / m.segment_stiffness[i].d3;  // k^ss = EA l: springs k^ss/l^2 in series
      turn += m.segment_inertia[i].d3;
    }
    for (Index j = 0; j < m.joint_count(); ++j) bend += 4 / m.joint_stiffness[j].d1;
    ends = 0.5 * (m.segment_rest_length.front() + m.segment_rest_length.back()) / EI1;  // where no joint is
    expect_relative(total, mass, 1e-13, "mass");
    expect_relative(1 / compliance, EA, 1e-13, "EA/L");
    expect_relative(bend + ends, 1 / EI1, 1e-13, "L/EI1");
    expect_relative(turn, 7850 * 3e-6 * 10e-6 / 12, 1e-13, "rotational inertia");
  }
}

TEST(Frames, UpHoldsD1WhereTransportWouldTurnIt) {
  const std::string helix =
      R"("shape": {"type": "helix", "radius": 1, "pitch": 1, "turns": 2, "axis": [0, 0, 1]}, "segments": 40, "up": [0, 0, 1])";
  const State held = scene(helix + R"(, "frame": "up")").initial_state(), carried = scene(helix).initial_state();
  const double slope = rotate(held.frame_rotation[0], Vec3d{1, 0, 0}).z;
  double most = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(rotate(held.frame_rotation[i], Vec3d{1, 0, 0}).z, slope, 1e-12);
    EXPECT_NEAR(rotate(held.frame_rotation[i], Vec3d{0, 1, 0}).z, 0, 1e-12);
    most = std::max(most, std::abs(rotate(carried.frame_rotation[i], Vec3d{0, 1, 0}).z));
  }
  EXPECT_GT(slope, 0.9);
  EXPECT_GT(most, 0.1);
}

TEST(Frames, PoseTwistTurnsTheStartOnly) {
  const Scene plain = scene(kLine + R"(, "segments": 4)"),
              turned = scene(kLine + R"(, "segments": 4, "pose_twist": {"keys": [[0, 0], [1, 80]]})");
  EXPECT_EQ(plain.initial_state().vertex_position[3].x, turned.initial_state().vertex_position[3].x);
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3d turn = rotation_log(conj(plain.initial_state().frame_rotation[i]) * turned.initial_state().frame_rotation[i]);
    EXPECT_NEAR(turn.z, (10 + 20 * static_cast<double>(i)) * pi / 180, 1e-12);
    EXPECT_NEAR(turn.x, 0, 1e-12);
  }
  for (const Quatd& q : turned.model().joint_rest_rotation) EXPECT_NEAR(std::abs(q.w), 1, 1e-15);
}

TEST(Taper, IsReadAtTheMiddleOfEachSegment) {
  const Model m =
      scene(R"("shape": {"type": "points", "points": [[0,0,0], [0.2,0,0], [1,0,0]]}, "taper": {"keys": [[0, 1], [1, 0.5]]})",
            R"(, "rotational_inertia": true)")
          .model();
  const double EA = 206e9 * 3e-6, at[] = {0.1, 0.6}, length[] = {0.2, 0.8};
  for (std::size_t i = 0; i < 2; ++i) {
    const double s = 1 - 0.5 * at[i];
    expect_relative(m.segment_stiffness[i].d3, EA * s * s * length[i], 1e-13, "EA l");
    expect_relative(m.segment_inertia[i].d1, 7850 * 3e-6 * 9e-6 / 12 * std::pow(s, 4) * length[i], 1e-13, "rho I1 l");
  }
}

TEST(RotationalInertia, IsOffUnlessAskedFor) {
  EXPECT_FALSE(scene(kLine + R"(, "segments": 4)").model().has_inertia());
  EXPECT_TRUE(scene(kLine + R"(, "segments": 4)", R"(, "rotational_inertia": true)").model().has_inertia());
}

}  // namespace
}  // namespace osier
