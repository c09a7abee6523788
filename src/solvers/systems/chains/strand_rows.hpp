// The rows of strands of equal length in bare memory, one strand for each thread of a graphics card, or one pack of strands at a
// time. Numbers lie component by component for 32 strands at a time: number c of row i of strand k is
// memory[((k / 32 * rows + i) * numbers + c) * 32 + k % 32], so that neighbouring threads read neighbouring numbers, and a row is
// one piece of memory whose numbers are at constant distances.
#pragma once

#include "exec/strided.hpp"
#include "solvers/systems/chains/chain_factor.hpp"

namespace osier::systems {

/// Strands side by side in a tile.
inline constexpr Index kTile = 32;
/// Where the first number of row i of strand k is; every further one is kTile behind.
OSIER_FN std::ptrdiff_t place_in_tiles(Index rows, Index i, int numbers, Index k) {
  return (static_cast<std::ptrdiff_t>(k / kTile) * rows + i) * numbers * kTile + k % kTile;
}
inline std::size_t size_of_tiles(Index rows, int numbers, std::size_t width) {
  constexpr std::size_t kWide = kTile;
  return (width + kWide - 1) / kWide * kWide * static_cast<std::size_t>(rows) * static_cast<std::size_t>(numbers);
}

/// A group of strands, in memory of the backend.
template <class T>
struct StrandGroup {
  Index rows;          ///< segments of a strand
  Index width;         ///< strands side by side
  T* row;              ///< numbers of ChainLinkRow, in tiles
  T* head;             ///< numbers of StrandHead, [number][strand]
  std::uint8_t* bent;  ///< of rows, in tiles
  const T* constants;  ///< of rows and one more, in tiles (lanes/chain_constants.hpp, for the direct solver)
  T* force;            ///< Law::kForces numbers of rows, in tiles, kept from step to step
  T inverse_h;
  bool damped;
};

/// The numbers of a ChainHead; what is held is 1 where it is.
template <class P>
struct StrandHead {
  Vec3<P> u, rhs;
  P weight;
  Quat<P> turn, frame0;
  P free_spin, spin_stiffness;
  P held, tail_held[2];
};

/// Rows of a ChainFactor, where the functions are explained. No tail is anchored, and there are no torques.
template <class P, template <class> class Law>
class StrandRows {
 public:
  using Number = P;
  using Link = Law<P>;
  using Row = ChainLinkRow<P, Law>;
  using T = ScalarOf<P>;
  static constexpr int kNumbers = numbers_in<Row, P>, kHeadNumbers = numbers_in<StrandHead<P>, P>;
  // Places in a row of u and turn, of own_motion, which is the first number of the factor, and of S, in the order of
  // ChainLinkRow.
  static constexpr int kLaw = numbers_in<Law<P>, P>, kMotion = kLaw + 10, kStiffness = kNumbers - 21,
                       kOwnMotion = kStiffness - Link::kForces - 6, kGiven = kOwnMotion;

  ChainHead<P> head;

  /// `first`: the strand, or the first one of a pack.
  OSIER_FN StrandRows(const StrandGroup<T>& group, Index first) : g_(group), first_(first) {
    const auto h = load_numbers<StrandHead<P>, P>(group.head + first, group.width);
    head = {h.u, h.rhs, h.weight, h.turn, h.frame0, h.free_spin, h.spin_stiffness, any(h.free_spin > P(0)), {}, {}};
    for (int k = 0; k < lanes_of<P>; ++k) {
      head.held[k] = lane(h.held, k) > T(0);
      for (int end = 0; end < 2; ++end) head.tail_held[k][end] = lane(h.tail_held[end], k) > T(0);
    }
  }
  /// The displacement of the first vertex, back to memory.
  OSIER_FN void store_head() const { store_numbers<P>(head.u, g_.head + first_, g_.width); }

  OSIER_FN Index count() const { return g_.rows; }
  OSIER_FN Index segments(int) const { return g_.rows; }
  OSIER_FN bool is_cut() const { return false; }
  OSIER_FN bool is_driven() const { return false; }
  OSIER_FN Row load(Index i) const { return load_numbers<Row, P>(g_.row + at(i, kNumbers), kTile); }
  // Numbers that a part of an iteration does not change are not written: memory is what bounds strands on a graphics card.
  OSIER_FN void store_linearised(Index i, const Row& r) const {
    store_some<Link::kChanging, kLaw>(i, r);
    store_some<kOwnMotion, kNumbers>(i, r);
  }
  OSIER_FN void store_raised(Index i, const Row& r) const { store_some<kOwnMotion, kStiffness>(i, r); }
  OSIER_FN void store_moved(Index i, const Row& r, const P (&)[6]) const { store_motion(i, r); }
  /// u and turn.
  OSIER_FN void store_motion(Index i, const Row& r) const { store_some<kMotion, kMotion + 7>(i, r); }
  OSIER_FN bool is_bent(Index i) const { return g_.bent[at(i, 1)] != 0; }
  OSIER_FN void set_bent(Index i, bool is) const { g_.bent[at(i, 1)] = is ? 1 : 0; }
  OSIER_FN typename Link::Springs springs(Index i) const {
    const int per_row = lanes::constants_per_row(Link::kLaw, g_.damped, lanes::ChainUse::direct);
    const T* constants = g_.constants + place_in_tiles(g_.rows + 1, i, per_row, first_);
    return Link::springs([&](int what) { return load_lanes<P>(constants + offset(what)); }, P(g_.inverse_h), g_.damped);
  }
  OSIER_FN Vec3<P> force(Index i) const {
    const T* f = g_.force + at(i, Link::kForces);
    if constexpr (Link::kOwnAxes) return {load_lanes<P>(f), load_lanes<P>(f + offset(1)), load_lanes<P>(f + offset(2))};
    else return {P(0), P(0), load_lanes<P>(f)};
  }
  OSIER_FN void keep_force(Index i, int a, const P& f) const { store_lanes(f, g_.force + at(i, Link::kForces) + offset(a)); }
  struct NoTorque {
    template <class Axes>
    OSIER_FN Vec3<P> operator()(const Axes&) const {
      return {P(0), P(0), P(0)};
    }
  };
  OSIER_FN NoTorque drive(Index) const { return {}; }
  OSIER_FN void add_tail_anchors(Index, P (&)[21], P (&)[6], P&) const {}
  OSIER_FN void join_pieces() const {}
  OSIER_FN void move_head(const Vec3<P>& by) { head.u += by; }
  OSIER_FN void fetch_ahead(Index) const {}
  OSIER_FN void stop_fetching() const {}

 protected:
  template <int kFrom, int kTo>
  OSIER_FN void store_some(Index i, const Row& r) const {
    store_numbers_of<P, kFrom, kTo>(r, g_.row + at(i, kNumbers), kTile);
  }
  OSIER_FN std::ptrdiff_t at(Index i, int per_row) const { return place_in_tiles(g_.rows, i, per_row, first_); }
  OSIER_FN std::ptrdiff_t offset(int number) const { return static_cast<std::ptrdiff_t>(number) * kTile; }

  const StrandGroup<T>& g_;
  Index first_;
};

}  // namespace osier::systems
