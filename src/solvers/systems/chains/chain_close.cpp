#include "solvers/systems/chains/chain_close.hpp"

#include <cmath>
#include <utility>

#include "linalg/small_ldl.hpp"

namespace osier::systems {

namespace {

constexpr int kMostPieces = 16;

/// The forces on the last node of a piece by the displacement z of its head: constant - gain z.
struct TailForce {
  double gain[6][6], constant[6];
};

/// The forces at an end that is held: its held components do not move, B^T z + D lambda + d = 0, and the others have no force.
TailForce force_of_held_tail(const ChainPiece& p, const bool (&tail_held)[2]) {
  int held[6], n = 0;
  for (int i = 0; i < 6; ++i)
    if (tail_held[i / 3]) held[n++] = i;
  double D[21];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) D[triangle(i, j)] = p.D[triangle(held[i], held[j])];
  factor_ldl(D, n, 0.0, false, [](int) {});
  TailForce out{};
  for (int column = 0; column < 7; ++column) {
    double y[6];
    for (int i = 0; i < n; ++i) y[i] = column < 6 ? p.B[held[i]][column] : -p.d[held[i]];
    solve_ldl(D, n, y);
    for (int i = 0; i < n; ++i) (column < 6 ? out.gain[held[i]][column] : out.constant[held[i]]) = y[i];
  }
  return out;
}

/// The forces at an end that continues: the following pieces have the stiffness S and the force f at z_last = B^T z + D lambda +
/// d,
///
///   known + lambda = f - S z_last,   (1 + S D) lambda = f - known - S d - S B^T z
///
/// The matrix is not symmetric: Gaussian elimination with row pivoting.
TailForce force_between_pieces(const ChainPiece& p, const double (&S)[21], const double (&f)[6]) {
  double a[6][13];  // 1 + S D, S B^T and f - known - S d
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double with_D = i == j ? 1 : 0, with_B = 0;
      for (int k = 0; k < 6; ++k) {
        with_D += S[triangle(i, k)] * p.D[triangle(k, j)];
        with_B += S[triangle(i, k)] * p.B[k][j];
      }
      a[i][j] = with_D;
      a[i][6 + j] = with_B;
    }
    a[i][12] = f[i] - p.known[i];
    for (int k = 0; k < 6; ++k) a[i][12] -= S[triangle(i, k)] * p.d[k];
  }
  for (int j = 0; j < 6; ++j) {
    int pivot = j;
    for (int i = j + 1; i < 6; ++i)
      if (std::abs(a[i][j]) > std::abs(a[pivot][j])) pivot = i;
    if (pivot != j) std::swap(a[pivot], a[j]);
    for (int i = j + 1; i < 6; ++i) {
      const double scale = a[i][j] / a[j][j];
      for (int c = j + 1; c < 13; ++c) a[i][c] -= scale * a[j][c];
    }
  }
  TailForce out;
  for (int i = 6; i-- > 0;)
    for (int c = 0; c < 7; ++c) {
      double x = a[i][6 + c];
      for (int k = i + 1; k < 6; ++k) x -= a[i][k] * (c < 6 ? out.gain[k][c] : out.constant[k]);
      (c < 6 ? out.gain[i][c] : out.constant[i]) = x / a[i][i];
    }
  return out;
}

}  // namespace

void close_pieces(const ChainPiece* pieces, int count, const ChainEnds& ends, double (*z)[6], double (*lambda)[6]) {
  TailForce tail[kMostPieces];
  double S[21] = {}, f[6] = {};  // stiffness and force of a piece and all that follow it, on the piece before
  for (int k = count - 1; k >= 0; --k) {
    const ChainPiece& p = pieces[k];
    tail[k] = k == count - 1 ? force_of_held_tail(p, ends.tail_held) : force_between_pieces(p, S, f);
    for (int i = 0; i < 6; ++i) {
      // B gain is symmetric but for rounding.
      for (int j = 0; j <= i; ++j) {
        double lower = 0, upper = 0;
        for (int c = 0; c < 6; ++c) {
          lower += p.B[c][i] * tail[k].gain[c][j];
          upper += p.B[c][j] * tail[k].gain[c][i];
        }
        S[triangle(i, j)] = p.S[triangle(i, j)] + 0.5 * (lower + upper);
      }
      f[i] = p.f[i];
      for (int c = 0; c < 6; ++c) f[i] += p.B[c][i] * tail[k].constant[c];
    }
  }
  double here[6] = {};
  if (!ends.root_held) {
    double A[6], x[3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) A[triangle(i, j)] = S[triangle(i, j)] + ends.root_block[triangle(i, j)];
      A[triangle(i, i)] += ends.root_weight;
      x[i] = f[i] + ends.root_force[i];
    }
    Ldl<3, double>(A).solve(x);
    for (int i = 0; i < 3; ++i) here[i] = x[i];
  }
  for (int k = 0; k < count; ++k) {
    const ChainPiece& p = pieces[k];
    for (int a = 0; a < 6; ++a) {
      z[k][a] = here[a];
      lambda[k][a] = tail[k].constant[a];
      for (int b = 0; b < 6; ++b) lambda[k][a] -= tail[k].gain[a][b] * here[b];
    }
    double next[6];
    for (int a = 0; a < 6; ++a) {
      next[a] = p.d[a];
      for (int b = 0; b < 6; ++b) next[a] += p.B[a][b] * z[k][b] + p.D[triangle(a, b)] * lambda[k][b];
    }
    for (int a = 0; a < 6; ++a) here[a] = next[a];
  }
}

}  // namespace osier::systems
