// The rows of a tree (tree_factor.hpp) closed by conjugate gradients on their multipliers, for graphs with so many loops that
// columns would be dear: O(n) memory. With A the tree without rows,
//
//   z = A^-1 (f - J' lambda),   J z + e = c lambda        =>   (J A^-1 J' + c) lambda = J A^-1 f + e
//
// One application is one solve along the tree. The matrix is positive semidefinite and consistent whatever the compliances, so
// that rows may be rigid or redundant. What is left of J z + e - c lambda in the inverse of the matrix is the energy that z is
// away from the minimum. The preconditioner has its blocks of rows that tie the same two places, as these feel them while their
// parents stay where they are.
//
// A vertex with copies (a loop is cut there) shares its mass with them, which changes nothing where they are tied together, and
// leaves no part of the tree without inertia: a step spreads over some sqrt(R) segments only, R = (EA/l)/(m/h^2), and the
// number of iterations goes with that. Multipliers are kept from solve to solve, so that what is left is a correction of them.
#pragma once

#include <span>
#include <vector>

#include "solvers/direct/tree.hpp"
#include "solvers/direct/tree_factor.hpp"

namespace osier::direct {

template <class T>
class RowIteration {
 public:
  void plan(const Tree& tree);
  void forget() { std::fill(lambda_.begin(), lambda_.end(), T(0)); }

  /// Where to stop: what is left, over what there was before the first iteration; or gaps [m], turns by their segment's length.
  struct Enough {
    double share = 1e-4, gap = 0;
    int most = 1000;
  };
  /// With the numbers that the factor has been given. rows(begin, end, put) as in TreeFactor::factor_made(), visit() as in
  /// TreeFactor::solve(). `keep`: whether the multipliers are worth keeping. Returns the number of iterations.
  template <class RowsOf, class Visit>
  int solve(TreeFactor<T>& factor, const Tree& tree, const RowsOf& rows, const Executor& executor, const Enough& enough,
            bool keep, const Visit& visit);

  std::size_t bytes() const;
  /// What it will be.
  static std::size_t bytes(const Tree& tree);

 private:
  static bool turns(const TreeRow& row) {
    return row.kind != TreeRow::Kind::hold_vertex && row.kind != TreeRow::Kind::close_segment;
  }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static std::span<const TreeRow> iterated(const Tree& tree) { return std::span(tree.rows).subspan(tree.columns); }
  static std::size_t block_count(const Tree& tree);
  void precondition(const TreeFactor<T>& factor, const Tree& tree, const Executor& executor);
  /// Takes J' x from the forces of the factor.
  void pull(TreeFactor<T>& factor, const Tree& tree, const std::vector<T>& x) const;
  /// J z of row i.
  T gap(const TreeFactor<T>& factor, const TreeRow& row, const Vec3<T>& axis) const;
  Vec3<T> preconditioned(std::size_t block) const;

  std::vector<Vec3<T>> axis_;  ///< per row
  std::vector<T> compliance_;  ///< per row
  std::vector<int> block_;     ///< first rows, and the end
  struct Inverse {
    T m[6];  ///< lower triangle
  };
  std::vector<Inverse> inverse_;              ///< per block
  std::vector<T> lambda_, left_, direction_;  ///< per row
  std::vector<Vec6<T>> force_;                ///< per node
  std::vector<Vec3<T>> root_force_;
  std::vector<T> offset_;  ///< per row that is a column
};

template <class T>
std::size_t RowIteration<T>::block_count(const Tree& tree) {
  const std::span<const TreeRow> rows = iterated(tree);
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const TreeRow& r) { return r.begins(); }));
}

template <class T>
void RowIteration<T>::plan(const Tree& tree) {
  const std::span<const TreeRow> rows = iterated(tree);
  const std::size_t n = rows.size();
  offset_.resize(tree.columns);
  axis_.resize(n), compliance_.resize(n);
  lambda_.assign(n, T(0)), left_.resize(n), direction_.resize(n);
  block_.clear();
  block_.reserve(block_count(tree) + 1);
  for (std::size_t i = 0; i < n; ++i)
    if (rows[i].begins()) block_.push_back(static_cast<int>(i));
  inverse_.resize(block_.size());
  block_.push_back(static_cast<int>(n));
  force_.resize(tree.nodes.size()), root_force_.resize(tree.roots.size());
}

/// Inverse of a positive semidefinite matrix of n rows, lower triangles; what has next to no pivot gets nothing.
template <class T>
void invert_block(const T (&a)[3][3], int n, T (&out)[6]) {
  double L[3][3] = {}, d[3] = {}, inverse[3][3] = {};
  for (int i = 0; i < n; ++i) {
    double pivot = static_cast<double>(a[i][i]);
    for (int j = 0; j < i; ++j) {
      double x = static_cast<double>(a[i][j]);
      for (int k = 0; k < j; ++k) x -= L[i][k] * L[j][k] * d[k];
      L[i][j] = d[j] > 0 ? x / d[j] : 0;
      pivot -= L[i][j] * L[i][j] * d[j];
    }
    L[i][i] = 1;
    d[i] = pivot > 16 * static_cast<double>(std::numeric_limits<T>::epsilon() * a[i][i]) ? pivot : 0;
  }
  for (int c = 0; c < n; ++c) {
    double y[3] = {};
    for (int i = c; i < n; ++i) {
      y[i] = i == c ? 1 : 0;
      for (int k = c; k < i; ++k) y[i] -= L[i][k] * y[k];
    }
    for (int i = n; i-- > 0;) {
      inverse[i][c] = d[i] > 0 ? y[i] / d[i] : 0;
      for (int k = i + 1; k < n; ++k) inverse[i][c] -= L[k][i] * inverse[k][c];
    }
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j)
      out[packed(static_cast<std::size_t>(i)) + static_cast<std::size_t>(j)] = static_cast<T>(inverse[i][j]);
}

template <class T>
void RowIteration<T>::precondition(const TreeFactor<T>& factor, const Tree& tree, const Executor& executor) {
  const auto nodes = static_cast<Index>(tree.nodes.size());
  executor.for_each(
      inverse_.size(),
      [&](std::size_t b) {
        const int first = block_[b], n = block_[b + 1] - first;
        const TreeRow& row = iterated(tree)[at(first)];
        const bool turn = turns(row);
        T a[3][3] = {};
        for (int j = 0; j < n; ++j) {
          const Vec3<T>& axis = axis_[at(first + j)];
          const Vec6<T> force = turn ? Vec6<T>{{}, axis} : Vec6<T>{axis, {}};
          Vec3<T> moved;
          for (Index place : {row.node, row.other}) {
            if (place < 0 || (place >= nodes && turn)) continue;
            const Vec6<T> z = place < nodes ? factor.alone(place, force) : Vec6<T>{factor.root_alone(place - nodes, axis), {}};
            moved += turn ? z.w : z.x;
          }
          for (int i = j; i < n; ++i) a[i][j] = dot(axis_[at(first + i)], moved);
          a[j][j] += compliance_[at(first + j)];
        }
        invert_block(a, n, inverse_[b].m);
      },
      2);
}

template <class T>
void RowIteration<T>::pull(TreeFactor<T>& factor, const Tree& tree, const std::vector<T>& x) const {
  const auto nodes = static_cast<Index>(tree.nodes.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const TreeRow& row = iterated(tree)[i];
    const Vec3<T> f = x[i] * axis_[i];
    if (turns(row)) {
      factor.force(row.node).w -= f;
      if (row.other >= 0 && row.other < nodes) factor.force(row.other).w += f;
      continue;
    }
    factor.force(row.node).x -= f;
    if (row.other >= nodes) factor.root_force(row.other - nodes) += f;
    else if (row.other >= 0) factor.force(row.other).x += f;
  }
}

template <class T>
T RowIteration<T>::gap(const TreeFactor<T>& factor, const TreeRow& row, const Vec3<T>& axis) const {
  const auto nodes = static_cast<Index>(factor.displacement().size());
  const Vec6<T>& z = factor.displacement()[at(row.node)];
  Vec3<T> d = turns(row) ? z.w : z.x;
  if (row.other >= nodes) {
    if (!turns(row)) d -= factor.root_displacement()[at(row.other - nodes)];
  } else if (row.other >= 0) {
    const Vec6<T>& other = factor.displacement()[at(row.other)];
    d -= turns(row) ? other.w : other.x;
  }
  return dot(axis, d);
}

template <class T>
Vec3<T> RowIteration<T>::preconditioned(std::size_t b) const {
  const T* m = inverse_[b].m;
  const std::size_t first = at(block_[b]), n = at(block_[b + 1]) - first;
  const T x = left_[first], y = n > 1 ? left_[first + 1] : T(0), z = n > 2 ? left_[first + 2] : T(0);
  return {m[0] * x + m[1] * y + m[3] * z, m[1] * x + m[2] * y + m[4] * z, m[3] * x + m[4] * y + m[5] * z};
}

template <class T>
template <class RowsOf, class Visit>
int RowIteration<T>::solve(TreeFactor<T>& factor, const Tree& tree, const RowsOf& rows, const Executor& executor,
                           const Enough& enough, bool keep, const Visit& visit) {
  const std::size_t n = lambda_.size();
  executor.for_each_range(n, [&](std::size_t begin, std::size_t end) {
    rows(tree.columns + begin, tree.columns + end, [&](std::size_t in_tree, const Row<T>& row) {
      const std::size_t i = in_tree - tree.columns;
      axis_[i] = turns(tree.rows[in_tree]) ? row.end[0].direction.w : row.end[0].direction.x;  // at both ends
      compliance_[i] = row.compliance, left_[i] = row.e;
    });
  });
  precondition(factor, tree, executor);
  const std::vector<T> kept = keep ? std::vector<T>{} : lambda_;
  if (!keep) forget();
  for (std::size_t i = 0; i < force_.size(); ++i) force_[i] = factor.force(static_cast<int>(i));
  for (std::size_t r = 0; r < root_force_.size(); ++r) root_force_[r] = factor.root_force(static_cast<int>(r));
  for (std::size_t i = 0; i < offset_.size(); ++i) offset_[i] = factor.offset(static_cast<int>(i));
  const auto put_forces = [&](bool loads) {
    for (std::size_t i = 0; i < force_.size(); ++i) factor.force(static_cast<int>(i)) = loads ? force_[i] : Vec6<T>{};
    for (std::size_t r = 0; r < root_force_.size(); ++r)
      factor.root_force(static_cast<int>(r)) = loads ? root_force_[r] : Vec3<T>{};
    factor.clear_offsets();
    for (std::size_t i = 0; loads && i < offset_.size(); ++i) factor.offset(static_cast<int>(i)) = offset_[i];
  };
  const auto add_up = [&](const auto& f) {  // in double, and in one order
    double sum = 0;
    for (std::size_t b = 0; b < inverse_.size(); ++b) {
      const Vec3<T> s = preconditioned(b);
      for (int i = block_[b], k = 0; i < block_[b + 1]; ++i, ++k) sum += f(at(i), component(s, k));
    }
    return sum;
  };
  const auto number = [](T x) { return static_cast<double>(x); };
  put_forces(true);
  pull(factor, tree, lambda_);
  factor.solve(&executor, visit);
  for (std::size_t i = 0; i < n; ++i)
    left_[i] = gap(factor, iterated(tree)[i], axis_[i]) + left_[i] - compliance_[i] * lambda_[i];
  double size = add_up([&](std::size_t i, T s) { return number(left_[i]) * number(s); });
  const double target = enough.share * enough.share * size;
  int count = 0;
  double before = 0;
  const auto small = [&] {
    for (std::size_t i = 0; i < n; ++i)
      if (!(std::abs(number(left_[i])) * (turns(iterated(tree)[i]) ? number(factor.arm(iterated(tree)[i].node)) : 1) <=
            enough.gap))
        return false;
    return true;
  };
  while (count < enough.most && size > target && std::isfinite(size) && !small()) {
    const T beta = count > 0 ? static_cast<T>(size / before) : T(0);
    add_up([&](std::size_t i, T s) {
      direction_[i] = s + (count > 0 ? beta * direction_[i] : T(0));
      return 0.0;
    });
    put_forces(false);
    pull(factor, tree, direction_);
    factor.solve_forces(&executor);
    // Of the direction, by the matrix: asked for twice, for it costs little beside a solve.
    const auto image = [&](std::size_t i) { return compliance_[i] * direction_[i] - gap(factor, iterated(tree)[i], axis_[i]); };
    double curvature = 0;
    for (std::size_t i = 0; i < n; ++i) curvature += number(direction_[i]) * number(image(i));
    if (!(curvature > 0)) break;
    const T step = static_cast<T>(size / curvature);
    for (std::size_t i = 0; i < n; ++i) {
      left_[i] -= step * image(i);
      lambda_[i] += step * direction_[i];
    }
    before = size;
    size = add_up([&](std::size_t i, T s) { return number(left_[i]) * number(s); });
    ++count;
  }
  if (count > 0) {
    put_forces(true);
    pull(factor, tree, lambda_);
    factor.solve(&executor, visit);
  }
  if (!keep) lambda_ = kept;
  return count;
}

template <class T>
std::size_t RowIteration<T>::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(axis_) + of(compliance_) + of(block_) + of(inverse_) + of(lambda_) + of(left_) + of(direction_) + of(force_) +
         of(root_force_) + of(offset_);
}

template <class T>
std::size_t RowIteration<T>::bytes(const Tree& tree) {
  return iterated(tree).size() * (sizeof(Vec3<T>) + 4 * sizeof(T)) + block_count(tree) * (sizeof(int) + sizeof(Inverse)) +
         tree.nodes.size() * sizeof(Vec6<T>) + tree.roots.size() * sizeof(Vec3<T>) + tree.columns * sizeof(T);
}

}  // namespace osier::direct
