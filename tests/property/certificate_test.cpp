// The certificate of a run: what it finds, and that it finds it.
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>

#include "certificate/box_pairs.hpp"
#include "certificate/linking.hpp"
#include "certificate/motion_check.hpp"
#include "certificate/segment_distance.hpp"
#include "contact/segment_gap.hpp"
#include "core/fields.hpp"
#include "osier/osier.hpp"
#include "sim/measure.hpp"
#include "solvers/direct/direct.hpp"
#include "support/contact_scene.hpp"
#include "support/random.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

using certificate::Bounds;
using certificate::IndexPair;

TEST(CertificatePairs, SweepFindsWhatBruteForceFinds) {
  Random random(5);
  for (int round = 0; round < 6; ++round) {
    std::vector<Bounds> boxes(500, Bounds::nothing());
    for (Bounds& box : boxes)
      if (random.below(10) > 0) {
        const Vec3d x = random.in_cube();
        box.include(x, 0.01), box.include(x + (round < 3 ? 0.1 : 1.0) * random.in_cube(), 0.02);
      }
    std::vector<IndexPair> swept, all;
    certificate::overlapping_pairs(boxes, Executor(round % 2 == 0 ? 1 : 3), swept);
    certificate::overlapping_pairs_by_brute_force(boxes, all);
    EXPECT_GT(all.size(), 30U);
    EXPECT_EQ(swept, all);
  }
}

TEST(CertificateDistance, AgreesWithTheQuadraticProgramOfContact) {
  Random random(6);
  for (int i = 0; i < 20000; ++i) {
    const Vec3d a0 = random.in_cube(), u = random.in_cube();
    Vec3d b0 = random.in_cube(), v = random.in_cube();
    if (i % 4 == 1) v = 1.3 * u;                                               // parallel
    if (i % 4 == 2) v = u + random.log_range(1e-12, 1e-3) * random.in_cube();  // almost
    if (i % 4 == 3) b0 = a0 + 0.4 * u + random.log_range(1e-9, 1e-2) * random.in_cube();
    const double found = certificate::segment_distance(a0, a0 + u, b0, b0 + v);
    const double expected = contact::nearest_points({{a0, a0 + u}, {b0, b0 + v}}, 0, 0).distance;
    EXPECT_NEAR(found, expected, 2e-8) << i;
  }
}

TEST(CertificateLinking, CountsHopfLinksAndRingsApart) {
  const auto ring = [](double x, bool upright, int n) {
    certificate::ClosedCurve list;
    for (int i = 0; i < n; ++i) {
      const double c = std::cos(2 * std::numbers::pi * i / n), s = std::sin(2 * std::numbers::pi * i / n);
      list.push_back(upright ? Vec3d{x + c, 0, s} : Vec3d{x + c, s, 0});
    }
    return list;
  };
  EXPECT_NEAR(std::abs(certificate::linking_number(ring(0, false, 12), ring(1, true, 17))), 1, 1e-12);
  EXPECT_NEAR(certificate::linking_number(ring(0, false, 12), ring(2.5, true, 17)), 0, 1e-12);
}

/// Two rods that pass through each other within a motion, and are far apart at its two ends.
TEST(CertificateMotion, FindsWhatPassesThroughBetweenTheEndsOfAMotion) {
  ContactScene scene;
  scene.add_line({-0.1, 0, 0}, {0.1, 0, 0}, 4, {});
  scene.add_line({0, 0.3, -0.1}, {0, 0.3, 0.1}, 4, {});
  scene.build();
  scene.begin();
  certificate::MotionCheck check;
  ASSERT_FALSE(check.begin(scene.model, scene.contacts, scene.state.vertex_position).has_value());
  const auto moved = [&](double by) {
    std::vector<Vec3d> x = scene.state.vertex_position;
    for (std::size_t v = 5; v < 10; ++v) x[v].y += by;
    return x;
  };
  const auto look = [&](double by, bool every_pair) {
    return check.check({{scene.state.vertex_position, moved(by)}, {{}, {}}}, Executor(1), every_pair);
  };
  for (const bool every_pair : {false, true}) {
    EXPECT_TRUE(look(-0.6, every_pair).has_value());
    EXPECT_FALSE(look(-0.29, every_pair).has_value());   // 10 mm apart; 8 mm are rest
    EXPECT_TRUE(look(-0.2945, every_pair).has_value());  // 5.5 mm
  }
  // Strides shrink on the way to the floor: they have to end, wherever the crossing begins.
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(look(-0.5 - 0.001 * i, false).has_value()) << i;
  const auto found = look(-0.6, false);
  EXPECT_NEAR(found->time, 0.5, 0.02);
  EXPECT_LT(found->a, 4);
  EXPECT_GE(found->b, 4);
}

/// A solver that solves, and then does what the test wants to the state.
std::function<void(const StepInput&, State&)> fault;

class Faulty final : public Solver {
 public:
  explicit Faulty(std::unique_ptr<Solver> solver) : solver_(std::move(solver)) {}
  StepReport step(const StepInput& input, State& state) override {
    const StepReport report = solver_->step(input, state);
    if (fault && state.step_index >= 40) fault(input, state);
    return report;
  }
  void rebind(const Model& m, State& s) override { solver_->rebind(m, s); }
  void declare_memory(const Model& m, State& s) const override { solver_->declare_memory(m, s); }

 private:
  std::unique_ptr<Solver> solver_;
};

class FaultySettings final : public SolverSettings {
 public:
  static const char* kind() { return "faulty"; }
  static const char* help() { return "Makes a mistake: for tests."; }
  template <class F>
  void fields(F&) {}
  std::unique_ptr<Solver> make(const Model& m) const override { return std::make_unique<Faulty>(inner_.make(m)); }
  const char* name() const override { return "faulty"; }
  Traits traits() const override { return inner_.traits(); }
  bool works_to_tolerance() const override { return true; }

 private:
  direct::Settings inner_;
};

class Certificate : public testing::Test {
 protected:
  void TearDown() override { fault = {}; }
  RegisteredSolver line_{registry_entry<SolverSettings, FaultySettings>("faulty", "Makes mistakes")};

  /// Two rods fall across a third one that is held at both ends, and on to a ring that is linked with another one.
  static std::string text(const std::string& solver = "faulty") {
    return R"({"materials": {"rope": {"young": 1e6, "density": 1000, "radius": 0.004, "friction": 0.3}}, "contact": {},
      "rods": [
        {"name": "bar", "shape": {"type": "line", "from": [-0.2, 0, 0], "to": [0.2, 0, 0]}, "segments": 20, "material": "rope"},
        {"name": "one", "shape": {"type": "line", "from": [0, 0.015, -0.15], "to": [0.01, 0.015, 0.15]}, "segments": 15, "material": "rope"},
        {"name": "two", "shape": {"type": "line", "from": [0.05, 0.03, -0.15], "to": [0.05, 0.02, 0.15]}, "segments": 15, "material": "rope"}],
      "constraints": [{"type": "clamp", "vertices": "bar:start"}, {"type": "clamp", "vertices": "bar:end"}],
      "forces": [{"type": "gravity", "acceleration": [0, -9.81, 0]}, {"type": "drag", "rate": 0.5}],
      "solver": {"name": ")" +
           solver + R"("}, "analysis": {"type": "dynamic", "step": 0.002, "duration": 0.2, "fps": 50}})";
  }
  static Simulation simulation(const std::string& solver = "faulty") {
    Simulation s(Scene::parse(text(solver), "test", "."));
    s.certify();
    return s;
  }
  /// Steps until the certificate objects. Returns what it says; the state has to be that before the step.
  static std::string objection(Simulation& s, int steps = 80) {
    for (int i = 0; i < steps; ++i) {
      const State before = s.state();
      try {
        s.step();
      } catch (const CertificateError& e) {
        EXPECT_TRUE(identical(before, s.state()));
        EXPECT_EQ(before.time, s.state().time);
        EXPECT_FALSE(s.certificate().failure.empty());
        return e.what();
      }
    }
    return "";
  }
  static std::string objection() {
    Simulation s = simulation();
    return objection(s);
  }
};

TEST_F(Certificate, HasNothingToSayOfSoundRuns) {
  for (const std::string solver : {"direct", "newton", "stable_cosserat", "automatic"}) {
    if (!make_settings(solver)->traits().contacts) continue;
    Simulation s = simulation(solver);
    const auto energy = [&] {
      const Diagnostics d = s.diagnostics();
      return d.kinetic + d.stretch_shear + d.bend_twist + s.certificate().contact_energy;
    };
    const double start = energy();
    EXPECT_EQ(objection(s, 100), "") << solver;
    const CertificateReport& c = s.certificate();
    EXPECT_EQ(c.steps, 100) << solver;
    EXPECT_GT(c.most_contacts, 1) << solver;
    EXPECT_GE(c.least_a, 0) << solver;
    EXPECT_GT(c.least_gap, -0.2 * 8e-3) << solver;
    EXPECT_EQ(c.penetration, 0) << solver;
    EXPECT_LT(c.energy_error, 1e-9) << solver;
    EXPECT_LT(c.momentum_error, 1e-11) << solver;
    EXPECT_LT(c.angular_momentum_error, 1e-11) << solver;
    const EnergyBudget& e = c.energy;
    const double budget = e.loads + e.driven + e.stiffening + e.broken + e.left - e.friction - e.damping - e.step;
    EXPECT_NEAR(energy() - start, budget, 1e-10 * (std::abs(e.loads) + start)) << solver;
    EXPECT_GT(e.friction, 0) << solver;
    EXPECT_GT(e.damping, 0) << solver;
    EXPECT_EQ(e.driven, 0) << solver;  // nothing that is held moves
  }
}

TEST_F(Certificate, NamesThePairThatAVertexWasPutThrough) {
  // A vertex of rod `one` from above the bar to below it, in the middle of a step that its solver has solved.
  fault = [](const StepInput&, State& s) { s.vertex_position[21 + 7].y -= 0.05; };
  const std::string said = objection();
  EXPECT_NE(said.find("of `bar`"), std::string::npos) << said;
  EXPECT_NE(said.find("of `one`"), std::string::npos) << said;
  EXPECT_NE(said.find("promised"), std::string::npos) << said;
}

TEST_F(Certificate, NamesThePairThatWasCrossedBetweenTwoSteps) {
  Simulation s = simulation();
  EXPECT_EQ(objection(s, 30), "");
  for (Index v = 21; v < 21 + 16; ++v) s.mutable_state().vertex_position[v].y -= 0.1;
  const std::string said = objection(s);
  EXPECT_NE(said.find("of `bar` and"), std::string::npos) << said;
}

TEST_F(Certificate, FindsEnergyThatIsInjected) {
  fault = [](const StepInput& input, State& s) {
    for (Index v = 0; v < input.model.vertex_count(); ++v) s.vertex_velocity[v] = 1.0001 * s.vertex_velocity[v];
  };
  EXPECT_NE(objection().find("not explained by forces"), std::string::npos);
  // With positions to match: a kick that no force explains.
  fault = [](const StepInput& input, State& s) {
    for (Index v = 37; v < 37 + 16; ++v) {
      s.vertex_velocity[v].z += 2;
      s.vertex_position[v].z += 2 * input.h;
    }
  };
  EXPECT_NE(objection(), "");
  // Between two steps.
  Simulation s = simulation();
  EXPECT_EQ(objection(s, 30), "");
  s.mutable_state().vertex_velocity[30].x += 1e-6;
  EXPECT_NE(objection(s).find("between two steps"), std::string::npos);
}

TEST_F(Certificate, FindsAMirroredFrame) {
  for (const Vec3d axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
    fault = [axis](const StepInput&, State& s) {
      s.frame_rotation[25] = s.frame_rotation[25] * axis_angle(axis, std::numbers::pi);
    };
    EXPECT_NE(objection(), "") << axis.x << axis.y << axis.z;
  }
  fault = [](const StepInput&, State& s) { s.frame_rotation[25] = 1.001 * s.frame_rotation[25]; };
  EXPECT_NE(objection().find("not a rotation"), std::string::npos);
}

/// A force that acts on one rod of a pair and not on the other one.
TEST_F(Certificate, FindsForcesWithoutReaction) {
  fault = [](const StepInput& input, State&) {
    if (input.record)
      for (contact::Touch& t : input.record->touches) t.weight[2] *= 1.001, t.weight[3] *= 1.001;
  };
  EXPECT_NE(objection(), "");
}

TEST_F(Certificate, RefusesWhatItCannotJudge) {
  std::string without = text("direct");
  for (const std::string part : {R"("contact": {},)", R"(, "friction": 0.3)"}) without.erase(without.find(part), part.size());
  Simulation s(Scene::parse(without, "test", "."));
  try {
    s.certify();
    FAIL();
  } catch (const InputError& e) {
    ASSERT_FALSE(e.problems().empty());
    EXPECT_EQ(e.problems()[0].where, "/contact");
  }
}

TEST_F(Certificate, KeepsTheLastGoodStateOnDisk) {
  fault = [](const StepInput&, State& s) { s.vertex_position[21 + 7].y -= 0.05; };
  const auto folder = std::filesystem::temp_directory_path() / "osier_certificate_test";
  RunOptions options;
  options.folder = folder;
  options.certify = true;
  const RunStats stats = run_scene(Scene::parse(text(), "test", "."), options);
  EXPECT_NE(stats.error.find("of `bar`"), std::string::npos) << stats.error;
  EXPECT_EQ(stats.steps, 40);
  EXPECT_TRUE(stats.certified);
  EXPECT_FALSE(stats.certificate.failure.empty());
  EXPECT_GT(stats.certificate.penetration, 0);
  const Trajectory kept = Trajectory::open(folder);
  EXPECT_NEAR(kept.time(kept.frame_count() - 1), 40 * 0.002, 1e-12);
  EXPECT_NE(stats.to_json().find("\"certificate\": {"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace osier::test
