// Pieces of chains joined two by two, and split again: the forces where pieces meet and at ends that are held, six unknowns each.
//
// The energy of a piece by its two ends (chain_factor.hpp), with z the displacement of its head, known + lambda the force on its
// last node, and known what f and d contain already:
//
//   1/2 z.S z - (f + B lambda).z - 1/2 lambda.D lambda - d.lambda
//
// Its last node moves by y = B^T z + D lambda + d. Where piece a meets piece b, y is the displacement of b's head:
//
//   known_a + lambda_a = f_b + B_b lambda_b - S_b y
//
// Components of y that are held are 0, and the force that holds them is unknown in their place. With x for the unknowns, H for
// those that are held (a diagonal matrix of 0 and 1), y = (1 - H) x, and Q = S_b (1 - H) - H:
//
//   x = N (B_a^T z + d_a + D_a (f_b - known_a + B_b lambda_b)),   N = (1 - H + D_a Q)^-1
//
// Two pieces are then one, with the same kind of energy. All of it is small and in double.
#pragma once

#include <cmath>

#include "solvers/systems/chains/chain_factor.hpp"
#include "solvers/systems/device/chain_pieces.hpp"

namespace osier::systems {

/// What a node of the tree has of its stiffness, and of its forces.
struct NodeStiffness {
  double S[21], B[6][6], D[21];  ///< B[c][a]: component a of column c
};
struct NodeForces {
  double f[6], d[6], known[6];
};
/// The displacement of its head, and the change of the force on its last node.
struct NodeMotion {
  double z[6], lambda[6];
};
/// N of a join.
struct JoinGain {
  double N[6][6];
};

/// Numbers of the nodes, [number][node], and of the joins.
struct TreeView {
  Index nodes, joins, pieces;
  double *stiffness, *forces, *motion, *gain;
  const PieceJoin* join;

  template <class Struct>
  OSIER_FN Struct load(const double* numbers, Index node) const {
    return load_numbers<Struct, double>(numbers + node, nodes);
  }
  template <class Struct>
  OSIER_FN void store(const Struct& s, double* numbers, Index node) const {
    store_numbers<double>(s, numbers + node, nodes);
  }
  OSIER_FN JoinGain gain_of(Index i) const { return load_numbers<JoinGain, double>(gain + i, joins); }
  OSIER_FN Index node_of(Index i) const { return 1 + pieces + i; }
};

/// The inverse of a matrix that is not symmetric, by elimination with row pivoting; no index depends on data.
OSIER_FN void invert6(double (&a)[6][6], double (&inverse)[6][6]) {
  OSIER_UNROLL(6)
  for (int i = 0; i < 6; ++i) {
    OSIER_UNROLL(6)
    for (int j = 0; j < 6; ++j) inverse[i][j] = i == j ? 1 : 0;
  }
  OSIER_UNROLL(6)
  for (int j = 0; j < 6; ++j) {
    OSIER_UNROLL(6)
    for (int i = j + 1; i < 6; ++i) {
      const bool swap = std::abs(a[i][j]) > std::abs(a[j][j]);
      OSIER_UNROLL(6)
      for (int c = 0; c < 6; ++c) {
        const double p = a[j][c], q = a[i][c], r = inverse[j][c], s = inverse[i][c];
        a[j][c] = swap ? q : p, a[i][c] = swap ? p : q;
        inverse[j][c] = swap ? s : r, inverse[i][c] = swap ? r : s;
      }
    }
    const double scale = 1 / a[j][j];
    OSIER_UNROLL(6)
    for (int c = 0; c < 6; ++c) a[j][c] *= scale, inverse[j][c] *= scale;
    OSIER_UNROLL(6)
    for (int i = 0; i < 6; ++i) {
      if (i == j) continue;
      const double factor = a[i][j];
      OSIER_UNROLL(6)
      for (int c = 0; c < 6; ++c) a[i][c] -= factor * a[j][c], inverse[i][c] -= factor * inverse[j][c];
    }
  }
}

OSIER_FN double held_at(const PieceJoin& join, int a) { return join.held[a / 3] ? 1 : 0; }

/// Q of a join by the stiffness S of the piece after it.
OSIER_FN double entry_of_Q(const PieceJoin& join, const double (&S)[21], int a, int b) {
  const double H = held_at(join, b);
  return (1 - H) * S[triangle(a, b)] - (a == b ? H : 0);
}

struct JoinStiffness {
  TreeView tree;
  Index first;  ///< of a level
  OSIER_FN void operator()(Index item) const {
    const Index i = first + item;
    const PieceJoin join = tree.join[i];
    const auto a = tree.template load<NodeStiffness>(tree.stiffness, join.left);
    const auto b = tree.template load<NodeStiffness>(tree.stiffness, join.right);
    double M[6][6];
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) {
        double sum = r == c ? 1 - held_at(join, r) : 0;
        for (int k = 0; k < 6; ++k) sum += a.D[triangle(r, k)] * entry_of_Q(join, b.S, k, c);
        M[r][c] = sum;
      }
    JoinGain gain;
    invert6(M, gain.N);
    store_numbers<double>(gain, tree.gain + i, tree.joins);
    // Columns of x by the displacement of the head (N B_a^T) and by the force on the last node (N D_a B_b).
    NodeStiffness all;
    double by_z[6][6];
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) {
        double sum = 0;
        for (int k = 0; k < 6; ++k) sum += gain.N[r][k] * a.B[k][c];
        by_z[r][c] = sum;
      }
    // S = S_a + B_a Q x_z, and B^T: y moves by x_z, so that B = (B_b^T (1 - H) x_z)^T.
    double Qx[6][6];
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) {
        double sum = 0, column = 0;
        for (int k = 0; k < 6; ++k) {
          sum += entry_of_Q(join, b.S, r, k) * by_z[k][c];
          column += (1 - held_at(join, k)) * b.B[r][k] * by_z[k][c];
        }
        Qx[r][c] = sum;
        all.B[r][c] = column;
      }
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c <= r; ++c) {
        double lower = 0, upper = 0;
        for (int k = 0; k < 6; ++k) lower += a.B[k][r] * Qx[k][c], upper += a.B[k][c] * Qx[k][r];
        all.S[triangle(r, c)] = a.S[triangle(r, c)] + 0.5 * (lower + upper);
      }
    double ND[6][6];
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) {
        double sum = 0;
        for (int k = 0; k < 6; ++k) sum += gain.N[r][k] * a.D[triangle(k, c)];
        ND[r][c] = (1 - held_at(join, r)) * sum;
      }
    for (int r = 0; r < 6; ++r) {
      double half[6];  // row r of B_b^T (1 - H) N D_a
      for (int c = 0; c < 6; ++c) {
        half[c] = 0;
        for (int k = 0; k < 6; ++k) half[c] += b.B[r][k] * ND[k][c];
      }
      for (int c = 0; c <= r; ++c) {
        double sum = b.D[triangle(r, c)];
        for (int k = 0; k < 6; ++k) sum += half[k] * b.B[c][k];
        all.D[triangle(r, c)] = sum;
      }
    }
    tree.store(all, tree.stiffness, tree.node_of(i));
  }
};

/// x of a join without the motion of its head and without the force on its last node.
OSIER_FN void unknowns_of(const JoinGain& gain, const NodeStiffness& a, const double (&d)[6], const double (&force)[6],
                          double (&x)[6]) {
  double motion[6];
  for (int r = 0; r < 6; ++r) {
    motion[r] = d[r];
    for (int k = 0; k < 6; ++k) motion[r] += a.D[triangle(r, k)] * force[k];
  }
  for (int r = 0; r < 6; ++r) {
    x[r] = 0;
    for (int k = 0; k < 6; ++k) x[r] += gain.N[r][k] * motion[k];
  }
}

struct JoinForces {
  TreeView tree;
  Index first;
  OSIER_FN void operator()(Index item) const {
    const Index i = first + item;
    const PieceJoin join = tree.join[i];
    const auto a = tree.template load<NodeStiffness>(tree.stiffness, join.left);
    const auto b = tree.template load<NodeStiffness>(tree.stiffness, join.right);
    const auto of_a = tree.template load<NodeForces>(tree.forces, join.left);
    const auto of_b = tree.template load<NodeForces>(tree.forces, join.right);
    double force[6], x[6];
    for (int r = 0; r < 6; ++r) force[r] = of_b.f[r] - of_a.known[r];
    unknowns_of(tree.gain_of(i), a, of_a.d, force, x);
    NodeForces all;
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < 6; ++k) force[r] -= entry_of_Q(join, b.S, r, k) * x[k];
    for (int r = 0; r < 6; ++r) {
      all.f[r] = of_a.f[r], all.d[r] = of_b.d[r], all.known[r] = of_b.known[r];
      for (int k = 0; k < 6; ++k) {
        all.f[r] += a.B[k][r] * force[k];
        all.d[r] += (1 - held_at(join, k)) * b.B[r][k] * x[k];
      }
    }
    tree.store(all, tree.forces, tree.node_of(i));
  }
};

struct SplitMotion {
  TreeView tree;
  Index first;
  OSIER_FN void operator()(Index item) const {
    const Index i = first + item;
    const PieceJoin join = tree.join[i];
    const auto a = tree.template load<NodeStiffness>(tree.stiffness, join.left);
    const auto b = tree.template load<NodeStiffness>(tree.stiffness, join.right);
    const auto of_a = tree.template load<NodeForces>(tree.forces, join.left);
    const auto of_b = tree.template load<NodeForces>(tree.forces, join.right);
    const auto all = tree.template load<NodeMotion>(tree.motion, tree.node_of(i));
    NodeMotion left, right;
    double force[6], d[6], x[6];
    for (int r = 0; r < 6; ++r) {
      left.z[r] = all.z[r], right.lambda[r] = all.lambda[r];
      force[r] = of_b.f[r] - of_a.known[r], d[r] = of_a.d[r];
      for (int k = 0; k < 6; ++k) force[r] += b.B[k][r] * all.lambda[k], d[r] += a.B[r][k] * all.z[k];
    }
    unknowns_of(tree.gain_of(i), a, d, force, x);
    for (int r = 0; r < 6; ++r) {
      right.z[r] = (1 - held_at(join, r)) * x[r];
      left.lambda[r] = force[r];
      for (int k = 0; k < 6; ++k) left.lambda[r] -= entry_of_Q(join, b.S, r, k) * x[k];
    }
    tree.store(left, tree.motion, join.left);
    if (join.right != 0) tree.store(right, tree.motion, join.right);
  }
};

}  // namespace osier::systems
