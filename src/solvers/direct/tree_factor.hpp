// Articulated compliance recursion: solves one linear(ised) step of a tree of segments in O(n), in compliance form, so that a
// spring may be as stiff as one likes (compliance 0: rigid).
//
//   minimise over (dx, w)   sum_n 1/2 z_n.(L_n z_n) - f_n.z_n  +  sum_links 1/2 eps.(C^-1 eps)
//
//   z_n = (dx, w)      displacement of the far vertex and turn of the segment's frame (world axes)
//   L_n, f_n           whatever acts on them alone: mass, drag, tension, contact; loads
//   eps_n = M_n z_n - (z_parent - e_n),   M z = (dx + arm x w, w)     strains against the parent, e_n those of the present state
//   C_n                compliance: three axes for positions, three for rotations
//
// Upward (leaf to root), S_n and f_n are the stiffness and force that the parent feels through the link: the subtree's stiffness
// in series with the link's springs, one rank-1 update per axis, S -= c/(1 + c a.Sa) (S a)(S a)^T. Nothing is ever divided by a
// compliance. Downward, with zeta = z_parent - e:  F = f - S zeta is the force in the link, eta = zeta + C F, and z follows.
//
// Nodes that are held in part (a pinned vertex, a fixed or hinged frame, a frame without joint to its parent) restrict z to
// z0 + B theta and are eliminated densely with the link's stiffness; those are few.
#pragma once

#include <limits>
#include <vector>

#include "solvers/direct/link_algebra.hpp"

namespace osier::direct {

template <class T>
struct Link : LinkSprings<T> {
  int parent = -1;  ///< node, or -1: the parent is the root vertex `root`, whose frame does not turn
  int root = -1;
  bool w_linked = true;  ///< false: the frame turns freely of its parent
  Vec6<T> e;             ///< present strain
  Sym6<T> load_stiffness;
  Vec6<T> force;
  bool vertex_held = false;
  int frame_freedom = 3;  ///< 3 free, 1 hinged about `hinge`, 0 held
  Vec3<T> hinge;
  Vec6<T> prescribed;  ///< of what is held
  bool ordinary() const { return w_linked && !vertex_held && frame_freedom == 3; }
};

template <class T>
struct RootVertex {
  bool held = true;
  Vec3<T> prescribed;
  Mat3<T> stiffness;  ///< mass/h^2 and whatever else acts on the vertex
  Vec3<T> force;
};

template <class T>
class TreeFactor {
 public:
  /// Links in an order in which parents come before children. The strains and forces in them are those of the first solve().
  void factor(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots);
  /// For the forces and strains that the links and roots carry now.
  void solve(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots);

  const std::vector<Vec6<T>>& displacement() const { return z_; }  ///< per link
  const std::vector<Vec3<T>>& root_displacement() const { return root_x_; }
  const std::vector<Vec6<T>>& link_force() const { return F_; }  ///< on the link's subtree, from its parent

 private:
  struct Node : LinkFactor<T> {
    int held = -1;  ///< index into held_
  };
  struct HeldNode {
    Sym6<T> Q;         ///< stiffness of z, link included
    T factor[6][6]{};  ///< LDL^T of B^T Q B
    Vec6<T> B[6];
    int count = 0;
    Sym6<T> K;  ///< the link's stiffness on M z
  };
  static Vec6<T> moved(const Vec3<T>& arm, const Vec6<T>& z) { return {z.x + cross(arm, z.w), z.w}; }       // M z
  static Vec6<T> moved_back(const Vec3<T>& arm, const Vec6<T>& f) { return {f.x, f.w - cross(arm, f.x)}; }  // M^T f
  void factor_held(const Link<T>& l, const Sym6<T>& S, Node& node);
  Vec6<T> solve_held(const HeldNode& h, const Vec6<T>& rhs) const;

  std::vector<Node> nodes_;
  std::vector<HeldNode> held_;
  std::vector<Vec6<T>> held_f_;  ///< forces on z before the link
  std::vector<Sym6<T>> sum_;
  std::vector<Vec6<T>> f_, z_, F_;
  std::vector<Mat3<T>> root_sum_;
  std::vector<Vec3<T>> root_f_, root_x_;
};

template <class T>
void TreeFactor<T>::factor_held(const Link<T>& l, const Sym6<T>& S, Node& node) {
  node.held = static_cast<int>(held_.size());
  held_.emplace_back();
  HeldNode& h = held_.back();
  const auto inverse = [](const Vec3<T>& c) { return Vec3<T>{T(1) / c.x, T(1) / c.y, T(1) / c.z}; };
  h.K.xx = rotated_diagonal(l.x_axes, inverse(l.x_compliance));
  if (l.w_linked) h.K.ww = rotated_diagonal(l.w_axes, inverse(l.w_compliance));
  // Q = S + M^T K M
  const Mat3<T> G = skew(l.arm);
  h.Q.xx = S.xx + h.K.xx;
  h.Q.xw = S.xw + h.K.xx * G;
  h.Q.ww = S.ww + h.K.ww + T(-1) * (G * h.K.xx * G);
  const auto unit = [](int i) { return Vec3<T>{T(i == 0), T(i == 1), T(i == 2)}; };
  if (!l.vertex_held)
    for (int i = 0; i < 3; ++i) h.B[h.count++] = {unit(i), {}};
  if (l.frame_freedom == 3)
    for (int i = 0; i < 3; ++i) h.B[h.count++] = {{}, unit(i)};
  if (l.frame_freedom == 1) h.B[h.count++] = {{}, l.hinge};
  // LDL^T; a pivot that is only rounding belongs to a null mode and stays where it is.
  T a[6][6];
  for (int i = 0; i < h.count; ++i)
    for (int j = 0; j < h.count; ++j) a[i][j] = dot6(h.B[i], h.Q * h.B[j]);
  for (int i = 0; i < h.count; ++i) {
    const T whole = a[i][i];
    for (int k = 0; k < i; ++k) a[i][i] -= h.factor[i][k] * h.factor[i][k] * h.factor[k][k];
    h.factor[i][i] = a[i][i] > T(64) * std::numeric_limits<T>::epsilon() * whole ? a[i][i] : T(0);
    for (int j = i + 1; j < h.count; ++j) {
      T x = a[j][i];
      for (int k = 0; k < i; ++k) x -= h.factor[j][k] * h.factor[i][k] * h.factor[k][k];
      h.factor[j][i] = h.factor[i][i] > T(0) ? x / h.factor[i][i] : T(0);
    }
  }
  // S = K - K M B (B^T Q B)^-1 B^T M^T K, column by column.
  Vec6<T> columns[6];
  for (int j = 0; j < 6; ++j) {
    const Vec6<T> e = j < 3 ? Vec6<T>{unit(j), {}} : Vec6<T>{{}, unit(j - 3)};
    const Vec6<T> Ke = h.K * e;
    columns[j] = Ke - h.K * moved(l.arm, solve_held(h, moved_back(l.arm, Ke)));
  }
  const auto part = [](const Vec3<T>& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; };
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      node.S.xx.m[i][j] = part(columns[j].x, i);
      node.S.xw.m[i][j] = part(columns[3 + j].x, i);
      node.S.ww.m[i][j] = part(columns[3 + j].w, i);
    }
}

/// B (B^T Q B)^-1 B^T rhs
template <class T>
Vec6<T> TreeFactor<T>::solve_held(const HeldNode& h, const Vec6<T>& rhs) const {
  T y[6];
  for (int i = 0; i < h.count; ++i) {
    y[i] = dot6(h.B[i], rhs);
    for (int k = 0; k < i; ++k) y[i] -= h.factor[i][k] * y[k];
  }
  for (int i = 0; i < h.count; ++i) y[i] = h.factor[i][i] > T(0) ? y[i] / h.factor[i][i] : T(0);
  Vec6<T> z;
  for (int i = h.count - 1; i >= 0; --i) {
    for (int k = i + 1; k < h.count; ++k) y[i] -= h.factor[k][i] * y[k];
    z = z + y[i] * h.B[i];
  }
  return z;
}

template <class T>
void TreeFactor<T>::factor(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots) {
  const std::size_t n = links.size();
  nodes_.resize(n), f_.resize(n), z_.resize(n), F_.resize(n);
  held_.clear();
  sum_.assign(n, {});
  root_sum_.assign(roots.size(), {});
  root_f_.resize(roots.size()), root_x_.resize(roots.size());
  for (std::size_t i = n; i-- > 0;) {
    const Link<T>& l = links[i];
    Node& node = nodes_[i];
    node.held = -1;
    const Sym6<T> S = sum_[i] + l.load_stiffness;
    if (l.ordinary()) factor_link<T>(l, S, node);
    else factor_held(l, S, node);
    if (l.parent >= 0) sum_[static_cast<std::size_t>(l.parent)] = sum_[static_cast<std::size_t>(l.parent)] + node.S;
    else root_sum_[static_cast<std::size_t>(l.root)] = root_sum_[static_cast<std::size_t>(l.root)] + node.S.xx;
  }
}

template <class T>
void TreeFactor<T>::solve(const std::vector<Link<T>>& links, const std::vector<RootVertex<T>>& roots) {
  const std::size_t n = links.size();
  held_f_.resize(held_.size());
  for (std::size_t i = 0; i < n; ++i) f_[i] = links[i].force;
  for (std::size_t r = 0; r < roots.size(); ++r) root_f_[r] = roots[r].force;
  for (std::size_t i = n; i-- > 0;) {
    const Link<T>& l = links[i];
    const Node& node = nodes_[i];
    Vec6<T> f = f_[i];
    if (node.held < 0) {
      f = force_up<T>(l, node, f);
    } else {
      const HeldNode& h = held_[static_cast<std::size_t>(node.held)];
      held_f_[static_cast<std::size_t>(node.held)] = f;
      f = h.K * moved(l.arm, l.prescribed + solve_held(h, f - h.Q * l.prescribed));
    }
    f_[i] = f;
    const Vec6<T> up = f + node.S * l.e;
    if (l.parent >= 0) f_[static_cast<std::size_t>(l.parent)] = f_[static_cast<std::size_t>(l.parent)] + up;
    else root_f_[static_cast<std::size_t>(l.root)] += up.x;
  }
  for (std::size_t r = 0; r < roots.size(); ++r) {
    root_x_[r] = roots[r].prescribed;
    if (!roots[r].held) {
      root_x_[r] = {};
      solve_positive(roots[r].stiffness + root_sum_[r], root_f_[r], T(0), root_x_[r]);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Link<T>& l = links[i];
    const Node& node = nodes_[i];
    const Vec6<T> parent =
        l.parent >= 0 ? z_[static_cast<std::size_t>(l.parent)] : Vec6<T>{root_x_[static_cast<std::size_t>(l.root)], {}};
    const Vec6<T> zeta = parent - l.e;
    F_[i] = f_[i] - node.S * zeta;
    if (node.held < 0) {
      z_[i] = displacement_down<T>(l, zeta, F_[i]);
    } else {
      const HeldNode& h = held_[static_cast<std::size_t>(node.held)];
      const Vec6<T> rhs = held_f_[static_cast<std::size_t>(node.held)] - h.Q * l.prescribed + moved_back(l.arm, h.K * zeta);
      z_[i] = l.prescribed + solve_held(h, rhs);
    }
  }
}

}  // namespace osier::direct
