// The recursion on trees of links, with rows that close loops and hold things, against a dense solve of the same problem.
#include "solvers/systems/tree/tree_factor.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "support/random.hpp"

namespace osier::test {
namespace {

using namespace systems;

template <class T>
struct Problem {
  std::vector<Link<T>> links;
  std::vector<RootVertex<T>> roots;
  std::vector<ConstraintRow<T>> rows;
  int n() const { return static_cast<int>(links.size()); }
};
using Problemd = Problem<double>;

Mat3<double> random_positive(Random& random, double size) {
  const Mat3<double> r = rotation_matrix(random.rotation());
  return rotated_diagonal(r, Vec3d{size * random.range(0.1, 1), size * random.range(0.1, 1), size * random.range(0.1, 1)});
}

struct Shape {
  bool chain = false, held = false, free_roots = false, rigid = false;
  int loops = 0;  ///< random ties
  double softest = 1e-3, stiffest = 1e3;
};

void hold(std::vector<ConstraintRow<double>>& rows, int node, const Vec6<double>& direction, double value) {
  ConstraintRow<double> row;
  row.end[0] = {node, -1, direction};
  row.e = -value;
  rows.push_back(row);
}

Vec3d unit(int i) { return {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0}; }

Problemd random_tree(Random& random, int n, const Shape& shape) {
  Problemd p;
  p.links.resize(static_cast<std::size_t>(n));
  p.roots.resize(static_cast<std::size_t>(shape.chain ? 1 : 2));
  for (RootVertex<double>& r : p.roots) {
    r.held = !shape.free_roots;
    r.prescribed = r.held ? 0.1 * random.in_cube() : Vec3d{};
    r.stiffness = random_positive(random, 1);
    r.force = random.in_cube();
  }
  const auto c = [&] { return 1 / random.log_range(shape.softest, shape.stiffest); };
  for (int i = 0; i < n; ++i) {
    Link<double>& l = p.links[static_cast<std::size_t>(i)];
    l.parent = shape.chain ? i - 1 : (i < 2 ? -1 : random.below(i));
    if (l.parent < 0) l.root = i % static_cast<int>(p.roots.size());
    l.arm = random.range(0.5, 1.5) * random.direction();
    l.x_axes = rotation_matrix(random.rotation());
    l.w_axes = rotation_matrix(random.rotation());
    l.x_compliance = shape.rigid ? Vec3d{} : Vec3d{c(), c(), c()};
    l.w_compliance = {c(), c(), c()};
    l.e = {0.1 * random.in_cube(), 0.1 * random.in_cube()};
    if (random.below(3) == 0) {
      l.x_axes = l.w_axes = identity3(1.0);
      l.world_axes = true;
      l.x_compliance.y = l.x_compliance.z = l.x_compliance.x, l.w_compliance.y = l.w_compliance.z = l.w_compliance.x;
    }
    l.load_stiffness.xx = random_positive(random, 1);
    l.load_stiffness.ww = random_positive(random, 0.3);
    l.force = {random.in_cube(), random.in_cube()};
    const double loose = kLoose<double>;
    if (l.parent < 0 && shape.free_roots) l.w_compliance = {loose, loose, loose};
    if (shape.held && random.below(3) == 0) {
      if (random.below(4) == 0) l.w_compliance = {loose, loose, loose};
      if (random.flip())  // a pinned vertex
        for (int k = 0; k < 3; ++k) hold(p.rows, i, {unit(k), {}}, random.range(-0.1, 0.1));
      if (random.flip()) {  // a hinged or a fixed frame
        const Mat3<double> axes = rotation_matrix(random.rotation());
        for (int k = random.flip() ? 1 : 0; k < 3; ++k) hold(p.rows, i, {{}, column(axes, k)}, random.range(-0.1, 0.1));
      }
    }
  }
  // Constraints of positions must not contradict each other: one for a vertex, none for what is held, none that rigid links
  // settle.
  std::vector<std::uint8_t> settled(p.links.size() + p.roots.size(), 0);
  for (const ConstraintRow<double>& row : p.rows) settled[static_cast<std::size_t>(row.end[0].node)] = 1;
  for (int k = 0; k < shape.loops; ++k) {
    const int a = random.below(n), b = random.below(n + static_cast<int>(p.roots.size()));
    if (a == b) continue;
    auto &at_a = settled[static_cast<std::size_t>(a)], &at_b = settled[static_cast<std::size_t>(b)];
    const bool hard = !at_a && !at_b && (!shape.rigid || (shape.chain && b < n && std::abs(a - b) > 3));
    const bool turns = b < n && random.flip();
    const Mat3<double> axes = rotation_matrix(random.rotation());
    if (!turns) at_a = at_b = 1;
    for (int j = 0; j < 3; ++j) {
      ConstraintRow<double> row;
      const Vec3d d = column(axes, j);
      const auto along = [&](double s) { return turns ? Vec6<double>{{}, s * d} : Vec6<double>{s * d, {}}; };
      row.end[0] = {a, -1, along(1)};
      row.end[1] = b < n ? ConstraintRow<double>::End{b, -1, along(-1)} : ConstraintRow<double>::End{-1, b - n, along(-1)};
      row.compliance = hard && !turns ? 0 : c();
      row.e = random.range(-0.1, 0.1);
      p.rows.push_back(row);
    }
  }
  return p;
}

/// (dx, w) of every link, then dx of every root: the saddle point of loads, with a multiplier for every spring and row.
/// Axis a of a link's joint in the turn of its own frame: Q^T a, Q = P^-1.
Vec3d seen_by_joint(const Link<double>& l, int axis) {
  const Vec3d a = column(l.w_axes, axis);
  if (l.world_axes) {
    const Mat3<double> P = identity3(1.0) + skew(moment_turn(l.e.w));
    return transposed_times(inverse3(P), a);
  }
  const Mat3<double> Q = inverse3(moment_matrix(moment_turn(transposed_times(l.w_axes, l.e.w), l.w_compliance)));
  return l.w_axes * Vec3d{Q.m[axis][0], Q.m[axis][1], Q.m[axis][2]};
}

Eigen::VectorXd dense_solution(const Problemd& p, bool strained = true) {
  const int n = p.n(), nr = static_cast<int>(p.roots.size()), size = 6 * n + 3 * nr;
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(size, size);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(size);
  const auto eigen = [](const Mat3<double>& m) {
    Eigen::Matrix3d e;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) e(i, j) = m.m[i][j];
    return e;
  };
  const auto vec = [](const Vec3d& v) { return Eigen::Vector3d(v.x, v.y, v.z); };
  std::vector<Eigen::VectorXd> J;
  std::vector<double> e, c;
  for (int i = 0; i < n; ++i) {
    const Link<double>& l = p.links[static_cast<std::size_t>(i)];
    A.block<3, 3>(6 * i, 6 * i) += eigen(l.load_stiffness.xx);
    A.block<3, 3>(6 * i + 3, 6 * i + 3) += eigen(l.load_stiffness.ww);
    b.segment<3>(6 * i) += vec(l.force.x);
    b.segment<3>(6 * i + 3) += vec(l.force.w);
    for (int j = 0; j < 6; ++j) {
      const double compliance = component(j < 3 ? l.x_compliance : l.w_compliance, j % 3);
      if (compliance >= kLoose<double>) continue;
      const Vec3d a = column(j < 3 ? l.x_axes : l.w_axes, j % 3);
      Eigen::VectorXd row = Eigen::VectorXd::Zero(size);  // strain along a, without its constant a.e
      if (j < 3) {
        row.segment<3>(6 * i) += vec(a);
        row.segment<3>(6 * i + 3) += vec(cross(a, l.arm));  // a.(arm x w) = w.(a x arm)
        row.segment<3>(l.parent >= 0 ? 6 * l.parent : 6 * n + 3 * l.root) -= vec(a);
      } else {
        row.segment<3>(6 * i + 3) += vec(seen_by_joint(l, j % 3));
        if (l.parent >= 0) row.segment<3>(6 * l.parent + 3) -= vec(a);
      }
      J.push_back(row), e.push_back(strained ? dot(a, j < 3 ? l.e.x : l.e.w) : 0), c.push_back(compliance);
    }
  }
  for (int r = 0; r < nr; ++r) {
    const RootVertex<double>& root = p.roots[static_cast<std::size_t>(r)];
    A.block<3, 3>(6 * n + 3 * r, 6 * n + 3 * r) += eigen(root.stiffness);
    b.segment<3>(6 * n + 3 * r) += vec(root.force);
    for (int k = 0; k < 3 && root.held; ++k) {
      J.push_back(Eigen::VectorXd::Unit(size, 6 * n + 3 * r + k));
      e.push_back(-component(root.prescribed, k)), c.push_back(0);
    }
  }
  for (const ConstraintRow<double>& row : p.rows) {
    Eigen::VectorXd j = Eigen::VectorXd::Zero(size);
    for (const auto& end : row.end) {
      if (end.node >= 0)
        j.segment<3>(6 * end.node) += vec(end.direction.x), j.segment<3>(6 * end.node + 3) += vec(end.direction.w);
      else if (end.root >= 0) j.segment<3>(6 * n + 3 * end.root) += vec(end.direction.x);
    }
    J.push_back(j), e.push_back(row.e), c.push_back(row.compliance);
  }
  const int m = static_cast<int>(J.size());
  // In long double, so that a difference is not the reference's.
  using Number = long double;
  Eigen::Matrix<Number, -1, -1> K = Eigen::Matrix<Number, -1, -1>::Zero(size + m, size + m);
  Eigen::Matrix<Number, -1, 1> rhs(size + m);
  K.topLeftCorner(size, size) = A.cast<Number>();
  rhs.head(size) = b.cast<Number>();
  for (int i = 0; i < m; ++i) {
    K.col(size + i).head(size) = J[static_cast<std::size_t>(i)].cast<Number>();
    K.row(size + i).head(size) = J[static_cast<std::size_t>(i)].cast<Number>().transpose();
    K(size + i, size + i) = -c[static_cast<std::size_t>(i)];
    rhs[size + i] = -e[static_cast<std::size_t>(i)];
  }
  return K.partialPivLu().solve(rhs).head(size).cast<double>();
}

template <class T>
double largest_error(const TreeFactor<T>& tree, const Eigen::VectorXd& exact) {
  double error = 0;
  const auto n = static_cast<int>(tree.displacement().size());
  const auto compare = [&](const Vec3<T>& v, int at) {
    for (int k = 0; k < 3; ++k) error = std::max(error, std::abs(static_cast<double>(component(v, k)) - exact[at + k]));
  };
  for (int i = 0; i < n; ++i) {
    compare(tree.displacement()[static_cast<std::size_t>(i)].x, 6 * i);
    compare(tree.displacement()[static_cast<std::size_t>(i)].w, 6 * i + 3);
  }
  for (std::size_t r = 0; r < tree.root_displacement().size(); ++r)
    compare(tree.root_displacement()[r], 6 * n + 3 * static_cast<int>(r));
  return error / exact.cwiseAbs().maxCoeff();
}

template <class T>
TreeFactor<T> solved(const Problem<T>& p) {
  TreeFactor<T> tree;
  tree.plan(p.links, static_cast<int>(p.roots.size()), p.rows);
  tree.factor(p.links, p.roots, p.rows);
  tree.solve(nullptr, [](int, const Vec6<T>&, const Vec3<T>&) {});
  return tree;
}

/// The solution, and another one with the same factor.
void expect_exact(Problemd& p, Random& random, const std::string& what, bool vary_rows = true) {
  TreeFactor<double> tree = solved(p);
  ASSERT_LT(largest_error(tree, dense_solution(p)), 1e-10) << what;
  for (Link<double>& l : p.links) l.force = {random.in_cube(), random.in_cube()};
  for (ConstraintRow<double>& r : p.rows)
    if (vary_rows) r.e = random.range(-0.1, 0.1);
  tree.solve(p.links, p.roots, p.rows);
  ASSERT_LT(largest_error(tree, dense_solution(p, false)), 1e-10) << what << ", another right-hand side";
}

TEST(TreeFactor, SolvesWhatADenseSolverSolves) {
  Random random(11);
  for (int trial = 0; trial < 200; ++trial) {
    Problemd p = random_tree(random, 2 + random.below(20),
                             {.chain = trial % 2 == 0, .held = trial % 4 >= 2, .free_roots = trial % 8 >= 4});
    ASSERT_NO_FATAL_FAILURE(expect_exact(p, random, std::to_string(trial)));
  }
}

TEST(TreeFactor, ClosesLoopsExactly) {
  Random random(21);
  for (int trial = 0; trial < 200; ++trial) {
    Problemd p = random_tree(
        random, 4 + random.below(20),
        {.chain = trial % 2 == 0, .held = trial % 4 >= 2, .free_roots = trial % 8 >= 4, .loops = 1 + random.below(6)});
    ASSERT_NO_FATAL_FAILURE(expect_exact(p, random, std::to_string(trial)));
  }
}

/// Compliance 0: inextensible and unshearable segments, with loops, with ends that are pinned or fixed.
TEST(TreeFactor, TakesRigidLinks) {
  Random random(12);
  for (int trial = 0; trial < 100; ++trial) {
    Problemd p = random_tree(random, 6 + random.below(12),
                             {.chain = trial % 2 == 0, .free_roots = trial % 4 >= 2, .rigid = true, .loops = trial % 3});
    if (trial % 5 == 0)
      for (int k = 0; k < 3; ++k) hold(p.rows, p.n() - 1, {unit(k), {}}, 0.01);
    if (trial % 5 == 1)
      for (int k = 0; k < 3; ++k) hold(p.rows, p.n() - 1, {{}, unit(k)}, 0.01);
    const TreeFactor<double> tree = solved(p);
    ASSERT_LT(largest_error(tree, dense_solution(p)), 1e-10) << trial;
    for (std::size_t i = 1; i < p.links.size() && trial % 2 == 0; ++i) {
      const Vec6<double>& z = tree.displacement()[i];
      const Vec3d strain = z.x + cross(p.links[i].arm, z.w) - tree.displacement()[i - 1].x + p.links[i].e.x;
      ASSERT_LT(norm(strain), 1e-12 * (1 + norm(z.x))) << trial;
    }
  }
}

/// A straight rigid bar between two clamps: its last constraint is redundant, and nothing must blow up.
TEST(TreeFactor, SurvivesRedundantConstraints) {
  Random random(13);
  Problemd p = random_tree(random, 5, {.chain = true, .rigid = true});
  for (Link<double>& l : p.links) l.arm = {0.2, 0, 0}, l.x_axes = l.w_axes = identity3(1.0), l.e = {}, l.force.w = {};
  p.roots[0].prescribed = {};
  for (int k = 0; k < 3; ++k) hold(p.rows, 4, {unit(k), {}}, 0);
  const TreeFactor<double> tree = solved(p);
  for (const Vec6<double>& z : tree.displacement()) {
    EXPECT_TRUE(is_finite(z.x) && is_finite(z.w));
    EXPECT_LT(std::abs(z.x.x), 1e-12);  // nothing can move along the bar
  }
}

/// What contact adds: blocks on vertices and between the two ends of a segment, of any rank and however stiff.
TEST(TreeFactor, TakesBlocksBetweenTheEndsOfASegment) {
  Random random(14);
  for (int trial = 0; trial < 100; ++trial) {
    Problemd p = random_tree(random, 3 + random.below(15),
                             {.chain = trial % 2 == 0, .free_roots = trial % 4 >= 2, .loops = trial % 3 == 0 ? 2 : 0});
    const std::size_t others = p.rows.size();
    Problemd dense = p;
    for (int i = 0; i < p.n(); ++i) {
      if (random.flip()) continue;
      Eigen::Matrix<double, 6, 6> H = Eigen::Matrix<double, 6, 6>::Zero();
      for (int contact = 0, last = 1 + random.below(4); contact < last; ++contact) {
        const Vec3d normal = random.direction();
        const double t = random.range(0, 1), k = random.log_range(1e-2, 1e4);
        Eigen::Matrix<double, 6, 1> w;
        w << (1 - t) * normal.x, (1 - t) * normal.y, (1 - t) * normal.z, t * normal.x, t * normal.y, t * normal.z;
        H += k * w * w.transpose();
        ConstraintRow<double> spring;  // the same by hand
        const Link<double>& l = p.links[static_cast<std::size_t>(i)];
        spring.end[0] = {l.parent, l.parent < 0 ? l.root : -1, {(1 - t) * normal, {}}};
        spring.end[1] = {i, -1, {t * normal, {}}};
        spring.compliance = 1 / k;
        dense.rows.push_back(spring);
      }
      const auto block = [&](int r, int c) {
        Mat3<double> m;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) m.m[a][b] = H(r + a, c + b);
        return m;
      };
      const Link<double>& l = p.links[static_cast<std::size_t>(i)];
      add_block_rows(p.rows, {l.parent, l.parent < 0 ? l.root : -1, {}}, {i, -1, {}}, block(0, 0), block(0, 3), block(3, 3));
    }
    ASSERT_LE(p.rows.size() - others, 6 * p.links.size());
    ASSERT_LT(largest_error(solved(p), dense_solution(dense)), 1e-8) << trial;  // of H itself, formed by hand
    ASSERT_NO_FATAL_FAILURE(expect_exact(p, random, std::to_string(trial), false));
  }
}

/// The recursion in float loses a few bits, not the solution, however stiff the links are.
TEST(TreeFactor, IsAccurateInFloat) {
  Random random(15);
  for (int trial = 0; trial < 100; ++trial) {
    const Problemd p = random_tree(
        random, 20, {.chain = trial % 2 == 0, .free_roots = trial % 4 >= 2, .loops = trial % 3, .softest = 1, .stiffest = 1e8});
    const auto vec6 = [](const Vec6<double>& v) { return Vec6<float>{cast<float>(v.x), cast<float>(v.w)}; };
    const auto mat3 = [](const Mat3<double>& m) {
      Mat3<float> r;
      for (int i = 0; i < 9; ++i) r.m[i / 3][i % 3] = static_cast<float>(m.m[i / 3][i % 3]);
      return r;
    };
    Problem<float> f;
    for (const Link<double>& l : p.links) {
      Link<float> g;
      g.parent = l.parent, g.root = l.root, g.world_axes = l.world_axes, g.e = vec6(l.e), g.force = vec6(l.force);
      g.arm = cast<float>(l.arm), g.x_axes = mat3(l.x_axes), g.w_axes = mat3(l.w_axes);
      g.x_compliance = cast<float>(l.x_compliance), g.w_compliance = cast<float>(l.w_compliance);
      g.load_stiffness = {mat3(l.load_stiffness.xx), mat3(l.load_stiffness.xw), mat3(l.load_stiffness.ww)};
      f.links.push_back(g);
    }
    for (const RootVertex<double>& r : p.roots)
      f.roots.push_back({r.held, cast<float>(r.prescribed), mat3(r.stiffness), cast<float>(r.force)});
    for (const ConstraintRow<double>& r : p.rows) {
      ConstraintRow<float> g;
      for (int e = 0; e < 2; ++e) g.end[e] = {r.end[e].node, r.end[e].root, vec6(r.end[e].direction)};
      g.compliance = static_cast<float>(r.compliance), g.e = static_cast<float>(r.e);
      f.rows.push_back(g);
    }
    ASSERT_LT(largest_error(solved(f), dense_solution(p)), 1e-3) << trial;
  }
}

}  // namespace
}  // namespace osier::test
