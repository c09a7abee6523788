// The start and the end of a step of strands, or of pieces of chains, row by row: a thread for every row, since nothing in one
// depends on another. The iterations between them are a thread for each strand (systems/device/strand_step.hpp) or piece
// (device_chains.hpp).
#pragma once

#include "solvers/systems/chains/tail_anchor.hpp"
#include "solvers/systems/device/chain_pieces.hpp"
#include "solvers/systems/device/strand_watch.hpp"

namespace osier::systems {

/// Strands or pieces of one law, in memory of the backend.
template <class T>
struct RowsView {
  StrandGroup<T> group;
  const PieceOfChain* piece;
};

/// Items of a kernel for every row: 32 pieces side by side, row after row, and then the next 32, so that neighbouring threads
/// read neighbouring numbers of rows, and those of the next rows read what is left of the same lines of the model's arrays.
inline Index items_of_rows(Index rows, Index width) { return (width + kTile - 1) / kTile * kTile * rows; }

/// kTails: last vertices and frames may be held, too, and anchored.
template <class T, template <class> class Law, bool kDamped, bool kTails>
struct RowKernels {
  using Row = ChainLinkRow<T, Law>;
  using Head = StrandHead<T>;
  using Start = StrandStart<T, Law, kDamped, kTails>;
  /// How many numbers of a row the start of a step gives; the others are of the factor.
  static constexpr int kGiven = StrandRows<T, Law>::kGiven;

  OSIER_FN static T* row_at(const RowsView<T>& v, Index i, Index k) {
    return v.group.row + place_in_tiles(v.group.rows, i, numbers_in<Row, T>, k);
  }
  /// The row and the piece of an item. False where there is none.
  OSIER_FN static bool row_of(const RowsView<T>& v, Index n, Index& i, Index& k) {
    const Index tile = n / (kTile * v.group.rows), left = n - tile * kTile * v.group.rows;
    i = left / kTile, k = tile * kTile + left % kTile;
    return k < v.group.width && i < v.piece[k].segments;
  }

  struct LoadRows {
    static constexpr int kBlocks = 4;
    RowsView<T> v;
    StepOrders orders;
    Index step;
    TailAnchor* tail;  ///< with kTails
    double* factored;  ///< numbers of FactoredHead, [number][piece]
    OSIER_FN void operator()(Index n) const {
      Index i, k;
      if (!row_of(v, n, i, k)) return;
      const PieceOfChain& p = v.piece[k];
      const Start start(v.group, orders, step, p.strand, k);
      store_numbers_of<T, 0, kGiven>(start.row(i, start.guess(p.strand.first_vertex + i)), row_at(v, i, k), kTile);
      if (i > 0) return;
      store_numbers<T>(start.head(), v.group.head + k, v.group.width);
      if constexpr (kTails) {
        store_numbers<double>(FactoredHead<double>{}, factored + k, v.group.width);
        if (p.tail_joint >= 0) load_tail(p, k);
      }
    }
    OSIER_FN void load_tail(const PieceOfChain& p, Index k) const {
      const int per_row = lanes::constants_per_row(Law<T>::kLaw, kDamped, lanes::ChainUse::direct);
      const auto constant = [&](int what) {
        return v.group.constants[place_in_tiles(v.group.rows + 1, p.segments, per_row, k) + std::ptrdiff_t{what} * kTile];
      };
      const lanes::StepView& s = orders.step;
      TailAnchor anchor_at_tail;
      anchor_at_tail.joint = Law<T>::joint_of(constant, s.h, kDamped);
      anchor_at_tail.joint.rest = p.tail_flipped ? conj(s.joint_rest[p.tail_joint]) : s.joint_rest[p.tail_joint];
      const Quatd anchor = s.rotation[p.tail_frame];
      anchor_at_tail.joint.previous = conj(s.rotation[p.strand.first_segment + p.segments - 1]) * anchor;
      Quatd target;
      anchor_at_tail.frame = orders.holds_frame(p.tail_frame, step, target) ? target : anchor;
      this->tail[k] = anchor_at_tail;
    }
  };

  /// How far nodes of a piece would move if nothing were elastic, squared, and its length.
  OSIER_FN static void measure(const RowsView<T>& v, const double* rest_length, Index k, double& free2, double& length) {
    free2 = length = 0;
    for (Index i = 0; i < v.piece[k].segments; ++i) {
      free2 = larger(free2, static_cast<double>(load_numbers<Row, T>(row_at(v, i, k), kTile).free_motion2()));
      length += rest_length[v.piece[k].strand.first_segment + i];
    }
  }
  struct Measure {
    RowsView<T> v;
    const double* rest_length;
    double* measured;  ///< [number][piece]
    OSIER_FN void operator()(Index k) const { measure(v, rest_length, k, measured[k], measured[v.group.width + k]); }
  };

  /// The end of a step into the state, but for chains whose energy rose; those forget the forces through their links.
  struct StoreRows {
    RowsView<T> v;
    StepOrders orders;
    Index step;
    const std::uint8_t* outcome;  ///< of chains
    OSIER_FN void put_vertex(Index vertex, bool may_hold, const Vec3<T>& moved) const {
      const Vec3d u = cast<double>(moved);
      const lanes::StepView& s = orders.step;
      Vec3d target;
      s.position[vertex] = may_hold && orders.holds(vertex, step, target) ? target : s.position[vertex] + u;
      s.velocity_previous[vertex] = (1 / s.h) * u;
    }
    OSIER_FN void operator()(Index n) const {
      Index i, k;
      if (!row_of(v, n, i, k)) return;
      const PieceOfChain& p = v.piece[k];
      if (outcome[p.chain] & kStrandRose) {
        for (int a = 0; a < Law<T>::kForces; ++a)
          v.group.force[place_in_tiles(v.group.rows, i, Law<T>::kForces, k) + std::ptrdiff_t{a} * kTile] = T(0);
        return;
      }
      const Row r = load_numbers<Row, T>(row_at(v, i, k), kTile);
      put_vertex(p.strand.first_vertex + i + 1, kTails, r.u);
      const Index f = p.strand.first_segment + i;
      Quatd target;
      const bool held = (kTails || i == 0) && orders.holds_frame(f, step, target);
      orders.step.rotation[f] = held ? target : strain_since_start::turned(cast<double>(r.turn), orders.step.rotation[f]);
      if (i == 0 && !p.strand.continues) {
        put_vertex(p.strand.first_vertex, true, load_numbers<Head, T>(v.group.head + k, v.group.width).u);
        if (p.strand.head >= 0 && orders.holds_frame(p.strand.head, step, target)) orders.step.rotation[p.strand.head] = target;
      }
      if (kTails && i + 1 == p.segments && p.tail_frame >= 0 && orders.holds_frame(p.tail_frame, step, target))
        orders.step.rotation[p.tail_frame] = target;
    }
  };
};

}  // namespace osier::systems
