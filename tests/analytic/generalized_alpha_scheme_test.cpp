// The box scheme of the solver `generalized_alpha` on single rods: reference values of statics and vibration, and what it keeps.
// Units: length, bending stiffness and mass per length are 1, so that times are in L^2 sqrt(rhoA/EI).
#include <Eigen/Dense>
#include <complex>
#include <gtest/gtest.h>
#include <numbers>
#include <random>

#include "solvers/generalized_alpha/newton.hpp"
#include "solvers/generalized_alpha/rod.hpp"

namespace osier::generalized_alpha {
namespace {

constexpr double kPi = std::numbers::pi;

struct Made {
  Vec3d k0;
  double twist = 1;       ///< GJ
  double compliance = 0;  ///< 1/S, of all axes
  double inertia = 1e-6;  ///< rho I1 = rho I2, half of that about the axis
  double tau = 0;         ///< of bending and twist
  double length = 1;
};

RodModel make_rod(std::size_t cells, const Made& made) {
  RodModel m;
  const double h = made.length / static_cast<double>(cells);
  const Vec3d K{1, 1, made.twist};
  for (std::size_t c = 0; c < cells; ++c) {
    Cell<double> cell{.h = h, .rhoI = {made.inertia, made.inertia, 2 * made.inertia}, .k0 = made.k0};
    cell.compliance = {made.compliance, made.compliance, made.compliance};
    m.cells.push_back(cell);
    m.offset.emplace_back();
  }
  m.stiffness.assign(cells + 1, diagonal(K));
  m.viscosity.assign(cells + 1, diagonal(made.tau * K));
  m.lumped.assign(cells + 1, {});
  m.find_units();
  m.soften();
  return m;
}

/// d3 = x, d1 = y, d2 = z.
const Quatd kAlongX = quat_from_frame(Vec3d{0, 1, 0}, Vec3d{0, 0, 1}, Vec3d{1, 0, 0});
/// d3 = -z
const Quatd kDown = quat_from_frame(Vec3d{1, 0, 0}, Vec3d{0, -1, 0}, Vec3d{0, 0, -1});

RodState at_rest(const RodModel& m, const Quatd& base) {
  RodState s;
  s.resize(m.cell_count());
  s.frame[0] = base;
  sweep_frames(m, s, false);
  return s;
}

/// A clamp at the first station and nothing at the last, under a weight per length.
RodControl clamped(const RodModel& m, const RodState& s, const Vec3d& weight) {
  RodControl c;
  c.resize(m.cell_count());
  for (std::size_t i = 0; i < m.cell_count(); ++i) {
    const Vec3d half = (0.5 * m.cells[i].rhoA) * weight;
    c.start.cells[i].left = c.start.cells[i].right = half;
  }
  c.place_held[0] = c.frame_held[0] = true;
  c.start.ends[0].place = s.place[0], c.start.ends[0].frame = s.frame[0];
  c.end = c.start;
  return c;
}

struct Relaxed {
  RodModel model;
  RodState state;
  Outcome outcome;
};

Relaxed relaxed(std::size_t cells, const Made& made, const Quatd& base, const Vec3d& weight) {
  Relaxed r{make_rod(cells, made), {}, {}};
  r.state = at_rest(r.model, base);
  RodStepper stepper;
  r.outcome = stepper.relax(r.model, clamped(r.model, r.state, weight), 1e-9, 400, {.tolerance = 1e-10}, r.state);
  return r;
}

// Building blocks

Vec3d vec(std::mt19937& random) {
  std::normal_distribution<double> d;
  return {d(random), d(random), d(random)};
}

/// The residual of a cell as a function of the new unknowns of both ends.
struct CellProblem {
  Cell<double> cell;
  StrainLaw<double> law;
  Stage stage;
  Vec3d K[2], C[2], weight[2], weight_before[2];
  Station<double> before[2];
  Rates<double> rate_before[2];
  Quatd frame_before[2];
  double drag[2];

  void stage_of(const Eigen::VectorXd& x, StageEnd<double> y[2], CellForce<double>& f, Slopes<double>& s) const {
    f = {};
    s = {};
    s.value = stage.of_new(), s.rate = stage.rate_of_new();
    for (int e = 0; e < 2; ++e) {
      const auto part = [&](int column) { return Vec3d{x[12 * e + column], x[12 * e + column + 1], x[12 * e + column + 2]}; };
      const Vec3d u = part(kU), w = part(kW), k = part(kK), n = part(kN);
      const auto& [b, r] = std::tie(before[e], rate_before[e]);
      y[e].u_rate = stage.rate(stage.new_rate(u, b.u, r.u), r.u);
      y[e].w_rate = stage.rate(stage.new_rate(w, b.w, r.w), r.w);
      y[e].k_rate = stage.rate(stage.new_rate(k, b.k, r.k), r.k);
      y[e].y = {stage.value(u, b.u), stage.value(w, b.w), stage.value(k, b.k), n};
      y[e].m = times(K[e], y[e].y.k) + times(C[e], y[e].k_rate);
      const Vec3d a = stage.rate_from_stage(y[e].y.w, r.turn), turn = stage.growth(a, r.turn);
      const Quatd R = frame_before[e] * rotation_exp(turn);
      const Vec3d local = stage.value(rotate(conj(R), weight[e]), rotate(conj(frame_before[e]), weight_before[e]));
      f.f += local, f.df += (e == 0 ? -1.0 : 1.0) * local;
      const Mat3<double> slope =
          (stage.of_new() * stage.gain()) * (cross_matrix(rotate(conj(R), weight[e])) * right_jacobian(turn));
      (e == 0 ? s.f_left : s.f_right) = slope;
      (e == 0 ? s.m_left : s.m_right) = diagonal(stage.of_new() * K[e] + stage.rate_of_new() * C[e]);
    }
    f.drag_left = drag[0], f.drag_right = drag[1], f.weighs = lever_share(cell);
  }
  Eigen::VectorXd operator()(const Eigen::VectorXd& x) const {
    StageEnd<double> y[2];
    CellForce<double> f;
    Slopes<double> s;
    stage_of(x, y, f, s);
    const Residual<double> r = residual(cell, law, f, y[0], y[1]);
    Eigen::VectorXd v(12);
    v << r.a.x, r.a.y, r.a.z, r.b.x, r.b.y, r.b.z, r.c.x, r.c.y, r.c.z, r.d.x, r.d.y, r.d.z;
    return v;
  }
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& x) const {
    StageEnd<double> y[2];
    CellForce<double> f;
    Slopes<double> s;
    stage_of(x, y, f, s);
    const Middle<double> middle(cell, law, f, y[0], y[1]);
    double rows[12][32] = {};
    generalized_alpha::jacobian<double, 32>(cell, law, f, middle, s, y[0], y[1], true, rows);
    Eigen::MatrixXd J(12, 24);
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 24; ++j) J(i, j) = rows[i][j];
    return J;
  }
};

TEST(GeneralizedAlphaScheme, JacobianOfACellIsTheDerivativeOfItsResidual) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> positive(0.2, 1.5);
  for (const double rho : {0.5, 0.7, 0.8, 1.0})
    for (const bool extensible : {false, true}) {
      CellProblem p;
      p.stage = {weights_of(rho), 0.3};
      p.cell = {.h = 0.7, .rhoA = 1.3, .rhoI = {0.2, 0.3, 0.5}, .k0 = vec(random), .nu0 = vec(random)};
      if (extensible) p.cell.compliance = {0.3, 0.4, 0.2};
      p.law = {.before = vec(random), .offset = vec(random), .share = {0.6, 0.9, 0.5}, .pace = {2, 3, 1.5}};
      for (int e = 0; e < 2; ++e) {
        p.K[e] = {positive(random), positive(random), positive(random)};
        p.C[e] = {positive(random), positive(random), positive(random)};
        p.weight[e] = vec(random), p.weight_before[e] = vec(random);
        p.before[e] = {vec(random), vec(random), vec(random), vec(random)};
        p.rate_before[e] = {vec(random), vec(random), vec(random), vec(random), {}};
        p.frame_before[e] = rotation_exp(vec(random));
        p.drag[e] = positive(random);
      }
      const Eigen::VectorXd x = Eigen::VectorXd::Random(24);
      const Eigen::MatrixXd J = p.jacobian(x);
      constexpr double kSmall = 1e-5;
      for (int j = 0; j < 24; ++j) {
        Eigen::VectorXd plus = x, minus = x;
        plus[j] += kSmall, minus[j] -= kSmall;
        const Eigen::VectorXd expected = (p(plus) - p(minus)) / (2 * kSmall);
        EXPECT_LT((J.col(j) - expected).norm(), 1e-7 * J.norm()) << "column " << j << ", rho " << rho;
      }
    }
}

TEST(GeneralizedAlphaScheme, EliminationSolvesWhatADenseSolverSolves) {
  constexpr std::size_t kCells = 9;
  constexpr int kSize = 12 * (kCells + 1);
  std::srand(3);
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(kSize, kSize);
  Eigen::VectorXd b = Eigen::VectorXd::Random(kSize), x(kSize);
  A.block(0, 0, 6, 12).setRandom();
  for (std::size_t c = 0; c < kCells; ++c) A.block(6 + 12 * static_cast<int>(c), 12 * static_cast<int>(c), 12, 24).setRandom();
  A.block(kSize - 6, kSize - 12, 6, 12).setRandom();
  // Without pivots from other rows this one fails at once.
  A(0, 0) = 0;
  A.row(20) *= 1e6, b[20] *= 1e6;
  using E = Elimination<double>;
  AlignedArray<double> kept(kCells * E::kKept);
  E elimination(kept.data(), triangulate_by(Simd::off));
  const auto fill = [&](E::Row* rows, int first, int count, int column, int columns) {
    for (int r = 0; r < count; ++r) {
      for (int c = 0; c < columns; ++c) rows[r][c] = A(first + r, column + c);
      rows[r][kRhs] = b[first + r];
    }
  };
  fill(elimination.begin(kCells), 0, 6, 0, 12);
  for (std::size_t c = 0; c < kCells; ++c) {
    fill(elimination.cell(), 6 + 12 * static_cast<int>(c), 12, 12 * static_cast<int>(c), 24);
    ASSERT_TRUE(elimination.eliminate(true));
  }
  fill(elimination.end(), kSize - 6, 6, kSize - 12, 12);
  ASSERT_TRUE(elimination.solve(true, x.data()));
  const Eigen::VectorXd expected = A.fullPivLu().solve(b);
  EXPECT_LT((x - expected).norm(), 1e-9 * expected.norm());
}

TEST(GeneralizedAlphaScheme, EliminationTellsASingularSystem) {
  AlignedArray<double> kept(Elimination<double>::kKept);
  Elimination<double> elimination(kept.data(), triangulate_by(Simd::off));
  elimination.begin(1);
  elimination.cell();
  EXPECT_FALSE(elimination.eliminate(true));
}

/// x' = -5 i x to t = 1, by complex numbers.
double scalar_error(const Weights& w, int steps) {
  using C = std::complex<double>;
  const C k(0, 5);
  const double dt = 1.0 / steps;
  C x = 1, rate = 0;
  for (int i = 0; i < steps; ++i) {
    const Stage s{i == 0 ? kBackwardEuler : w, dt};
    const double al = s.w.alpha, be = s.w.beta, ga = s.w.gamma;
    // (1 - al) ((X - x)/(ga dt) - (1 - ga)/ga rate) + al rate + k ((1 - be) X + be x) = 0
    const C X =
        ((1 - al) / (ga * dt) * x + ((1 - al) * (1 - ga) / ga - al) * rate - k * be * x) / ((1 - al) / (ga * dt) + k * (1 - be));
    rate = s.new_rate(X, x, rate);
    x = X;
  }
  return std::abs(x - std::exp(-k));
}

TEST(GeneralizedAlphaScheme, T1SecondOrderInTimeForAnyRho) {
  for (const double rho : {0.0, 0.5, 0.9}) {
    const double coarse = scalar_error(weights_of(rho), 320), fine = scalar_error(weights_of(rho), 640);
    EXPECT_GT(std::log2(coarse / fine), 1.95) << rho;
  }
  EXPECT_NEAR(scalar_error(weights_of(0.5), 640), 4.69e-5, 0.05e-5);
  EXPECT_NEAR(scalar_error(weights_of(0.5), 40), 1.22e-2, 0.02e-2);
  // The slides' weights are of first order.
  for (const Weights& w : {Weights{.4, 0, 1}, Weights{.3, 0, .7}})
    EXPECT_NEAR(std::log2(scalar_error(w, 320) / scalar_error(w, 640)), 1, 0.1);
}

TEST(GeneralizedAlphaScheme, T2TheSlidesWeightsAreBackwardEuler) {
  const RodModel m = make_rod(50, {.k0 = {6, 0, 3}, .twist = 0.7});
  RodState a = at_rest(m, kAlongX), b = a;
  const RodControl c = clamped(m, a, {0, 0, -50});
  RodStepper stepper;
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(stepper.step(m, c, {.3, 0, .7}, 0.01, {.tolerance = 1e-11}, a).converged);
    ASSERT_TRUE(stepper.step(m, c, kBackwardEuler, 0.01, {.tolerance = 1e-11}, b).converged);
  }
  EXPECT_LT(norm(a.place.back() - b.place.back()), 1e-10);
}

// Statics

struct StaticCase {
  const char* name;
  Made made;
  double g;
  Vec3d tip;
  double error[4];  ///< of the box scheme without corrections, at 25, 50, 100 and 200 cells
};

TEST(GeneralizedAlphaScheme, T4ToT6TipsInEquilibriumAreOfSecondOrder) {
  const StaticCase cases[] = {
      {"T4", {.k0 = {}, .twist = 0.8}, 20, {.445232052, 0, -.829881443}, {5.37e-4, 1.35e-4, 3.38e-5, 8.4e-6}},
      {"T5", {.k0 = {6, 0, 3}, .twist = 0.6}, 20, {.25475048, .26834113, -.55041136}, {1.51e-2, 3.76e-3, 9.4e-4, 2.35e-4}},
      {"T6", {.k0 = {6, 0, 3}, .twist = 0.6}, 100, {.22132148, .06936373, -.80425142}, {3.58e-3, 8.96e-4, 2.24e-4, 5.6e-5}}};
  for (const StaticCase& c : cases) {
    double error[4];
    std::size_t cells = 25;
    for (int i = 0; i < 4; ++i, cells *= 2) {
      const Relaxed r = relaxed(cells, c.made, kAlongX, {0, 0, -c.g});
      ASSERT_TRUE(r.outcome.converged) << c.name << " " << cells;
      EXPECT_LE(r.outcome.iterations, 150);
      error[i] = norm(r.state.place.back() - c.tip);
      EXPECT_LE(error[i], 0.8 * c.error[i]) << c.name << " " << cells;
    }
    EXPECT_NEAR(std::log2(error[2] / error[3]), 2, 0.05) << c.name;
  }
}

TEST(GeneralizedAlphaScheme, T4MomentAtTheClamp) {
  const Relaxed r = relaxed(200, {.k0 = {}, .twist = 0.8}, kAlongX, {0, 0, -20});
  EXPECT_NEAR(r.outcome.couple[0].y, -5.7615326, 1e-3);
  EXPECT_NEAR(r.state.x[0].k.x, 5.7615326, 1e-3);
  EXPECT_NEAR(r.outcome.force[0].z, 20, 1e-3);
  EXPECT_NEAR(r.state.x[0].n.y, -20, 1e-3);
}

/// The reference hair: L = 25 cm, 60 micrometres, keratin, in SI units.
RodModel hair(std::size_t cells, const Vec3d& k0) {
  constexpr double kEI = 2.2775e-9, kGJ = 1.3614e-9, kLine = 3.13e-6, kInertia = 7.04e-16;
  RodModel m = make_rod(cells, {.k0 = k0, .length = 0.25});
  for (auto& c : m.cells) c.rhoA = kLine, c.rhoI = {kInertia, kInertia, 2 * kInertia};
  m.stiffness.assign(cells + 1, diagonal(Vec3d{kEI, kEI, kGJ}));
  m.find_units();
  m.soften();
  return m;
}

struct Hair {
  Vec3d tip;
  double kinetic;
};
/// Five backward Euler steps of 1/30 s after relaxing: it must stay where it is.
Hair hanging_hair(std::size_t cells, const Vec3d& k0) {
  const RodModel m = hair(cells, k0);
  RodState s = at_rest(m, axis_angle(Vec3d{0, 0, 1}, kPi / 2) * rotation_between(normalized(k0), Vec3d{0, 0, -1}));
  RodStepper stepper;
  const RodControl c = clamped(m, s, {0, 0, -9.81});
  const Outcome o = stepper.relax(m, c, 1e-10, 2000, {}, s);
  EXPECT_TRUE(o.converged) << cells;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(stepper.step(m, c, kBackwardEuler, 1.0 / 30, {}, s).converged);
  double kinetic = 0;
  for (std::size_t i = 0; i < m.cell_count(); ++i)
    kinetic += 0.5 * m.cells[i].h * m.cells[i].rhoA * norm2(0.5 * (s.x[i].u + s.x[i + 1].u));
  return {s.place.back(), kinetic};
}

TEST(GeneralizedAlphaScheme, T7HairHangs) {
  const Vec3d exact{.012323, -.011351, -.192240};
  constexpr double kSpread = 1.1;  // of these references: ten per cent
  EXPECT_LE(norm(hanging_hair(100, {40, 0, 15}).tip - exact), kSpread * 8.2e-5);
  EXPECT_LE(norm(hanging_hair(25, {40, 0, 15}).tip - exact), kSpread * 1.25e-3);
}

TEST(GeneralizedAlphaScheme, T8CurlyHairComesToRestAtAnyResolution) {
  const Vec3d exact{.013904, .008994, -.129547};
  EXPECT_LE(norm(hanging_hair(100, {100, 0, 40}).tip - exact), 1.5e-3);
  EXPECT_LE(norm(hanging_hair(50, {100, 0, 40}).tip - exact), 5.7e-3);
  for (const std::size_t cells : {12u, 25u, 50u, 100u, 200u})
    EXPECT_LT(hanging_hair(cells, {100, 0, 40}).kinetic, 1e-15) << cells;
}

TEST(GeneralizedAlphaScheme, T12HangingBarGrowsByItsWeight) {
  for (const double compliance : {1e-6, 1e-4, 1e-3}) {
    const Relaxed r = relaxed(20, {.k0 = {}, .compliance = compliance}, kDown, {0, 0, -20});
    ASSERT_TRUE(r.outcome.converged);
    EXPECT_NEAR(-r.state.place.back().z - 1, 10 * compliance, 1e-6 * 10 * compliance);
  }
}

TEST(GeneralizedAlphaScheme, T14RotationalInertiaMayVanish) {
  Vec3d tip[2];
  const double inertia[2] = {3.6e-9, 0};
  for (int i = 0; i < 2; ++i) {
    const RodModel m = make_rod(50, {.k0 = {6, 0, 3}, .twist = 0.6, .inertia = inertia[i]});
    RodState s = at_rest(m, kAlongX);
    RodStepper stepper;
    for (int step = 0; step < 50; ++step)
      ASSERT_TRUE(stepper.step(m, clamped(m, s, {0, 0, -20}), weights_of(0.5), 0.01, {}, s).converged);
    tip[i] = s.place.back();
  }
  EXPECT_LT(norm(tip[0] - tip[1]), 2e-5);
}

// Dynamics

TEST(GeneralizedAlphaScheme, T9EnergyIsKeptWithoutDissipation) {
  for (const auto& [cells, lumped] : {std::pair{25u, false}, {100u, false}, {25u, true}})
    for (const double dt : {0.004, 0.001}) {
      RodModel m = make_rod(cells, {.k0 = {30, 0, 2}, .twist = 0.7, .compliance = lumped ? 1e-5 : 0});
      if (lumped) m.lump();
      RodState s = at_rest(m, kAlongX);
      RodControl c = clamped(m, s, {});
      c.any_load = false;
      RodStepper stepper;
      const int pulls = static_cast<int>(std::lround(0.016 / dt)), steps = static_cast<int>(std::lround(1 / dt));
      double released = 0, most = 0;
      for (int i = 0; i < steps; ++i) {
        c.start.ends[1].force = c.end.ends[1].force = {0, 0, i < pulls ? -150.0 : 0.0};
        if (i == pulls) s.history = 0;
        ASSERT_TRUE(stepper.step(m, c, weights_of(1), dt, {.tolerance = 1e-11}, s).converged) << cells << " " << i;
        const double energy = box_energy(m, s);
        if (i == pulls) released = energy;
        if (i > pulls) most = std::max(most, std::abs(energy / released - 1));
      }
      EXPECT_GT(released, 1);
      EXPECT_LT(most, 1e-11) << cells << " cells, dt " << dt;
    }
}

/// Its limit is 15.36. The notes' 13.29 is that of a hundred cells that turn by 2 atan(h k/2).
TEST(GeneralizedAlphaScheme, T9EnergyOfAHundredCellsIsWithinAPerCentOfItsLimit) {
  const RodModel m = make_rod(100, {.k0 = {30, 0, 2}, .twist = 0.7});
  RodState s = at_rest(m, kAlongX);
  RodControl c = clamped(m, s, {});
  c.any_load = false;
  RodStepper stepper;
  for (int i = 0; i < 6; ++i) {
    c.start.ends[1].force = c.end.ends[1].force = {0, 0, i < 4 ? -150.0 : 0.0};
    ASSERT_TRUE(stepper.step(m, c, weights_of(1), 0.004, {.tolerance = 1e-11}, s).converged);
  }
  EXPECT_NEAR(box_energy(m, s), 15.36, 0.01 * 15.36);
}

TEST(GeneralizedAlphaScheme, T10AFreeSpinningRodKeepsItsEnergy) {
  const RodModel m = make_rod(40, {.k0 = {2, 0, 1}, .inertia = 1e-4});
  RodState s = at_rest(m, kAlongX);
  // A turn about an axis across it through its middle, and a drift.
  const Vec3d spin{0.3, 0.5, 1.5};
  Vec3d middle;
  for (const Vec3d& r : s.place) middle += (1.0 / 41) * r;
  for (std::size_t j = 0; j < 41; ++j) {
    s.x[j].w = rotate(conj(s.frame[j]), spin);
    s.x[j].u = rotate(conj(s.frame[j]), Vec3d{0.2, 0, 0} + cross(spin, s.place[j] - middle));
  }
  RodControl c;
  c.resize(40);
  c.any_load = false;
  RodStepper stepper;
  const auto momentum = [&] {
    Vec3d sum;
    for (std::size_t i = 0; i < 40; ++i)
      sum += (0.5 * m.cells[i].h) * (rotate(s.frame[i], s.x[i].u) + rotate(s.frame[i + 1], s.x[i + 1].u));
    return sum;
  };
  const auto angular_momentum = [&] {
    Vec3d sum;
    for (std::size_t i = 0; i < 40; ++i)
      for (const std::size_t j : {i, i + 1}) {
        const Vec3d v = rotate(s.frame[j], s.x[j].u), own = rotate(s.frame[j], times(m.cells[i].rhoI, s.x[j].w));
        sum += (0.5 * m.cells[i].h) * (cross(s.place[j], v) + own);
      }
    return sum;
  };
  const Vec3d P = momentum(), L = angular_momentum();
  ASSERT_TRUE(stepper.step(m, c, weights_of(1), 0.01, {.tolerance = 1e-11}, s).converged);
  const double before = box_energy(m, s);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(stepper.step(m, c, weights_of(1), 0.01, {.tolerance = 1e-11}, s).converged) << i;
  EXPECT_NEAR(box_energy(m, s) / before, 1, 1e-9);
  EXPECT_LT(norm(momentum() - P), 0.1 * norm(P));
  EXPECT_LT(norm(angular_momentum() - L), 0.1 * norm(L));
}

/// Period and damping ratio of the first mode of a cantilever from the zeros and peaks of its tip's deflection.
struct Vibration {
  double frequency, damping;
};
Vibration vibrate(const Weights& weights, double steps_per_period, double tau) {
  constexpr double kRoot = 1.8751040687;
  const double frequency = kRoot * kRoot / (2 * kPi), dt = 1 / frequency / steps_per_period;
  const RodModel m = make_rod(100, {.k0 = {}, .inertia = 1e-8, .tau = tau});
  RodState s = at_rest(m, kAlongX);
  // The first mode, by its curvature: k1 = A phi''.
  const double ratio = (std::cosh(kRoot) + std::cos(kRoot)) / (std::sinh(kRoot) + std::sin(kRoot));
  for (std::size_t j = 0; j <= 100; ++j) {
    const double z = kRoot * static_cast<double>(j) / 100;
    s.x[j].k.x = -1e-4 * kRoot * kRoot / 2 * (std::cosh(z) + std::cos(z) - ratio * (std::sinh(z) + std::sin(z)));
  }
  s.x[100].k = {};
  sweep_frames(m, s, false);
  RodControl c = clamped(m, s, {});
  c.any_load = false;
  RodStepper stepper;
  std::vector<double> y;
  const int steps = static_cast<int>(6 * steps_per_period);
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(stepper.step(m, c, weights, dt, {.tolerance = 1e-12}, s).converged);
    y.push_back(s.place.back().z);
  }
  // x_(i+1) + p x_i + q x_(i-1) = 0 by least squares: the mode's complex ratio.
  double a = 0, b = 0, d = 0, e = 0, f = 0;
  for (std::size_t i = static_cast<std::size_t>(steps_per_period); i + 1 < y.size(); ++i) {
    a += y[i] * y[i], b += y[i] * y[i - 1], d += y[i - 1] * y[i - 1], e -= y[i] * y[i + 1], f -= y[i - 1] * y[i + 1];
  }
  const double p = (e * d - b * f) / (a * d - b * b), q = (a * f - b * e) / (a * d - b * b);
  const std::complex<double> root = 0.5 * (-p + std::sqrt(std::complex<double>(p * p - 4 * q)));
  const std::complex<double> rate = std::log(root) / dt;
  return {std::abs(rate.imag()) / (2 * kPi) / frequency - 1, -rate.real() / std::abs(rate)};
}

TEST(GeneralizedAlphaScheme, T3FirstModeOfACantilever) {
  struct Row {
    Weights w;
    double frequency, damping;
  };
  for (const Row& r :
       {Row{weights_of(.9), -2.03e-3, -1}, Row{weights_of(.5), -2.70e-3, 3.5e-5}, Row{weights_of(0), -7.93e-3, 9.1e-4},
        Row{kBackwardEuler, -8.07e-3, .0776}, Row{{.4, 0, 1}, -2.49e-2, .1363}}) {
    const Vibration v = vibrate(r.w, 40, 0);
    EXPECT_NEAR(v.frequency, r.frequency, 2e-4) << r.w.gamma;
    if (r.damping > 0) {
      EXPECT_NEAR(v.damping, r.damping, 0.03 * r.damping) << r.w.gamma;
    }
  }
}

TEST(GeneralizedAlphaScheme, T11KelvinVoigtDampsByHalfTauOmega) {
  constexpr double kOmega = 3.5160152685;
  for (const double share : {.01, .05}) {
    const Vibration v = vibrate(weights_of(.9), 400, 2 * share / kOmega);
    EXPECT_NEAR(v.damping, share, 0.01 * share);
  }
}

/// The tip of a curved rod under a weight that grows, at t = 1, with steps whose lengths change where asked to.
Vec3d ramped(const Weights& w, int steps, bool uneven) {
  const RodModel m = make_rod(20, {.k0 = {2, 0, 1}, .twist = 0.7});
  RodState s = at_rest(m, kAlongX);
  RodStepper stepper;
  const auto weight = [](double t) { return Vec3d{0, 0, -10 * t * t * (3 - 2 * t)}; };
  double t = 0;
  for (int i = 0; i < steps; ++i) {
    const double dt = (uneven ? (i % 4 < 2 ? 1.5 : 0.5) : 1.0) / steps;
    RodControl c = clamped(m, s, weight(t));
    c.end.cells = clamped(m, s, weight(t + dt)).end.cells;
    EXPECT_TRUE(stepper.step(m, c, w, dt, {.tolerance = 1e-11}, s).converged);
    t += dt;
  }
  return s.place.back();
}

TEST(GeneralizedAlphaScheme, MotionIsOfSecondOrderInTimeAlsoWhereTheStepChanges) {
  for (const double rho : {0.0, 0.5, 0.9})
    for (const bool uneven : {false, true}) {
      const Vec3d exact = ramped(weights_of(rho), 1600, false);
      const double coarse = norm(ramped(weights_of(rho), 100, uneven) - exact),
                   fine = norm(ramped(weights_of(rho), 200, uneven) - exact);
      EXPECT_GT(std::log2(coarse / fine), 1.7) << rho << " " << uneven;
    }
}

// Buckling.

/// Clamped at both ends, which are brought closer by a share of the length; the force over 4 pi^2 EI/L^2.
double compressed(double share) {
  // An inextensible straight rod cannot be compressed at all.
  const RodModel m = make_rod(100, {.k0 = {}, .compliance = 1e-6});
  RodState s = at_rest(m, kAlongX);
  RodStepper stepper;
  Outcome o;
  // A small weight across tells it where to go, and is taken away again.
  for (int i = 0; i <= 11; ++i) {
    RodControl c = clamped(m, s, {0, 0, i <= 10 ? -1.0 : 0.0});
    c.place_held[1] = c.frame_held[1] = true;
    c.end.ends[1].place = {1 - share * std::min(i, 10) / 10, 0, 0}, c.end.ends[1].frame = kAlongX;
    c.start.ends[1] = c.end.ends[1];
    o = stepper.relax(m, c, 1e-8, 2000, {}, s);
    EXPECT_TRUE(o.converged) << i;
  }
  return -o.force[1].x / (4 * kPi * kPi);
}

TEST(GeneralizedAlphaScheme, T13CompressedColumnsBearWhatTheElasticaBears) {
  EXPECT_NEAR(compressed(0.05), 1.02572, 0.005 * 1.02572);
  EXPECT_NEAR(compressed(0.20), 1.11274, 0.005 * 1.11274);
}

/// The largest couple of a straight rod whose last end is turned slowly about its axis from a given angle on, EI = GJ. That end
/// slides along the axis, or is free to go anywhere.
double largest_couple(bool slides, double from) {
  constexpr double kRate = 0.02, kStep = 0.1;
  const RodModel m = make_rod(100, {.k0 = {}});
  RodState s = at_rest(m, kAlongX);
  RodStepper stepper;
  RodControl c = clamped(m, s, {0, 0, -3e-3});
  c.frame_held[1] = true, c.place_held[1] = slides;
  c.guide[1] = Guide::rail, c.guide_axis[1] = {1, 0, 0};
  c.start.ends[1].place = c.end.ends[1].place = {1, 0, 0};
  const auto turned = [&](double angle) { return axis_angle(Vec3d{1, 0, 0}, angle) * kAlongX; };
  // Twisted by hand: where it is straight the twist is the same everywhere.
  for (auto& x : s.x) x.k.z = from;
  sweep_frames(m, s, false);
  double most = 0;
  for (int i = 0; i < 1000; ++i) {
    c.start.ends[1].frame = turned(from + kRate * kStep * i), c.end.ends[1].frame = turned(from + kRate * kStep * (i + 1));
    if (!stepper.step(m, c, weights_of(0.5), kStep, {}, s).converged) break;
    const double couple = std::abs(s.x[100].k.z);
    if (couple < 0.9 * most && most > 3) break;  // it has snapped
    most = std::max(most, couple);
  }
  return most;
}

TEST(GeneralizedAlphaScheme, T13TwistedRodsSnapAtTheirCriticalCouple) {
  EXPECT_NEAR(largest_couple(true, 8.5), 8.9868, 0.01 * 8.9868);
  EXPECT_NEAR(largest_couple(false, 6.0), 2 * kPi, 0.015 * 2 * kPi);
}

// Closed rods.

/// A circle of radius 1 in the plane of x and y with its first station at (1, 0, 0); d1 = -z, so that it is bent about d1.
/// `straight`: at rest, but for a twist against the one that it is given.
struct Ring {
  RodModel model;
  RodState state;
  RodControl control;
};
Ring make_ring(std::size_t cells, double twist_stiffness, bool straight = false, double twist = 0) {
  Ring r;
  const Vec3d bend{1, 0, 0}, turn{0, 0, twist};
  r.model = make_rod(cells, {.k0 = straight ? -1.0 * turn : bend, .twist = twist_stiffness, .length = 2 * kPi});
  r.model.closed = true;
  r.model.lump();
  r.state.resize(cells);
  r.state.frame[0] = quat_from_frame(Vec3d{0, 0, 1}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0});
  r.state.place[0] = {1, 0, 0};
  if (straight)
    for (auto& x : r.state.x) x.k = bend + turn;
  EXPECT_TRUE(close_rod(r.model, r.state));
  r.control.resize(cells);
  r.control.any_load = false;
  return r;
}
double angle_of(const Ring& r, std::size_t j) {
  return 2 * kPi * static_cast<double>(j) / static_cast<double>(r.model.cell_count());
}

/// Frequency of a quantity that swings about nothing, by least squares of x_(i+1) + x_(i-1) = 2 cos(omega dt) x_i.
double frequency_of(const std::vector<double>& y, double dt) {
  double up = 0, down = 0;
  for (std::size_t i = 1; i + 1 < y.size(); ++i) up += y[i] * (y[i + 1] + y[i - 1]), down += 2 * y[i] * y[i];
  return std::acos(up / down) / dt;
}

TEST(GeneralizedAlphaScheme, ARingIsClosed) {
  for (const std::size_t cells : {7u, 24u, 100u}) {
    Ring r = make_ring(cells, 0.8);
    EXPECT_LT(norm(r.state.place[cells] - r.state.place[0]), 1e-12);
    EXPECT_GT(std::abs(dot(r.state.frame[cells], r.state.frame[0])), 1 - 1e-12);
    // Curvatures that would open it: as little as needed of them is taken back.
    for (std::size_t j = 0; j <= cells; ++j) r.state.x[j].k = {0.02 * std::cos(angle_of(r, j)), 0.01, -0.02};
    EXPECT_TRUE(close_rod(r.model, r.state));
    EXPECT_LT(norm(r.state.place[cells] - r.state.place[0]), 1e-12);
    EXPECT_GT(std::abs(dot(r.state.frame[cells], r.state.frame[0])), 1 - 1e-12);
    EXPECT_LT(norm(r.state.x[0].k - r.state.x[cells].k), 1e-15);
  }
}

/// The share by which a ring's n-th mode swings too fast, in its plane or out of it. Inextensible, without rotational inertia:
/// Love 1927, section 293, omega^2 = EI/(rhoA R^4) n^2 (n^2 - 1)^2/(n^2 + 1), out of the plane /(n^2 + EI/GJ).
double frequency_error(std::size_t cells, int n, bool inside) {
  constexpr double kTwist = 0.75, kAmplitude = 1e-4;
  Ring r = make_ring(cells, kTwist);
  for (std::size_t j = 0; j <= cells; ++j) {
    const double phase = n * angle_of(r, j);
    if (inside) r.state.x[j].k.x += kAmplitude * std::cos(phase);
    else r.state.x[j].k += kAmplitude * Vec3d{0, std::cos(phase), -std::sin(phase) / (n * kTwist)};
  }
  EXPECT_TRUE(close_rod(r.model, r.state));
  const double omega = std::sqrt(n * n * (n * n - 1.0) * (n * n - 1.0) / (n * n + (inside ? 1 : 1 / kTwist)));
  const double dt = 2 * kPi / omega / 200;
  RodStepper stepper;
  std::vector<double> swing;
  for (int i = 0; i < 400; ++i) {
    EXPECT_TRUE(stepper.step(r.model, r.control, weights_of(.9), dt, {.tolerance = 1e-12}, r.state).converged);
    double sum = 0;
    for (std::size_t j = 0; j < cells; ++j) {
      const Vec3d& place = r.state.place[j];
      sum += std::cos(n * angle_of(r, j)) * (inside ? std::hypot(place.x, place.y) - 1 : place.z);
    }
    swing.push_back(sum);
  }
  return frequency_of(swing, dt) / omega - 1;
}

TEST(GeneralizedAlphaScheme, ARingVibratesInItsPlaneAndOutOfIt) {
  for (const int n : {2, 3})
    for (const bool inside : {true, false}) {
      const double coarse = frequency_error(48, n, inside), fine = frequency_error(96, n, inside);
      EXPECT_LT(std::abs(fine), 6e-3) << n << (inside ? " in plane" : " out of plane");
      EXPECT_GT(std::log2(std::abs(coarse / fine)), 1.8) << n << (inside ? " in plane" : " out of plane");
    }
}

/// Michell 1889, Zajac 1962: a naturally straight rod that is closed to a ring with a twist of more than 2 pi sqrt(3) EI/GJ
/// leaves its plane.
TEST(GeneralizedAlphaScheme, ATwistedRingLeavesItsPlaneAtMichellsTwist) {
  for (const double stiffness : {1.0, 2.0 / 3})
    for (const double share : {0.98, 1.02}) {
      Ring r = make_ring(96, stiffness, true, share * std::sqrt(3) / stiffness);
      for (std::size_t j = 0; j <= 96; ++j) r.state.x[j].k.y += 1e-5 * std::cos(2 * angle_of(r, j));
      ASSERT_TRUE(close_rod(r.model, r.state));
      const auto aside = [&] {
        double most = 0, least = 0;
        for (const Vec3d& p : r.state.place) most = std::max(most, p.z), least = std::min(least, p.z);
        return most - least;
      };
      const double before = aside();
      RodStepper stepper;
      double most = 0;
      for (int i = 0; i < 400; ++i) {
        ASSERT_TRUE(stepper.step(r.model, r.control, weights_of(.9), 0.1, {}, r.state).converged);
        most = std::max(most, aside());
        if (most > 0.1) break;
      }
      if (share < 1) EXPECT_LT(most, 30 * before) << stiffness;
      else EXPECT_GT(most, 0.1) << stiffness;
    }
}

TEST(GeneralizedAlphaScheme, AFreeRingKeepsItsEnergyAndNearlyItsMomentum) {
  for (const std::size_t cells : {40u, 80u}) {
    Ring r = make_ring(cells, 0.7);
    RodState& s = r.state;
    for (std::size_t j = 0; j <= cells; ++j) {
      const double phase = 2 * angle_of(r, j);
      s.x[j].k += Vec3d{0.2 * std::cos(phase), 0.2 * std::sin(phase), 0};
    }
    ASSERT_TRUE(close_rod(r.model, s));
    const Vec3d spin{0.1, 0.2, 0.6};
    for (std::size_t j = 0; j <= cells; ++j) {
      s.x[j].w = rotate(conj(s.frame[j]), spin);
      s.x[j].u = rotate(conj(s.frame[j]), Vec3d{0.2, 0, 0.1} + cross(spin, s.place[j]));
    }
    const auto momentum = [&] {
      Vec3d sum;
      for (std::size_t i = 0; i < cells; ++i)
        sum += (0.5 * r.model.cells[i].h) * (rotate(s.frame[i], s.x[i].u) + rotate(s.frame[i + 1], s.x[i + 1].u));
      return sum;
    };
    RodStepper stepper;
    ASSERT_TRUE(stepper.step(r.model, r.control, weights_of(1), 0.02, {.tolerance = 1e-11}, s).converged);
    const double before = box_energy(r.model, s);
    const Vec3d P = momentum();
    double most = 0;
    for (int i = 0; i < 500; ++i) {
      ASSERT_TRUE(stepper.step(r.model, r.control, weights_of(1), 0.02, {.tolerance = 1e-11}, s).converged) << i;
      most = std::max(most, std::abs(box_energy(r.model, s) / before - 1));
    }
    // Both of second order in the length of a cell.
    EXPECT_LT(most, cells == 40 ? 1e-5 : 2e-6);
    EXPECT_LT(norm(momentum() - P), (cells == 40 ? 1e-2 : 2.5e-3) * norm(P));
  }
}

}  // namespace
}  // namespace osier::generalized_alpha
