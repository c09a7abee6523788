// Sweeps on the energy with a stiffness per axis, with rotational inertia and motors: every update lowers the incremental
// potential, for stiffness ratios from 1e-3 to 1e3, and repeated sweeps arrive where Newton does.
#include <gtest/gtest.h>
#include <limits>

#include "energies/kelvin_voigt.hpp"
#include "solvers/automatic/automatic.hpp"
#include "solvers/direction_terms.hpp"
#include "solvers/newton/newton.hpp"
#include "solvers/stable_cosserat/frame_problem.hpp"
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

/// The couple of axes that turn with a segment, from its force alone.
TEST(StretchShear, CoupleOfAxesIsThatOfItsStrain) {
  Random random(18);
  for (int i = 0; i < 100; ++i) {
    const Vec3d k{random.range(1, 9), random.range(1, 9), random.range(1, 9)}, e = random.in_cube();
    const Vec3d n{k.x * e.x, k.y * e.y, k.z * e.z};
    EXPECT_LE(norm(stretch_shear::couple_of_axes(Vec3d{1 / k.x, 1 / k.y, 1 / k.z}, n) - cross(e, n)), 1e-14);
  }
}

TEST(GeneralSweeps, LowerTheStepPotentialInSequentialAndColouredOrder) {
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
          ASSERT_LE(e.total(), last + rounding * (e.magnitude + stiffest(p))) << "problem " << i << " sweep " << n;
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
    ASSERT_FALSE(exact.make(p.model)->step(p.input(), by_newton).not_converged) << i;
    for (Order order : {Order::gauss_seidel, Order::red_black, Order::jacobi}) {
      stable_cosserat::Settings sweeps;
      sweeps.order = order, sweeps.tolerance = 1e-10, sweeps.max_iterations = 50000;
      State by_sweeps = p.state;
      const StepReport report = sweeps.make(p.model)->step(p.input(), by_sweeps);
      ASSERT_FALSE(report.not_converged) << i << " " << report.residual_relative;
      for (Index v = 0; v < p.model.vertex_count(); ++v)
        ASSERT_LT(norm(by_sweeps.vertex_position[v] - by_newton.vertex_position[v]), 1e-7) << i << " vertex " << v;
      for (Index s = 0; s < p.model.segment_count(); ++s)
        ASSERT_GT(std::abs(dot(by_sweeps.frame_rotation[s], by_newton.frame_rotation[s])), 1 - 1e-12) << i << " segment " << s;
    }
  }
}

/// One frame between two others, with everything that a frame can be subject to, and its energy by the formulas of energies/.
struct LocalFrame {
  Quatd q;
  Vec3d p, k, rest;
  std::vector<stable_cosserat::JointTerm<double>> joints;
  stable_cosserat::Direction<double> direction;
  Quatd torque;

  static LocalFrame random(Random& random) {
    const auto stiffness = [&] {
      return Vec3d{random.log_range(1e-3, 1e3), random.log_range(1e-3, 1e3), random.log_range(1e-3, 1e3)};
    };
    LocalFrame f{.q = random.rotation(),
                 .p = random.range(0.1, 2) * random.direction(),
                 .k = stiffness(),
                 .rest = Vec3d{0, 0, 1} + 0.3 * random.direction(),
                 .joints = {},
                 .direction = {random.log_range(1e-3, 1e3), random.direction(), random.direction()},
                 .torque = {}};
    for (int j = 0; j < 3; ++j) f.joints.push_back({random.rotation(), bend_twist::stiffness4(stiffness()), random.rotation()});
    f.torque = stable_cosserat::torque_share(random.in_cube(), random.in_cube(), f.q);
    return f;
  }
  double energy(const Quatd& at) const {
    double e = stretch_shear::value(k, stretch_shear::strain(p, at, rest)) - dot(torque, at) +
               stretch_shear::value(direction.k, direction.y, rotate(at, direction.a));
    for (const auto& j : joints) e += bend_twist::value4(j.K, bend_twist::difference(j.K, conj(j.other) * at, j.rest));
    return e;
  }
  /// The same with the poles of the present frame.
  double energy_with_poles(const Quatd& at) const {
    double e = energy(at);
    for (const auto& j : joints) {
      const Quatd weighted_rest = bend_twist::times(j.K, j.rest), now = conj(j.other) * q, then = conj(j.other) * at;
      e += std::abs(dot(weighted_rest, then)) - bend_twist::pole(dot(weighted_rest, now)) * dot(weighted_rest, then);
    }
    return e;
  }
  stable_cosserat::FrameProblem<double> problem() const {
    stable_cosserat::FrameProblem<double> problem(q, p, k, rest);
    for (const auto& j : joints) problem.add_joint(q, j);
    problem.add_direction(q, direction);
    problem.add_torque(q, torque);
    return problem;
  }
  double scale() const {
    double s = 10 * (k.x + k.y + k.z) + 4 * direction.k + norm(torque);
    for (const auto& j : joints) s += 4 * (j.K.x + j.K.y + j.K.z);
    return s;
  }
};

/// Any unit t with t.w >= 0 as 1 + delta.
stable_cosserat::SmallTurn<double> turn_by(const Quatd& t) { return {t, {t.x, t.y, t.z, t.w - 1}}; }
Quatd random_turn(Random& random, int i) {
  const Quatd t = i % 2 ? random.rotation() : normalized(rotation_exp(0.1 * random.in_cube()));
  return t.w < 0 ? -t : t;
}

TEST(FrameProblem, KnowsByHowMuchATurnChangesTheEnergy) {
  Random random(76);
  for (int i = 0; i < 2000; ++i) {
    const LocalFrame f = LocalFrame::random(random);
    const Quatd t = random_turn(random, i);
    double size = 0;
    const double change = f.problem().change(turn_by(t), size);
    ASSERT_NEAR(change, f.energy_with_poles(f.q * t) - f.energy(f.q), 1e-13 * f.scale()) << i;
    ASSERT_LE(f.energy(f.q * t) - f.energy(f.q), change + 1e-13 * f.scale()) << i;
  }
}

TEST(FrameProblem, DerivativesAreThoseOfTheChange) {
  using stable_cosserat::small_turn;
  Random random(78);
  for (int i = 0; i < 200; ++i) {
    const LocalFrame f = LocalFrame::random(random);
    const auto problem = f.problem();
    const auto change = [&](const Vec3d& w) {
      double size = 0;
      return problem.change(small_turn(w), size);
    };
    const Vec3d g = problem.gradient();
    const Mat3<double> H = problem.hessian();
    const Vec3d w = 1e-4 * random.direction();
    ASSERT_NEAR((change(w) - change(-w)) / 2, dot(g, w), 1e-7 * 1e-4 * f.scale()) << i;
    ASSERT_NEAR(change(w) + change(-w), dot(w, H * w), 1e-7 * 1e-8 * f.scale()) << i;
  }
}

/// The closed-form problem lies above the energy everywhere and touches it at the present frame: the fallback cannot raise it.
TEST(FrameProblem, MajoriserLiesAboveTheEnergyAndTouchesIt) {
  Random random(77);
  for (int i = 0; i < 300; ++i) {
    const LocalFrame f = LocalFrame::random(random);
    const OrientationProblem<double> above = f.problem().majoriser();
    const Quatd here{0, 0, 0, 1};
    const auto upper = [&](const Quatd& t) { return -0.5 * dot(t, above.v * t * above.eta) - dot(above.b, t); };
    const double scale = 1e-12 * (above.s + norm(above.b));
    for (int n = 0; n < 200; ++n) {
      const Quatd t = random_turn(random, n);
      ASSERT_GE(upper(t) - upper(here), f.energy(f.q * t) - f.energy(f.q) - scale) << i;
    }
    const Vec3d touch = -0.5 * imag(above.v * here * above.eta + above.b);
    ASSERT_LT(norm(f.problem().gradient() - touch), scale) << i;
    ASSERT_LE(f.energy(f.q * orientation_safeguarded(above, here)), f.energy(f.q) + scale) << i;
  }
}

/// Elasticity and damping folded into one differ from the two by a constant wherever they say so, and for steps that are not
/// too long there is little else.
TEST(FoldedJoint, IsTheSumOfItsTermsOutsideItsMargin) {
  Random random(79);
  int inside = 0, all = 0;
  for (int i = 0; i < 500; ++i) {
    const bool ordinary = i % 2 == 0;
    const double most = ordinary ? 2 : 10;
    const auto axes = [&] {
      return Vec3d{random.log_range(1 / most, most), random.log_range(1 / most, most), random.log_range(1 / most, most)};
    };
    const Vec3d k = axes(), tau = times(axes(), Vec3d{1, 1, i % 3 ? 1.0 : 0.0});
    const Quatd K = bend_twist::stiffness4(k), Kv = bend_twist::viscous4(k, tau);
    const Quatd rest = rotation_exp((ordinary ? 0.3 : 3.0) * random.in_cube());
    Quatd previous = normalized(rest * rotation_exp((ordinary ? 0.2 : 1.0) * random.in_cube()));
    if (random.flip()) previous = -previous;
    Quatd sum, target;
    double margin2 = 0;
    kelvin_voigt::fold_joint(K, rest, Kv, previous, sum, target, margin2);
    ASSERT_GE(margin2, 0);
    const auto two = [&](const Quatd& r) {
      return bend_twist::value4(K, bend_twist::difference(K, r, rest)) +
             bend_twist::value4(Kv, bend_twist::difference(Kv, r, previous));
    };
    const auto one = [&](const Quatd& r) { return bend_twist::value4(sum, bend_twist::difference(sum, r, target)); };
    const Quatd n = bend_twist::times(sum, target), pole = normalized(n);
    const double constant = two(pole) - one(pole), scale = norm(sum);
    for (int t = 0; t < 200; ++t) {
      const Quatd r = random.rotation();
      const bool within = dot(r, n) * dot(r, n) < margin2 * norm2(n);
      if (ordinary) inside += within, ++all;
      if (!within) {
        ASSERT_NEAR(two(r), one(r) + constant, 1e-13 * scale) << i;
      }
    }
  }
  EXPECT_LT(inside, all / 3);
  Quatd sum, target;
  double margin2 = 0;
  kelvin_voigt::fold_joint(Quatd{1, 2, 3, 1}, random.rotation(), Quatd{0, 0, 0, 0}, random.rotation(), sum, target, margin2);
  EXPECT_LT(margin2, 0) << "nothing is damped: one pole";
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
    else solver = std::make_unique<automatic::Settings>();
    const auto sa = solver->make(a.model), sb = solver->make(b.model);
    for (int i = 0; i < 5; ++i) {
      sa->step(constant_input(a.model, a.control, a.h), a.state);
      sb->step(constant_input(b.model, b.control, b.h), b.state);
    }
    for (Index v = 0; v < a.model.vertex_count(); ++v)
      EXPECT_LT(norm(a.state.vertex_position[v] - b.state.vertex_position[v]), use_newton ? 1e-7 : 1e-11)
          << use_newton << " " << v;
  }
}

}  // namespace
}  // namespace osier::test
