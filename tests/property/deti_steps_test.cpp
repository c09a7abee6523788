// The integrator of the solver `deti`, on one fibre.
#include <gtest/gtest.h>

#include "solvers/deti/krylov.hpp"
#include "solvers/deti/mode_functions.hpp"
#include "support/deti.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

using deti::Stiffness;
using deti::Variant;

constexpr Variant kVariants[] = {Variant::complex_pair, Variant::double_pole};

TEST(DetiModes, TheExactFamilySolvesLinearModesWithDamping) {
  for (const double lambda : {0.0, 1.0, 1e2, 1e4, 1e6})
    for (const auto& [a0, a1] : {std::pair{0.0, 0.0}, {3.0, 0.0}, {3.0, 1e-3}, {300.0, 0.0}}) {
      const double h = 0.05, delta = 0.5 * (a0 + a1 * lambda);
      // x'' + 2 delta x' + lambda x = 1, x(0) = 1 and x'(0) = 0.2, in long double, where no digits are lost.
      const auto solution = [&](long double t) -> double {
        using L = long double;
        const L d = delta, l = lambda, time = t, v0 = 0.2L;
        if (lambda == 0 && delta == 0) return static_cast<double>(1 + v0 * time + time * time / 2);
        if (lambda == 0) {
          const L decay = -std::expm1(-2 * d * time) / (2 * d);
          return static_cast<double>(1 + v0 * decay + (time - decay) / (2 * d));
        }
        const L rest = 1 / l, square = l - d * d, x0 = 1 - rest;
        if (square > 0) {
          const L w = std::sqrt(square);
          return static_cast<double>(rest +
                                     std::exp(-d * time) * (x0 * std::cos(w * time) + (v0 + d * x0) / w * std::sin(w * time)));
        }
        const L mu = std::sqrt(-square), fast = d + mu, slow = l / fast;
        const L A = (v0 + fast * x0) / (fast - slow), B = x0 - A;
        return static_cast<double>(rest + A * std::exp(-slow * time) + B * std::exp(-fast * time));
      };
      const deti::ModeStep s = deti::exact_mode(lambda, h, a0, a1);
      double x = solution(h), w = (solution(h) - 1) / h, worst = 0, size = 1;
      for (int n = 1; n <= 200; ++n) {
        w = s.E * w + s.Psi / h * (1 - lambda * x);
        x += h * w;
        worst = std::max(worst, std::abs(x - solution((n + 1) * static_cast<long double>(h))));
        size = std::max(size, std::abs(x));
      }
      EXPECT_LE(worst, 1e-12 * size) << lambda << " " << a0 << " " << a1;
    }
}

TEST(DetiModes, TheSaturatedFilterFollowsTheExactOneAndStaysWithinTheStableRange) {
  for (const Variant v : kVariants) {
    for (const double y : {1e-3, 1e-2, 1e-1})
      EXPECT_NEAR(deti::saturated(v, y), 2 * (1 - std::cos(std::sqrt(y))), 2 * y * y * y) << y;
    for (double y = 1e-3; y < 1e9; y *= 1.3) {
      const double g = deti::saturated(v, y), E = 1 - 0.3 * deti::unresolved(v, y);
      EXPECT_LE(g, 2 * (1 + E)) << y;  // at rho = 0.7
      EXPECT_GE(g, 0);
    }
  }
}

TEST(DetiModes, BlocksOfAChainSolveLikeADenseMatrix) {
  LoneFibre f(straight_fibre({.n = 5, .EA = 1e3}));
  f.clamp();
  Random random(7);
  for (int i = LoneFibre::N; i < f.size(); ++i) f.view.y[i] += random.range(-0.02, 0.02);
  const Eigen::MatrixXd K = f.stiffness<Stiffness::gauss_newton>();
  Eigen::VectorXd b(f.size());
  for (double& x : b) x = random.range(-1, 1);
  using C = deti::Complex<double>;
  std::vector<double> diagonal(2 * 144 * 6), above(2 * 144 * 6), x(2 * 72);
  const std::complex<double> shift(3, 7);
  deti::BlockChain<C> chain(6, diagonal.data(), above.data());
  chain.factor([&](Index k, deti::Block<C>& S, deti::Block<C>& U) {
    for (int r = 0; r < 12; ++r)
      for (int c = 0; c < 12; ++c) {
        S.a[r][c] = {K(12 * k + r, 12 * k + c) + (r == c ? shift.real() : 0), r == c ? shift.imag() : 0};
        if (k < 5) U.a[r][c] = {K(12 * k + r, 12 * k + 12 + c), 0};
      }
  });
  for (int i = 0; i < 72; ++i) x[2 * i] = b(i), x[2 * i + 1] = 0;
  chain.solve<1>({x.data()});
  const Eigen::MatrixXcd A = K.cast<std::complex<double>>() + shift * Eigen::MatrixXcd::Identity(72, 72);
  const Eigen::VectorXcd expected = A.partialPivLu().solve(b.cast<std::complex<double>>().eval());
  for (int i = 0; i < 72; ++i) {
    EXPECT_NEAR(x[2 * i], expected(i).real(), 1e-10 * expected.cwiseAbs().maxCoeff()) << i;
    EXPECT_NEAR(x[2 * i + 1], expected(i).imag(), 1e-10 * expected.cwiseAbs().maxCoeff()) << i;
  }
}

/// One step of a fibre compared with the same by the eigenvectors of its stiffness, which are the oracle.
TEST(DetiStep, IsThatOfEachModeByItself) {
  for (const Variant variant : kVariants)
    for (const double alpha0 : {0.0, 40.0}) {
      LoneFibre f(straight_fibre({.n = 6, .EA = 1e4}), variant);
      f.clamp();
      f.gravity(3);
      Random random(8);
      for (int i = LoneFibre::N; i < f.size(); ++i) f.view.y[i] += random.range(-0.005, 0.005);
      f.begin(0.01, 0.8, alpha0);
      for (int i = 0; i < f.size(); ++i) f.view.w[i] = f.view.free[i] * random.range(-1, 1);
      const Eigen::VectorXd w = Eigen::Map<Eigen::VectorXd>(f.view.w, f.size());
      f.step();
      const Eigen::VectorXd next = Eigen::Map<Eigen::VectorXd>(f.view.w, f.size());
      f.springs().forces();
      const Eigen::VectorXd force = Eigen::Map<Eigen::VectorXd>(f.view.force, f.size());
      const int n = f.size() - LoneFibre::N;
      const Eigen::VectorXd root = f.free_masses().cwiseSqrt();
      const Eigen::MatrixXd A = root.cwiseInverse().asDiagonal() * f.free_part(f.stiffness<Stiffness::gauss_newton>()) *
                                root.cwiseInverse().asDiagonal();
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(A);
      Eigen::VectorXd a = modes.eigenvectors().transpose() * root.asDiagonal() * w.tail(n);
      const Eigen::VectorXd b = modes.eigenvectors().transpose() * root.cwiseInverse().asDiagonal() * force.tail(n);
      for (int i = 0; i < n; ++i) {
        const deti::ModeStep s = deti::saturated_mode(variant, 0.8, std::max(modes.eigenvalues()(i), 0.0), 0.01, alpha0, 0);
        a(i) = s.E * a(i) + s.Psi / 0.01 * b(i);
      }
      const Eigen::VectorXd expected = root.cwiseInverse().asDiagonal() * modes.eigenvectors() * a;
      EXPECT_LE((next.tail(n) - expected).cwiseAbs().maxCoeff(), 1e-9 * expected.cwiseAbs().maxCoeff());
    }
}

TEST(DetiStep, ByLanczosIsThatOfEachModeByItselfToItsToleranceWithDampingByStiffness) {
  int last = 0;
  for (const double tolerance : {1e-2, 1e-5, 1e-10}) {
    LoneFibre f(straight_fibre({.n = 6, .EA = 1e4}));
    f.clamp();
    f.gravity(3);
    Random random(8);
    for (int i = LoneFibre::N; i < f.size(); ++i) f.view.y[i] += random.range(-0.005, 0.005);
    f.begin(0.002, 0.8);
    for (int i = 0; i < f.size(); ++i) f.view.w[i] = f.view.free[i] * random.range(-1, 1);
    const Eigen::VectorXd w = Eigen::Map<Eigen::VectorXd>(f.view.w, f.size());
    const double h = 0.002, tau = 3e-4;
    deti::KrylovFilter filter(f.view, f.rule, tolerance, tau);
    deti::StepRule rule = f.rule;
    rule.rho = 0;
    deti::FibreStep<double>(f.view).step_with(rule, [&](bool damps) { filter(damps); });
    const Eigen::VectorXd next = Eigen::Map<Eigen::VectorXd>(f.view.w, f.size());
    f.springs().forces();
    const Eigen::VectorXd force = Eigen::Map<Eigen::VectorXd>(f.view.force, f.size());
    const int n = f.size() - LoneFibre::N;
    const Eigen::VectorXd root = f.free_masses().cwiseSqrt();
    const Eigen::MatrixXd A =
        root.cwiseInverse().asDiagonal() * f.free_part(f.stiffness<Stiffness::gauss_newton>()) * root.cwiseInverse().asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(A);
    Eigen::VectorXd a = modes.eigenvectors().transpose() * root.asDiagonal() * w.tail(n);
    const Eigen::VectorXd b = modes.eigenvectors().transpose() * root.cwiseInverse().asDiagonal() * force.tail(n);
    for (int i = 0; i < n; ++i) {
      const deti::ModeStep s = deti::saturated_mode(Variant::double_pole, 0.8, std::max(modes.eigenvalues()(i), 0.0), h, 0, tau);
      a(i) = s.E * a(i) + s.Psi / h * b(i);
    }
    const Eigen::VectorXd expected = root.cwiseInverse().asDiagonal() * modes.eigenvectors() * a;
    EXPECT_LE((next.tail(n) - expected).norm(), 3 * tolerance * expected.norm()) << tolerance;
    EXPECT_GT(filter.dimension(), last);
    EXPECT_LE(filter.dimension(), n);
    last = filter.dimension();
  }
}

TEST(DetiStep, AConstantForceWithoutStiffnessLeadsToTheTerminalVelocity) {
  LoneFibre f(straight_fibre({.n = 3}));
  f.clamp();
  for (int i = 0; i < f.size(); ++i) f.view.free[i] = 1;
  f.gravity(2);
  f.begin(0.05, 0.8, 8);
  for (int i = 0; i < 200; ++i) f.step();
  EXPECT_NEAR(f.view.velocity[2], -2.0 / 8, 1e-12);
}

TEST(DetiStep, StaysInAnEquilibrium) {
  LoneFibre f(straight_fibre({.n = 12}));
  f.clamp();
  // The opposite of the springs' force is a load under which the deformed fibre is at rest.
  for (Index k = 1; k < f.fibre.size(); ++k) f.view.y[LoneFibre::N * k + 2] += 0.01 * k * k;
  f.springs().forces();
  for (int i = 0; i < f.size(); ++i) f.view.load[i] = -f.view.force[i];
  const std::vector<double> y(f.view.y, f.view.y + f.size());
  f.begin(0.01, 0.8);
  for (int i = 0; i < 100; ++i) f.step();
  for (int i = 0; i < f.size(); ++i) EXPECT_NEAR(f.view.y[i], y[static_cast<std::size_t>(i)], 1e-12) << i;
}

TEST(DetiStep, ARodThatMovesWithItsClampIsNotBraked) {
  for (const Variant variant : kVariants) {
    LoneFibre f(straight_fibre({.n = 8, .EA = 1e4}), variant);
    for (auto& c : f.fibre.cuboids) c.tau = c.tau_c = 0.01;
    f.clamp();
    f.begin(0.01, 0.7);
    f.rule.viscous = true;
    for (Index k = 0; k < f.fibre.size(); ++k) f.view.w[LoneFibre::N * k] = 0.5;
    for (int n = 1; n <= 50; ++n) {
      f.view.target[0] = 0.5 * 0.01 * n;
      f.step();
    }
    EXPECT_NEAR(f.tip().x, 1.25, 1e-10);
    EXPECT_NEAR(f.view.velocity[f.size() - LoneFibre::N], 0.5, 1e-9);
  }
}

/// A rod of length 1 and EI = 1 that falls from the horizontal, at t = 1.
Vec3d tip_of_swing(const RodChoice& rod, Variant variant, double rho, double h) {
  LoneFibre f(straight_fibre(rod), variant);
  f.clamp();
  f.gravity(20);
  f.begin(h, rho);
  const int steps = static_cast<int>(std::lround(1 / h));
  for (int i = 0; i < steps; ++i) f.step();
  return f.tip();
}

TEST(DetiSwing, LargeStepsKeepTheAccuracyOfSmallOnesWhateverTheStiffnessOfStretching) {
  struct {
    double EA, h, allowed;
  } const cases[] = {{1e5, 0.02, 1.3e-2}, {1e5, 0.01, 1.2e-3}, {1e5, 0.005, 1.2e-4}, {1e5, 0.0025, 2.5e-5},
                     {1e6, 0.02, 1.4e-2}, {1e6, 0.01, 1.5e-3}, {1e6, 0.005, 2.5e-4}, {1e6, 0.0025, 4.7e-5}};
  for (const double EA : {1e5, 1e6}) {
    const RodChoice rod{.n = 12, .EA = EA};
    const Vec3d exact = tip_of_swing(rod, Variant::complex_pair, 1, EA > 5e5 ? 5e-6 : 2e-5);
    for (const auto& c : cases) {
      if (c.EA != EA) continue;
      EXPECT_LE(norm(tip_of_swing(rod, Variant::complex_pair, 0.7, c.h) - exact), 3 * c.allowed) << EA << " " << c.h;
    }
    // The explicit limit is 2.4e-5 at EA = 1e6: steps of 200 times that, and more.
    EXPECT_LE(norm(tip_of_swing(rod, Variant::double_pole, 0.8, 0.005) - exact), 3 * 3.6e-4) << EA;
    EXPECT_LE(norm(tip_of_swing(rod, Variant::double_pole, 0.8, 0.01) - exact), 3 * 7.1e-4) << EA;
  }
}

/// Hair as a helix of radius and pitch 10 mm, of 24 cuboids.
deti::Fibre helix_of_hair() {
  const double r = 3e-5, R = 0.01, pitch = 0.01, L = 0.25, pi = 3.14159265358979324;
  const double I = pi * r * r * r * r / 4, h = L / 24, a = h / 1.5, per_turn = std::hypot(2 * pi * R, pitch);
  const deti::Scaffold s = deti::scaffold({3.58e9 * I, 1.07e9 * 2 * I, 0}, h, a, 1, true);
  deti::Shape rest;
  std::vector<double> mass;
  for (int k = 0; k <= 24; ++k) {
    const double turn = 2 * pi * k * h / per_turn;
    rest.position.push_back({R * std::cos(turn), R * std::sin(turn), pitch * turn / (2 * pi)});
    const Vec3d d3 = normalized(Vec3d{-R * std::sin(turn), R * std::cos(turn), pitch / (2 * pi)}),
                d1{-std::cos(turn), -std::sin(turn), 0};
    rest.frame.push_back(quat_from_frame(d1, cross(d3, d1), d3));
    mass.push_back(3.13e-6 * h * (k == 0 || k == 24 ? 0.5 : 1));
  }
  deti::Fibre f = deti::make_fibre(rest, std::vector<deti::CuboidStiffness>(24, s.k), mass, a, false);
  return f;
}

TEST(DetiSwing, AHelixOfHairBouncesAsInThePrototype) {
  const std::pair<double, double> heights[] = {{.1, .07919}, {.2, .11751}, {.5, .09106}, {1, .09228}};
  for (const auto& [variant, rho, allowed] : {std::tuple{Variant::complex_pair, 0.7, 2e-5}, {Variant::double_pole, 0.8, 6e-5}})
    for (const double h : {0.002, 0.004}) {
      LoneFibre f(helix_of_hair(), variant);
      const double R = 0.01, pitch = 0.01, pi = 3.14159265358979324, per_turn = std::hypot(2 * pi * R, pitch);
      for (Index k = 0; k < f.fibre.size(); ++k) {
        const double turn = 2 * pi * k * 0.25 / 24 / per_turn;
        const Vec3d d3 = normalized(Vec3d{-R * std::sin(turn), R * std::cos(turn), pitch / (2 * pi)}),
                    d1{-std::cos(turn), -std::sin(turn), 0};
        deti::put_section({R * std::cos(turn), R * std::sin(turn), pitch * turn / (2 * pi)},
                          quat_from_frame(d1, cross(d3, d1), d3), f.fibre.side, f.view.y + LoneFibre::N * k);
      }
      f.hold(0);
      f.gravity(-9.81);
      f.begin(h, rho, 6);
      int n = 0;
      for (const auto& [t, z] : heights) {
        for (; n < std::lround(t / h); ++n) f.step();
        EXPECT_NEAR(f.tip().z, z, allowed) << h << " " << t;
      }
      for (; n < std::lround(3 / h); ++n) f.step();
      EXPECT_LE(norm(f.tip() - Vec3d{.01068761, .00074314, .09028364}), 1e-5) << h;
    }
}

TEST(DetiSwing, EnergyWithoutDampingStaysBounded) {
  for (const Variant variant : kVariants) {
    struct {
      double h;
      int steps;
      double allowed;
    } const cases[] = {{1e-3, 5000, 3.1e-6}, {2e-3, 5000, 1.2e-5}, {4e-3, 2500, 4.8e-5}};
    for (const auto& c : cases) {
      LoneFibre f(straight_fibre({.n = 8}), variant);
      f.clamp();
      f.gravity(2);
      f.begin(c.h, 1);
      const double start = f.potential(), scale = 0.1 * 2;
      double worst = 0, first_fifth = 0;
      for (int i = 0; i < c.steps; ++i) {
        f.step();
        worst = std::max(worst, std::abs(f.kinetic() + f.potential() - start) / scale);
        if (i == c.steps / 5) first_fifth = worst;
      }
      EXPECT_LE(worst, 3 * c.allowed) << c.h;
      EXPECT_LE(worst, 2 * first_fifth) << "no drift, h = " << c.h;
    }
  }
}

TEST(DetiSwing, DragTakesEnergyAtItsRate) {
  struct {
    double g, alpha0, left[4];
  } const cases[] = {{20, 1, {.833, .601, .367, .137}}, {20, 10, {.518, .068, .0002, 0}},  {20, 100, {.879, .771, .584, .315}},
                     {2, 1, {.905, .597, .410, .158}},  {2, 10, {.734, .377, .083, .004}}, {2, 100, {.935, .877, .772, .599}}};
  for (const auto& c : cases) {
    LoneFibre f(straight_fibre({.n = 12}));
    f.clamp();
    f.gravity(c.g);
    const double h = 0.005, start = f.potential();
    // The energy of the equilibrium is that of the same rod after much drag.
    LoneFibre still(straight_fibre({.n = 12}));
    still.clamp();
    still.gravity(c.g);
    still.begin(0.01, 0.8, 12);
    for (int i = 0; i < 6000; ++i) still.step();
    const double least = still.potential();
    f.begin(h, 0.8, c.alpha0);
    int at = 0;
    for (int i = 1; i <= 400; ++i) {
      f.step();
      if (i != 50 && i != 100 && i != 200 && i != 400) continue;
      EXPECT_NEAR((f.kinetic() + f.potential() - least) / (start - least), c.left[at], 0.01)
          << c.g << " " << c.alpha0 << " " << i * h;
      ++at;
    }
  }
}

}  // namespace
}  // namespace osier::test
