#include "solvers/systems/chains/chain_close.hpp"

#include <Eigen/Dense>

namespace osier::systems {

namespace {

using Vec = Eigen::Matrix<double, 6, 1>;
using Mat = Eigen::Matrix<double, 6, 6>;

Mat symmetric(const double* lower) {
  Mat m;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) m(i, j) = m(j, i) = lower[i * (i + 1) / 2 + j];
  return m;
}
Mat columns(const double (&B)[6][6]) {
  Mat m;
  for (int c = 0; c < 6; ++c)
    for (int a = 0; a < 6; ++a) m(a, c) = B[c][a];
  return m;
}

}  // namespace

void close_pieces(const ChainPiece* pieces, int count, const ChainEnds& ends, double (*z)[6], double (*lambda)[6]) {
  constexpr int kMost = 16;
  Mat gain[kMost];  // lambda = constant - gain z
  Vec constant[kMost];
  Mat S = Mat::Zero();  // of everything from a piece on, as the one before feels it
  Vec f = Vec::Zero();
  for (int k = count - 1; k >= 0; --k) {
    const ChainPiece& p = pieces[k];
    const Mat B = columns(p.B), D = symmetric(p.D);
    const Vec d = Eigen::Map<const Vec>(p.d);
    if (k == count - 1) {
      // Held components do not move: B^T z + D lambda + d = 0 there, and no force elsewhere. Unit rows stand for the others.
      Mat A = Mat::Identity();
      Mat held = Mat::Zero();
      for (int i = 0; i < 6; ++i)
        if (ends.tail_held[i / 3]) held(i, i) = 1;
      if (ends.tail_held[0] || ends.tail_held[1]) A = held * D * held + (Mat::Identity() - held);
      const Eigen::LDLT<Mat> solver(A);
      gain[k] = held * solver.solve(held * B.transpose());
      constant[k] = -(held * solver.solve(held * d));
    } else {
      // known + lambda = f - S z_last with z_last = B^T z + D lambda + d.
      const Eigen::PartialPivLU<Mat> solver(Mat::Identity() + S * D);
      gain[k] = solver.solve(S * B.transpose());
      constant[k] = solver.solve(f - Eigen::Map<const Vec>(p.known) - S * d);
    }
    S = symmetric(p.S) + B * gain[k];
    S = (0.5 * (S + S.transpose())).eval();
    f = Eigen::Map<const Vec>(p.f) + B * constant[k];
  }
  Vec here = Vec::Zero();
  if (!ends.root_held) {
    const Eigen::Matrix3d A = S.topLeftCorner<3, 3>() + ends.root_weight * Eigen::Matrix3d::Identity();
    here.head<3>() = A.ldlt().solve(f.head<3>() + Eigen::Map<const Eigen::Vector3d>(ends.root_force));
  }
  for (int k = 0; k < count; ++k) {
    const ChainPiece& p = pieces[k];
    const Vec force = constant[k] - gain[k] * here;
    for (int a = 0; a < 6; ++a) z[k][a] = here[a], lambda[k][a] = force[a];
    here = (columns(p.B).transpose() * here + symmetric(p.D) * force + Eigen::Map<const Vec>(p.d)).eval();
  }
}

}  // namespace osier::systems
