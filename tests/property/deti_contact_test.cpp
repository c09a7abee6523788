// Fibres of the solver `deti` that touch each other and obstacles, and fibres that springs join.
#include <Eigen/Dense>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "solvers/deti/fibre_set.hpp"
#include "solvers/deti/fibre_step.hpp"
#include "support/deti.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

const char* kDeti = R"({"name": "deti"})";
const std::string kMaterial = R"("materials": {"m": {"young": 1e8, "poisson": 0.3, "density": 1200, "radius": 0.001}})";

std::string analysis(double h) {
  return fmt::format(R"("analysis": {{"type": "dynamic", "step": {}, "duration": 100, "steps_per_frame": 1}})", h);
}
std::string line(const char* name, const Vec3d& a, const Vec3d& b, int segments = 20) {
  return fmt::format(
      R"({{"name": "{}", "material": "m", "segments": {}, "shape": {{"type": "line", "from": [{}, {}, {}], "to": [{}, {}, {}]}}}})",
      name, segments, a.x, a.y, a.z, b.x, b.y, b.z);
}
Vec3d momentum(const Simulation& s) {
  Vec3d sum;
  for (std::size_t v = 0; v < s.state().vertex_position.size(); ++v)
    sum += s.model().vertex_mass[v] * s.state().vertex_velocity[v];
  return sum;
}

/// Two fibres of a set, with what is held and ties between them.
struct TwoFibres {
  deti::Fibre a = straight_fibre({.n = 5}), b = straight_fibre({.n = 7});
  deti::FibreSet set{1};
  TwoFibres() {
    set.arrange({&a, &b});
    const auto place = [&](std::size_t fibre, const Vec3d& shift) {
      const deti::FibreView& v = set.part(fibre);
      for (Index k = 0; k < v.sections; ++k) {
        deti::put_section(shift + Vec3d{static_cast<double>(k) / (v.sections - 1), 0.02 * k * k, 0}, along_x(), 0.1,
                          v.y + deti::kUnknowns * k);
        for (int i = 0; i < deti::kUnknowns; ++i) v.free[deti::kUnknowns * k + i] = fibre == 0 && k == 0 ? 0 : 1;
      }
    };
    place(0, {});
    place(1, {0, 0, 0.1});
  }
  void tie() {
    using vertex_spring::Law;
    const auto spring = [](Law law, double k, double rest) {
      vertex_spring::Terms<double> t;
      t.law = law, t.k = k, t.rest = rest, t.axis = {0.6, 0, 0.8};
      return t;
    };
    set.set_ties({{.a = 2, .b = 8, .anchor = {}, .anchor_velocity = {}, .terms = spring(Law::length, 300, 0.2)},
                  {.a = 4, .b = 12, .anchor = {}, .anchor_velocity = {}, .terms = spring(Law::all_directions, 50, 0)},
                  {.a = 9, .b = -1, .anchor = {0, 1, 0}, .anchor_velocity = {}, .terms = spring(Law::one_direction, 20, 0)}});
  }
};

TEST(DetiSet, AFactorUndoesItsProductWithAndWithoutSpringsAndBlocks) {
  for (const bool tied : {false, true}) {
    TwoFibres two;
    if (tied) two.tie();
    deti::FibreSet& set = two.set;
    set.assemble<deti::Stiffness::gauss_newton>(0.3);
    Mat3<double> block{};
    for (int i = 0; i < 3; ++i) block.m[i][i] = 2 + i;
    block.m[0][1] = block.m[1][0] = 0.5;
    const deti::CentroidBlock more{.a = 3, .aa = 2.0 * block};
    set.factor({&more, 1});
    const std::size_t n = static_cast<std::size_t>(deti::kUnknowns * set.sections());
    std::vector<double> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = set.view().free[i] * std::sin(1.0 + 3.0 * static_cast<double>(i));
    set.product<deti::Stiffness::gauss_newton>(0.3, x.data(), y.data());
    for (std::size_t i = 0; i < n; ++i) y[i] += set.view().mass[i / deti::kUnknowns] * x[i];
    const double* a = x.data() + 3 * deti::kUnknowns;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) y[3 * deti::kUnknowns + r] += 2 * a[c] * block.m[r][c];
    set.solve<1>({y.data()});
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], x[i], 1e-10) << i << " tied " << tied;
  }
}

TEST(DetiSet, StiffnessOfSpringsIsWhatTheirForcesChangeByAtRest) {
  TwoFibres two;
  two.tie();
  deti::FibreSet& set = two.set;
  const auto n = static_cast<std::size_t>(deti::kUnknowns * set.sections());
  // Only differences between the set with springs and without count: fibres have tests of their own.
  const auto forces = [&](double e, std::size_t unknown) {
    set.view().y[unknown] += e;
    set.forces();
    std::vector<double> f(set.view().force, set.view().force + n);
    set.view().y[unknown] -= e;
    return f;
  };
  // A spring at its rest length has no geometric stiffness.
  const Vec3d d{set.view().y[8 * 12] - set.view().y[2 * 12], set.view().y[8 * 12 + 1] - set.view().y[2 * 12 + 1],
                set.view().y[8 * 12 + 2] - set.view().y[2 * 12 + 2]};
  vertex_spring::Terms<double> spring;
  spring.law = vertex_spring::Law::length, spring.k = 300, spring.rest = norm(d);
  const std::vector<deti::Tie> ties{{.a = 2, .b = 8, .anchor = {}, .anchor_velocity = {}, .terms = spring}};
  for (const std::size_t unknown : {std::size_t{2 * 12}, std::size_t{8 * 12 + 2}}) {
    set.set_ties({});
    const std::vector<double> plus0 = forces(1e-6, unknown), minus0 = forces(-1e-6, unknown);
    std::vector<double> x(n, 0.0), with(n), without(n);
    x[unknown] = 1;
    set.product<deti::Stiffness::gauss_newton>(1, x.data(), without.data());
    set.set_ties(ties);
    const std::vector<double> plus = forces(1e-6, unknown), minus = forces(-1e-6, unknown);
    set.product<deti::Stiffness::gauss_newton>(1, x.data(), with.data());
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = -((plus[i] - plus0[i]) - (minus[i] - minus0[i])) / 2e-6;
      EXPECT_NEAR(with[i] - without[i], difference, 1e-3) << i;
    }
  }
}

std::string on_floor(double h, const std::string& more = "") {
  return "{" + kMaterial +
         R"(, "contact": {"friction": 0.3}, "obstacles": [{"type": "plane", "name": "floor", "normal": [0, 0, 1]}],
    "rods": [)" +
         line("a", {0, 0, 0.004}, {0.3, 0, 0.006}) +
         R"(], "forces": [{"type": "gravity", "acceleration": [0, 0, -9.81]}, {"type": "drag", "rate": 4}],
    "probes": [{"name": "floor", "reaction": "floor"}], )" +
         analysis(h) + more + "}";
}

TEST(DetiContact, AFibreComesToRestOnAFloorThatCarriesItsWeightWhateverTheStep) {
  double height = 0;
  for (const double h : {0.001, 0.002, 0.004}) {
    Simulation s(scene_with(on_floor(h), kDeti));
    s.certify();
    while (s.state().time < 1.5) {
      const StepReport r = s.step();
      ASSERT_FALSE(r.not_converged) << s.state().time;
    }
    EXPECT_TRUE(s.certificate().failure.empty()) << s.certificate().failure;
    double mass = 0, low = 1, fast = 0;
    for (std::size_t v = 0; v < s.state().vertex_position.size(); ++v) {
      mass += s.model().vertex_mass[v];
      low = std::min(low, s.state().vertex_position[v].z);
      fast = std::max(fast, norm(s.state().vertex_velocity[v]));
    }
    Vec3d push;
    for (const auto& m : s.state().memory)
      if (m.name == "deti/contact")
        for (std::size_t i = 0; i < m.values.size(); i += 3) push += {m.values[i], m.values[i + 1], m.values[i + 2]};
    EXPECT_NEAR(push.z, 9.81 * mass, 2e-3 * 9.81 * mass) << h;
    EXPECT_NEAR(push.x, 0, 1e-3 * 9.81 * mass);
    EXPECT_LT(fast, 2e-3) << h;
    EXPECT_GT(low, 0.8e-3);
    EXPECT_LT(low, 1.2e-3);
    if (height > 0) {
      EXPECT_NEAR(low, height, 0.1e-3);
    }
    height = low;
  }
}

TEST(DetiContact, FibresThatMeetInFlightKeepTheirMomentumAndDoNotPass) {
  const std::string text = "{" + kMaterial + R"(, "contact": {}, "rods": [)" + line("a", {-0.1, 0, 0.004}, {0.1, 0, 0.004}) +
                           ", " + line("b", {0, -0.1, -0.004}, {0.001, 0.1, -0.004}) + "], " + analysis(0.001) + "}";
  // Forces add up to nothing; what iterations leave of the step is in proportion to their tolerance.
  for (const double tolerance : {1e-3, 1e-6}) {
    Simulation s(scene_with(text, fmt::format(R"({{"name": "deti", "contact_tolerance": {}}})", tolerance)));
    for (std::size_t v = 0; v < s.state().vertex_position.size(); ++v)
      s.mutable_state().vertex_velocity[v] = {0, 0, v < 21 ? -1.0 : 1.0};
    s.certify();
    const Vec3d before = momentum(s);
    double size = 0;
    for (std::size_t v = 0; v < s.state().vertex_position.size(); ++v) size += s.model().vertex_mass[v];
    for (int i = 0; i < 60; ++i) {
      ASSERT_FALSE(s.step().not_converged) << i;
      EXPECT_LE(norm(momentum(s) - before), 0.02 * tolerance * size);
    }
    EXPECT_TRUE(s.certificate().failure.empty()) << s.certificate().failure;
    EXPECT_GT(s.certificate().most_contacts, 0);
    EXPECT_GT(s.state().vertex_position[10].z, s.state().vertex_position[31].z) << "they have passed through each other";
  }
}

TEST(DetiContact, AFibreSlidesDownASlopeByWhatFrictionLeavesAndHoldsOnAGentleOne) {
  for (const auto& [slope, holds] : {std::pair{0.15, true}, std::pair{0.6, false}}) {
    const double c = std::cos(slope), s = std::sin(slope);
    const std::string text =
        "{" + kMaterial +
        fmt::format(R"(, "contact": {{"friction": 0.3}}, "obstacles": [{{"type": "plane", "normal": [{}, 0, {}]}}])", s, c) +
        R"(, "rods": [)" + line("a", {0.0011 * s, -0.1, 0.0011 * c}, {0.0011 * s, 0.1, 0.0011 * c}) +
        R"(], "forces": [{"type": "gravity", "acceleration": [0, 0, -9.81]}], )" + analysis(0.001) + "}";
    Simulation run(scene_with(text, kDeti));
    const double t0 = 0.1, t1 = 0.3;
    double v0 = 0;
    while (run.state().time < t1 - 1e-9) {
      run.step();
      if (std::abs(run.state().time - t0) < 1e-9) v0 = dot(momentum(run), Vec3d{c, 0, -s});
    }
    double mass = 0;
    for (const double m : run.model().vertex_mass) mass += m;
    const double rate = (dot(momentum(run), Vec3d{c, 0, -s}) - v0) / (mass * (t1 - t0));
    EXPECT_NEAR(rate, holds ? 0 : 9.81 * (s - 0.3 * c), 0.02 * 9.81) << slope;
  }
}

std::string bundle(const std::string& execution = "{}") {
  std::string rods;
  for (int i = 0; i < 6; ++i)
    rods += (i ? ", " : "") +
            line(fmt::format("r{}", i).c_str(), {-0.05, 0.004 * i, 0.003 * i}, {0.05, 0.004 * i - 0.01, 0.003 * i}, 12 + i % 2);
  return "{" + kMaterial +
         R"(, "contact": {"friction": 0.2}, "obstacles": [{"type": "plane", "normal": [0, 0, 1], "point": [0, 0, -0.01]}], "rods": [)" +
         rods + R"(], "forces": [{"type": "gravity", "acceleration": [0, 0, -9.81]}], "execution": )" + execution + ", " +
         analysis(0.002) + "}";
}

TEST(DetiContact, APileIsTheSameBitByBitOnAnyNumberOfThreadsAndAfterARestart) {
  Simulation one(scene_with(bundle(), kDeti)), three(scene_with(bundle(R"({"threads": 3})"), kDeti)),
      copy(scene_with(bundle(), kDeti));
  one.certify();
  for (int i = 0; i < 60; ++i) one.step(), three.step();
  EXPECT_TRUE(identical(one.state(), three.state()));
  ASSERT_TRUE(copy.continue_from(three));
  ASSERT_TRUE(three.continue_from(copy));
  for (int i = 0; i < 20; ++i) three.step(), copy.step();
  EXPECT_TRUE(identical(copy.state(), three.state()));
  EXPECT_TRUE(one.certificate().failure.empty()) << one.certificate().failure;
  EXPECT_GT(one.certificate().most_contacts, 5);
}

// -------------------------------------------------------------------------------------------------------------- springs

std::string joined(const std::string& spring, double h = 0.002, int n = 10) {
  return "{" + kMaterial + R"(, "rods": [)" + line("a", {0, 0, 0}, {0.2, 0, 0}, n) + ", " +
         line("b", {0.2, 0.01, 0}, {0.4, 0.01, 0}, n) +
         R"(], "constraints": [{"type": "clamp", "vertices": "a:start"}, {"type": "clamp", "vertices": "b:end"}, )" + spring +
         R"(], "forces": [{"type": "gravity", "acceleration": [0, 0, -9.81]}, {"type": "drag", "rate": 8}], )" + analysis(h) +
         "}";
}

TEST(DetiSprings, FibresThatASpringJoinsHangAsByAnotherSolver) {
  const std::string spring = R"({"type": "spring", "name": "s", "vertices": "a:end", "to": "b:start", "stiffness": 500})";
  // Both are of second order in the length of segments, and so is what they differ by.
  const auto difference = [&](int n) {
    Simulation own(scene_with(joined(spring, 0.002, n), kDeti)),
        other(scene_with(joined(spring, 0.002, n), R"({"name": "direct"})"));
    for (int i = 0; i < 1000; ++i) own.step(), other.step();
    return farthest(own.state().vertex_position, other.state().vertex_position);
  };
  const double coarse = difference(10), fine = difference(20);
  EXPECT_LE(fine, 2e-3 * 0.04);
  EXPECT_LE(fine, coarse / 3);
}

TEST(DetiSprings, ADamperTakesEnergyAsByAnotherSolver) {
  const std::string damper =
      R"({"type": "spring", "name": "s", "vertices": "a:end", "to": "b:start", "stiffness": 5, "damping": 0.02})";
  const std::string lone = joined(damper, 0.001);
  Simulation own(scene_with(lone, kDeti));
  LoadOptions options;
  options.overrides = {R"(/solver={"name": "direct"})", R"(/analysis/integrator="bdf2")"};
  Simulation other(Scene::parse(lone, "test", ".", options));
  double worst = 0, size = 0;
  for (int i = 0; i < 200; ++i) {
    own.step(), other.step();
    worst = std::max(worst, farthest(own.state().vertex_position, other.state().vertex_position));
    size = std::max(size, std::abs(own.state().vertex_position[10].z));
  }
  EXPECT_LE(worst, 0.03 * size);
}

TEST(DetiSprings, OneSpringForEachOfTwoListsJoinsTheirVerticesInOrder) {
  const auto text = [](const std::string& springs) {
    return "{" + kMaterial + R"(, "rods": [)" + line("a", {0, 0, 0}, {0.2, 0, 0}, 10) + ", " +
           line("b", {0, 0.01, 0}, {0.2, 0.01, 0}, 10) + R"(], "constraints": [{"type": "clamp", "vertices": "a:start"}, )" +
           springs + R"(], "forces": [{"type": "gravity", "acceleration": [0, 0, -9.81]}], )" + analysis(0.002) + "}";
  };
  const auto spring = [](const char* from, const char* to) {
    return fmt::format(R"({{"type": "spring", "vertices": "{}", "to": "{}", "stiffness": 100}})", from, to);
  };
  Simulation list(scene_with(text(spring("a:2..4", "b:2..4")), kDeti)),
      each(scene_with(text(spring("a:2", "b:2") + ", " + spring("a:3", "b:3") + ", " + spring("a:4", "b:4")), kDeti));
  for (int i = 0; i < 50; ++i) list.step(), each.step();
  EXPECT_TRUE(identical(list.state(), each.state()));
  std::string said;
  try {
    scene_with(text(spring("a:2..4", "b:2..3")), kDeti);
  } catch (const InputError& e) {
    for (const Problem& p : e.problems()) said += p.where + ": " + p.what;
  }
  EXPECT_NE(said.find("/to: has 2 vertices for 3"), std::string::npos) << said;
}

TEST(DetiSprings, StaticsRefuseThemWithTheReason) {
  const std::string spring = R"({"type": "spring", "vertices": "a:end", "to": "b:start", "stiffness": 500})";
  LoadOptions options;
  options.overrides = {R"(/solver={"name": "deti"})", R"(/analysis={"type": "static"})"};
  std::string text = joined(spring);
  text.replace(text.find(R"(, {"type": "drag", "rate": 8})"), std::string(R"(, {"type": "drag", "rate": 8})").size(), "");
  std::string said;
  try {
    Scene::parse(text, "test", ".", options);
  } catch (const InputError& e) {
    for (const Problem& p : e.problems()) said += p.where + ": " + p.what;
  }
  EXPECT_EQ(said, "/constraints/2: `deti` cannot find the equilibrium of rods that springs hold");
}

// ------------------------------------------------------------------------------------------------------------ reactions

TEST(DetiReactions, AClampCarriesTheWeightAndItsMomentInStaticsAndAtRest) {
  const std::string text = "{" + kMaterial + R"(, "rods": [)" + line("a", {0, 0, 0}, {0.2, 0, 0}, 40) +
                           R"(], "constraints": [{"type": "clamp", "name": "c", "vertices": "a:start"}],
    "forces": [{"type": "gravity", "acceleration": [0, 0, -9.81]}], "probes": [{"name": "c", "reaction": "c"}], "analysis": {"type": "static"}})";
  Simulation s(scene_with(text, kDeti));
  s.step();
  double mass = 0;
  Vec3d moment;
  for (std::size_t v = 0; v < s.state().vertex_position.size(); ++v) {
    mass += s.model().vertex_mass[v];
    moment += cross(s.state().vertex_position[v] - s.state().vertex_position[0], Vec3d{0, 0, 9.81 * s.model().vertex_mass[v]});
  }
  const Wrench clamp = s.reaction(0);
  EXPECT_NEAR(clamp.force.z, 9.81 * mass, 1e-6 * mass * 9.81);
  EXPECT_NEAR(norm(clamp.moment - moment), 0, 1e-4 * norm(moment));
}

}  // namespace
}  // namespace osier::test
