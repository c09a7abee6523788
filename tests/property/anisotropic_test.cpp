// Sweeps on the energy with a stiffness per axis, with rotational inertia and motors: every update lowers the incremental
// potential, for stiffness ratios from 1e-3 to 1e3, and repeated sweeps arrive where Newton does.
#include <gtest/gtest.h>
#include <limits>

#include "solvers/direction_terms.hpp"
#include "solvers/newton/newton.hpp"
#include "solvers/stable_cosserat/general_update.hpp"
#include "support/steps.hpp"

namespace osier::test {
namespace {

using stable_cosserat::Lambda;
using stable_cosserat::Order;

StepProblem general_problem(std::uint64_t seed, int i, double strain) {
  StepProblem p =
      random_problem(seed + static_cast<std::uint64_t>(i),
                     {.damping = static_cast<Damping>(i % 4), .torque = i % 3 == 0, .broken = i % 5 == 0, .strain = strain});
  Random random(seed + 2000 + static_cast<std::uint64_t>(i));
  const double ratios[] = {1.0001, 3, 30, 1000};
  make_anisotropic(p, std::sqrt(ratios[i % 4]), random);  // either way: the axes differ by up to the ratio
  if (i % 2 == 1) make_inertial(p, random);
  return p;
}

double stiffest(const StepProblem& p) {
  double k = 0;
  for (Index s = 0; s < p.model.segment_count(); ++s)
    k = std::max(k, p.model.segment_stiffness[s].largest() * (1 + p.model.segment_tau[s].largest() / p.h));
  for (Index j = 0; j < p.model.joint_count(); ++j)
    k = std::max(k, p.model.joint_stiffness[j].largest() * (1 + p.model.joint_tau[j].largest() / p.h));
  return k;
}

template <class T>
class GeneralUpdate : public testing::Test {};
using NumberTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(GeneralUpdate, NumberTypes);

TYPED_TEST(GeneralUpdate, OfAFrameNeverRaisesTheTotalEnergy) {
  using T = TypeParam;
  int lowered = 0, all = 0;
  for (int i = 0; i < 160; ++i) {
    const StepProblem random = general_problem(100, i, i % 7 == 0 ? 1.5 : 0.2);
    Random place(5000 + static_cast<std::uint64_t>(i));
    const Place at = random_place(random, i % 6 == 1 ? 2.0 : 0.3, place);
    StepProblem p = prescribed(random, at);
    for (Index s = 0; s < p.model.segment_count(); ++s) {
      if (!p.model.segment_alive[s]) continue;
      const bool hinged = random.control.frame_control[s] == FrameControl::hinged;
      p.control.frame_control[s] = hinged ? FrameControl::hinged : FrameControl::free;
      const Place after = stepped(p, Order::gauss_seidel, Lambda::secular, 1, kNumber<T>);
      Place before = after;
      before.q[s] = guessed_frame(p.model, p.control, p.state, p.h, s);
      Phi potential(p);
      potential.set_torque_point(before.q);
      const double e0 = potential.value_with_linear_torque(before).total(),
                   e1 = potential.value_with_linear_torque(after).total();
      const double rounding = 32 * std::numeric_limits<T>::epsilon() * stiffest(p) * (1 + norm(at.x[0])) + 1e-13 * std::abs(e0);
      ASSERT_LE(e1 - e0, rounding) << "problem " << i << " segment " << s;
      lowered += e1 < e0 - rounding, ++all;
      p.control.frame_control[s] = FrameControl::fixed;
    }
  }
  EXPECT_GT(lowered, all * 8 / 10);
}

TYPED_TEST(GeneralUpdate, OfAVertexFindsTheMinimumOverIt) {
  using T = TypeParam;
  for (int i = 0; i < 80; ++i) {
    const StepProblem random = general_problem(300, i, 0.2);
    Random place(6000 + static_cast<std::uint64_t>(i));
    const Place at = random_place(random, 0.3, place);
    StepProblem p = prescribed(random, at);
    for (Index v = 0; v < p.model.vertex_count(); ++v) {
      if (!p.model.vertex_alive[v]) continue;
      p.control.vertex_fixed[v] = 0;
      const Place after = stepped(p, Order::gauss_seidel, Lambda::secular, 1, kNumber<T>);
      std::vector<Vec3d> gx, gw;
      Phi(p).gradient(after, gx, gw);
      const double forces = 10 * stiffest(p) / 0.3 + norm(p.control.vertex_force[v]) +
                            p.model.vertex_mass[v] / p.h * norm(p.state.vertex_velocity[v]);
      ASSERT_LT(norm(gx[v]), 64 * std::numeric_limits<T>::epsilon() * forces) << "problem " << i << " vertex " << v;
      p.control.vertex_fixed[v] = 1;
    }
  }
}

TEST(GeneralSweeps, LowerTheIncrementalPotentialInSequentialAndColouredOrder) {
  for (int i = 0; i < 60; ++i) {
    StepProblem p = general_problem(700, i, i % 3 == 0 ? 1.5 : 0.3);
    p.control.has_torque = false;
    const Phi potential(p);
    for (Precision number : {Precision::double_precision, Precision::single_precision})
      for (Order order : {Order::gauss_seidel, Order::red_black}) {
        double last = std::numeric_limits<double>::infinity();
        for (int n = 1; n <= 10; ++n) {
          const EnergyTerms e = potential.value(stepped(p, order, Lambda::secular, n, number));
          const double rounding = number == Precision::single_precision ? 3e-6 : 1e-13;
          ASSERT_LE(e.total(), last + rounding * (e.magnitude() + stiffest(p))) << "problem " << i << " sweep " << n;
          last = e.total();
        }
      }
  }
}

/// One step by many sweeps and by Newton: the same place. Moderate ratios, where sweeps arrive in reasonable time.
TEST(GeneralSweeps, ArriveWhereNewtonDoes) {
  for (int i = 0; i < 12; ++i) {
    StepProblem p = random_problem(900 + static_cast<std::uint64_t>(i), {.damping = static_cast<Damping>(i % 4), .strain = 0.1});
    Random random(950 + static_cast<std::uint64_t>(i));
    make_anisotropic(p, 2, random);
    if (i % 2) make_inertial(p, random);
    p.control.has_torque = i % 3 == 0;
    newton::Settings exact;
    exact.tolerance = 1e-12;
    State by_newton = p.state;
    ASSERT_FALSE(exact.make(p.model)->step(p.model, p.control, by_newton, p.h).not_converged) << i;
    for (Order order : {Order::gauss_seidel, Order::red_black, Order::jacobi}) {
      stable_cosserat::Settings sweeps;
      sweeps.method = stable_cosserat::Method::sweep;
      sweeps.order = order, sweeps.tolerance = 1e-10, sweeps.max_iterations = 50000;
      State by_sweeps = p.state;
      const StepReport report = sweeps.make(p.model)->step(p.model, p.control, by_sweeps, p.h);
      ASSERT_FALSE(report.not_converged) << i << " " << report.residual_relative;
      for (Index v = 0; v < p.model.vertex_count(); ++v)
        ASSERT_LT(norm(by_sweeps.vertex_position[v] - by_newton.vertex_position[v]), 1e-7) << i << " vertex " << v;
      for (Index s = 0; s < p.model.segment_count(); ++s)
        ASSERT_GT(std::abs(dot(by_sweeps.frame_rotation[s], by_newton.frame_rotation[s])), 1 - 1e-12) << i << " segment " << s;
    }
  }
}

/// The closed-form problem lies above the energy everywhere and touches it at the present frame: the fallback cannot raise it.
TEST(GeneralUpdate_Majoriser, LiesAboveTheEnergyAndTouchesIt) {
  using namespace stable_cosserat;
  Random random(77);
  for (int i = 0; i < 300; ++i) {
    Model m;
    m.vertex_mass = {1, 1};
    m.segment_vertices = {{0, 1}};
    m.segment_rest_length = {1};
    m.joint_frames = {{1, 0}, {0, 2}};
    m.frame_joints.start = {0, 2};
    m.frame_joints.entry = {1, 2};
    Workspace<double> w;
    const auto stiffness = [&] {
      return Vec3d{random.log_range(1e-3, 1e3), random.log_range(1e-3, 1e3), random.log_range(1e-3, 1e3)};
    };
    w.u = {{0, 0, 0}, {0, 0, 0}};
    w.segment = {
        {.p0 = random.range(0.1, 2) * random.direction(), .inverse_length = 1, .k = 0, .stiffening = 0, .c = 0, .eta = {}}};
    w.q = {random.rotation(), random.rotation(), random.rotation()};
    w.joint_side = {{.target = {}, .bound = -1, .other = 1}, {.target = {}, .bound = -1, .other = 2}};
    w.general.segment = {{.k = stiffness(), .rest = Vec3d{0, 0, 1} + 0.3 * random.direction(), .C = {}, .axis = {}}};
    for (int j = 0; j < 2; ++j)
      w.general.joint.push_back({bend_twist::stiffness4(stiffness()), random.rotation(),
                                 j ? bend_twist::stiffness4(stiffness()) : Quatd{0, 0, 0, 0}, random.rotation()});
    w.general.direction = {{random.log_range(1e-3, 1e3), random.direction(), random.direction()}};
    w.general.direction_start = {0, 1};
    const FrameProblem<double> problem(m, w, 0, false);
    const OrientationProblem<double> above = problem.majoriser();
    const auto upper = [&](const Quatd& q) { return -0.5 * dot(q, above.v * q * above.eta) - dot(above.b, q); };
    const double offset = problem.value(w.q[0]).value - upper(w.q[0]), scale = 1e-12 * (above.s + norm(above.b));
    for (int t = 0; t < 200; ++t) {
      const Quatd q = t % 2 ? random.rotation() : normalized(w.q[0] * rotation_exp(0.1 * random.in_cube()));
      ASSERT_GE(upper(q) + offset, problem.value(q).value - scale) << i;
    }
    Mat3<double> hessian;
    const Vec3d slope = problem.derivatives(hessian),
                touch = -0.5 * imag(conj(w.q[0]) * (above.v * w.q[0] * above.eta + above.b));
    ASSERT_LT(norm(slope - touch), scale) << i;
    const Quatd best = orientation_careful(above, w.q[0]);
    ASSERT_LE(problem.value(best).value, problem.value(w.q[0]).value + scale) << i;
  }
}

/// Two names for one rod: every frame turned by 90 degrees about its d3, stiffnesses of d1 and d2 exchanged.
TEST(Section, TurnedByAQuarterWithItsStiffnessesExchangedMovesTheSame) {
  for (const bool use_newton : {false, true}) {
    StepProblem a = general_problem(1200, 3, 0.2);
    a.control.has_torque = false;
    StepProblem b = a;
    const Quatd quarter = axis_angle(Vec3d{0, 0, 1}, std::numbers::pi / 2);
    for (Index f = 0; f < b.model.frame_count(); ++f) {
      b.state.frame_rotation[f] = a.state.frame_rotation[f] * quarter;
      b.control.frame_target[f] = a.control.frame_target[f] * quarter;
    }
    const auto exchange = [](std::vector<PerAxis>& list) {
      for (PerAxis& k : list) std::swap(k.d1, k.d2);
    };
    exchange(b.model.segment_stiffness), exchange(b.model.segment_tau), exchange(b.model.segment_inertia);
    exchange(b.model.joint_stiffness), exchange(b.model.joint_tau);
    for (Quatd& q0 : b.model.joint_rest_rotation) q0 = conj(quarter) * q0 * quarter;
    std::unique_ptr<SolverSettings> solver;
    if (use_newton) solver = std::make_unique<newton::Settings>();
    else solver = std::make_unique<stable_cosserat::Settings>();
    const auto sa = solver->make(a.model), sb = solver->make(b.model);
    for (int i = 0; i < 5; ++i) {
      sa->step(a.model, a.control, a.state, a.h);
      sb->step(b.model, b.control, b.state, b.h);
    }
    for (Index v = 0; v < a.model.vertex_count(); ++v)
      EXPECT_LT(norm(a.state.vertex_position[v] - b.state.vertex_position[v]), use_newton ? 1e-7 : 1e-11)
          << use_newton << " " << v;
  }
}

}  // namespace
}  // namespace osier::test
