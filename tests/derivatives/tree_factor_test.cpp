// The O(n) recursion on trees of links against a dense solve of the same quadratic problem.
#include "solvers/direct/tree_factor.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "support/random.hpp"

namespace osier::test {
namespace {

using namespace direct;
using Links = std::vector<Link<double>>;
using Roots = std::vector<RootVertex<double>>;

Mat3<double> random_positive(Random& random, double size) {
  const Mat3<double> r = rotation_matrix(random.rotation());
  return rotated_diagonal(r, Vec3d{size * random.range(0.1, 1), size * random.range(0.1, 1), size * random.range(0.1, 1)});
}

struct Shape {
  bool chain = false, held = false, free_roots = false;
  double softest = 1e-3, stiffest = 1e3;
};

void random_tree(Random& random, int n, const Shape& shape, Links& links, Roots& roots) {
  links.assign(static_cast<std::size_t>(n), {});
  roots.assign(static_cast<std::size_t>(shape.chain ? 1 : 2), {});
  for (RootVertex<double>& r : roots) {
    r.held = !shape.free_roots;
    r.prescribed = r.held ? 0.1 * random.in_cube() : Vec3d{};
    r.stiffness = random_positive(random, 1);
    r.force = random.in_cube();
  }
  for (int i = 0; i < n; ++i) {
    Link<double>& l = links[static_cast<std::size_t>(i)];
    l.parent = shape.chain ? i - 1 : (i < 2 ? -1 : random.below(i));
    if (l.parent < 0) l.root = i % static_cast<int>(roots.size());
    l.arm = random.range(0.5, 1.5) * random.direction();
    l.x_axes = rotation_matrix(random.rotation());
    l.w_axes = rotation_matrix(random.rotation());
    const auto c = [&] { return 1 / random.log_range(shape.softest, shape.stiffest); };
    l.x_compliance = {c(), c(), c()};
    l.w_compliance = {c(), c(), c()};
    l.e = {0.1 * random.in_cube(), 0.1 * random.in_cube()};
    l.load_stiffness.xx = random_positive(random, 1);
    l.load_stiffness.ww = random_positive(random, 0.3);
    l.force = {random.in_cube(), random.in_cube()};
    l.w_linked = !(l.parent < 0 && shape.free_roots);
    if (shape.held && random.below(3) == 0) {
      l.vertex_held = random.flip();
      l.frame_freedom = random.flip() ? 3 : random.flip() ? 1 : 0;
      l.hinge = random.direction();
      if (l.vertex_held) l.prescribed.x = 0.1 * random.in_cube();
      if (l.frame_freedom == 0) l.prescribed.w = 0.1 * random.in_cube();
      if (random.below(4) == 0) l.w_linked = false;
    }
  }
}

/// (dx, w) of every link, then dx of every root, by a dense solve over what is free.
Eigen::VectorXd dense_solution(const Links& links, const Roots& roots) {
  const int n = static_cast<int>(links.size()), nr = static_cast<int>(roots.size()), size = 6 * n + 3 * nr;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size), B = Eigen::MatrixXd::Identity(size, size);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(size), z0 = Eigen::VectorXd::Zero(size);
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(size), 1);
  const auto eigen = [](const Mat3<double>& m) {
    Eigen::Matrix3d e;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) e(i, j) = m.m[i][j];
    return e;
  };
  const auto vec = [](const Vec3d& v) { return Eigen::Vector3d(v.x, v.y, v.z); };
  for (int i = 0; i < n; ++i) {
    const Link<double>& l = links[static_cast<std::size_t>(i)];
    A.block<3, 3>(6 * i, 6 * i) += eigen(l.load_stiffness.xx);
    A.block<3, 3>(6 * i + 3, 6 * i + 3) += eigen(l.load_stiffness.ww);
    b.segment<3>(6 * i) += vec(l.force.x);
    b.segment<3>(6 * i + 3) += vec(l.force.w);
    const int parent_x = l.parent >= 0 ? 6 * l.parent : 6 * n + 3 * l.root;
    for (int j = 0; j < 6; ++j) {
      if (j >= 3 && !l.w_linked) continue;
      const Vec3d a = column(j < 3 ? l.x_axes : l.w_axes, j % 3);
      const Vec3d cs = j < 3 ? l.x_compliance : l.w_compliance;
      const double k = 1 / (j % 3 == 0 ? cs.x : j % 3 == 1 ? cs.y : cs.z);
      Eigen::VectorXd row = Eigen::VectorXd::Zero(size);  // strain along a, without its constant a.e
      if (j < 3) {
        row.segment<3>(6 * i) += vec(a);
        row.segment<3>(6 * i + 3) += vec(cross(a, l.arm));  // a.(arm x w) = w.(a x arm)
        row.segment<3>(parent_x) -= vec(a);
      } else {
        row.segment<3>(6 * i + 3) += vec(a);
        if (l.parent >= 0) row.segment<3>(6 * l.parent + 3) -= vec(a);
      }
      const double constant = dot(a, j < 3 ? l.e.x : l.e.w);
      A += k * row * row.transpose();
      b -= k * constant * row;
    }
    if (l.vertex_held)
      for (int k = 0; k < 3; ++k) keep[static_cast<std::size_t>(6 * i + k)] = 0;
    if (l.vertex_held) z0.segment<3>(6 * i) = vec(l.prescribed.x);
    if (l.frame_freedom < 3) {
      for (int k = 0; k < 3; ++k) keep[static_cast<std::size_t>(6 * i + 3 + k)] = 0;
      z0.segment<3>(6 * i + 3) = vec(l.prescribed.w);
      if (l.frame_freedom == 1) {
        keep[static_cast<std::size_t>(6 * i + 3)] = 1;
        B.col(6 * i + 3).setZero();
        B.col(6 * i + 3).segment<3>(6 * i + 3) = vec(l.hinge);
      }
    }
  }
  for (int r = 0; r < nr; ++r) {
    A.block<3, 3>(6 * n + 3 * r, 6 * n + 3 * r) += eigen(roots[static_cast<std::size_t>(r)].stiffness);
    b.segment<3>(6 * n + 3 * r) += vec(roots[static_cast<std::size_t>(r)].force);
    if (!roots[static_cast<std::size_t>(r)].held) continue;
    z0.segment<3>(6 * n + 3 * r) = vec(roots[static_cast<std::size_t>(r)].prescribed);
    for (int k = 0; k < 3; ++k) keep[static_cast<std::size_t>(6 * n + 3 * r + k)] = 0;
  }
  int free = 0;
  Eigen::MatrixXd basis(size, size);
  for (int i = 0; i < size; ++i)
    if (keep[static_cast<std::size_t>(i)]) basis.col(free++) = B.col(i);
  basis.conservativeResize(size, free);
  const Eigen::MatrixXd H = basis.transpose() * A * basis;
  return z0 + basis * H.ldlt().solve(basis.transpose() * (b - A * z0));
}

double largest_error(const TreeFactor<double>& tree, const Eigen::VectorXd& exact, std::size_t n) {
  double error = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec6<double>& z = tree.displacement()[i];
    const double values[] = {z.x.x, z.x.y, z.x.z, z.w.x, z.w.y, z.w.z};
    for (int k = 0; k < 6; ++k) error = std::max(error, std::abs(values[k] - exact[static_cast<int>(6 * i) + k]));
  }
  return error / exact.cwiseAbs().maxCoeff();
}

TEST(TreeFactor, SolvesWhatADenseSolverSolves) {
  Random random(11);
  for (int trial = 0; trial < 200; ++trial) {
    Links links;
    Roots roots;
    const Shape shape{.chain = trial % 2 == 0, .held = trial % 4 >= 2, .free_roots = trial % 8 >= 4};
    random_tree(random, 2 + random.below(20), shape, links, roots);
    TreeFactor<double> tree;
    tree.factor(links, roots);
    tree.solve(links, roots);
    ASSERT_LT(largest_error(tree, dense_solution(links, roots), links.size()), 1e-10) << trial;
    for (Link<double>& l : links) l.force = {random.in_cube(), random.in_cube()}, l.e = {0.1 * random.in_cube(), {}};
    tree.solve(links, roots);  // another right-hand side, the same factor
    ASSERT_LT(largest_error(tree, dense_solution(links, roots), links.size()), 1e-10) << trial;
  }
}

/// Compliance 0 is the limit of stiff springs, without their rounding.
TEST(TreeFactor, TakesRigidLinks) {
  Random random(12);
  for (int trial = 0; trial < 20; ++trial) {
    Links links;
    Roots roots;
    random_tree(random, 12, {.chain = true}, links, roots);
    Links stiff = links;
    for (Link<double>& l : links) l.x_compliance = {0, 0, 0};
    for (Link<double>& l : stiff) l.x_compliance = {1e-9, 1e-9, 1e-9};
    TreeFactor<double> tree;
    tree.factor(links, roots);
    tree.solve(links, roots);
    ASSERT_LT(largest_error(tree, dense_solution(stiff, roots), links.size()), 1e-5) << trial;
    for (std::size_t i = 1; i < links.size(); ++i) {
      const Vec6<double>& z = tree.displacement()[i];
      const Vec3d strain = z.x + cross(links[i].arm, z.w) - tree.displacement()[i - 1].x + links[i].e.x;
      ASSERT_LT(norm(strain), 1e-13) << trial;
    }
  }
}

}  // namespace
}  // namespace osier::test
