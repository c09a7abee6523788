// The rows of pieces of chains in bare memory of a backend (strand_rows.hpp), a thread for each piece, and the vectors over the
// nodes of the model that kernels of device_chains.hpp read and write.
#pragma once

#include "solvers/systems/device/row_kernels.hpp"

namespace osier::systems {

/// The pieces of chains of one law, in memory of the backend.
struct PiecesView {
  RowsView<double> rows;
  TailAnchor* tail;
  double* factored;       ///< numbers of FactoredHead, [number][piece]
  const Quatd* rotation;  ///< of the model's frames at the start of the step
  bool always_bent;       ///< the moments of all joints count, however little they are bent
  Vec3d *moved,
      *turned;  ///< where advance() writes how far nodes move, vertex by vertex and frame by frame; null: it moves the rows
};

/// Extra stiffness on vertices: six numbers for each vertex of the model, lower triangles; or null.
struct ModelBlocks {
  const double* block;
  const HangingStrand& strand;
  OSIER_FN void add(Index i, double (&S)[21]) const {
    if (block == nullptr) return;
    for (int c = 0; c < 6; ++c) S[c] += block[static_cast<std::ptrdiff_t>(strand.first_vertex + i + 1) * 6 + c];
  }
  OSIER_FN void add_head(double (&to)[6]) const {
    if (block == nullptr || strand.continues) return;
    for (int c = 0; c < 6; ++c) to[c] += block[static_cast<std::ptrdiff_t>(strand.first_vertex) * 6 + c];
  }
};

/// A vector over vertices and frames of the model, seen from a piece as ChainField is.
template <class Vector>
struct ModelField {
  Vector *x, *w;
  const HangingStrand& strand;
  OSIER_FN void load(Index i, double (&v)[6]) const {
    const Vec3d a = x[strand.first_vertex + i + 1], b = w[strand.first_segment + i];
    v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = b.x, v[4] = b.y, v[5] = b.z;
  }
  OSIER_FN void store(Index i, const double (&v)[6]) const {
    x[strand.first_vertex + i + 1] = {v[0], v[1], v[2]};
    w[strand.first_segment + i] = {v[3], v[4], v[5]};
  }
  OSIER_FN Vec3d load_head() const { return x[strand.first_vertex]; }
  /// The first vertex of a piece that continues another one is that one's last.
  OSIER_FN void store_head(const Vec3d& v) const {
    if (!strand.continues) x[strand.first_vertex] = v;
  }
};

/// Rows of a ChainFactor, where the functions are explained.
template <class P, template <class> class Law>
class PieceRows : public StrandRows<double, Law> {
 public:
  using Base = StrandRows<double, Law>;
  using Row = typename Base::Row;

  OSIER_FN PieceRows(const PiecesView& view, Index k) : Base(view.rows.group, k), view_(view), piece_(view.rows.piece[k]) {}

  OSIER_FN const HangingStrand& strand() const { return piece_.strand; }
  OSIER_FN Index count() const { return piece_.segments; }
  OSIER_FN Index segments(int) const { return piece_.segments; }
  OSIER_FN bool is_cut() const { return true; }
  OSIER_FN bool is_bent(Index i) const { return view_.always_bent || Base::is_bent(i); }
  /// The head of a piece that continues another one is that one's end.
  OSIER_FN void join_pieces() {
    if (!piece_.strand.continues) return;
    const Index before = this->first_ - 1, last = view_.rows.piece[before].segments - 1;
    const Row r = load_numbers<Row, double>(this->g_.row + place_in_tiles(this->g_.rows, last, Base::kNumbers, before), kTile);
    this->head.u = r.u;
    this->head.turn = r.turn;
  }
  OSIER_FN void move_head(const Vec3d& by) {
    if (piece_.strand.continues) return;
    if (view_.moved != nullptr) view_.moved[piece_.strand.first_vertex] = by;
    else this->head.u += by;
  }
  OSIER_FN void store_moved(Index i, const Row& r, const double (&z)[6]) const {
    if (view_.moved != nullptr) ModelField<Vec3d>{view_.moved, view_.turned, piece_.strand}.store(i, z);
    else Base::store_moved(i, r, z);
  }
  OSIER_FN void add_tail_anchors(Index i, double (&S)[21], double (&f)[6], double& energy) const {
    if (i != piece_.segments - 1 || piece_.tail_joint < 0 || !view_.tail[this->first_].is_there()) return;
    const Row r = this->load(i);
    const Quatd frame = strain_since_start::turned(r.turn, view_.rotation[piece_.strand.first_segment + i]);
    const TailAnchorTerms terms = terms_of(view_.tail[this->first_], frame);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b <= a; ++b) S[triangle(3 + a, 3 + b)] += terms.stiffness[triangle(a, b)];
    f[3] += terms.couple.x, f[4] += terms.couple.y, f[5] += terms.couple.z;
    energy += terms.energy;
  }

 private:
  const PiecesView& view_;
  const PieceOfChain& piece_;
};

}  // namespace osier::systems
