// The network of the solver `deti`: forces and stiffness are derivatives of its energy, and it bends, twists, stretches and
// vibrates like the rod.
#include <gtest/gtest.h>

#include "support/deti.hpp"
#include "support/random.hpp"

namespace osier::test {
namespace {

using deti::Stiffness;

deti::Fibre cube(double E, double G) {
  deti::Shape rest;
  for (int k = 0; k < 2; ++k) {
    rest.position.push_back({1.0 * k, 0, 0});
    rest.frame.push_back(along_x());
  }
  return deti::make_fibre(rest, {deti::paper_cuboid(E, G, 1, 1, 1)}, {1, 1}, 1, true);
}

void place_straight(LoneFibre& f, double h) {
  for (Index k = 0; k < f.fibre.size(); ++k)
    deti::put_section({k * h, 0, 0}, along_x(), f.fibre.side, f.view.y + LoneFibre::N * k);
}

/// Unknowns of an affine displacement u(x) of a straight fibre.
template <class F>
Eigen::VectorXd displacement(const LoneFibre& f, double h, const F& u) {
  Eigen::VectorXd d(f.size());
  for (Index k = 0; k < f.fibre.size(); ++k) {
    const auto put = [&](int mode, const Vec3d& v) {
      for (int i = 0; i < 3; ++i) d(LoneFibre::N * k + 3 * mode + i) = i == 0 ? v.x : i == 1 ? v.y : v.z;
    };
    const Vec3d c{k * h, 0, 0};
    const double a = 0.5 * f.fibre.side;
    put(0, u(c));
    put(1, u(c + Vec3d{0, a, 0}) - u(c));
    put(2, u(c + Vec3d{0, 0, a}) - u(c));
    put(3, {});
  }
  return d;
}

TEST(DetiNetwork, ThePrintedCuboidStretchesAndShearsLikeItsMaterialAndNeitherBendsNorTwistsLikeIt) {
  const double E = 2.5, G = 1;
  const deti::CuboidStiffness k = deti::paper_cuboid(E, G, 1, 1, 1);
  EXPECT_NEAR(k.k1, 0.5, 1e-14);
  EXPECT_NEAR(k.kd, 0.75, 1e-14);
  LoneFibre f(cube(E, G));
  place_straight(f, 1);
  const Eigen::MatrixXd K = f.stiffness<Stiffness::gauss_newton>();
  const double nu = E / (2 * G) - 1;
  const auto energy = [&](const auto& u) {
    const Eigen::VectorXd d = displacement(f, 1, u);
    return d.dot(K * d);  // twice the energy of a unit volume
  };
  EXPECT_NEAR(energy([&](const Vec3d& x) { return Vec3d{x.x, -nu * x.y, -nu * x.z}; }) / E, 1, 1e-12);
  EXPECT_NEAR(energy([&](const Vec3d& x) { return Vec3d{x.y, 0, 0}; }) / G, 1, 1e-12);
  EXPECT_NEAR(energy([&](const Vec3d& x) { return Vec3d{0, x.z, 0}; }) / G, 1, 1e-12);
  // Sections that turn against each other by one radian; E a^4/12 is the stiffness of a square section.
  const auto turned = [](const Vec3d& axis) {
    return [axis](const Vec3d& x) { return cross((x.x - 0.5) * axis, Vec3d{0, x.y, x.z}); };
  };
  EXPECT_NEAR(energy(turned({0, 1, 0})) / (E / 12), 2.4, 1e-12);
  EXPECT_NEAR(energy(turned({1, 0, 0})), 0, 1e-12);
  const Eigen::VectorXd modes = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(K).eigenvalues();
  EXPECT_LT(modes(8), 1e-10);
  EXPECT_GT(modes(9), 1e-3);
}

TEST(DetiNetwork, ThePrintedSpringsOfSlenderCuboidsAreNegative) {
  // E/G > (r^2 + 2)^2/(r^2 + 5), r being length over width.
  for (const double r : {1.0, 1.5, 1.8, 2.0, 5.0}) {
    const double limit = (r * r + 2) * (r * r + 2) / (r * r + 5);
    EXPECT_GT(deti::paper_cuboid(1.001 * limit, 1, r, 1, 1).k1, 0) << r;
    EXPECT_LT(deti::paper_cuboid(0.999 * limit, 1, r, 1, 1).k1, 0) << r;
  }
}

TEST(DetiNetwork, ForcesAndStiffnessAreDerivativesOfTheEnergy) {
  LoneFibre f(straight_fibre({.n = 4, .EA = 1e3}));
  place_straight(f, 0.25);
  Random random(5);
  for (int i = 0; i < f.size(); ++i) f.view.y[i] += random.range(-0.02, 0.02);
  const deti::Springs<double> springs = f.springs();
  springs.forces();
  const Eigen::VectorXd force = Eigen::Map<Eigen::VectorXd>(f.view.force, f.size());
  const Eigen::MatrixXd K = f.stiffness<Stiffness::exact>();
  const double e = 1e-6;
  for (int i = 0; i < f.size(); ++i) {
    const double y = f.view.y[i];
    f.view.y[i] = y + e;
    const double more = springs.energy();
    springs.forces();
    const Eigen::VectorXd after = Eigen::Map<Eigen::VectorXd>(f.view.force, f.size());
    f.view.y[i] = y - e;
    const double less = springs.energy();
    springs.forces();
    const Eigen::VectorXd before = Eigen::Map<Eigen::VectorXd>(f.view.force, f.size());
    f.view.y[i] = y;
    EXPECT_NEAR(force(i), -(more - less) / (2 * e), 1e-8 * force.cwiseAbs().maxCoeff()) << i;
    EXPECT_LE((K.col(i) + (after - before) / (2 * e)).cwiseAbs().maxCoeff(), 1e-8 * K.cwiseAbs().maxCoeff()) << i;
  }
}

TEST(DetiNetwork, TheProductWithoutAMatrixIsThatWithTheMatrixAndForgetsRigidTurns) {
  LoneFibre f(straight_fibre({.n = 5, .EA = 1e3}));
  place_straight(f, 0.2);
  Random random(6);
  for (int i = 0; i < f.size(); ++i) f.view.y[i] += random.range(-0.02, 0.02);
  Eigen::VectorXd x(f.size()), out(f.size());
  for (double& v : x) v = random.range(-1, 1);
  const Eigen::MatrixXd K = f.stiffness<Stiffness::gauss_newton>();
  f.springs().product<Stiffness::gauss_newton>(1.0, x.data(), out.data());
  EXPECT_LE((K * x - out).cwiseAbs().maxCoeff(), 1e-12 * K.cwiseAbs().maxCoeff());
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(K).eigenvalues()(0), -1e-10 * K.cwiseAbs().maxCoeff());
  // Any place may turn: omega x p of every particle.
  const Vec3d omega{0.3, -1, 0.7};
  for (int i = 0; i < f.size(); i += 3) {
    const Vec3d v = cross(omega, Vec3d{f.view.y[i], f.view.y[i + 1], f.view.y[i + 2]});
    x(i) = v.x, x(i + 1) = v.y, x(i + 2) = v.z;
  }
  EXPECT_LE((K * x).cwiseAbs().maxCoeff(), 1e-11 * K.cwiseAbs().maxCoeff());
}

TEST(DetiNetwork, TheScaffoldHasTheStiffnessesOfTheRodUnderLinearEndLoads) {
  struct {
    int n;
    double aspect, EA, EI_moment, EI_force;
  } const cases[] = {{20, 1, 1.0113, 1.00076, 1.00149}, {40, 1, 1.0056, 1.00038, 1.00076}, {20, 1.5, 1.0104, 1.0029, 1.0057}};
  for (const auto& c : cases) {
    LoneFibre f(straight_fibre({.n = c.n, .aspect = c.aspect}));
    f.clamp();
    const double h = 1.0 / c.n, a = f.fibre.side;
    const double EA_net = deti::scaffold({1, 0.6, 0}, h, a, 1, true).EA_net;
    const Eigen::MatrixXd K = f.free_part(f.stiffness<Stiffness::gauss_newton>());
    const Eigen::LDLT<Eigen::MatrixXd> factor(K);
    const int tip = static_cast<int>(K.rows()) - LoneFibre::N;
    const auto response = [&](const std::vector<std::pair<int, double>>& load, int at) {
      Eigen::VectorXd f0 = Eigen::VectorXd::Zero(K.rows());
      for (const auto& [i, x] : load) f0(tip + i) = x;
      return factor.solve(f0)(tip + at);
    };
    // a1 lies along y and a2 along z, of length a/2: a couple about z is a force along -x on a1, of 1/(a/2).
    EXPECT_NEAR(1 / response({{0, 1}}, 0) / EA_net, c.EA, 2e-4) << c.n;
    EXPECT_NEAR(1 / (response({{3, 2 / a}}, 3) * 2 / a), c.EI_moment, 2e-4) << c.n;
    EXPECT_NEAR(1 / (3 * response({{2, 1}}, 2)), c.EI_force, 2e-4) << c.n;
    // A couple about x: half of it along z on a1 and half against y on a2.
    const double twist = response({{5, 1 / a}, {7, -1 / a}}, 5) * 2 / a;
    EXPECT_NEAR(1 / (0.6 * twist), 1, 1e-9) << c.n;
  }
  const deti::Scaffold s = deti::scaffold({1, 0.6, 0}, 0.05, 0.05, 1, true);
  EXPECT_NEAR(s.k.k1, 5770, 5);
  EXPECT_NEAR(s.k.kf, 4800, 5);
  EXPECT_NEAR(s.k.kd, 64800, 50);
  EXPECT_NEAR(s.EA_net, 4350, 5);
}

TEST(DetiNetwork, TheSpringBetweenCentresGivesTheRodItsEA) {
  LoneFibre f(straight_fibre({.n = 20, .EA = 1e5}));
  f.clamp();
  const Eigen::MatrixXd K = f.free_part(f.stiffness<Stiffness::gauss_newton>());
  Eigen::VectorXd load = Eigen::VectorXd::Zero(K.rows());
  load(K.rows() - LoneFibre::N) = 1;
  EXPECT_NEAR(1 / Eigen::LDLT<Eigen::MatrixXd>(K).solve(load)(K.rows() - LoneFibre::N) / 1e5, 1,
              2e-3);  // the ends are clamped and free
}

TEST(DetiNetwork, AClampedRodVibratesAtItsFrequencies) {
  struct {
    int n;
    double first, second;
  } const cases[] = {{10, -3.2e-3, -3.0e-2}, {20, 2.5e-4, -6.8e-3}, {40, 5.9e-4, -1.2e-3}};
  for (const auto& c : cases) {
    LoneFibre f(straight_fibre({.n = c.n, .sec = 2}));
    f.clamp();
    const Eigen::VectorXd root = f.free_masses().cwiseSqrt().cwiseInverse();
    const Eigen::MatrixXd A = root.asDiagonal() * f.free_part(f.stiffness<Stiffness::gauss_newton>()) * root.asDiagonal();
    const Eigen::VectorXd w = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A).eigenvalues().cwiseAbs().cwiseSqrt();
    // Each mode is there twice, about y and about z.
    EXPECT_NEAR(w(0) / 3.51602 - 1, c.first, 1e-4) << c.n;
    EXPECT_NEAR(w(1) / 3.51602 - 1, c.first, 1e-4) << c.n;
    double nearest = 1;
    for (const double x : w)
      if (std::abs(x / 22.0345 - 1) < std::abs(nearest)) nearest = x / 22.0345 - 1;
    EXPECT_NEAR(nearest, c.second, 3e-4) << c.n;
    EXPECT_NEAR(w(w.size() - 1) / (26.2 * c.n * c.n), 1, 0.02) << c.n;
  }
}

}  // namespace
}  // namespace osier::test
