// The solver `projective`, variant exact: what its sweeps converge to is the minimum of the step's potential, which Newton finds
// (scenes: agreement_test.cpp).
#include "solvers/projective/projective.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "solvers/newton/newton.hpp"
#include "solvers/projective/elimination.hpp"
#include "solvers/projective/global_step.hpp"
#include "solvers/projective/local_step.hpp"
#include "solvers/projective/rod_memory.hpp"
#include "solvers/projective/sweep.hpp"
#include "support/agreement_scenes.hpp"
#include "support/differences.hpp"
#include "support/problem.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

// Graphs with a branch and a loop, anchors, a hinge, torques, dead segments, damping, a stiffness for every axis, inertia.
TEST(ProjectiveStep, OfARandomGraphIsNewtons) {
  for (int i = 0; i < 40; ++i) {
    StepProblem p =
        random_problem(700 + static_cast<std::uint64_t>(i),
                       {.damping = static_cast<Damping>(i % 4), .torque = i % 3 == 0, .broken = i % 5 == 0, .strain = 0.2});
    Random random(2700 + static_cast<std::uint64_t>(i));
    if (i % 2 == 0) make_anisotropic(p, i % 4 == 0 ? 1.7 : 5, random);
    if (i % 4 >= 2) make_inertial(p, random);
    newton::Settings exact;
    exact.tolerance = 1e-13;
    State expected = p.state;
    ASSERT_FALSE(exact.make(p.model)->step(p.input(), expected).not_converged) << i;
    for (const auto iteration : {projective::Iteration::sweeps, projective::Iteration::anderson}) {
      projective::Settings settings;
      settings.iteration = iteration;
      settings.tolerance = 1e-11;
      settings.max_iterations = 50000;
      State state = p.state;
      const StepReport report = settings.make(p.model)->step(p.input(), state);
      EXPECT_FALSE(report.not_converged) << i << " " << report.residual_relative;
      EXPECT_LE(farthest(state.vertex_position, expected.vertex_position), 1e-8) << i << " after " << report.iterations;
      EXPECT_LE(farthest(state.frame_rotation, expected.frame_rotation), 1e-7) << i << " after " << report.iterations;
    }
  }
}

// Both gradients of a sweep against differences of its energy, away from rest, with every term that has an energy: stretch and
// shear, bending and twisting about a bent rest shape, damping, inertia of vertices and of frames.
TEST(ProjectiveLocalStep, GradientsAreDerivativesOfTheEnergy) {
  for (int i = 0; i < 8; ++i) {
    StepProblem p = random_problem(800 + static_cast<std::uint64_t>(i),
                                   {.damping = static_cast<Damping>(i % 4), .torque = false, .strain = 0.2});
    Random random(2800 + static_cast<std::uint64_t>(i));
    if (i % 2 == 0) make_anisotropic(p, 4, random);
    if (i % 4 >= 2) make_inertial(p, random);
    const Model& m = p.model;
    projective::FrameTerms terms;
    projective::StepNeeds needs{.h = p.h};
    needs.damped = m.has_damping();
    needs.hinges = true;
    if (m.has_inertia() || p.control.has_rotary_damping) terms.find(m, p.control, p.state, p.h), needs.terms = terms.most;
    const projective::RodPlan plan = projective::plan_rods(m, 1);
    for (const projective::RodGroup& group : plan.groups) {
      const projective::RodShape& shape = plan.shapes[static_cast<std::size_t>(group.shape)];
      std::vector<double> constants(projective::model_numbers<double>(shape, 1)),
          memory(projective::step_numbers<double>(shape, 1, needs));
      projective::load_model(m, shape, group, constants.data());
      auto rod = projective::view_of<double>(shape, 1, needs, constants.data(), memory.data());
      projective::load_step(m, p.control, p.state, needs, terms, shape, group, 0, rod);
      projective::RodSweep<double> sweep(rod);
      sweep.begin(false);
      auto* u = reinterpret_cast<Vec3d*>(rod.u);
      auto* q = reinterpret_cast<Quatd*>(rod.rotation);
      for (Index v = 0; v < rod.vertices; ++v) u[v] += 0.02 * random.in_cube();
      for (Index s = 0; s < rod.segments; ++s) q[s] = projective::turned_by(q[s], 0.3 * random.in_cube());
      sweep.position_gradient();
      sweep.turn_gradient();
      double most_x = 0, most_w = 0, off_x = 0, off_w = 0;
      constexpr double e = 1e-5;
      const auto slope = [&](auto& unknown, const auto& moved) {
        const auto kept = unknown;
        unknown = moved(kept, e);
        const double after = sweep.energy();
        unknown = moved(kept, -e);
        const double before = sweep.energy();
        unknown = kept;
        return (after - before) / (2 * e);
      };
      for (Index n = 0; n < 3 * rod.vertices; ++n) {
        if (rod.vertex_free[n / 3] == 0) continue;
        const Vec3d axis = unit3(n % 3);
        most_x = std::max(most_x, std::abs(rod.gx[n]));
        off_x = std::max(off_x, std::abs(rod.gx[n] - slope(u[n / 3], [&](const Vec3d& x, double t) { return x + t * axis; })));
      }
      for (Index n = 0; n < 3 * rod.segments; ++n) {
        if (rod.frame_free[n / 3] == 0) continue;
        const Vec3d axis = unit3(n % 3);
        const auto turned = [&](const Quatd& r, double t) { return projective::turned_by(r, t * axis); };
        most_w = std::max(most_w, std::abs(rod.gw[n]));
        off_w = std::max(off_w, std::abs(rod.gw[n] - slope(q[n / 3], turned)));
      }
      EXPECT_LE(off_x, 1e-7 * most_x) << i;
      EXPECT_LE(off_w, 1e-7 * most_w) << i;
    }
  }
}

// The two couples of a joint are one moment, seen from its two frames.
TEST(ProjectiveLocalStep, JointGradientsAreTheMomentInTheAxesOfEitherFrame) {
  Random random(9);
  for (int i = 0; i < 50; ++i) {
    const Quatd K = bend_twist::stiffness4(Vec3d{random.range(1, 9), random.range(1, 9), random.range(1, 9)});
    const auto any_rotation = [&] { return rotation_exp(2.0 * random.in_cube()); };
    const Quatd qa = any_rotation(), qb = any_rotation(), rest = any_rotation(), r = conj(qa) * qb;
    const auto both = projective::joint_gradient(bend_twist::times(K, bend_twist::difference(K, r, rest)), r);
    const Vec3d moment = rotate(qa, bend_twist::moment(K, r, rest));
    EXPECT_LE(norm(rotate(qa, both.first) + moment), 1e-13);
    EXPECT_LE(norm(rotate(qb, both.second) - moment), 1e-13);
  }
}

/// Strands of one length in different directions, some with both ends held, beside uneven ones and a ring.
std::string strands() {
  std::string rods, clamped;
  for (int i = 0; i < 26; ++i) {
    rods += fmt::format(
        R"({{"name": "s{0}", "material": "m", "segments": {1}, "shape": {{"type": "arc", "center": [{0}, 0.5, 0], "radius": 0.5, "start": [0, -1, {2}], "angle": {3}}}}},)",
        i, i < 21 ? 14 : i - 15, 0.05 * i, 40 + 3 * i);
    clamped += fmt::format(R"("s{}:start",)", i);
    if (i % 5 == 0) clamped += fmt::format(R"("s{}:end",)", i);
  }
  clamped.back() = ' ';
  return std::string("{") + kAgreementMaterial + "\"rods\": [" + rods +
         R"({"name": "ring", "material": "strip", "segments": 12, "shape": {"type": "circle", "radius": 0.3}}],
    "forces": [{"type": "gravity"}, {"type": "torque", "segments": "s3:end", "torque": [0.1, 0, 0]}],
    "constraints": [{"type": "pin", "vertices": "ring:0"}, {"type": "clamp", "vertices": [)" +
         clamped + "]}]}";
}

TEST(ProjectiveLanes, GiveTheStepsOfSingleRods) {
  const std::string text = strands();
  for (const char* iteration : {"sweeps", "anderson"})
    for (const char* precision : {"double", "float"}) {
      const auto end_of = [&](const char* simd, int threads) {
        LoadOptions options;
        options.overrides = {
            fmt::format(R"(/solver={{"name": "projective", "iteration": "{}", "iterations": 12}})", iteration),
            fmt::format(R"(/execution={{"simd": "{}", "threads": {}, "precision": "{}"}})", simd, threads, precision)};
        Simulation s(Scene::parse(text, "strands", ".", options));
        for (int i = 0; i < 10; ++i) EXPECT_FALSE(s.step().non_finite);
        return s.state();
      };
      const bool in_double = std::string(precision) == "double";
      const State one = end_of("off", 1);
      EXPECT_TRUE(identical(one, end_of("off", 3)));
      EXPECT_GT(farthest(one.vertex_position, Scene::parse(text).initial_state().vertex_position), 0.01);
      for (const Simd simd : {Simd::sse2, Simd::avx2, Simd::avx512}) {
        if (!simd_available(simd)) continue;
        const State lanes = end_of(simd_name(simd), 1);
        EXPECT_TRUE(identical(lanes, end_of(simd_name(simd), 3))) << simd_name(simd);
        EXPECT_LE(farthest(lanes.vertex_position, one.vertex_position), in_double ? 1e-10 : 1e-4) << simd_name(simd) << iteration;
        EXPECT_LE(farthest(lanes.frame_rotation, one.frame_rotation), in_double ? 1e-9 : 1e-3) << simd_name(simd) << iteration;
      }
    }
}

TEST(ProjectiveTraits, OfThePapersVariantRefuseWhatItLacks) {
  const std::string text = kAgreementScenes[3].text();
  try {
    scene_with(text, R"({"name": "projective", "variant": "paper", "tolerance": 1e-3})");
    FAIL();
  } catch (const InputError& e) {
    std::string all;
    for (const Problem& problem : e.problems()) all += to_string(problem) + "\n";
    for (const char* what : {"or `projective` with its default settings", "turn frames about one axis only", "take torques",
                             "damp rods from inside", "/solver/tolerance"})
      EXPECT_NE(all.find(what), std::string::npos) << what << " in\n" << all;
  }
  try {
    scene_with(kAgreementScenes[5].text(), R"({"name": "projective", "variant": "paper"})");
    FAIL() << "a strip bends differently about its two axes";
  } catch (const InputError& e) {
    EXPECT_EQ(e.problems().front().where, "/solver/variant") << to_string(e.problems().front());
  }
  for (const char* solver :
       {R"({"name": "projective", "order": "jacobi"})", R"({"name": "projective", "iteration": "sweeps", "history": 4})",
        R"({"name": "projective", "iterations": 4, "tolerance": 1e-3})"})
    EXPECT_THROW(scene_with(kAgreementScenes[0].text(), solver), InputError) << solver;
}

// L D L' of a chain has no fill, nor that of a tree; a ring fills one entry per node of its core.
TEST(ProjectiveElimination, SolvesWhatItFactorsWithoutFillOnTrees) {
  using Edges = std::vector<std::array<Index, 2>>;
  const Edges chain{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, star{{0, 2}, {1, 2}, {2, 3}, {3, 4}},
      ring{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}},
      complete{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}, {0, 1}};
  Random random(5);
  for (const auto& [edges, entries] : {std::pair{chain, 4}, {star, 4}, {ring, 7}, {complete, 10}}) {
    const projective::Elimination e = projective::eliminate(5, edges);
    EXPECT_EQ(e.entries(), entries);
    double a[5][5] = {};
    std::vector<double> diagonal(5), entry(static_cast<std::size_t>(e.entries()), 0);
    std::vector<Index> place(5);
    for (Index i = 0; i < 5; ++i) place[e.order[i]] = i;
    for (Index i = 0; i < 5; ++i) diagonal[i] = a[i][i] = random.range(8, 12);
    for (std::size_t k = 0; k < edges.size(); ++k) {
      const double x = random.range(-1, 1);
      const Index i = place[edges[k][0]], j = place[edges[k][1]];
      a[i][j] += x, a[j][i] += x;
      entry[e.edge_entry[k]] += x;
    }
    std::vector<Vec3d> y(5), b(5);
    for (Index i = 0; i < 5; ++i) b[i] = y[i] = random.in_cube();
    const projective::EliminationView view = projective::view_of(e);
    projective::factor(view, diagonal.data(), entry.data());
    projective::solve(view, diagonal.data(), entry.data(), y.data());
    for (Index i = 0; i < 5; ++i) {
      Vec3d left = -b[i];
      for (Index j = 0; j < 5; ++j) left += a[i][j] * y[j];
      EXPECT_LE(norm(left), 1e-14);
    }
  }
}

}  // namespace
}  // namespace osier::test
