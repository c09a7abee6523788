// Articulated compliance recursion: solves one linear(ised) step of a tree of segments, in compliance form, so that a spring may
// be as stiff as one likes (compliance 0: rigid). O(n) on trees; loops cost what is carried along them.
//
//   minimise over z    sum_n 1/2 z_n.(L_n z_n) - f_n.z_n  +  sum_links 1/2 eps.(C^-1 eps)  +  sum_rows 1/2 r^2/c
//
//   z_n = (dx, w)      displacement of the far vertex and turn of the segment's frame (world axes)
//   L_n, f_n           whatever acts on them alone: mass, drag, tension, contact; loads
//   eps_n = M_n z_n - (z_parent - e_n)      strains against the parent, e_n those of the present state (link_algebra.hpp)
//   r = J_a.z_a + J_b.z_b + e               a row: anything else that ties two places, or holds one; c = 0 is a constraint
//
// Rows close loops, hold vertices and frames, and carry what acts between the two ends of a segment. Each has a multiplier
// lambda, and the energy of a subtree, its own unknowns eliminated, is
//
//   Phi(z, lambda) = 1/2 z.S z - (f + B lambda).z - 1/2 lambda.D lambda - d.lambda
//
// with one column of B for every row that is open: one end inside the subtree, the other outside. A link of compliance c along a
// does to B what it does to f, and D += g (a.B)(a.B)^T, d += g (a.B)(a.f). Where both ends have met, D + c of the closing rows is
// positive definite and goes into S, f and the columns that stay:
//
//   G = (D11 + c)^-1,  lambda1 = -G (B1^T z + d1 + D12 lambda2),
//   S += B1 G B1^T,  f -= B1 G d1,  B2 -= B1 G D12,  D22 -= D21 G D12,  d2 -= D21 G d1
//
// Compliances are added to compliances and stiffnesses to stiffnesses: nothing cancels but the Cholesky step for D22. Where a
// closing row has no compliance at all (a rigid bar that ends at a pin) it is carried further up until it has.
//
// Interface for contact. A symmetric positive semidefinite block on one vertex is added to load_stiffness.xx of its link, or to
// stiffness of its root. A block [[Haa, Hab], [Hab^T, Hbb]] on the near and far vertex of a segment becomes rows by
// add_segment_block() below. Then plan() when the set of rows with their ends has changed, factor() when numbers have, and
// solve() for any number of right-hand sides (f of links and roots, e of links and rows).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exec/parallel.hpp"
#include "solvers/direct/link_algebra.hpp"
#include "solvers/direct/tree_plan.hpp"

namespace osier::direct {

/// Compliance of an axis without stiffness.
template <class T>
constexpr T kLoose = T(1e20);

template <class T>
struct Link : LinkSprings<T> {
  int parent = -1;  ///< node, or -1: the parent is the root vertex `root`, whose frame does not turn
  int root = -1;
  Vec6<T> e;  ///< present strain
  Sym6<T> load_stiffness;
  Vec6<T> force;
  bool is_loose() const {
    const auto loose = [](const Vec3<T>& c) { return c.x >= kLoose<T> || c.y >= kLoose<T> || c.z >= kLoose<T>; };
    return loose(this->w_compliance) || loose(this->x_compliance);
  }
};

template <class T>
struct RootVertex {
  bool held = true;
  Vec3<T> prescribed;
  Mat3<T> stiffness;  ///< mass/h^2 and whatever else acts on the vertex
  Vec3<T> force;
};

/// r = sum over the ends of direction.z, + e. An end is a node, a root vertex (its direction has no w) or, both -1, nothing.
template <class T>
struct Row {
  struct End {
    int node = -1, root = -1;
    Vec6<T> direction;
  };
  End end[2];
  T compliance = 0;
  T e = 0;
};

/// Rows for the quadratic form of a symmetric positive semidefinite H over (dx_a, dx_b), the near and far vertex of the segment
/// of node n: at most six, as many as H has rank. Their number may change with H; plan() anew if it did.
template <class T>
void add_segment_block(std::vector<Row<T>>& rows, const std::vector<Link<T>>& links, int n, const Mat3<T>& Haa,
                       const Mat3<T>& Hab, const Mat3<T>& Hbb);

template <class T>
class TreeFactor {
 public:
  /// Links in an order in which parents come before children. Only parents, roots and the rows' ends matter.
  void plan(const std::vector<Link<T>>& links, int root_count, const std::vector<Row<T>>& rows);
  /// The strains and forces in the links do not matter yet.
  void factor(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots, const std::vector<Row<T>>& rows,
              const Executor* executor = nullptr);
  /// The same with other variables for the nodes (one for each link; kept by reference until the next call), and loads that need
  /// not be positive: the recursion goes through negative pivots, which count_pivots() counts.
  void factor_signed(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots, const std::vector<Row<T>>& rows,
                     const std::vector<Reframe<T>>& reframe);
  struct PivotCount {
    int negative = 0;  ///< of the energy, rows included: its directions of falling energy
    int null = 0;      ///< next to nothing
  };
  PivotCount count_pivots(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots) const;
  /// For the forces and strains that the links, roots and rows carry now.
  void solve(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots, const std::vector<Row<T>>& rows,
             const Executor* executor = nullptr);

  const std::vector<Vec6<T>>& displacement() const { return z_; }  ///< per link
  const std::vector<Vec3<T>>& root_displacement() const { return root_x_; }
  const std::vector<Vec6<T>>& link_force() const { return F_; }  ///< on the link's subtree, from its parent
  const std::vector<T>& multiplier() const { return lambda_; }   ///< per row; the force -lambda J acts at its ends
  const TreePlan& plan() const { return plan_; }
  std::size_t bytes() const;
  /// What it will be for a plan.
  static std::size_t bytes(const TreePlan& plan, std::size_t rows, std::size_t loose_links);

 private:
  struct RootFactor {
    T ldl[9];  ///< of a free root's stiffness
    Mat3<T> S;
    Vec6<T> f;  ///< as a node's, without w
  };
  using Links = std::vector<Link<T>>;
  using Roots = std::vector<RootVertex<T>>;
  using Rows = std::vector<Row<T>>;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  template <class Job>
  void each_group(const Executor* executor, const Job& job) const;
  void rebuild_plan(const Rows& rows);
  void factor_any(const Links& links, const Roots& roots, const Rows& rows, const Executor* executor);
  Vec6<T> reframed(int node, const Vec6<T>& f) const { return reframe_ ? force_in((*reframe_)[at(node)], f) : f; }
  void factor_group(const Links& links, const Roots& roots, const Rows& rows, int g);
  T* gather_compliances(const PlacePlan& place, T* workspace, T* scratch) const;
  void close(int p, const Rows& rows, T* D, Sym6<T>* S);
  void keep_compliances(const PlacePlan& place, const T* D, T* workspace) const;
  void carry_columns(const Link<T>& l, int node, T* D);
  void eliminate_root(const RootVertex<T>& root, int r, T* D);
  static Vec3<T> solve_root(const RootFactor& factor, const Vec3<T>& b);
  void solve_up(const Links& links, const Roots& roots, int g);
  void solve_down(const Links& links, const Roots& roots, int g);
  void close_forces(const PlacePlan& place, Vec6<T>* f);
  void find_multipliers(const PlacePlan& place, const Vec6<T>& z);
  Vec6<T> open_force(const PlacePlan& place) const;
  void loose_shares(int node, T along[6]) const;

  TreePlan plan_;
  std::vector<int> parent_, lift_;
  std::vector<LinkFactor<T>> nodes_;
  std::vector<Vec6<T>> f_, z_, F_;
  std::vector<RootFactor> roots_;
  std::vector<Vec3<T>> root_x_;
  // Per column of a place: B (of closing ones B L^-T), its shares a.B along a link's axes (six rows per place), d; per row:
  // lambda.
  std::vector<Vec6<T>> B_;
  std::vector<T> share_, d_, lambda_;
  std::vector<T> workspace_, closing_factor_, closing_gain_;  ///< D; L and pivots; L^-1 D12
  std::vector<int> loose_;                                    ///< per node, index into loose_share_ or -1
  std::vector<T> loose_share_;                                ///< a.f along the six axes
  const std::vector<Reframe<T>>* reframe_ = nullptr;          ///< of factor_signed
  std::vector<std::uint8_t> too_stiff_;                       ///< rows that have no compliance yet where they should close
};

/// LDL^T of a dense n x n matrix in place: lower triangle, pivots on the diagonal. A pivot that is no more than the share `least`
/// of its own diagonal entry is set to 0 and reported; so is a negative one, unless `either_sign`.
template <class T, class Null>
void factor_ldl(T* a, int n, T least, bool either_sign, const Null& null) {
  const auto row = [&](int i) { return a + static_cast<std::ptrdiff_t>(i) * n; };
  for (int i = 0; i < n; ++i) {
    const T whole = row(i)[i];
    for (int j = 0; j < i; ++j) {  // row i holds L D until it is complete
      T x = row(i)[j];
      for (int k = 0; k < j; ++k) x -= row(i)[k] * row(j)[k];
      row(i)[j] = x;
    }
    T pivot = whole;
    for (int j = 0; j < i; ++j) {
      const T scaled = row(j)[j] != T(0) ? row(i)[j] / row(j)[j] : T(0);
      pivot -= scaled * row(i)[j];
      row(i)[j] = scaled;
    }
    if (!(either_sign ? std::abs(pivot) > least * std::abs(whole) : pivot > least * whole)) pivot = T(0), null(i);
    row(i)[i] = pivot;
  }
}

template <class T>
void add_segment_block(std::vector<Row<T>>& rows, const std::vector<Link<T>>& links, int n, const Mat3<T>& Haa,
                       const Mat3<T>& Hab, const Mat3<T>& Hbb) {
  T h[6][6];
  T largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      h[i][j] = Haa.m[i][j], h[3 + i][3 + j] = Hbb.m[i][j];
      h[i][3 + j] = Hab.m[i][j], h[3 + j][i] = Hab.m[i][j];
    }
  for (int i = 0; i < 6; ++i) largest = std::max(largest, h[i][i]);
  const Link<T>& l = links[static_cast<std::size_t>(n)];
  // Rank-1 pieces by the largest pivot; H = sum v v^T/pivot.
  for (int k = 0; k < 6; ++k) {
    int best = 0;
    for (int i = 1; i < 6; ++i)
      if (h[i][i] > h[best][best]) best = i;
    const T pivot = h[best][best];
    if (!(pivot > T(8) * std::numeric_limits<T>::epsilon() * largest)) return;
    T v[6];
    for (int i = 0; i < 6; ++i) v[i] = h[i][best];
    Row<T> row;
    row.end[0] = {l.parent, l.parent < 0 ? l.root : -1, {{v[0], v[1], v[2]}, {}}};
    row.end[1] = {n, -1, {{v[3], v[4], v[5]}, {}}};
    row.compliance = pivot;
    rows.push_back(row);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) h[i][j] -= v[i] * v[j] / pivot;
  }
}

template <class T>
void TreeFactor<T>::plan(const std::vector<Link<T>>& links, int root_count, const std::vector<Row<T>>& rows) {
  parent_.resize(links.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    parent_[i] = links[i].parent >= 0 ? links[i].parent : static_cast<int>(links.size()) + links[i].root;
  nodes_.resize(links.size()), f_.resize(links.size()), z_.resize(links.size()), F_.resize(links.size());
  loose_.resize(links.size());
  roots_.resize(at(root_count)), root_x_.resize(at(root_count));
  lift_.assign(rows.size(), 0);
  rebuild_plan(rows);
}

template <class T>
void TreeFactor<T>::rebuild_plan(const std::vector<Row<T>>& rows) {
  std::vector<RowEnds> ends(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (int e = 0; e < 2; ++e) {
      const auto& end = rows[i].end[e];
      ends[i].place[e] = end.node >= 0 ? end.node : end.root >= 0 ? static_cast<int>(nodes_.size()) + end.root : -1;
    }
  plan_.build(parent_, static_cast<int>(roots_.size()), ends, lift_);
  const auto columns = at(plan_.column_count());
  B_.resize(columns), d_.resize(columns), share_.resize(6 * columns);
  lambda_.resize(rows.size()), too_stiff_.assign(rows.size(), 0);
  workspace_.resize(plan_.workspace_size);
  closing_factor_.resize(plan_.closing_factor_size), closing_gain_.resize(plan_.closing_gain_size);
}

template <class T>
template <class Job>
void TreeFactor<T>::each_group(const Executor* executor, const Job& job) const {
  const std::size_t groups = plan_.groups.size();
  constexpr std::size_t kFew = 256;
  if (!executor || executor->threads() == 1) {
    for (std::size_t g = 0; g < groups; ++g) job(static_cast<int>(g));
  } else if (groups < kFew) {
    executor->for_each_job(groups, [&](std::size_t g) { job(static_cast<int>(g)); });
  } else {
    executor->for_each(
        groups, [&](std::size_t g) { job(static_cast<int>(g)); }, nodes_.size() / groups + 1);
  }
}

template <class T>
void TreeFactor<T>::factor(const Links& links, const Roots& roots, const Rows& rows, const Executor* executor) {
  reframe_ = nullptr;
  factor_any(links, roots, rows, executor);
}

template <class T>
void TreeFactor<T>::factor_signed(const Links& links, const Roots& roots, const Rows& rows,
                                  const std::vector<Reframe<T>>& reframe) {
  reframe_ = &reframe;
  factor_any(links, roots, rows, nullptr);
}

template <class T>
void TreeFactor<T>::factor_any(const Links& links, const Roots& roots, const Rows& rows, const Executor* executor) {
  int loose = 0;
  for (std::size_t i = 0; i < links.size(); ++i) loose_[i] = links[i].is_loose() ? loose++ : -1;
  loose_share_.resize(6 * at(loose));
  for (;;) {
    std::fill(B_.begin(), B_.end(), Vec6<T>{});
    for (std::size_t i = 0; i < 2 * rows.size(); ++i)
      if (const int column = plan_.end_column[i]; column >= 0) B_[at(column)] = B_[at(column)] - rows[i / 2].end[i % 2].direction;
    each_group(executor, [&](int g) { factor_group(links, roots, rows, g); });
    bool again = false;
    for (std::size_t i = 0; i < too_stiff_.size(); ++i)
      if (too_stiff_[i]) again = true, ++lift_[i];
    if (!again) return;
    rebuild_plan(rows);
  }
}

template <class T>
void TreeFactor<T>::factor_group(const Links& links, const Roots& roots, const Rows& rows, int g) {
  const GroupPlan& group = plan_.groups[at(g)];
  T* workspace = workspace_.data() + group.workspace;
  T* scratch = workspace_.data() + group.scratch;
  for (int i = group.first_in_order; i < group.last_in_order; ++i) {
    const int p = plan_.order[at(i)];
    if (plan_.is_root(p)) roots_[at(p - plan_.node_count())].S = roots[at(p - plan_.node_count())].stiffness;
    else nodes_[at(p)].S = links[at(p)].load_stiffness;
  }
  for (int i = group.first_in_order; i < group.last_in_order; ++i) {
    const int p = plan_.order[at(i)];
    const PlacePlan& place = plan_.places[at(p)];
    T* D = place.columns() > 0 ? gather_compliances(place, workspace, scratch) : nullptr;
    if (plan_.is_root(p)) {
      const int r = p - plan_.node_count();
      eliminate_root(roots[at(r)], r, D);
      if (D) keep_compliances(place, D, workspace);
    } else {
      const Link<T>& l = links[at(p)];
      if (D) {
        close(p, rows, D, &nodes_[at(p)].S);
        keep_compliances(place, D, workspace);
      }
      factor_link<T>(l, reframe_ ? stiffness_in((*reframe_)[at(p)], nodes_[at(p)].S) : nodes_[at(p)].S, nodes_[at(p)]);
      if (place.staying > 0) carry_columns(l, p, workspace + place.compliance_out);
      if (l.parent >= 0) nodes_[at(l.parent)].S = nodes_[at(l.parent)].S + nodes_[at(p)].S;
      else roots_[at(l.root)].S = roots_[at(l.root)].S + nodes_[at(p)].S.xx;
    }
    for (int c = place.first_column + place.closing, last = place.first_column + place.columns(); c < last; ++c) {
      const auto up = at(plan_.column_in_parent[at(c)]);
      B_[up] = B_[up] + B_[at(c)];
    }
  }
  const int p = plan_.group_place(g);
  if (const PlacePlan& place = plan_.places[at(p)]; place.columns() > 0)
    close(p, rows, gather_compliances(place, workspace, scratch), nullptr);
}

/// Compliances of a place's columns (lower triangle) before anything closes, from those of its children.
template <class T>
T* TreeFactor<T>::gather_compliances(const PlacePlan& place, T* workspace, T* scratch) const {
  if (place.in_place) return workspace + place.compliance_out;
  const auto m = at(place.columns());
  std::fill(scratch, scratch + m * m, T(0));
  for (int c = place.first_child; c >= 0; c = plan_.places[at(c)].next_sibling) {
    const PlacePlan& child = plan_.places[at(c)];
    const int* up = &plan_.column_in_parent[at(child.first_column + child.closing)];
    const T* D = workspace + child.compliance_out;
    for (int i = 0; i < child.staying; ++i)
      for (int j = 0; j <= i; ++j) {
        const auto a = at(std::max(up[i], up[j]) - place.first_column), b = at(std::min(up[i], up[j]) - place.first_column);
        scratch[a * m + b] += D[at(i) * at(child.staying) + at(j)];
      }
  }
  return scratch;
}

/// Puts what is left of the compliances where the parent will look for them.
template <class T>
void TreeFactor<T>::keep_compliances(const PlacePlan& place, const T* D, T* workspace) const {
  if (place.in_place) return;
  const auto m = at(place.columns()), k = at(place.closing), s = at(place.staying);
  T* out = workspace + place.compliance_out;
  for (std::size_t i = 0; i < s; ++i)
    for (std::size_t j = 0; j <= i; ++j) out[i * s + j] = D[(k + i) * m + k + j];
}

/// Eliminates the closing rows of a place. With D11 + c = L P L^T: V = B1 L^-T, Y = L^-1 D12, all updates are V P^-1 V^T and so
/// on.
template <class T>
void TreeFactor<T>::close(int p, const Rows& rows, T* D, Sym6<T>* S) {
  const PlacePlan& place = plan_.places[at(p)];
  const auto k = at(place.closing), s = at(place.staying), m = k + s;
  if (k == 0) return;
  T* L = closing_factor_.data() + place.closing_factor;
  T* Y = closing_gain_.data() + place.closing_gain;
  const int* row = &plan_.row_of_column[at(place.first_column)];
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) L[i * k + j] = D[i * m + j];
    L[i * k + i] += rows[at(row[i])].compliance;
    for (std::size_t j = 0; j < s; ++j) Y[i * s + j] = D[(k + j) * m + i];
  }
  // A row without compliance would take infinite forces. In the group there is no place left that could give it some: it is
  // redundant, and has no force.
  const bool last = plan_.is_group(p);
  factor_ldl(L, place.closing, (last ? T(4) : T(64)) * std::numeric_limits<T>::epsilon(), reframe_ != nullptr, [&](int i) {
    if (!last) too_stiff_[at(row[i])] = 1;
  });
  Vec6<T>* V = &B_[at(place.first_column)];
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const T l = L[i * k + j];
      V[i] = V[i] - l * V[j];
      for (std::size_t c = 0; c < s; ++c) Y[i * s + c] -= l * Y[j * s + c];
    }
  }
  for (std::size_t i = 0; i < k; ++i) {
    if (L[i * k + i] == T(0)) continue;
    const T g = T(1) / L[i * k + i];
    if (S) subtract_outer(*S, -g, V[i]);
    const T* y = Y + i * s;
    for (std::size_t c = 0; c < s; ++c) {
      const T gy = g * y[c];
      V[k + c] = V[k + c] - gy * V[i];
      T* out = D + (k + c) * m + k;
      for (std::size_t b = 0; b <= c; ++b) out[b] -= gy * y[b];
    }
  }
}

/// Takes the staying columns of a node through its link.
template <class T>
void TreeFactor<T>::carry_columns(const Link<T>& l, int node, T* D) {
  const PlacePlan& place = plan_.places[at(node)];
  const LinkFactor<T>& factor = nodes_[at(node)];
  const auto s = at(place.staying), first = at(place.first_column + place.closing);
  constexpr T kRounding = T(4) * std::numeric_limits<T>::epsilon();
  const T arm = norm(l.arm);
  T* share = &share_[6 * first];
  for (std::size_t c = 0; c < s; ++c) {
    const Vec6<T> B = B_[first + c];
    const T force = norm(B.x), couple = norm(B.w) + arm * force;
    T along[6];
    B_[first + c] = force_up<T>(l, factor, reframed(node, B), along);
    // What is only rounding would look like a tiny compliance where there is none.
    for (int j = 0; j < 6; ++j)
      share[at(j) * s + c] = std::abs(along[j]) > kRounding * (j < 3 ? force : couple) ? along[j] : T(0);
  }
  for (std::size_t i = 0; i < s; ++i) {
    T w[6];
    for (int j = 0; j < 6; ++j) w[j] = factor.gain[j] * share[at(j) * s + i];
    T* out = D + i * s;
    for (std::size_t b = 0; b <= i; ++b)
      out[b] += w[0] * share[b] + w[1] * share[s + b] + w[2] * share[2 * s + b] + w[3] * share[3 * s + b] +
                w[4] * share[4 * s + b] + w[5] * share[5 * s + b];
  }
}

template <class T>
void TreeFactor<T>::eliminate_root(const RootVertex<T>& root, int r, T* D) {
  if (root.held) return;
  RootFactor& factor = roots_[at(r)];
  for (int i = 0; i < 9; ++i) factor.ldl[i] = factor.S.m[i / 3][i % 3];
  factor_ldl(factor.ldl, 3, T(4) * std::numeric_limits<T>::epsilon(), reframe_ != nullptr, [](int) {});
  if (!D) return;
  const PlacePlan& place = plan_.places[at(plan_.root_place(r))];
  const auto s = at(place.staying), first = at(place.first_column);
  for (std::size_t i = 0; i < s; ++i) {
    const Vec3<T> x = solve_root(factor, B_[first + i].x);
    for (std::size_t j = 0; j <= i; ++j) D[i * s + j] += dot(x, B_[first + j].x);
  }
}

template <class T>
Vec3<T> TreeFactor<T>::solve_root(const RootFactor& f, const Vec3<T>& b) {
  const auto over = [](T x, T pivot) { return pivot != T(0) ? x / pivot : T(0); };
  const T y0 = b.x, y1 = b.y - f.ldl[3] * y0, y2 = b.z - f.ldl[6] * y0 - f.ldl[7] * y1;
  const T z = over(y2, f.ldl[8]), y = over(y1, f.ldl[4]) - f.ldl[7] * z;
  return {over(y0, f.ldl[0]) - f.ldl[3] * y - f.ldl[6] * z, y, z};
}

template <class T>
void TreeFactor<T>::solve(const Links& links, const Roots& roots, const Rows& rows, const Executor* executor) {
  std::fill(d_.begin(), d_.end(), T(0));
  for (std::size_t i = 0; i < rows.size(); ++i) d_[at(plan_.closing_column[i])] = -rows[i].e;
  each_group(executor, [&](int g) {
    solve_up(links, roots, g);
    solve_down(links, roots, g);
  });
}

/// d1 <- L^-1 d1, and what follows from it.
template <class T>
void TreeFactor<T>::close_forces(const PlacePlan& place, Vec6<T>* f) {
  const auto k = at(place.closing), s = at(place.staying), first = at(place.first_column);
  const T* L = closing_factor_.data() + place.closing_factor;
  const T* Y = closing_gain_.data() + place.closing_gain;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < i; ++j) d_[first + i] -= L[i * k + j] * d_[first + j];
    if (L[i * k + i] == T(0)) continue;
    const T y = d_[first + i] / L[i * k + i];
    if (f) *f = *f - y * B_[first + i];
    for (std::size_t c = 0; c < s; ++c) d_[first + k + c] -= y * Y[i * s + c];
  }
}

/// lambda1 = -L^-T P^-1 (V^T z + L^-1 d1 + Y lambda2)
template <class T>
void TreeFactor<T>::find_multipliers(const PlacePlan& place, const Vec6<T>& z) {
  const auto k = at(place.closing), s = at(place.staying), first = at(place.first_column);
  const T* L = closing_factor_.data() + place.closing_factor;
  const T* Y = closing_gain_.data() + place.closing_gain;
  const int* row = plan_.row_of_column.data() + first;
  for (std::size_t i = k; i-- > 0;) {
    T r = dot6(B_[first + i], z) + d_[first + i];
    for (std::size_t c = 0; c < s; ++c) r += Y[i * s + c] * lambda_[at(row[k + c])];
    T lambda = L[i * k + i] != T(0) ? -r / L[i * k + i] : T(0);
    for (std::size_t j = i + 1; j < k; ++j) lambda -= L[j * k + i] * lambda_[at(row[j])];
    lambda_[at(row[i])] = lambda;
  }
}

/// B lambda of the staying columns.
template <class T>
Vec6<T> TreeFactor<T>::open_force(const PlacePlan& place) const {
  Vec6<T> f;
  for (int c = place.first_column + place.closing, last = place.first_column + place.columns(); c < last; ++c)
    f = f + lambda_[at(plan_.row_of_column[at(c)])] * B_[at(c)];
  return f;
}

template <class T>
void TreeFactor<T>::solve_up(const Links& links, const Roots& roots, int g) {
  const GroupPlan& group = plan_.groups[at(g)];
  for (int i = group.first_in_order; i < group.last_in_order; ++i) {
    const int p = plan_.order[at(i)];
    if (plan_.is_root(p)) roots_[at(p - plan_.node_count())].f = {roots[at(p - plan_.node_count())].force, {}};
    else f_[at(p)] = links[at(p)].force;
  }
  for (int i = group.first_in_order; i < group.last_in_order; ++i) {
    const int p = plan_.order[at(i)];
    const PlacePlan& place = plan_.places[at(p)];
    const auto s = at(place.staying), first = at(place.first_column + place.closing);
    if (plan_.is_root(p)) {
      const int r = p - plan_.node_count();
      root_x_[at(r)] = roots[at(r)].held ? roots[at(r)].prescribed : solve_root(roots_[at(r)], roots_[at(r)].f.x);
      for (std::size_t c = first; c < first + s; ++c) d_[c] += dot(B_[c].x, root_x_[at(r)]);
    } else {
      const Link<T>& l = links[at(p)];
      const LinkFactor<T>& factor = nodes_[at(p)];
      if (place.closing > 0) close_forces(place, &f_[at(p)]);
      T along[6];
      const Vec6<T> f = f_[at(p)] = force_up<T>(l, factor, reframed(p, f_[at(p)]), along);
      if (loose_[at(p)] >= 0) std::copy(along, along + 6, &loose_share_[6 * at(loose_[at(p)])]);
      if (s > 0) {
        const T* share = &share_[6 * first];
        for (std::size_t c = 0; c < s; ++c) {
          T d = -dot6(B_[first + c], l.e);
          for (int j = 0; j < 6; ++j) d += factor.gain[j] * along[j] * share[at(j) * s + c];
          d_[first + c] += d;
        }
      }
      Vec6<T>& above = l.parent >= 0 ? f_[at(l.parent)] : roots_[at(l.root)].f;
      above = above + f + factor.S * l.e;
    }
    for (std::size_t c = first; c < first + s; ++c) d_[at(plan_.column_in_parent[c])] += d_[c];
  }
  if (const PlacePlan& place = plan_.places[at(plan_.group_place(g))]; place.closing > 0) close_forces(place, nullptr);
}

/// Forces along a loose link's axes, open columns included.
template <class T>
void TreeFactor<T>::loose_shares(int node, T along[6]) const {
  const PlacePlan& place = plan_.places[at(node)];
  const auto s = at(place.staying), first = at(place.first_column + place.closing);
  for (int j = 0; j < 6; ++j) {
    along[j] = loose_share_[6 * at(loose_[at(node)]) + at(j)];
    for (std::size_t c = 0; c < s; ++c)
      along[j] += share_[6 * first + at(j) * s + c] * lambda_[at(plan_.row_of_column[first + c])];
  }
}

template <class T>
void TreeFactor<T>::solve_down(const Links& links, const Roots& roots, int g) {
  const GroupPlan& group = plan_.groups[at(g)];
  find_multipliers(plan_.places[at(plan_.group_place(g))], {});
  for (int i = group.last_in_order; i-- > group.first_in_order;) {
    const int p = plan_.order[at(i)];
    const PlacePlan& place = plan_.places[at(p)];
    if (plan_.is_root(p)) {
      const int r = p - plan_.node_count();
      if (!roots[at(r)].held && place.staying > 0) root_x_[at(r)] += solve_root(roots_[at(r)], open_force(place).x);
      continue;
    }
    const Link<T>& l = links[at(p)];
    const Vec6<T> parent = l.parent >= 0 ? z_[at(l.parent)] : Vec6<T>{root_x_[at(l.root)], {}};
    const Vec6<T> zeta = parent - l.e;
    Vec6<T> F = f_[at(p)] - nodes_[at(p)].S * zeta;
    if (place.staying > 0) F = F + open_force(place);
    F_[at(p)] = F;
    if (loose_[at(p)] < 0) {
      z_[at(p)] = displacement_down<T>(l, zeta, F);
    } else {
      T along[6];
      loose_shares(p, along);
      z_[at(p)] = displacement_by_steps<T>(l, nodes_[at(p)], zeta, along);
    }
    if (reframe_) z_[at(p)] = displacement_of((*reframe_)[at(p)], z_[at(p)]);
    if (place.closing > 0) find_multipliers(place, z_[at(p)]);
  }
}

/// A spring of compliance c along j is eliminated with the pivot S_jj + 1/c, whose sign is that of den. A multiplier adds a
/// negative pivot to the whole and takes one away from it if D + c is negative.
template <class T>
auto TreeFactor<T>::count_pivots(const Links& links, const Roots& roots) const -> PivotCount {
  PivotCount count;
  constexpr T kHuge = T(1e-2) / std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link<T>& l = links[i];
    const T across = norm2(l.arm) / std::max({l.x_compliance.x, l.x_compliance.y, l.x_compliance.z});  // what rounding goes with
    for (int j = 0; j < 6; ++j) {
      const T den = nodes_[i].row[j][j], g = nodes_[i].gain[j];
      if (g == T(0)) continue;  // rigid
      const bool loose = j >= 3 && component(l.w_compliance, j - 3) >= kLoose<T>;
      if (!(std::abs(den) < kHuge) || (loose && !(std::abs(g) * across < kHuge))) ++count.null;
      else if (den < T(0)) ++count.negative;
    }
  }
  for (std::size_t r = 0; r < roots.size(); ++r)
    for (int i = 0; i < 9 && !roots[r].held; i += 4) {
      if (roots_[r].ldl[i] == T(0)) ++count.null;
      else if (roots_[r].ldl[i] < T(0)) ++count.negative;
    }
  for (const PlacePlan& place : plan_.places)
    for (int i = 0; i < place.closing; ++i)
      if (closing_factor_[place.closing_factor + at(i) * at(place.closing) + at(i)] < T(0)) --count.negative;
  return count;
}

template <class T>
std::size_t TreeFactor<T>::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return plan_.bytes() + of(parent_) + of(lift_) + of(nodes_) + of(f_) + of(z_) + of(F_) + of(roots_) + of(root_x_) + of(B_) +
         of(share_) + of(d_) + of(lambda_) + of(workspace_) + of(closing_factor_) + of(closing_gain_) + of(loose_) +
         of(loose_share_) + of(too_stiff_);
}

template <class T>
std::size_t TreeFactor<T>::bytes(const TreePlan& plan, std::size_t rows, std::size_t loose_links) {
  const auto n = at(plan.node_count()), r = at(plan.root_count()), columns = at(plan.column_count());
  return plan.bytes() + n * (2 * sizeof(int) + sizeof(LinkFactor<T>) + 3 * sizeof(Vec6<T>)) +
         r * (sizeof(RootFactor) + sizeof(Vec3<T>)) + columns * (sizeof(Vec6<T>) + 7 * sizeof(T)) +
         rows * (sizeof(T) + sizeof(int) + sizeof(std::uint8_t)) + loose_links * 6 * sizeof(T) +
         (plan.workspace_size + plan.closing_factor_size + plan.closing_gain_size) * sizeof(T);
}

}  // namespace osier::direct
