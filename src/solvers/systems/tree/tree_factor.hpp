// Articulated compliance recursion: solves one linear(ised) step of a tree of segments, in compliance form, so that a spring may
// be as stiff as one likes (compliance 0: rigid). O(n) on trees; loops cost what is carried along them.
//
//   minimise over z    sum_n 1/2 z_n.(L_n z_n) - f_n.z_n  +  sum_links 1/2 eps.(C^-1 eps)  +  sum_rows 1/2 r^2/c
//
//   z_n = (dx, w)      displacement of the far vertex and turn of the segment's frame (world axes)
//   L_n, f_n           stiffness and force on that node alone: mass, drag, tension, contact; loads
//   eps_n = M_n z_n - (z_parent - e_n)      strains against the parent, e_n the strains of the present state (link_algebra.hpp);
//                                           M_n contains the moment turn of a strained joint
//   r = J_a.z_a + J_b.z_b + e               a constraint row: any other connection of two places, or a hold of one place;
//                                           c = 0 is a rigid constraint
//
// Constraint rows close loops, hold vertices and frames, and carry blocks between the two ends of a segment. Each has a
// multiplier lambda, and the energy of a subtree, its own unknowns eliminated, is
//
//   Phi(z, lambda) = 1/2 z.S z - (f + B lambda).z - 1/2 lambda.D lambda - d.lambda
//
// with one column of B for every row that is open, that is with one end inside the subtree and the other outside. A link of
// compliance c along a changes B as it changes f, and D += g (a.B)(a.B)^T, d += g (a.B)(a.f). Where both ends have met, D + c of
// the closing rows is positive definite and goes into S, f and the columns that stay:
//
//   G = (D11 + c)^-1,  lambda1 = -G (B1^T z + d1 + D12 lambda2),
//   S += B1 G B1^T,  f -= B1 G d1,  B2 -= B1 G D12,  D22 -= D21 G D12,  d2 -= D21 G d1
//
// Compliances are added to compliances and stiffnesses to stiffnesses: nothing cancels but the Cholesky step for D22. Where a
// closing row has no compliance at all (a rigid bar that ends at a pin) it is carried further up until it has.
//
// Interface for contact. A symmetric positive semidefinite block on one vertex is added to load_stiffness.xx of its link, or to
// stiffness of its root. A block [[Haa, Hab], [Hab^T, Hbb]] on the near and far vertex of a segment becomes rows by
// add_block_rows() below. Call plan() after the set of rows or their ends has changed, factor() after numbers have changed, and
// solve() for any number of right-hand sides (f of links and roots, e of rows).
//
// Storage. A node has the lower triangle of S, to which its children add and which the elimination steps of its own link replace;
// one wrench, which holds f, then the shares of f along the steps, then z; and its springs. A column has six numbers, B and later
// its shares, and one more number, d and later lambda. No number is stored twice for the sake of another pass.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "exec/parallel.hpp"
#include "linalg/link_algebra.hpp"
#include "linalg/small_ldl.hpp"
#include "osier/error.hpp"
#include "solvers/systems/tree/tree_plan.hpp"

namespace osier::systems {

template <class T>
struct Link : LinkSprings<T> {
  int parent = -1;  ///< node, or -1: the parent is the root vertex `root`, whose frame does not turn
  int root = -1;
  Vec6<T> e;  ///< present strain
  Sym6<T> load_stiffness;
  Vec6<T> force;
};

template <class T>
struct RootVertex {
  bool held = true;
  Vec3<T> prescribed;
  Mat3<T> stiffness;  ///< mass/h^2 and all other stiffness on the vertex
  Vec3<T> force;
};

/// A constraint row: r = sum over the ends of direction.z, + e. An end is a node, a root vertex (whose direction has no w), or
/// fixed in space where both are -1.
template <class T>
struct ConstraintRow {
  struct End {
    int node = -1, root = -1;
    Vec6<T> direction;
  };
  End end[2];
  T compliance = 0;
  T e = 0;
};

/// Rows for the quadratic form of a symmetric positive semidefinite [[Haa, Hab], [Hab', Hbb]] over the displacements of two ends:
/// at most six, as many as the form has rank. Their number may change with H; then plan() has to be called again.
template <class T>
void add_block_rows(std::vector<ConstraintRow<T>>& rows, const typename ConstraintRow<T>::End& a,
                    const typename ConstraintRow<T>::End& b, const Mat3<T>& Haa, const Mat3<T>& Hab, const Mat3<T>& Hbb);

/// The number of sets of axes that a link needs beside the axes of the world.
enum class AxisSets : std::uint8_t { none, one, two };

template <class T>
class TreeFactor {
 public:
  /// Arranges the memory. `parent` is that of TreePlan::build(). A link whose two sets of axes are equal needs one set.
  void plan(const std::vector<int>& parent, int root_count, const std::vector<RowEnds>& rows, const std::vector<AxisSets>& axes);
  /// Arranges the memory for links in an order in which parents come before children. Only parents, roots, `world_axes` and the
  /// ends of rows are read.
  void plan(const std::vector<Link<T>>& links, int root_count, const std::vector<ConstraintRow<T>>& rows);
  /// Factors the matrix, with the right-hand side that links, roots and rows carry. Links and rows are made on demand, on any
  /// thread: link(i) returns one, and rows(begin, end, put) calls put(i, row) for every row of the range.
  template <class LinkOf, class RowsOf>
  void factor_made(const LinkOf& link, const std::vector<RootVertex<T>>& roots, const RowsOf& rows, const Executor* executor);
  void factor(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots,
              const std::vector<ConstraintRow<T>>& rows, const Executor* executor = nullptr);
  /// Whether the stiffness on nodes may be negative in factor_made(): the recursion then continues through negative pivots.
  void allow_either_sign(bool allow) { either_sign_ = allow; }
  /// Whether no pivot is negative: those of the node alone, and those of roots and closing rows together.
  bool is_positive(int node) const;
  bool are_others_positive() const;
  /// Factors like factor(), with other variables for the nodes (one Reframe for each link, kept by reference until the next call)
  /// and with stiffness of either sign on nodes; count_pivots() counts the negative pivots.
  void factor_signed(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots,
                     const std::vector<ConstraintRow<T>>& rows, const std::vector<Reframe<T>>& reframe);
  struct PivotCount {
    int negative = 0;  ///< number of directions in which the energy falls, constraint rows included
    int null = 0;      ///< pivots that are 0 but for rounding
  };
  PivotCount count_pivots() const;
  /// Sets another right-hand side: forces of the links, forces and places of the roots, offsets of the rows. The strains of the
  /// links belong to the factor and are part of no right-hand side but the first.
  void load(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots,
            const std::vector<ConstraintRow<T>>& rows);
  /// Sets a right-hand side whose forces are made on demand: force(i) of a link, root_force(r) of a root; rows have no offsets.
  template <class Force, class RootForce>
  void load_made(const Force& force, const RootForce& root_force, const Executor& executor);
  /// Solves for the present right-hand side, which is used up. visit(node, F, arm) receives the force of the parent on the
  /// link's subtree.
  template <class Visit>
  void solve(const Executor* executor, const Visit& visit);
  void solve(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots,
             const std::vector<ConstraintRow<T>>& rows, const Executor* executor = nullptr) {
    load(links, roots, rows);
    solve(executor, [](int, const Vec6<T>&, const Vec3<T>&) {});
  }

  const std::vector<Vec6<T>>& displacement() const { return z_; }  ///< per link
  const std::vector<Vec3<T>>& root_displacement() const { return root_x_; }
  T multiplier(int row) const { return d_[at(plan_.closing_column[at(row)])]; }  ///< the force -lambda J acts at its ends
  const TreePlan& plan() const { return plan_; }
  std::size_t bytes() const;
  /// The memory that a factor with this plan will have.
  static std::size_t bytes(const TreePlan& plan, std::size_t rows, std::size_t axis_sets);

 private:
  struct Springs {
    Vec3<T> arm;
    Vec6<T> e;
    T x_compliance, w_compliance;  ///< where a set of axes is the world's
    std::int32_t axes =
        -1;  ///< -1: the axes of the world; otherwise twice the index into axes_, plus 1 where one set serves both
  };
  struct Axes {
    Vec3<T> first, second;  ///< the third axis is their cross product
    Vec3<T> compliance;
  };
  struct RootFactor {
    bool held;
    Vec3<T> prescribed;
    T ldl[6];  ///< factor of the stiffness of a free root
    Mat3<T> S;
    Vec3<T> f;
  };
  /// Where a link has one set of axes, it belongs to the position: a frame without a joint has no stiffness along any axis.
  Vec3<T> x_compliance(const Springs& s) const {
    return s.axes >= 0 ? axes_[at(s.axes / 2)].compliance : Vec3<T>{s.x_compliance, s.x_compliance, s.x_compliance};
  }
  Vec3<T> w_compliance(const Springs& s) const {
    return s.axes >= 0 && s.axes % 2 == 0 ? axes_[at(s.axes / 2 + 1)].compliance
                                          : Vec3<T>{s.w_compliance, s.w_compliance, s.w_compliance};
  }
  using Sum = double;  ///< number type of sums of forces
  using Links = std::vector<Link<T>>;
  using Rows = std::vector<ConstraintRow<T>>;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  template <class Job>
  void each_job(const Executor* executor, const std::vector<JobPlan>& jobs, const Job& job) const;
  void set_axes(const std::vector<AxisSets>& sets);
  void resize(std::size_t rows);
  template <class RowsOf>
  void lift_rows(const RowsOf& rows);
  void put(int node, const Link<T>& link);
  void put_row(int i, const ConstraintRow<T>& row);
  /// Calls f(springs) with the springs of the node in the number type N, for link_algebra.hpp.
  template <class N, class F>
  void with_springs(int node, const F& f) const;

  T* B(int column) { return B_.data() + 6 * at(column); }
  const T* B(int column) const { return B_.data() + 6 * at(column); }
  static Vec6<T> vec6(const T* b) { return {{b[0], b[1], b[2]}, {b[3], b[4], b[5]}}; }
  static void add(T* b, const Vec6<T>& v) {
    b[0] += v.x.x, b[1] += v.x.y, b[2] += v.x.z, b[3] += v.w.x, b[4] += v.w.y, b[5] += v.w.z;
  }
  /// The indices, at the place above, of the columns that stay open at a place.
  struct Above {
    const std::uint16_t* up;
    int first;
    int operator[](int i) const { return first + up[i]; }
  };
  Above above(int place, const ColumnPlan& c) const {
    return {plan_.column_in_parent.data() + c.first + c.closing, plan_.columns_at(plan_.places[at(place)].parent)->first};
  }

  template <class N>
  Vec6<N> reframed(int node, const Vec6<N>& f) const {
    return reframe_ ? cast6<N>(force_in((*reframe_)[at(node)], cast6<T>(f))) : f;
  }
  Vec6<T> strain(int node) const { return strained_ ? springs_[at(node)].e : Vec6<T>{}; }
  void factor_up(const JobPlan& job);
  void close_group(int g);
  T* gather_compliances(const ColumnPlan& c, T* scratch);
  void keep_compliances(const ColumnPlan& c, const T* D);
  void close(int place, const ColumnPlan& c, T* D, PackedSym6<T>* S);
  template <class LinkSprings>
  void carry_columns(const LinkSprings& l, int node, const ColumnPlan& c, T* scratch);
  void eliminate_root(int r, const ColumnPlan* c, T* D);
  static Vec3<T> solve_root(const RootFactor& factor, const Vec3<T>& b);
  void solve_up(const JobPlan& job);
  template <class Visit>
  void solve_down(const JobPlan& job, const Visit& visit);
  void close_forces(const ColumnPlan& c, Vec6<Sum>* f);
  void find_multipliers(const ColumnPlan& c, const Vec6<T>& z);
  void fetch_multipliers(int place, const ColumnPlan& c);

  TreePlan plan_;
  std::vector<int> lift_;  ///< per row: how many places above the meeting of its ends it is closed; empty if 0 for all
  std::vector<Springs> springs_;
  std::vector<Axes> axes_;
  std::vector<PackedSym6<T>> S_;
  std::vector<Vec6<T>> z_;
  std::vector<RootFactor> roots_;
  std::vector<Vec3<T>> root_x_;
  /// Six numbers per column: B; for closing columns B L^-T; for columns that have passed a link, their shares along its steps, as
  /// six lists over all columns of the place.
  std::vector<T> B_;
  std::vector<T> d_;                                          ///< per column
  std::vector<T> workspace_, closing_factor_, closing_gain_;  ///< D; L and pivots; L^-1 D12. Triangles are packed
  std::vector<T> compliance_;                                 ///< per row
  const std::vector<Reframe<T>>* reframe_ = nullptr;          ///< set by factor_signed()
  bool either_sign_ = false;                                  ///< pivots may be negative
  bool strained_ = true;                                      ///< the strains of the links are part of the right-hand side
  std::vector<std::uint8_t> too_stiff_;                       ///< rows without compliance at the place where they should close
};

template <class T>
constexpr T kRounding = T(100) * std::numeric_limits<T>::epsilon();

/// Regularisation of frames without a joint: a turning stiffness a little above the rounding error of the segment's stiffness.
/// Without it the sign of a pivot that should be 0 is a matter of chance, and a constraint row that holds that direction would
/// have the opposite sign.
template <class T>
T next_to_nothing(const Vec3<T>& arm, const Vec3<T>& x_compliance) {
  return T(4) * kRounding<T> * norm2(arm) / std::max({x_compliance.x, x_compliance.y, x_compliance.z});
}

template <class T>
void add_block_rows(std::vector<ConstraintRow<T>>& rows, const typename ConstraintRow<T>::End& a,
                    const typename ConstraintRow<T>::End& b, const Mat3<T>& Haa, const Mat3<T>& Hab, const Mat3<T>& Hbb) {
  T h[6][6];
  T largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      h[i][j] = Haa.m[i][j], h[3 + i][3 + j] = Hbb.m[i][j];
      h[i][3 + j] = Hab.m[i][j], h[3 + j][i] = Hab.m[i][j];
    }
  for (int i = 0; i < 6; ++i) largest = std::max(largest, h[i][i]);
  // Rank-1 pieces by the largest pivot; H = sum v v^T/pivot.
  for (int k = 0; k < 6; ++k) {
    int best = 0;
    for (int i = 1; i < 6; ++i)
      if (h[i][i] > h[best][best]) best = i;
    const T pivot = h[best][best];
    if (!(pivot > T(8) * std::numeric_limits<T>::epsilon() * largest)) return;
    T v[6];
    for (int i = 0; i < 6; ++i) v[i] = h[i][best];
    ConstraintRow<T> row;
    row.end[0] = {a.node, a.root, {{v[0], v[1], v[2]}, {}}};
    row.end[1] = {b.node, b.root, {{v[3], v[4], v[5]}, {}}};
    row.compliance = pivot;
    rows.push_back(row);
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) h[i][j] -= v[i] * v[j] / pivot;
  }
}

template <class T>
void TreeFactor<T>::plan(const Links& links, int root_count, const Rows& rows) {
  std::vector<int> parent(links.size());
  std::vector<AxisSets> axes(links.size());
  const auto n = static_cast<int>(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    parent[i] = links[i].parent >= 0 ? links[i].parent : n + links[i].root;
    axes[i] = links[i].world_axes ? AxisSets::none : AxisSets::two;
  }
  std::vector<RowEnds> ends(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (int e = 0; e < 2; ++e) ends[i].place[e] = rows[i].end[e].root >= 0 ? n + rows[i].end[e].root : rows[i].end[e].node;
  plan(parent, root_count, ends, axes);
}

template <class T>
void TreeFactor<T>::plan(const std::vector<int>& parent, int root_count, const std::vector<RowEnds>& rows,
                         const std::vector<AxisSets>& axes) {
  plan_.build(parent, root_count, rows, {});
  lift_ = {};
  set_axes(axes);
  S_.resize(parent.size()), z_.resize(parent.size());
  roots_.resize(at(root_count)), root_x_.resize(at(root_count));
  resize(rows.size());
}

template <class T>
void TreeFactor<T>::set_axes(const std::vector<AxisSets>& sets) {
  springs_.assign(sets.size(), {});
  std::int32_t count = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i] == AxisSets::none) continue;
    springs_[i].axes = 2 * count + (sets[i] == AxisSets::one ? 1 : 0);
    count += sets[i] == AxisSets::one ? 1 : 2;
  }
  axes_ = std::vector<Axes>(at(count));
}

template <class T>
void TreeFactor<T>::resize(std::size_t rows) {
  if (!plan_.fits())
    throw RunError("the loops of this model are too wide for direct solves: use `method` sweep, or the solver `newton`");
  B_.resize(6 * at(plan_.column_count())), d_.resize(at(plan_.column_count()));
  workspace_.resize(plan_.workspace_size), closing_factor_.resize(plan_.closing_factor_size);
  closing_gain_.resize(plan_.closing_gain_size);
  compliance_.resize(rows);
  too_stiff_.assign(rows, 0);
}

/// Closes rows without compliance one place above the one where they should close.
template <class T>
template <class RowsOf>
void TreeFactor<T>::lift_rows(const RowsOf& rows) {
  lift_.resize(too_stiff_.size(), 0);
  std::vector<RowEnds> ends(too_stiff_.size());
  rows(std::size_t{0}, ends.size(), [&](std::size_t i, const ConstraintRow<T>& row) {
    if (too_stiff_[i]) ++lift_[i];
    for (int e = 0; e < 2; ++e) ends[i].place[e] = row.end[e].root >= 0 ? plan_.root_place(row.end[e].root) : row.end[e].node;
  });
  std::vector<int> parent(at(plan_.node_count()));
  for (std::size_t i = 0; i < parent.size(); ++i) parent[i] = plan_.places[i].parent;
  plan_.build(parent, plan_.root_count(), ends, lift_);
  resize(ends.size());
}

/// Runs jobs on threads. Different groups of trees, and branches of one group, do not touch each other's data.
template <class T>
template <class Job>
void TreeFactor<T>::each_job(const Executor* executor, const std::vector<JobPlan>& jobs, const Job& job) const {
  constexpr std::size_t kFew = 256;
  if (!executor || executor->threads() == 1) {
    for (std::size_t i = 0; i < jobs.size(); ++i) job(i);
  } else if (jobs.size() < kFew) {
    executor->for_each_job(jobs.size(), job);
  } else {
    executor->for_each(jobs.size(), job, S_.size() / jobs.size() + 1);
  }
}

template <class T>
void TreeFactor<T>::put(int i, const Link<T>& l) {
  Springs& s = springs_[at(i)];
  s.arm = l.arm;
  s.e = l.e;
  s.x_compliance = l.x_compliance.x;
  s.w_compliance = l.w_compliance.x;
  if (s.axes >= 0) {
    const auto two = [](const Mat3<T>& m, const Vec3<T>& compliance) { return Axes{column(m, 0), column(m, 1), compliance}; };
    axes_[at(s.axes / 2)] = two(l.x_axes, l.x_compliance);
    if (s.axes % 2 == 0) axes_[at(s.axes / 2 + 1)] = two(l.w_axes, l.w_compliance);
  }
  S_[at(i)] = pack(l.load_stiffness);
  z_[at(i)] = l.force;
}

template <class T>
template <class N, class F>
void TreeFactor<T>::with_springs(int i, const F& f) const {
  const Springs& s = springs_[at(i)];
  const Vec3<N> arm = cast<N>(s.arm), cx = cast<N>(x_compliance(s)), cw = cast<N>(w_compliance(s));
  if (s.axes < 0) {
    f(WorldSprings<N>{arm, cx, cw, moment_turn(cast<N>(s.e.w))});
    return;
  }
  const auto three = [](const Axes& axes) {
    const Vec3<N> a = cast<N>(axes.first), b = cast<N>(axes.second), c = cross(a, b);
    return Mat3<N>{{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
  };
  const Mat3<N> x = three(axes_[at(s.axes / 2)]), w = s.axes % 2 != 0 ? x : three(axes_[at(s.axes / 2 + 1)]);
  f(LinkSprings<N>{arm, x, cx, w, cw, moment_turn(transposed_times(w, cast<N>(s.e.w)), cw), false});
}

template <class T>
void TreeFactor<T>::put_row(int i, const ConstraintRow<T>& row) {
  compliance_[at(i)] = row.compliance;
  d_[at(plan_.closing_column[at(i)])] = -row.e;
  for (int e = 0; e < 2; ++e)
    if (const int c = plan_.end_column[2 * at(i) + at(e)]; c >= 0) add(B(c), T(-1) * row.end[e].direction);
}

template <class T>
void TreeFactor<T>::factor(const Links& links, const std::vector<RootVertex<T>>& roots, const Rows& rows,
                           const Executor* executor) {
  reframe_ = nullptr;
  either_sign_ = false;
  factor_made([&](std::size_t i) -> const Link<T>& { return links[i]; }, roots,
              [&](std::size_t begin, std::size_t end, const auto& put) {
                for (std::size_t i = begin; i < end; ++i) put(i, rows[i]);
              },
              executor);
}

template <class T>
void TreeFactor<T>::factor_signed(const Links& links, const std::vector<RootVertex<T>>& roots, const Rows& rows,
                                  const std::vector<Reframe<T>>& reframe) {
  reframe_ = &reframe;
  either_sign_ = true;
  factor_made([&](std::size_t i) -> const Link<T>& { return links[i]; }, roots,
              [&](std::size_t begin, std::size_t end, const auto& put) {
                for (std::size_t i = begin; i < end; ++i) put(i, rows[i]);
              },
              nullptr);
}

/// A spring of compliance c along j is eliminated with the pivot S_jj + 1/c, whose sign is that of 1 + c S_jj. A multiplier adds
/// a negative pivot to the whole and takes one away from it if D + c is negative.
template <class T>
auto TreeFactor<T>::count_pivots() const -> PivotCount {
  PivotCount count;
  for (std::size_t i = 0; i < springs_.size(); ++i) {
    const Springs& s = springs_[i];
    for (int j = 0; j < 6; ++j) {
      const T c = component(j < 3 ? x_compliance(s) : w_compliance(s), j % 3);
      if (c == T(0)) continue;  // rigid
      const bool loose = j >= 3 && c >= kLoose<T>;
      const T pivot = T(1) + c * S_[i](j, j);
      if (pivot < (loose ? T(0) : -kRounding<T>)) ++count.negative;
      else if (!(pivot > (loose ? T(2) * c * next_to_nothing(s.arm, x_compliance(s)) : kRounding<T>))) ++count.null;
    }
  }
  for (const RootFactor& root : roots_)
    for (std::size_t i = 0; i < 3 && !root.held; ++i) {
      const T pivot = root.ldl[packed(i) + i];
      if (pivot == T(0)) ++count.null;
      else if (pivot < T(0)) ++count.negative;
    }
  for (const ColumnPlan& c : plan_.columns)
    for (std::size_t i = 0; i < at(c.closing); ++i)
      if (closing_factor_[plan_.closing_at(c).factor + packed(i) + i] < T(0)) --count.negative;
  return count;
}

template <class T>
bool TreeFactor<T>::is_positive(int node) const {
  const Springs& s = springs_[at(node)];
  const PackedSym6<T>& S = S_[at(node)];
  const Vec3<T> x = x_compliance(s), w = w_compliance(s);
  return T(1) + x.x * S(0, 0) > T(0) && T(1) + x.y * S(1, 1) > T(0) && T(1) + x.z * S(2, 2) > T(0) &&
         T(1) + w.x * S(3, 3) > T(0) && T(1) + w.y * S(4, 4) > T(0) && T(1) + w.z * S(5, 5) > T(0);
}

template <class T>
bool TreeFactor<T>::are_others_positive() const {
  for (const RootFactor& root : roots_)
    for (std::size_t i = 0; i < 3 && !root.held; ++i)
      if (root.ldl[packed(i) + i] < T(0)) return false;
  for (const ColumnPlan& c : plan_.columns)
    for (std::size_t i = 0; i < at(c.closing); ++i)
      if (closing_factor_[plan_.closing_at(c).factor + packed(i) + i] < T(0)) return false;
  return true;
}

template <class T>
template <class LinkOf, class RowsOf>
void TreeFactor<T>::factor_made(const LinkOf& link, const std::vector<RootVertex<T>>& roots, const RowsOf& rows,
                                const Executor* executor) {
  strained_ = true;
  for (;;) {
    std::fill(B_.begin(), B_.end(), T(0)), std::fill(d_.begin(), d_.end(), T(0));
    const auto each_range = [&](std::size_t n, const auto& f) {
      if (executor) executor->for_each_range(n, f);
      else f(std::size_t{0}, n);
    };
    each_range(springs_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) put(static_cast<int>(i), link(i));
    });
    each_range(compliance_.size(), [&](std::size_t begin, std::size_t end) {
      rows(begin, end, [&](std::size_t i, const ConstraintRow<T>& row) { put_row(static_cast<int>(i), row); });
    });
    for (std::size_t r = 0; r < roots_.size(); ++r)
      roots_[r] = {roots[r].held, roots[r].prescribed, {}, roots[r].stiffness, roots[r].force};
    each_job(executor, plan_.branches, [&](std::size_t i) { factor_up(plan_.branches[i]); });
    each_job(executor, plan_.trunks, [&](std::size_t g) {
      factor_up(plan_.trunks[g]);
      close_group(static_cast<int>(g));
    });
    if (std::none_of(too_stiff_.begin(), too_stiff_.end(), [](std::uint8_t x) { return x != 0; })) return;
    lift_rows(rows);
  }
}

template <class T>
void TreeFactor<T>::factor_up(const JobPlan& job) {
  T* scratch = workspace_.data() + job.scratch;
  for (int i = job.first_in_order; i < job.last_in_order; ++i) {
    const int p = plan_.order[at(i)], parent = plan_.places[at(p)].parent;
    const ColumnPlan* c = plan_.columns_at(p);
    T* D = c ? gather_compliances(*c, scratch) : nullptr;
    if (plan_.is_root(p)) {
      eliminate_root(p - plan_.node_count(), c, D);
      if (!c) continue;
      keep_compliances(*c, D);
      const Above up = above(p, *c);
      for (int k = 0; k < c->staying; ++k) add(B(up[k]), vec6(B(c->first + k)));
      continue;
    }
    if (c) {
      close(p, *c, D, &S_[at(p)]);
      keep_compliances(*c, D);
    }
    PackedSym6<T> S;
    with_springs<T>(p, [&](const auto& l) {
      if (reframe_) S_[at(p)] = pack(stiffness_in((*reframe_)[at(p)], unpack(S_[at(p)])));
      S = factor_link(l, S_[at(p)]);
      if (c && c->staying > 0) carry_columns(l, p, *c, scratch);
    });
    if (parent < plan_.node_count()) S_[at(parent)] += S;
    else {
      Mat3<T>& root = roots_[at(parent - plan_.node_count())].S;
      root = root + unpack(S).xx;
    }
  }
}

template <class T>
void TreeFactor<T>::close_group(int g) {
  const int p = plan_.group_place(g);
  if (const ColumnPlan* c = plan_.columns_at(p))
    close(p, *c, gather_compliances(*c, workspace_.data() + plan_.trunks[at(g)].scratch), nullptr);
}

/// The compliances D of a place's columns before any of them closes: sums of its children's.
template <class T>
T* TreeFactor<T>::gather_compliances(const ColumnPlan& here, T* scratch) {
  if (here.in_place) return workspace_.data() + here.compliance;
  std::fill(scratch, scratch + packed(at(here.count())), T(0));
  for (int c = here.first_child; c >= 0; c = plan_.columns[at(c)].next_sibling) {
    const ColumnPlan& child = plan_.columns[at(c)];
    const std::uint16_t* up = &plan_.column_in_parent[at(child.first + child.closing)];
    const T* D = workspace_.data() + child.compliance;
    for (int i = 0; i < child.staying; ++i)
      for (int j = 0; j <= i; ++j) scratch[packed(std::max(up[i], up[j])) + std::min(up[i], up[j])] += *D++;
  }
  return scratch;
}

/// Stores the compliances of the columns that stay open where the parent reads them.
template <class T>
void TreeFactor<T>::keep_compliances(const ColumnPlan& c, const T* D) {
  if (c.in_place) return;
  T* out = workspace_.data() + c.compliance;
  const auto k = at(c.closing);
  for (std::size_t i = 0; i < at(c.staying); ++i) {
    const T* row = D + packed(k + i) + k;
    out = std::copy(row, row + i + 1, out);
  }
}

/// Eliminates the closing rows of a place. With D11 + c = L P L^T, V = B1 L^-T and Y = L^-1 D12 the updates are V P^-1 V^T for S,
/// V P^-1 Y for B2 and Y^T P^-1 Y for D22.
template <class T>
void TreeFactor<T>::close(int p, const ColumnPlan& c, T* D, PackedSym6<T>* S) {
  const auto k = at(c.closing), s = at(c.staying);
  if (k == 0) return;
  T* L = closing_factor_.data() + plan_.closing_at(c).factor;
  T* Y = closing_gain_.data() + plan_.closing_at(c).gain;
  const int* row = &plan_.closing_row[at(plan_.closing_at(c).first_row)];
  std::copy(D, D + packed(k), L);
  for (std::size_t i = 0; i < k; ++i) {
    L[packed(i) + i] += compliance_[at(row[i])];
    for (std::size_t j = 0; j < s; ++j) Y[i * s + j] = D[packed(k + j) + i];
  }
  // A row without compliance would take infinite forces. At the place of the group no further link can add compliance, so that
  // the row is redundant and gets no force.
  const bool last = plan_.is_group(p);
  factor_ldl(L, c.closing, (last ? T(4) : T(64)) * std::numeric_limits<T>::epsilon(), either_sign_, [&](int i) {
    if (!last) too_stiff_[at(row[i])] = 1;
  });
  T* V = B(c.first);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const T l = L[packed(i) + j];
      add(V + 6 * i, -l * vec6(V + 6 * j));
      for (std::size_t a = 0; a < s; ++a) Y[i * s + a] -= l * Y[j * s + a];
    }
  }
  for (std::size_t i = 0; i < k; ++i) {
    const T pivot = L[packed(i) + i];
    if (pivot == T(0)) continue;
    const T g = T(1) / pivot;
    const Vec6<T> v = vec6(V + 6 * i);
    if (S) add_outer(*S, g, v);
    const T* y = Y + i * s;
    for (std::size_t a = 0; a < s; ++a) {
      const T gy = g * y[a];
      add(V + 6 * (k + a), -gy * v);
      T* out = D + packed(k + a) + k;
      for (std::size_t b = 0; b <= a; ++b) out[b] -= gy * y[b];
    }
  }
}

/// Carries the columns that stay open through a node's link: adds them to the parent's columns, and keeps their shares.
template <class T>
template <class LinkSprings>
void TreeFactor<T>::carry_columns(const LinkSprings& l, int node, const ColumnPlan& c, T* share) {
  const LinkSteps<T> steps(l, S_[at(node)]);
  const auto s = at(c.staying);
  const int first = c.first + c.closing;
  constexpr T kRounding = T(4) * std::numeric_limits<T>::epsilon();
  const T arm = norm(l.arm);
  const Above up = above(node, c);
  for (std::size_t i = 0; i < s; ++i) {
    const Vec6<T> b = reframed(node, vec6(B(first + static_cast<int>(i))));
    const T force = norm(b.x), couple = norm(b.w) + arm * force;
    T along[6], passed[6];
    at_near_end(l, b, along);
    steps.pass(along, passed);
    add(B(up[static_cast<int>(i)]), from_axes(l, passed));
    // Rounding errors are set to 0: they would look like a tiny compliance.
    for (int j = 0; j < 6; ++j)
      share[at(j) * s + i] = std::abs(along[j]) > kRounding * (j < 3 ? force : couple) ? along[j] : T(0);
  }
  T* D = workspace_.data() + c.compliance;
  for (std::size_t i = 0; i < s; ++i) {
    T w[6];
    for (int j = 0; j < 6; ++j) w[j] = steps.gain[j] * share[at(j) * s + i];
    T* out = D + packed(i);
    for (std::size_t b = 0; b <= i; ++b)
      out[b] += w[0] * share[b] + w[1] * share[s + b] + w[2] * share[2 * s + b] + w[3] * share[3 * s + b] +
                w[4] * share[4 * s + b] + w[5] * share[5 * s + b];
  }
  std::copy(share, share + 6 * s, B(first));
}

template <class T>
void TreeFactor<T>::eliminate_root(int r, const ColumnPlan* c, T* D) {
  RootFactor& factor = roots_[at(r)];
  if (factor.held) return;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) factor.ldl[packed(at(i)) + at(j)] = factor.S.m[i][j];
  factor_ldl(factor.ldl, 3, T(4) * std::numeric_limits<T>::epsilon(), either_sign_, [](int) {});
  if (!c) return;
  for (int i = 0; i < c->staying; ++i) {
    const Vec3<T> x = solve_root(factor, vec6(B(c->first + i)).x);
    for (int j = 0; j <= i; ++j) D[packed(at(i)) + at(j)] += dot(x, vec6(B(c->first + j)).x);
  }
}

template <class T>
Vec3<T> TreeFactor<T>::solve_root(const RootFactor& f, const Vec3<T>& b) {
  T y[3] = {b.x, b.y, b.z};
  solve_ldl(f.ldl, 3, y);
  return {y[0], y[1], y[2]};
}

template <class T>
void TreeFactor<T>::load(const Links& links, const std::vector<RootVertex<T>>& roots, const Rows& rows) {
  for (std::size_t i = 0; i < springs_.size(); ++i) z_[i] = links[i].force;
  strained_ = false;
  for (std::size_t r = 0; r < roots_.size(); ++r) {
    roots_[r].prescribed = roots[r].prescribed;
    roots_[r].f = roots[r].force;
  }
  std::fill(d_.begin(), d_.end(), T(0));
  for (std::size_t i = 0; i < compliance_.size(); ++i) d_[at(plan_.closing_column[i])] = -rows[i].e;
}

template <class T>
template <class Force, class RootForce>
void TreeFactor<T>::load_made(const Force& force, const RootForce& root_force, const Executor& executor) {
  executor.for_each(springs_.size(), [&](std::size_t i) { z_[i] = force(i); });
  strained_ = false;
  for (std::size_t r = 0; r < roots_.size(); ++r) roots_[r].f = root_force(r);
  std::fill(d_.begin(), d_.end(), T(0));
}

template <class T>
template <class Visit>
void TreeFactor<T>::solve(const Executor* executor, const Visit& visit) {
  each_job(executor, plan_.branches, [&](std::size_t i) { solve_up(plan_.branches[i]); });
  each_job(executor, plan_.trunks, [&](std::size_t g) {
    solve_up(plan_.trunks[g]);
    if (const ColumnPlan* c = plan_.columns_at(plan_.group_place(static_cast<int>(g)))) {
      close_forces(*c, nullptr);
      find_multipliers(*c, {});
    }
    solve_down(plan_.trunks[g], visit);
  });
  each_job(executor, plan_.branches, [&](std::size_t i) { solve_down(plan_.branches[i], visit); });
}

/// d1 <- L^-1 d1, with the updates of d2 and f.
template <class T>
void TreeFactor<T>::close_forces(const ColumnPlan& c, Vec6<Sum>* f) {
  const auto k = at(c.closing), s = at(c.staying);
  const T* L = closing_factor_.data() + plan_.closing_at(c).factor;
  const T* Y = closing_gain_.data() + plan_.closing_at(c).gain;
  T* d = d_.data() + c.first;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < i; ++j) d[i] -= L[packed(i) + j] * d[j];
    const T pivot = L[packed(i) + i];
    if (pivot == T(0)) continue;
    const T y = d[i] / pivot;
    if (f) *f = *f - cast6<Sum>(y * vec6(B(c.first + static_cast<int>(i))));
    for (std::size_t a = 0; a < s; ++a) d[k + a] -= y * Y[i * s + a];
  }
}

/// Replaces d1 by lambda1 = -L^-T P^-1 (V^T z + L^-1 d1 + Y lambda2); lambda2 has replaced d2 already.
template <class T>
void TreeFactor<T>::find_multipliers(const ColumnPlan& c, const Vec6<T>& z) {
  const auto k = at(c.closing), s = at(c.staying);
  const T* L = closing_factor_.data() + plan_.closing_at(c).factor;
  const T* Y = closing_gain_.data() + plan_.closing_at(c).gain;
  T* d = d_.data() + c.first;
  for (std::size_t i = k; i-- > 0;) {
    T r = dot6(vec6(B(c.first + static_cast<int>(i))), z) + d[i];
    for (std::size_t a = 0; a < s; ++a) r += Y[i * s + a] * d[k + a];
    const T pivot = L[packed(i) + i];
    T lambda = pivot != T(0) ? -r / pivot : T(0);
    for (std::size_t j = i + 1; j < k; ++j) lambda -= L[packed(j) + i] * d[j];
    d[i] = lambda;
  }
}

/// Fetches the multipliers of the columns that stay open from the place above.
template <class T>
void TreeFactor<T>::fetch_multipliers(int place, const ColumnPlan& c) {
  if (c.staying == 0) return;
  const Above up = above(place, c);
  T* d = d_.data() + c.first + c.closing;
  for (int i = 0; i < c.staying; ++i) d[i] = d_[at(up[i])];
}

/// Carries forces up and leaves their shares in z. Forces are added up in double: their balance along a chain of a thousand links
/// decides how far a stiff rod bends, and float would lose three digits of it.
template <class T>
void TreeFactor<T>::solve_up(const JobPlan& job) {
  Vec6<Sum> carried{};  // the force of the place before, if it is a child
  for (int i = job.first_in_order; i < job.last_in_order; ++i) {
    const int p = plan_.order[at(i)], parent = plan_.places[at(p)].parent;
    const ColumnPlan* c = plan_.columns_at(p);
    const int staying = c ? c->staying : 0;
    T* d = c ? d_.data() + c->first + c->closing : nullptr;
    if (plan_.is_root(p)) {
      RootFactor& root = roots_[at(p - plan_.node_count())];
      root.f += cast<T>(carried.x);
      carried = {};
      const Vec3<T> x = root_x_[at(p - plan_.node_count())] = root.held ? root.prescribed : solve_root(root, root.f);
      for (int k = 0; k < staying; ++k) d[k] += dot(vec6(B(c->first + k)).x, x);
    } else {
      Vec6<Sum> f = cast6<Sum>(z_[at(p)]) + carried;
      if (c && c->closing > 0) close_forces(*c, &f);
      with_springs<Sum>(p, [&](const auto& l) {
        const LinkSteps<Sum, T> steps(l, S_[at(p)]);
        Sum share[6], y[6], force[6], felt[6];
        at_near_end(l, reframed(p, f), share);
        to_axes(l, Sum(-1) * cast6<Sum>(strain(p)), y);  // zeta of a parent that does not move
        steps.up(y, share, felt);
        f = {{share[0], share[1], share[2]}, {share[3], share[4], share[5]}};
        z_[at(p)] = cast6<T>(f);
        if (staying > 0) {
          const T* shares = B(c->first + c->closing);
          for (int j = 0; j < 6; ++j, shares += staying)
            for (int k = 0; k < staying; ++k) d[k] += static_cast<T>(felt[j]) * shares[k];
        }
        steps.down(share, y, force);
        carried = from_axes(l, force);
      });
      if (i + 1 == job.last_in_order || plan_.order[at(i + 1)] != parent) {
        if (parent < plan_.node_count()) z_[at(parent)] = z_[at(parent)] + cast6<T>(carried);
        else roots_[at(parent - plan_.node_count())].f += cast<T>(carried.x);
        carried = {};
      }
    }
    if (staying == 0) continue;
    const Above up = above(p, *c);
    for (int k = 0; k < staying; ++k) d_[at(up[k])] += d[k];
  }
}

template <class T>
template <class Visit>
void TreeFactor<T>::solve_down(const JobPlan& job, const Visit& visit) {
  for (int i = job.last_in_order; i-- > job.first_in_order;) {
    const int p = plan_.order[at(i)], parent = plan_.places[at(p)].parent;
    const ColumnPlan* c = plan_.columns_at(p);
    if (c) fetch_multipliers(p, *c);
    if (plan_.is_root(p)) {
      const int r = p - plan_.node_count();
      if (roots_[at(r)].held || !c) continue;
      Vec3<T> f;
      for (int k = c->first; k < c->first + c->staying; ++k) f += d_[at(k)] * vec6(B(k)).x;
      root_x_[at(r)] += solve_root(roots_[at(r)], f);
      continue;
    }
    const Vec6<T> z = z_[at(p)];
    T share[6] = {z.x.x, z.x.y, z.x.z, z.w.x, z.w.y, z.w.z};
    if (c && c->staying > 0) {
      const T *lambda = d_.data() + c->first + c->closing, *shares = B(c->first + c->closing);
      for (int j = 0; j < 6; ++j, shares += c->staying)
        for (int k = 0; k < c->staying; ++k) share[j] += lambda[k] * shares[k];
    }
    const Vec6<T> above_it = parent < plan_.node_count() ? z_[at(parent)] : Vec6<T>{root_x_[at(parent - plan_.node_count())], {}};
    with_springs<T>(p, [&](const auto& l) {
      const LinkSteps<T> steps(l, S_[at(p)]);
      T moved[6], more[6] = {}, felt[6], y[6], force[6];
      // The shares were computed for a parent that does not move; its displacement is added here.
      to_axes(l, above_it, moved);
      steps.up(moved, more, felt);
      for (int j = 0; j < 6; ++j) share[j] += more[j];
      to_axes(l, above_it - strain(p), y);
      steps.down(share, y, force);
      z_[at(p)] = at_far_end(l, y);
      if (reframe_) z_[at(p)] = displacement_of((*reframe_)[at(p)], z_[at(p)]);
      visit(p, from_axes(l, force), l.arm);
    });
    if (c && c->closing > 0) find_multipliers(*c, z_[at(p)]);
  }
}

template <class T>
std::size_t TreeFactor<T>::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return plan_.bytes() + of(lift_) + of(springs_) + of(axes_) + of(S_) + of(z_) + of(roots_) + of(root_x_) + of(B_) + of(d_) +
         of(workspace_) + of(closing_factor_) + of(closing_gain_) + of(compliance_) + of(too_stiff_);
}

template <class T>
std::size_t TreeFactor<T>::bytes(const TreePlan& plan, std::size_t rows, std::size_t axis_sets) {
  const auto n = at(plan.node_count()), r = at(plan.root_count()), columns = at(plan.column_count());
  return plan.bytes() + n * (sizeof(Springs) + sizeof(PackedSym6<T>) + sizeof(Vec6<T>)) + axis_sets * sizeof(Axes) +
         r * (sizeof(RootFactor) + sizeof(Vec3<T>)) + columns * 7 * sizeof(T) + rows * (sizeof(T) + sizeof(std::uint8_t)) +
         (plan.workspace_size + plan.closing_factor_size + plan.closing_gain_size) * sizeof(T);
}

}  // namespace osier::systems
