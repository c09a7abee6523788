// The incremental potential of a whole step on random graphs: its gradient and Hessian against differences of its value, and the
// local orientation problem against the value of everything.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "support/differences.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

/// Every unknown of a problem as one list: three per vertex, then three per segment frame (a rotation vector).
class Variations {
 public:
  Variations(const StepProblem& p, const Place& at) : p_(p), at_(at), trial_(at), potential_(p) {
    potential_.set_torque_point(at.q);
  }
  int count() const { return 3 * (p_.model.vertex_count() + p_.model.segment_count()); }
  Index node(int i) const { return i / 3; }
  /// Fixed vertices and frames carry reactions, which the value does not know.
  bool free(int i) const {
    const Index n = node(i), nv = p_.model.vertex_count();
    if (n < nv) return !p_.control.vertex_fixed[n] && p_.model.vertex_alive[n];
    return p_.model.segment_alive[n - nv] && p_.control.frame_control[n - nv] != FrameControl::fixed;
  }
  double value(int i, double s, int j, double t) {
    apply(i, s, j, t);
    return potential_.value(trial_).total();
  }
  const Phi& potential() const { return potential_; }

 private:
  void apply(int i, double s, int j, double t) {
    trial_ = at_;
    const Index nv = p_.model.vertex_count();
    const Vec3d di = s * unit3(i % 3), dj = t * unit3(j % 3);
    if (node(i) == node(j)) {
      turn_or_move(node(i), di + dj, nv);
    } else {
      turn_or_move(node(i), di, nv);
      turn_or_move(node(j), dj, nv);
    }
  }
  void turn_or_move(Index n, const Vec3d& d, Index nv) {
    if (n < nv) trial_.x[n] += d;
    else trial_.q[n - nv] = turned(d, at_.q[n - nv]);
  }
  const StepProblem& p_;
  Place at_, trial_;
  Phi potential_;
};

struct Case {
  std::uint64_t seed;
  Damping damping;
  bool broken;
  double strain;
  double anisotropy = 1;
  bool inertia = false;
};
const Case kCases[] = {{11, Damping::both, false, 0.3}, {12, Damping::both, true, 0.3},   {13, Damping::none, false, 0.3},
                       {14, Damping::both, false, 1.0}, {15, Damping::both, false, 0.01}, {16, Damping::stretch, false, 0.3},
                       {17, Damping::bend, false, 0.3}};
// Stiffness and damping of each axis its own, frames with inertia, a motor.
const Case kGeneralCases[] = {{21, Damping::both, false, 0.3, 3, false},
                              {22, Damping::both, true, 0.3, 10, false},
                              {23, Damping::none, false, 1.0, 10, true},
                              {24, Damping::both, false, 0.3, 1, true},
                              {25, Damping::both, false, 0.01, 3, true}};
std::vector<Case> all_cases() {
  std::vector<Case> all(std::begin(kCases), std::end(kCases));
  all.insert(all.end(), std::begin(kGeneralCases), std::end(kGeneralCases));
  return all;
}

StepProblem problem_of(const Case& c) {
  StepProblem p = random_problem(c.seed, {.damping = c.damping, .broken = c.broken, .strain = c.strain});
  Random random(c.seed + 50);
  if (c.anisotropy > 1) make_anisotropic(p, c.anisotropy, random);
  if (c.inertia) make_inertial(p, random);
  return p;
}

/// A random place where no joint is near a change of its pole: the energy has a kink there, and differences across it mean
/// nothing.
Place smooth_place(const StepProblem& p, double strain, Random& random) {
  for (int tries = 0;; ++tries) {
    const Place at = random_place(p, strain, random);
    double least = 1;
    for (Index j = 0; j < p.model.joint_count(); ++j) {
      const auto [a, b] = p.model.joint_frames[j];
      const Quatd previous = conj(p.state.frame_rotation[a]) * p.state.frame_rotation[b];
      const Quatd K = bend_twist::stiffness4(cast<double>(p.model.joint_stiffness[j]));
      const auto pole = [&](const Quatd& rest) {
        const Quatd weighted_rest = bend_twist::times(K, rest);
        return std::abs(dot(conj(at.q[a]) * at.q[b], weighted_rest)) / norm(weighted_rest);
      };
      least = std::min({least, pole(p.model.joint_rest_rotation[j]), pole(previous)});
    }
    if (least > 0.05) return at;
    if (tries == 10000) throw std::runtime_error("no smooth place found");
  }
}

TEST(StepPotential, GradientMatchesDifferencesOfItsValueOnRandomGraphs) {
  for (const Case& c : all_cases()) {
    const StepProblem p = problem_of(c);
    Random random(c.seed + 100);
    const Place at = smooth_place(p, c.strain, random);
    Variations v(p, at);
    std::vector<Vec3d> gx, gw;
    v.potential().gradient(at, gx, gw);
    double scale_x = 0, scale_w = 0;
    for (const Vec3d& g : gx) scale_x = std::max(scale_x, norm(g));
    for (const Vec3d& g : gw) scale_w = std::max(scale_w, norm(g));
    for (int i = 0; i < v.count(); ++i) {
      if (!v.free(i)) continue;
      const Index n = v.node(i), nv = p.model.vertex_count();
      const double numeric = derivative([&](double t) { return v.value(i, t, i, 0); }, 1e-3);
      const double exact = component(n < nv ? gx[n] : gw[n - nv], i % 3);
      ASSERT_NEAR(numeric, exact, 1e-7 * (n < nv ? scale_x : scale_w)) << "seed " << c.seed << " unknown " << i;
    }
  }
}

Eigen::MatrixXd assembled(const StepProblem& p, const Phi& potential, const Place& at) {
  const Index nodes = p.model.vertex_count() + p.model.frame_count();
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(3 * nodes, 3 * nodes);
  potential.hessian(at, [&](Index row, Index col, const Mat3<double>& block) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) h(3 * row + i, 3 * col + j) += block.m[i][j];
  });
  return h;
}

TEST(StepPotential, HessianMatchesSecondDifferencesOfItsValueOnRandomGraphs) {
  for (const Case& c : all_cases()) {
    const StepProblem p = problem_of(c);
    Random random(c.seed + 200);
    const Place at = smooth_place(p, c.strain, random);
    Variations v(p, at);
    const Eigen::MatrixXd h = assembled(p, v.potential(), at);
    for (int i = 0; i < v.count(); ++i)
      for (int j = 0; j <= i; ++j) {
        if (!v.free(i) || !v.free(j)) continue;
        const double e = 5e-3;
        const double numeric =
            derivative([&](double s) { return derivative([&](double t) { return v.value(i, s, j, t); }, e); }, e);
        // Relative to the diagonal blocks of the two nodes.
        const auto size = [&](int k) { return h.block<3, 3>(3 * (k / 3), 3 * (k / 3)).cwiseAbs().maxCoeff(); };
        ASSERT_NEAR(numeric, h(i, j), 1e-6 * std::max(size(i), size(j))) << "seed " << c.seed << " unknowns " << i << ", " << j;
      }
  }
}

TEST(StepPotential, AssembledHessianIsSymmetric) {
  for (const Case& c : all_cases()) {
    const StepProblem p = problem_of(c);
    Random random(c.seed + 300);
    const Place at = random_place(p, c.strain, random);
    Variations v(p, at);
    const Eigen::MatrixXd h = assembled(p, v.potential(), at);
    EXPECT_LE((h - h.transpose()).cwiseAbs().maxCoeff(), 1e-15 * h.cwiseAbs().maxCoeff()) << "seed " << c.seed;
    EXPECT_GT(h.cwiseAbs().maxCoeff(), 0);
  }
}

/// Statics (h = 0): no inertia, no damping, the loads' work instead.
TEST(StepPotential, StaticGradientMatchesDifferencesAndLeavesDampingOut) {
  StepProblem p = random_problem(16);
  p.h = 0;
  Random random(17);
  const Place at = random_place(p, 0.3, random);
  Variations v(p, at);
  EXPECT_EQ(v.potential().value(at).damping, 0);
  std::vector<Vec3d> gx, gw;
  v.potential().gradient(at, gx, gw);
  double scale = 0;
  for (const Vec3d& g : gx) scale = std::max(scale, norm(g));
  for (int i = 0; i < v.count(); ++i) {
    if (!v.free(i)) continue;
    const Index n = v.node(i), nv = p.model.vertex_count();
    const double numeric = derivative([&](double t) { return v.value(i, t, i, 0); }, 1e-3);
    ASSERT_NEAR(numeric, component(n < nv ? gx[n] : gw[n - nv], i % 3), 1e-7 * scale) << i;
  }
}

/// The fourth claim of the method: with everything else held, Phi is -1/2 q.(v q eta) - b.q + const in one frame, torques and
/// damping included, as long as no joint changes its pole; where one does, the local problem lies above Phi.
TEST(OrientationProblem, IsTheTotalEnergyUpToAConstantWhenOneFrameVaries) {
  int equal = 0, above = 0;
  for (const Case& c : kCases) {
    const StepProblem p = problem_of(c);
    Random random(c.seed + 400);
    const Place at = random_place(p, c.strain, random);
    Phi potential(p);
    potential.set_torque_point(at.q);
    const double before = potential.value_with_linear_torque(at).total();
    for (Index s = 0; s < p.model.segment_count(); ++s) {
      if (!p.model.segment_alive[s]) continue;
      const OrientationProblem<double> o = local_problem(p, at, s);
      const auto local = [&](const Quatd& q) { return -0.5 * dot(q, o.v * q * o.eta) - dot(o.b, q); };
      for (int trial = 0; trial < 50; ++trial) {
        Place moved = at;
        moved.q[s] = trial % 2 ? random.rotation() : turned(random.range(0, 1) * random.direction(), at.q[s]);
        bool same_poles = true;
        for (Index e : p.model.frame_joints.of(s)) {
          const auto [a, b] = p.model.joint_frames[e / 2];
          const auto pole = [&](const Place& here, const Quatd& rest) {
            return bend_twist::pole(bend_twist::deviation(here.q[a], here.q[b], rest).w);
          };
          const Quatd previous = conj(p.state.frame_rotation[a]) * p.state.frame_rotation[b];
          same_poles = same_poles &&
                       pole(at, p.model.joint_rest_rotation[e / 2]) == pole(moved, p.model.joint_rest_rotation[e / 2]) &&
                       (!p.model.joint_tau[e / 2].any() || pole(at, previous) == pole(moved, previous));
        }
        const EnergyTerms after = potential.value_with_linear_torque(moved);
        const double phi = after.total() - before, rounding = 1e-13 * (after.magnitude + o.s + norm(o.b));
        const double model = local(moved.q[s]) - local(at.q[s]);
        ++(same_poles ? equal : above);
        ASSERT_GE(model, phi - rounding) << "seed " << c.seed << " segment " << s;
        if (same_poles) {
          ASSERT_LE(model, phi + rounding) << "seed " << c.seed << " segment " << s;
        }
      }
    }
  }
  EXPECT_GT(equal, 1000);
  EXPECT_GT(above, 100);
}

/// The residual that `tolerance` looks at is built from the couple Im((S q + b) q')/2; it must be minus the gradient.
TEST(OrientationProblem, CoupleIsMinusTheGradientOfThePotential) {
  for (const Case& c : kCases) {
    const StepProblem p = problem_of(c);
    Random random(c.seed + 500);
    const Place at = random_place(p, c.strain, random);
    Phi potential(p);
    std::vector<Vec3d> gx, gw;
    potential.gradient(at, gx, gw);
    for (Index s = 0; s < p.model.segment_count(); ++s) {
      if (!p.model.segment_alive[s]) continue;
      const OrientationProblem<double> o = local_problem(p, at, s);
      const Vec3d couple = 0.5 * imag((o.v * at.q[s] * o.eta + o.b) * conj(at.q[s]));
      ASSERT_LT(norm(couple + gw[s]), 1e-13 * (o.s + norm(o.b))) << "seed " << c.seed << " segment " << s;
    }
  }
}

}  // namespace
}  // namespace osier::test
