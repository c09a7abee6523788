// The solver `projective` against closed forms and against what is known of the printed scheme (docs/theory/projective.md).
#include <numbers>

#include "analytic/reference.hpp"
#include "math/quat.hpp"
#include "osier/reproduce.hpp"
#include "reproduce/elastica.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

constexpr double kPi = std::numbers::pi;

struct Rod {
  double r, rho, E, L, nu = 0.5;
  double area() const { return kPi * r * r; }
  double bending() const { return E * area() * r * r / 4; }
  double twisting() const { return bending() / (1 + nu); }
};
constexpr Rod kFigure8{.008, 4300, 1e6, .5}, kFigure6{.003, 1300, 5e8, .2}, kSoft{.003, 1300, 1e6, 1};

/// A straight rod along x with shear as stiff as stretch, as in the paper.
std::string rod_scene(const Rod& rod, int segments, double h, const std::string& more, const std::string& solver,
                      const std::string& in_rod = "") {
  return fmt::format(R"({{
    "materials": {{"m": {{"stretch_shear": {:.17g}, "bend": {:.17g}, "twist": {:.17g}, "line_density": {:.17g}, "radius": {}}}}},
    "rods": [{{"name": "rod", "material": "m", "segments": {}, "up": [0, 0, 1], "shape": {{"type": "line", "from": [0, 0, 0], "to": [{}, 0, 0]}}{}}}],
    {}, "solver": {},
    "analysis": {{"type": "dynamic", "step": {}, "duration": 1000, "steps_per_frame": 1, "integrator": "implicit_euler"}}
  }})",
                     rod.E * rod.area(), rod.bending(), rod.twisting(), rod.rho * rod.area(), rod.r, segments, rod.L, in_rod,
                     more, solver, h);
}
const std::string kClamp = R"("constraints": [{"type": "clamp", "vertices": "rod:start"}])";

std::string sweeps(int n, const std::string& more = "") {
  return fmt::format(R"({{"name": "projective", "iteration": "sweeps", "iterations": {}{}}})", n, more);
}

/// Where the tip comes to rest under a weight that hardly bends it.
double sag(const Rod& rod, const std::string& more) {
  Simulation s(Scene::parse(rod_scene(
      rod, 20, 0.01, kClamp + R"(, "forces": [{"type": "gravity", "acceleration": [0, -0.001, 0]}, {"type": "drag", "rate": 3}])",
      sweeps(10, more))));
  for (int i = 0; i < 4000; ++i) s.step();
  return -s.state().vertex_position[20].y;
}

TEST(ProjectivePaper, BendsWithTwiceTheTwistingStiffness) {
  for (const double nu : {0.0, 0.5}) {
    Rod rod = kFigure8;
    rod.nu = nu;
    const double exact = sag(rod, ""), paper = sag(rod, R"(, "variant": "paper")");
    EXPECT_NEAR(exact / paper, 2 / (1 + nu), 0.01 * 2 / (1 + nu));
    // w L^4/(8 EI), and w L^2/(2 EA) of shear, by segments of a twentieth: of second order.
    const double w = 0.001 * rod.rho * rod.area(), L2 = rod.L * rod.L;
    EXPECT_NEAR(exact / (w * L2 * L2 / (8 * rod.bending()) + w * L2 / (2 * rod.E * rod.area())), 1, 0.01);
  }
}

/// Frequency from zero crossings, in Hz.
double frequency(const std::vector<double>& y, double h) {
  double first = 0, last = 0;
  int crossings = 0;
  for (std::size_t i = 1; i < y.size(); ++i) {
    if (y[i] * y[i - 1] >= 0) continue;
    last = h * (static_cast<double>(i) - y[i] / (y[i] - y[i - 1]));
    if (crossings++ == 0) first = last;
  }
  return 0.5 * (crossings - 1) / (last - first);
}

// Twist has no stretching in its matrix, so one sweep is enough.
TEST(Projective, OneSweepPerStepSwingsInTorsionAtItsFrequency) {
  const int n = 100;
  std::string keys;
  for (int i = 0; i < n; ++i) {
    const double at = (i + 0.5) / n;
    keys += fmt::format("{}[{:.17g}, {:.17g}]", i ? ", " : "", at, 5 * std::sin(kPi / 2 * at));
  }
  Simulation s(Scene::parse(rod_scene(kSoft, n, 1e-3, kClamp + R"(, "rotational_inertia": true)", sweeps(1),
                                      R"(, "pose_twist": {"keys": [)" + keys + "]}")));
  std::vector<double> y;
  for (int i = 0; i < 1500; ++i) {
    s.step();
    const Vec3d d1 = rotate(s.state().frame_rotation[n - 1], Vec3d{1, 0, 0});
    y.push_back(std::atan2(-d1.y, d1.z));
  }
  const double expected = std::sqrt(kSoft.E / 3 / kSoft.rho) / (4 * kSoft.L);
  EXPECT_NEAR(frequency(y, 1e-3), expected, 0.01 * expected);
}

TEST(Projective, AcceleratedSweepsSwingAStiffRodAtItsFrequencyAndTenSweepsDoNot) {
  const auto swing = [](const std::string& solver, double& decay) {
    Simulation s(Scene::parse(rod_scene(
        kFigure6, 40, 1e-3, kClamp, solver,
        R"(, "pose": {"type": "mode", "from": [0, 0, 0], "to": [0.2, 0, 0], "amplitude": 1e-4, "direction": [0, 1, 0]})")));
    std::vector<double> y;
    for (int i = 0; i < 700; ++i) {
      s.step();
      const Vec3d& x = s.state().vertex_position[40];
      y.push_back(x.y);
    }
    double early = 0, late = 0;
    for (int i = 0; i < 150; ++i) early = std::max(early, std::abs(y[i])), late = std::max(late, std::abs(y[i + 450]));
    decay = std::log(early / late) / 0.45;
    return frequency(y, 1e-3);
  };
  const double w = 3.5160152 / (kFigure6.L * kFigure6.L) * std::sqrt(kFigure6.bending() / (kFigure6.rho * kFigure6.area()));
  double decay = 0;
  EXPECT_NEAR(swing(R"({"name": "projective", "iteration": "anderson", "iterations": 40})", decay), w / (2 * kPi),
              0.01 * w / (2 * kPi));
  EXPECT_NEAR(decay, std::log(1 + w * w * 1e-6) / 2e-3, 0.05 * decay);  // that of implicit Euler
  EXPECT_LT(swing(sweeps(10), decay), 0.5 * w / (2 * kPi));             // the motion does depend on the number of sweeps
}

// So soft that nothing but inertia matters.
TEST(Projective, FreeSpinKeepsItsRateAndThePrintedUpdateLosesIt) {
  Rod rod = kSoft;
  rod.E = 1e-3;
  const auto rate = [&](const std::string& more) {
    Simulation s(Scene::parse(
        rod_scene(rod, 4, 1e-3, R"("rotational_inertia": true)", sweeps(10, more), R"(, "velocity": {"angular": [50, 0, 0]})")));
    for (int i = 0; i < 1000; ++i) s.step();
    return s.state().frame_velocity[1].x;
  };
  EXPECT_NEAR(rate(""), 50, 1e-9);
  EXPECT_NEAR(rate(R"(, "variant": "paper")"), 39.223, 1e-3);  // 50/sqrt(1 + 50^2 h t/4)
}

// A tight helix at rest, up to an angle of a radian between neighbours: without the theta and beta terms it diverges.
TEST(Projective, ATightHelixStaysAtRest) {
  for (const int n : {12, 60}) {
    const double kappa = 20, tau = 40, radius = kappa / (kappa * kappa + tau * tau),
                 pitch = 2 * kPi * tau / (kappa * kappa + tau * tau);
    Simulation s(Scene::parse(fmt::format(R"({{
      "materials": {{"m": {{"young": 1e6, "poisson": 0.3, "density": 1000, "radius": 0.002}}}},
      "rods": [{{"name": "rod", "material": "m", "segments": {}, "shape": {{"type": "helix", "radius": {}, "pitch": {}, "turns": 2}}}}],
      "constraints": [{{"type": "clamp", "vertices": "rod:start"}}],
      "solver": {}, "analysis": {{"type": "dynamic", "step": 0.001, "duration": 1}}}})",
                                          n, radius, pitch, sweeps(10))));
    const State start = s.state();
    for (int i = 0; i < 200; ++i) s.step();
    EXPECT_LE(farthest(s.state().vertex_position, start.vertex_position), 1e-10) << n;
  }
}

TEST(Projective, ATurnedSceneMovesTheSameWay) {
  const Quatd turn = normalized(Quatd{0.3, -0.5, 0.2, 0.7});
  const auto end = [&](const Quatd& q) {
    const Vec3d g = rotate(q, Vec3d{0, -9.861, 0}), to = rotate(q, Vec3d{0.5, 0, 0}), up = rotate(q, Vec3d{0, 0, 1});
    Simulation s(Scene::parse(fmt::format(R"({{
      "materials": {{"m": {{"young": 1e6, "poisson": 0.3, "density": 4300, "radius": 0.008}}}},
      "rods": [{{"name": "rod", "material": "m", "segments": 20, "up": [{:.17g}, {:.17g}, {:.17g}], "shape": {{"type": "line", "from": [0, 0, 0], "to": [{:.17g}, {:.17g}, {:.17g}]}}}}],
      "constraints": [{{"type": "clamp", "vertices": "rod:start"}}], "forces": [{{"type": "gravity", "acceleration": [{:.17g}, {:.17g}, {:.17g}]}}],
      "rotational_inertia": true, "solver": {}, "analysis": {{"type": "dynamic", "step": 0.001, "duration": 1, "integrator": "implicit_euler"}}}})",
                                          up.x, up.y, up.z, to.x, to.y, to.z, g.x, g.y, g.z, sweeps(10))));
    for (int i = 0; i < 200; ++i) s.step();
    return s.state().vertex_position[20];
  };
  EXPECT_LE(norm(end(turn) - rotate(turn, end(Quatd{}))), 1e-10 * 0.5);
}

// One and five sweeps are odd numbers, which the printed order never brings to rest.
TEST(Projective, GaussSeidelSweepsComeToRestForAnyNumberOfThemAndAnyStep) {
  const std::string loads =
      kClamp + R"(, "forces": [{"type": "gravity", "acceleration": [0, -9.861, 0]}, {"type": "drag", "rate": 3}])";
  const auto unrest = [&](const std::string& solver, double h) {
    Simulation s(Scene::parse(rod_scene(kFigure8, 20, h, loads, solver)));
    const auto steps = static_cast<int>((h > 0.02 ? 400 : 40) / h);  // chi = 63: rest comes slowly
    for (int i = 0; i < steps; ++i) s.step();
    const std::vector<Vec3d> before = s.state().vertex_position;
    for (int i = 0; i < 3; ++i) s.step();
    return farthest(s.state().vertex_position, before) / kFigure8.L;
  };
  for (const double h : {0.001, 0.01, 0.033})
    for (const int n : {1, 5}) EXPECT_LE(unrest(sweeps(n), h), 1e-10) << n << " sweeps, h = " << h;
  EXPECT_GT(unrest(sweeps(1, R"(, "variant": "paper", "order": "jacobi")"), 0.033), 1e-3);
}

constexpr Rod kFigure12{.0002, 3000, 1e8, .2}, kFigure4{.0015, 1500, 1e8, .7};
constexpr double kGravity = 9.861;

// The reference that stands in for finite elements.
TEST(Elastica, OfThePapersRodsHasItsTipWhereAnotherSolutionHasIt) {
  struct Tip {
    const Rod* rod;
    double times, x, y;
  };
  for (const Tip& tip :
       {Tip{&kFigure8, 1, .081854, -.977359}, Tip{&kFigure12, 1, .098016, -.960441}, Tip{&kFigure4, 1, .169338, -.933979},
        Tip{&kFigure8, 4. / 3, .095476, -.972003}, Tip{&kFigure12, 4. / 3, .114716, -.954002},
        Tip{&kFigure4, 4. / 3, .202041, -.922615}, Tip{&kFigure8, 2, .119209, -.962865}, Tip{&kFigure12, 2, .144276, -.942960},
        Tip{&kFigure4, 2, .262051, -.902138}}) {
    const Rod& r = *tip.rod;
    const reproduction::Cantilever c{
        .EI = tip.times * r.bending(), .EA = r.E * r.area(), .w = r.rho * r.area() * kGravity, .L = r.L};
    const auto end = c.shape().back();
    // Stretch is not among the tabulated numbers.
    const double stretch = c.w * c.L / (2 * c.EA);
    EXPECT_NEAR(end.first, tip.x, 1e-6);
    EXPECT_NEAR(end.second, tip.y, 1e-6 + stretch) << stretch;
  }
}

const char* const kHeldSegment =
    R"("constraints": [{"type": "pin", "vertices": "rod:start"}, {"type": "fix", "segments": "rod:start"}])";

/// The tip of a heavy cantilever at rest, over its length.
Vec3d tip_at_rest(const Rod& rod, const std::string& held, const std::string& solver, double h) {
  const std::string loads = fmt::format(
      R"({}, "forces": [{{"type": "gravity", "acceleration": [0, -{}, 0]}}, {{"type": "drag", "rate": 6}}])", held, kGravity);
  Simulation s(Scene::parse(rod_scene(rod, 20, h, loads, solver)));
  const auto tenth = static_cast<int>(0.1 / h + 0.5);
  for (int i = 0; i < 600; ++i) {
    const std::vector<Vec3d> before = s.state().vertex_position;
    for (int k = 0; k < tenth; ++k) s.step();
    if (farthest(s.state().vertex_position, before) <= 1e-10 * rod.L) break;
  }
  return (1 / rod.L) * s.state().vertex_position[20];
}

/// The same by Newton's method in statics.
Vec3d tip_of_minimum(const Rod& rod, const std::string& held) {
  const std::string loads = fmt::format(R"({}, "forces": [{{"type": "gravity", "acceleration": [0, -{}, 0]}}])", held, kGravity);
  LoadOptions options;
  options.overrides = {R"(/analysis={"type": "static", "load_steps": 10, "tolerance": 1e-11})"};
  Simulation s(Scene::parse(rod_scene(rod, 20, 1, loads, R"({"name": "newton"})"), "minimum", ".", options));
  for (int i = 0; i < 10; ++i) s.step();
  return (1 / rod.L) * s.state().vertex_position[20];
}

TEST(Projective, HeavyCantileversComeToRestAtTheMinimumOfTheirEnergy) {
  for (const std::string& held : {std::string(kHeldSegment), kClamp}) {
    const Vec3d soft = tip_of_minimum(kFigure8, held);
    for (const int n : {2, 10}) EXPECT_LE(norm(tip_at_rest(kFigure8, held, sweeps(n), 0.005) - soft), 1e-8) << n;
    for (const Rod* rod : {&kFigure12, &kFigure4}) {
      const Vec3d stiff = tip_of_minimum(*rod, held);
      EXPECT_LE(norm(tip_at_rest(*rod, held, R"({"name": "projective"})", 0.005) - stiff), 1e-7);
      EXPECT_LE(
          norm(tip_at_rest(*rod, held, R"({"name": "projective", "iteration": "anderson", "iterations": 60})", 0.005) - stiff),
          1e-7);
    }
  }
}

// The printed projections have their own fixed point, whatever Osier's energy is: 2 G J3 for both stiffnesses.
TEST(ProjectivePaper, RestsItsCantileversWhereThePrintedSchemeDoes) {
  const std::string paper = R"({"name": "projective", "variant": "paper", "iterations": 100})";
  const Vec3d soft = tip_at_rest(kFigure8, kHeldSegment, paper, 0.001),
              stiff = tip_at_rest(kFigure12, kHeldSegment, paper, 0.001);
  EXPECT_LE(norm(soft - Vec3d{.12413, -.94140, 0}), 5e-4);
  EXPECT_LE(norm(stiff - Vec3d{.14293, -.92427, 0}), 5e-4);
}

const ReproduceOptions kPaperScenes{.scenes = std::string(OSIER_SOURCE_DIR) + "/scenes/paper", .figures = {}, .started = {}};

class ProjectiveFigure : public testing::TestWithParam<int> {};

TEST_P(ProjectiveFigure, IsReproduced) {
  ReproduceOptions options = kPaperScenes;
  options.figures = {GetParam()};
  const Reproduction result = reproduce("projective", options);
  EXPECT_EQ(result.failed(), 0) << reproduction_table(result);
  ASSERT_EQ(result.figures.size(), 1u);
  EXPECT_GE(result.figures[0].numbers.size(), 3u);
  const std::string page = reproduction_html(result);
  EXPECT_NE(page.find(fmt::format("id=\"figure{}\"", GetParam())), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
}

std::vector<int> projective_figures() {
  std::vector<int> numbers;
  for (const Paper& paper : papers())
    if (paper.name == std::string("projective"))
      for (const PaperFigure& figure : paper.figures) numbers.push_back(figure.number);
  return numbers;
}
INSTANTIATE_TEST_SUITE_P(Paper, ProjectiveFigure, testing::ValuesIn(projective_figures()), testing::PrintToStringParamName());

TEST(ProjectiveFigures, OthersThanThoseRunAgainAreRefused) {
  EXPECT_EQ(projective_figures(), (std::vector<int>{1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13}));
  ReproduceOptions options = kPaperScenes;
  EXPECT_THROW(reproduce("no such paper", options), InputError);
  options.figures = {3};
  EXPECT_THROW(reproduce("projective", options), InputError);
}

}  // namespace
}  // namespace osier::test
