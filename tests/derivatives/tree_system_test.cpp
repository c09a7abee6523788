// The exact Hessian by the recursion along the rods against the general sparse factor: directions, and the number of those in
// which the energy falls.
#include "solvers/systems/tree/tree_system.hpp"

#include <gtest/gtest.h>

#include "support/problem.hpp"

namespace osier::test {
namespace {

double largest(const std::vector<Vec3d>& v) {
  double size = 0;
  for (const Vec3d& x : v) size = std::max(size, norm(x));
  return size;
}
double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) size = std::max(size, norm(a[i] - b[i]));
  return size;
}

struct Linearised {
  StepProblem p;
  StepPotential potential;
  Subset whole;
  Unknowns z;
  systems::Field g;
};

/// A random graph, bent and strained, with or without mass.
void linearise(Linearised& l, int i, bool statics) {
  l.p = random_problem(5200 + static_cast<std::uint64_t>(i), {.damping = static_cast<Damping>(i % 4),
                                                              .torque = i % 3 == 0,
                                                              .held = i % 2 == 0,
                                                              .broken = i % 5 == 0,
                                                              .strain = i % 7 == 0 ? 0.5 : 0.1});
  Random random(5300 + static_cast<std::uint64_t>(i));
  if (i % 4 >= 2) make_anisotropic(l.p, 5, random);
  l.potential.begin(l.p.model, l.p.control, l.p.state, statics ? 0 : l.p.h);
  l.whole = whole_of(l.p.model);
  l.z.u.assign(l.p.model.vertex_count(), {});
  for (Index v = 0; v < l.p.model.vertex_count(); ++v)
    if (!l.p.control.vertex_fixed[v]) l.z.u[v] = 0.01 * random.in_cube();
  l.z.q = l.p.state.frame_rotation;
  l.potential.gradient(l.z, l.g.x, l.g.w);
}

TEST(TreeSystem, HasTheSignatureAndTheDirectionsOfTheSparseHessian) {
  int indefinite = 0;
  for (int i = 0; i < 60; ++i) {
    Linearised l;
    linearise(l, i, i % 3 != 0);
    systems::TreeSystem tree;
    systems::SparseSystem sparse;
    for (systems::LinearSystem* s : {static_cast<systems::LinearSystem*>(&tree), static_cast<systems::LinearSystem*>(&sparse)}) {
      s->bind(l.p.model, l.p.control, l.whole, l.potential.h());
      s->linearise(l.potential, l.z, {.curvature = systems::Curvature::exact});
    }
    // As it is, and shifted until it is positive: positions as well, since a graph may float.
    for (double size : {0.0, 1e-3, 1.0, 1e3, 1e6}) {
      const systems::Shift shift{.size = size, .force = 1, .positions = true};
      const systems::Signature by_tree = tree.factorise(shift), by_sparse = sparse.factorise(shift);
      if (size == 0 && l.potential.is_static()) continue;  // may have null modes
      EXPECT_EQ(by_tree.negative, by_sparse.negative) << i << ", shift " << size;
      EXPECT_EQ(by_tree.definite, by_sparse.definite) << i << ", shift " << size;
      indefinite += by_sparse.negative > 0 ? 1 : 0;
      systems::Field a, b;
      ASSERT_TRUE(tree.solve(l.g, a) && sparse.solve(l.g, b)) << i;
      EXPECT_LT(farthest(a.x, b.x), 1e-7 * largest(b.x)) << i << ", shift " << size;
      EXPECT_LT(farthest(a.w, b.w), 1e-7 * largest(b.w)) << i << ", shift " << size;
    }
    EXPECT_EQ(tree.sparse_solves(), 0) << i;
  }
  EXPECT_GE(indefinite, 10);
}

/// With couples the Jacobian of the residual is not symmetric.
TEST(TreeSystem, SolvesWithSkewBlocksAsTheSparseFactorDoes) {
  for (int i = 0; i < 30; ++i) {
    Linearised l;
    linearise(l, i, false);
    Random random(5400 + static_cast<std::uint64_t>(i));
    std::vector<Vec3d> turn(l.p.model.segment_count());
    for (int k = 0; k < 3; ++k)
      turn[static_cast<std::size_t>(random.below(static_cast<int>(turn.size())))] = 0.1 * largest(l.g.w) * random.in_cube();
    systems::TreeSystem tree;
    systems::SparseSystem sparse;
    systems::Field a, b;
    for (auto [s, d] : {std::pair<systems::LinearSystem*, systems::Field*>{&tree, &a}, {&sparse, &b}}) {
      s->bind(l.p.model, l.p.control, l.whole, l.potential.h());
      s->linearise(l.potential, l.z, {.curvature = systems::Curvature::exact});
      ASSERT_TRUE(s->solve_skew(l.g, turn, *d)) << i;
    }
    EXPECT_LT(farthest(a.x, b.x), 1e-5 * largest(b.x)) << i;
    EXPECT_LT(farthest(a.w, b.w), 1e-5 * largest(b.w)) << i;
  }
}

}  // namespace
}  // namespace osier::test
