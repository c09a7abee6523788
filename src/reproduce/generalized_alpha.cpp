#include "reproduce/generalized_alpha.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <numbers>

#include "reproduce/trial.hpp"
#include "solvers/generalized_alpha/weights.hpp"

namespace osier {

using namespace reproduction;

namespace {

using Folder = std::filesystem::path;
using generalized_alpha::kBackwardEuler;
using generalized_alpha::Stage;
using generalized_alpha::Weights;
using generalized_alpha::weights_of;
constexpr double kPi = std::numbers::pi;

struct Setting {
  const char* label;
  Weights weights;
};
const std::array<Setting, 6> kSettings{{{"0.4/0/1, slides", {.4, 0, 1}},
                                        {"0.3/0/0.7, slides", {.3, 0, .7}},
                                        {"rho 0", weights_of(0)},
                                        {"rho 0.5", weights_of(.5)},
                                        {"rho 0.9", weights_of(.9)},
                                        {"rho 1", weights_of(1)}}};

std::string segments(int n) { return fmt::format("/rods/0/segments={}", n); }
std::string step_of(double h) { return fmt::format("/analysis/step={:.17g}", h); }
std::string solver(const Weights& w) {
  return fmt::format(R"(/solver={{"name": "generalized_alpha", "alpha": {:.17g}, "beta": {:.17g}, "gamma": {:.17g}}})", w.alpha,
                     w.beta, w.gamma);
}

// ------------------------------------------------------------------------------------------------------------ 1: the scalar
// equation

/// The larger eigenvalue of a step of x' = -k x, over z = k dt.
double amplification(const Weights& w, std::complex<double> z) {
  using C = std::complex<double>;
  const double al = w.alpha, be = w.beta, ga = w.gamma;
  // (x, dt x') -> p x + q dt x', and dt x' from that.
  const C down = (1 - al) / ga + z * (1 - be);
  const C p = ((1 - al) / ga - z * be) / down, q = ((1 - al) * (1 - ga) / ga - al) / down;
  const C r = (p - 1.0) / ga, s = q / ga - (1 - ga) / ga;
  const C half = 0.5 * (p + s), root = std::sqrt(half * half - (p * s - q * r));
  return std::max(std::abs(half + root), std::abs(half - root));
}

/// Error at t = 1 of x' = -5 i x, begun with backward Euler.
double scalar_error(const Weights& w, int steps) {
  using C = std::complex<double>;
  const C k(0, 5);
  C x = 1, rate = 0;
  for (int i = 0; i < steps; ++i) {
    const Stage stage{i == 0 ? kBackwardEuler : w, 1.0 / steps};
    const double al = stage.w.alpha, be = stage.w.beta, ga = stage.w.gamma;
    const C now =
        (stage.rate_of_new() * x + ((1 - al) * (1 - ga) / ga - al) * rate - k * be * x) / (stage.rate_of_new() + k * (1 - be));
    rate = stage.new_rate(now, x, rate);
    x = now;
  }
  return std::abs(x - std::exp(-k));
}

void figure1(const Folder&, ReproducedFigure& f) {
  f.claim = "The method is stable for any step and of second order, and its numerical damping can be chosen.";
  f.finding =
      "It is with weights made from rho_infinity, which the slides hold to be of no use for these equations. The slides' own "
      "weights are "
      "of first order, and 0.3/0/0.7 is backward Euler in disguise.";
  ReproducedPlot radius{
      .title = "largest amplification of an oscillation", .x = "omega dt", .y = "per step", .log_x = true, .curves = {}};
  ReproducedPlot order{
      .title = "error after a fixed time", .x = "steps", .y = "error", .log_x = true, .log_y = true, .curves = {}};
  for (const Setting& s : kSettings) {
    radius.curves.push_back({.label = s.label, .points = {}});
    for (double z = -2; z <= 3.001; z += 0.05)
      radius.curves.back().points.emplace_back(std::pow(10, z), amplification(s.weights, {0, std::pow(10, z)}));
    order.curves.push_back({.label = s.label, .points = {}});
    for (int n = 40; n <= 1280; n *= 2) order.curves.back().points.emplace_back(n, scalar_error(s.weights, n));
    const bool slides = s.weights.alpha + s.weights.gamma - s.weights.beta > 0.5 + 1e-9;
    f.numbers.push_back({.what = fmt::format("order of {}", s.label),
                         .expected = slides ? 1.0 : 2.0,
                         .computed = std::log2(scalar_error(s.weights, 640) / scalar_error(s.weights, 1280)),
                         .allowed = 0.05});
    double most = 0;
    for (const double angle : {0.0, kPi / 4, 1.5, kPi / 2})
      for (double z = -4; z <= 6; z += 0.1)
        most = std::max(most, amplification(s.weights, std::pow(10, z) * std::polar(1.0, angle)));
    f.numbers.push_back({.what = fmt::format("largest amplification of {} beyond 1", s.label),
                         .expected = 0,
                         .computed = std::max(0.0, most - 1),
                         .allowed = 1e-9});
  }
  for (const double rho : {0.0, .5, .9})
    f.numbers.push_back({.what = fmt::format("what is left of the fastest oscillation, rho {:g}", rho),
                         .expected = rho,
                         .computed = amplification(weights_of(rho), {0, 1e7}),
                         .allowed = 1e-3});
  f.plots = {radius, order};
}

// --------------------------------------------------------------------------------------------------------------- 2: the coil
// spring

/// Spring rate of a coil by bending and twisting of its wire, 1/(a^2 l (cos^2/GJ + sin^2/EI)).
double spring_rate(const Trial& t, double radius, double pitch) {
  const Model& m = t.model();
  const double to = m.joint_length[0] / 4, EI = m.joint_stiffness[0].d1 * to, GJ = m.joint_stiffness[0].d3 * to;
  const double slope = std::atan2(pitch, 2 * kPi * radius), c = std::cos(slope), s = std::sin(slope);
  return 1 / (radius * radius * t.length() * (c * c / GJ + s * s / EI));
}

void figure2(const Folder& scenes, ReproducedFigure& f) {
  f.claim =
      "A coil spring that is pulled at its end and released after 0.1 s goes on swinging: low damping, with 100 and with 25 "
      "segments.";
  f.finding =
      "With rho_infinity near 1 it keeps its energy. With the weights of the slides, 0.3/0/0.7, most of it is gone after two "
      "seconds. "
      "Twenty-five segments for five turns are too few to be compared.";
  Trial pull(scenes / "pull.json", {});
  pull.step();
  const double expected = spring_rate(pull, 0.02, 0.008);
  const double rate = -pull.simulation().reaction(1).force.y / 0.004;
  f.numbers.push_back(
      {.what = "spring rate between clamps [N/m]", .expected = expected, .computed = rate, .allowed = 0.015 * expected});
  ReproducedPlot energy{.title = "energy after the release", .x = "time [s]", .y = "J", .log_y = true, .curves = {}};
  ReproducedPlot motion{.title = "middle of the coil's mass, rho 0.9", .x = "time [s]", .y = "y [m]", .curves = {}};
  const auto run = [&](const char* label, const Weights& w, int n, double h) {
    Trial t(scenes / "coil.json", {solver(w), segments(n), step_of(h), "/analysis/steps_per_frame=1"});
    energy.curves.push_back({.label = label, .points = {}});
    double released = 0;
    for (double time = 0.2; time <= 8 + 1e-9; time += 0.1) {
      t.run_to(time);
      const double e = t.simulation().diagnostics().kinetic + t.simulation().diagnostics().stretch_shear +
                       t.simulation().diagnostics().bend_twist;
      if (released == 0) released = e;
      energy.curves.back().points.emplace_back(time, e);
    }
    return energy.curves.back().points.back().second / released;
  };
  const double fine = 1.0 / 120;
  f.numbers.push_back({.what = "share of the energy that is left at 8 s, rho 1",
                       .expected = 1,
                       .computed = run("rho 1", weights_of(1), 100, fine),
                       .allowed = 0.03});
  f.numbers.push_back(
      {.what = "the same, rho 0.9", .expected = 0.95, .computed = run("rho 0.9", weights_of(.9), 100, fine), .allowed = 0.04});
  f.numbers.push_back(
      {.what = "the same, rho 0.5", .expected = 0.59, .computed = run("rho 0.5", weights_of(.5), 100, fine), .allowed = -1});
  f.numbers.push_back({.what = "the same, 0.3/0/0.7 and steps of 1/30 s",
                       .expected = 1,
                       .computed = run("0.3/0/0.7, 1/30 s", {.3, 0, .7}, 100, 1.0 / 30),
                       .allowed = 0.5,
                       .differs = true});
  Trial t(scenes / "coil.json", {solver(weights_of(.9)), step_of(fine), "/analysis/steps_per_frame=1"});
  motion.curves.push_back({.label = "100 segments", .points = {}});
  int swings = 0;
  double first = 0, last = 0, before = 0;
  const auto middle = [&] {
    double sum = 0;
    for (const Vec3d& x : t.state().vertex_position) sum += x.y;
    return sum / static_cast<double>(t.model().vertex_count());
  };
  const double rest = middle();
  for (double time = fine; time <= 8; time += fine) {
    t.run_to(time);
    const double y = middle() - rest;
    motion.curves.back().points.emplace_back(time, y);
    if (time > 0.15 && before < 0 && y >= 0) (swings == 0 ? first : last) = time - fine * y / (y - before), ++swings;
    before = y;
  }
  const double frequency = swings > 1 ? (swings - 1) / (last - first) : 0;
  const double mass = 1100 * kPi * 0.0015 * 0.0015 * t.length();
  f.numbers.push_back({.what = "frequency of the middle of mass [Hz], against a quarter wave along the wire",
                       .expected = 0.25 * std::sqrt(expected / mass),
                       .computed = frequency,
                       .allowed = 0.05});
  f.plots = {energy, motion};
}

// ------------------------------------------------------------------------------------------------------------------------ 3:
// buckling

void figure3(const Folder& scenes, ReproducedFigure& f) {
  f.claim = "The canonical example: a rod buckles under compression.";
  f.finding = "Forces between clamps are those of the elastica.";
  Trial t(scenes / "column.json", {});
  ReproducedPlot force{.title = "force between two clamps", .x = "compression/L", .y = "P L^2/(4 pi^2 EI)", .curves = {}};
  force.curves = {{.label = "100 segments", .points = {}},
                  {.label = "elastica", .points = {{.05, 1.02572}, {.2, 1.11274}}, .marked = true}};
  ReproducedPlot shape{.title = "shapes", .x = "x/L", .y = "y/L", .equal = true, .curves = {}};
  t.step();  // the weight alone
  for (int i = 1; i <= 20; ++i) {
    t.step();
    const double by = 0.2 * i / 20, P = -t.simulation().reaction(1).force.x / (4 * kPi * kPi);
    force.curves[0].points.emplace_back(by, P);
    if (i % 5 == 0) shape.curves.push_back({.label = fmt::format("{:g}", by), .points = t.outline()});
    if (i == 5)
      f.numbers.push_back({.what = "P L^2/(4 pi^2 EI) at 5 %", .expected = 1.02572, .computed = P, .allowed = 0.005 * 1.02572});
    if (i == 20)
      f.numbers.push_back({.what = "P L^2/(4 pi^2 EI) at 20 %", .expected = 1.11274, .computed = P, .allowed = 0.005 * 1.11274});
  }
  f.plots = {force, shape};
}

// ---------------------------------------------------------------------------------------------------------------- 4 and 5: hair

void figure4(const Folder& scenes, ReproducedFigure& f) {
  f.claim = "The kinetic energy of hair under gravity decays quickly.";
  f.finding =
      "It does with the slides' weights, as an effect of the time step: the model has no damping. With rho_infinity the same "
      "step keeps most "
      "of the motion.";
  ReproducedPlot plot{.title = "kinetic energy, steps of 1/30 s", .x = "time [s]", .y = "J", .log_y = true, .curves = {}};
  ReproducedPlot shape{.title = "after four seconds", .x = "x/L", .y = "y/L", .equal = true, .curves = {}};
  for (const Setting& s : {kSettings[0], kSettings[1], kSettings[2], kSettings[3]}) {
    Trial t(scenes / "hair.json", {solver(s.weights)});
    plot.curves.push_back({.label = s.label, .points = {}});
    double most = 0;
    while (t.state().time < 4 - 1e-9) {
      t.step();
      const double kinetic = t.simulation().diagnostics().kinetic;
      most = std::max(most, kinetic);
      plot.curves.back().points.emplace_back(t.state().time, std::max(kinetic, 1e-16));
    }
    shape.curves.push_back({.label = s.label, .points = t.outline()});
    const bool slides = s.weights.beta == 0 && s.weights.gamma > 0.6 && s.weights.alpha > 0;
    const double left = plot.curves.back().points.back().second / most;
    f.numbers.push_back({.what = fmt::format("share of the largest kinetic energy left at 4 s, {}", s.label),
                         .expected = 0,
                         .computed = left,
                         .allowed = slides ? 1e-3 : -1});
  }
  f.plots = {plot, shape};
}

void figure5(const Folder& scenes, ReproducedFigure& f) {
  f.claim = "A hair, and a tress under gravity, is drawn out by the velocity of its end and released.";
  f.finding =
      "It is, at 0.02 m/s, without dividing a step; released, it swings back. Nineteen guides make the tress; "
      "`osier convert --strands-per-guide` draws hair between them.";
  Trial t(scenes / "extension.json", {});
  ReproducedPlot force{
      .title = "force on the end", .x = "time [s]", .y = "N", .curves = {{.label = "along the hair", .points = {}}}};
  ReproducedPlot shape{.title = "shapes", .x = "x/L", .y = "z/L", .equal = true, .curves = {}};
  const auto outline = [&](const std::string& label) { shape.curves.push_back({.label = label, .points = t.outline(0, 2)}); };
  const double start = t.state().vertex_position.back().z;
  outline("at rest");
  while (t.state().time < 1.4 - 1e-9) {
    t.step();
    force.curves[0].points.emplace_back(t.state().time, t.simulation().reaction(1).force.z);
  }
  outline("drawn out");
  const double stretched = start - t.state().vertex_position.back().z;
  f.numbers.push_back(
      {.what = "way of the end before the release [m]", .expected = 0.028, .computed = stretched, .allowed = 1e-4});
  f.numbers.push_back({.what = "Newton iterations per step",
                       .expected = 14,
                       .computed = static_cast<double>(t.iterations()) / static_cast<double>(t.steps()),
                       .allowed = -1});
  t.run_to(4);
  outline("2.6 s after the release");
  Trial tress(scenes / "tress.json", {});
  tress.run_to(4);
  const double guides = static_cast<double>(tress.model().segment_count()) / 100;
  f.numbers.push_back({.what = "tress of 19 guides: largest number of iterations of a step, mean",
                       .expected = 14,
                       .computed = static_cast<double>(tress.iterations()) / static_cast<double>(tress.steps()),
                       .allowed = -1});
  f.numbers.push_back({.what = "tress: time per step of one guide [ms]",
                       .expected = 135,
                       .computed = 1e3 * tress.seconds() / static_cast<double>(tress.steps()) / guides,
                       .allowed = -1});
  f.plots = {force, shape};
}

// ---------------------------------------------------------------------------------------------- 6: resolution, iterations and
// time

void figure6(const Folder& scenes, ReproducedFigure& f) {
  f.claim = "Newton's method takes 14 iterations on average, and 135 ms for a step of 100 segments.";
  f.finding = "It takes four to six: the derivative here is exact. Errors in space are of second order.";
  const Vec3d tip{.445232052, 0, -.829881443};
  ReproducedPlot error{.title = "tip of a heavy cantilever",
                       .x = "segments",
                       .y = "error/L",
                       .log_x = true,
                       .log_y = true,
                       .curves = {{.label = "box scheme", .points = {}}}};
  for (const int n : {25, 50, 100, 200}) {
    Trial t(scenes / "cantilever.json", {segments(n)});
    t.step();
    error.curves[0].points.emplace_back(n, norm(t.state().vertex_position.back() - tip));
  }
  const auto& points = error.curves[0].points;
  f.numbers.push_back({.what = "order from 100 to 200 segments",
                       .expected = 2,
                       .computed = std::log2(points[2].second / points[3].second),
                       .allowed = 0.1});
  f.numbers.push_back(
      {.what = "error of the tip over L, 100 segments", .expected = 0, .computed = points[2].second, .allowed = 2e-4});
  for (const Setting& s : {kSettings[0], kSettings[1], kSettings[3], kSettings[4]}) {
    Trial t(scenes / "hair.json", {solver(s.weights)});
    t.run_to(2);
    const double iterations = static_cast<double>(t.iterations()) / static_cast<double>(t.steps());
    f.numbers.push_back({.what = fmt::format("iterations per step of 1/30 s, {}", s.label),
                         .expected = 14,
                         .computed = iterations,
                         .allowed = -1});
    f.numbers.push_back({.what = fmt::format("time per step [ms], {}", s.label),
                         .expected = 135,
                         .computed = 1e3 * t.seconds() / static_cast<double>(t.steps()),
                         .allowed = -1});
  }
  f.plots = {error};
}

// ---------------------------------------------------------------------------------------------------- 7: three methods, one
// answer

/// The tip of the hair over time, 48 times a second.
std::vector<Vec3d> tips(const Folder& scenes, const std::string& solver, int n) {
  std::vector<std::string> overrides{"/solver=" + solver, segments(n), step_of(1.0 / 960), "/analysis/steps_per_frame=1",
                                     "/analysis/duration=0.75"};
  if (solver.find("direct") != std::string::npos) overrides.emplace_back("/analysis/integrator=bdf2");
  Trial t(scenes / "hair.json", overrides);
  std::vector<Vec3d> list;
  for (int i = 1; i <= 36; ++i) {
    t.run_to(i / 48.0);
    list.push_back(t.state().vertex_position.back());
  }
  return list;
}

double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, norm(a[i] - b[i]));
  return most;
}

void figure7(const Folder& scenes, ReproducedFigure& f) {
  f.claim = "No figure of the slides: the same curl of hair by three methods that have nothing in common.";
  f.finding =
      "`direct` (a tree of joints, BDF2), `deti` (a network of springs, exponential integrator) and `generalized_alpha` go the "
      "same way "
      "through a fall and a swing, and closer together with more segments.";
  constexpr double kLength = 0.25;
  const std::array<std::pair<const char*, const char*>, 3> methods{{{"generalized_alpha", R"({"name": "generalized_alpha"})"},
                                                                    {"direct", R"({"name": "direct"})"},
                                                                    {"deti", R"({"name": "deti"})"}}};
  ReproducedPlot height{.title = "height of the tip", .x = "time [s]", .y = "y [m]", .curves = {}};
  ReproducedPlot side{.title = "tip to the side", .x = "time [s]", .y = "z [m]", .curves = {}};
  std::vector<Vec3d> coarse[3], fine[3];
  for (std::size_t k = 0; k < 3; ++k) {
    coarse[k] = tips(scenes, methods[k].second, 50), fine[k] = tips(scenes, methods[k].second, 100);
    height.curves.push_back({.label = methods[k].first, .points = {}});
    side.curves.push_back({.label = methods[k].first, .points = {}});
    for (std::size_t i = 0; i < fine[k].size(); ++i) {
      const double time = static_cast<double>(i + 1) / 48;
      height.curves.back().points.emplace_back(time, fine[k][i].y), side.curves.back().points.emplace_back(time, fine[k][i].z);
    }
    if (k == 0) continue;
    f.numbers.push_back(
        {.what = fmt::format("largest distance of the tips over the length, `{}`, 100 segments", methods[k].first),
         .expected = 0,
         .computed = farthest(fine[0], fine[k]) / kLength,
         .allowed = 0.04});
    f.numbers.push_back({.what = fmt::format("the same over that with 50 segments, `{}`", methods[k].first),
                         .expected = 0.25,
                         .computed = farthest(fine[0], fine[k]) / farthest(coarse[0], coarse[k]),
                         .allowed = 0.25});
  }
  f.plots = {height, side};
}

const std::array<PaperFigure, 7> kFigures{{
    {1, "amplification and order in time", figure1},
    {2, "a coil spring, released", figure2},
    {3, "buckling", figure3},
    {4, "hair under gravity", figure4},
    {5, "a hair drawn out and released", figure5},
    {6, "order in space, iterations, time", figure6},
    {7, "three methods, one answer", figure7},
}};

}  // namespace

Paper generalized_alpha_paper() {
  return {"generalized_alpha",
          "Sobottka, Lay, Weber: Stable Integration of the Dynamic Cosserat Equations with Application to Hair Modeling, 2008 "
          "(slides)",
          kFigures};
}

}  // namespace osier
