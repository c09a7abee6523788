// One pack of a tile of a graph (graph_plan.hpp) in the middle of a step: where its numbers and its neighbours' are, and what
// does not depend on the law. Every static function works on a range of tiles of one kind; the tiles of one colour do not
// touch each other, so that ranges of them may run on any threads in any order. A step is
//
//   load_frames | load_segments | load_margins, load_vertices | hold_frames | { move the colours of vertices, turn those of
//   segments } ... | store
//
// of which graph_sweep.hpp has what depends on the law.
#pragma once

#include "exec/lanes.hpp"
#include "solvers/stable_cosserat/graph_view.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"

namespace osier::stable_cosserat {

using lanes::StepView;

/// I: of the indices of a GraphPlan.
template <class P, class I>
class GraphPack {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;

  /// Frames of the start of the step.
  static void load_frames(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t)
      for (Index i = g.segment_tile[t].place; i < g.segment_tile[t].place + kTile; ++i)
        put_frame(g, i, view.rotation[g.frame_id[i]]);
  }
  /// From here on frames are those of the end of the step where they are prescribed.
  static void hold_frames(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      if (g.frame_held[t] == 0) continue;
      for (Index i = g.segment_tile[t].place; i < g.segment_tile[t].place + kTile; ++i)
        if (const Index s = g.frame_id[i]; view.frame_control[s] == FrameControl::fixed) put_frame(g, i, view.frame_target[s]);
    }
  }
  /// False when something is no longer finite; by the squares: a state whose energy overflows is as lost as a NaN.
  static bool store_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    using R = Quadruple<P, double>;
    const R inverse_h = R::all(1 / view.h);
    R sum = R::all(0);
    each_element(g.vertex_tile, g.vertex_id, begin, end, [&](Index i, Index v) {
      const R u = cast_row<double>(Quadruple<P, T>::load(g.u + quad(i)));
      const R x = row<P>(view.position[v]) + u, velocity = inverse_h * u;
      put_row(x, view.position[v]);
      put_row(velocity, view.velocity_previous[v]);
      sum = sum + x * x + velocity * velocity;
    });
    return is_finite(sum);
  }
  static bool store_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    using R = Quadruple<P, double>;
    R sum = R::all(0);
    each_element(g.segment_tile, g.frame_id, begin, end, [&](Index i, Index s) {
      const R q = cast_row<double>(Quadruple<P, T>::load(g.q + quad(i)));
      put_row(q, view.rotation[s]);
      sum = sum + q * q;
    });
    return is_finite(sum);
  }

 protected:
  enum Kind : bool { kVertices, kSegments };

  /// The pack of tile t whose first element is `first`.
  OSIER_FN GraphPack(const GraphView<T>& g, const StepView& view, Kind kind, Index t, int first = 0)
      : g_(g),
        view_(view),
        tile_((kind == kVertices ? g.vertex_tile : g.segment_tile)[t]),
        window_(g.window[tile_.region]),
        u_window_(g.u + quad(window_.vertices)),
        q_window_(g.q + quad(window_.frames)),
        force_window_(g.force + quad(window_.frames)),
        joint_window_(g.joint + quad(window_.joints)),
        indices_(static_cast<const I*>(kind == kVertices ? g.vertex_index : g.segment_index) + rows(tile_.indices)),
        numbers_(kind == kVertices ? g.vertex_number + rows(t) * kVertexRows : g.segment_number + rows(t) * g.segment_rows),
        t_(t),
        first_(first) {}

  /// kWork of every pack. What belongs to the tile is looked up once.
  template <class Sweep, Kind kKind, void (Sweep::*kWork)() const>
  OSIER_FN static void each_pack(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      Sweep pack(g, view, kKind, t);
      for (; pack.first_ < kTile; pack.first_ += W) (pack.*kWork)();
    }
  }

  static constexpr std::ptrdiff_t quad(Index place) { return 4 * static_cast<std::ptrdiff_t>(place); }
  static constexpr std::ptrdiff_t rows(Index count) { return kTile * static_cast<std::ptrdiff_t>(count); }
  /// Bits of the pack's lanes among those of the tile.
  OSIER_FN std::uint32_t lanes_in(std::uint16_t bits) const { return static_cast<std::uint32_t>(bits) >> first_ & all_lanes<P>; }
  OSIER_FN void put_lanes(std::uint32_t lanes, std::uint16_t& bits) const {
    bits = static_cast<std::uint16_t>(bits | lanes << first_);
  }
  OSIER_FN std::uint32_t nothing() const { return lanes_in(tile_.nothing); }
  OSIER_FN T* own_row(int row) const { return numbers_ + rows(row) + first_; }
  OSIER_FN const I* index(Index row) const { return indices_ + rows(row) + first_; }
  OSIER_FN static P number(const T* p) { return load_lanes<P>(p); }
  OSIER_FN static Vec3<P> vector(const T* p) { return {number(p), number(p + kTile), number(p + 2 * kTile)}; }
  OSIER_FN static void put(const Vec3<P>& v, T* p) {
    store_lanes(v.x, p);
    store_lanes(v.y, p + kTile);
    store_lanes(v.z, p + 2 * kTile);
  }

  /// What an index counts from, and in.
  static constexpr int kNumbers = kUnit / sizeof(T);
  OSIER_FN static const T* at(const T* window, I index) { return window + static_cast<std::ptrdiff_t>(index) * kNumbers; }
  OSIER_FN static Index place_at(Index window, I index) { return window + static_cast<Index>(index) / units_of_quad(sizeof(T)); }
  OSIER_FN static void quads(const T* window, const I* index, P (&out)[4]) {
    components_of_rows<P>([&](int i) { return Quadruple<P, T>::load(at(window, index[i])); }, out);
  }
  OSIER_FN static Quat<P> quaternions(const T* window, const I* index) {
    P c[4];
    quads(window, index, c);
    return {c[0], c[1], c[2], c[3]};
  }
  OSIER_FN Quat<P> frames(const I* index) const { return quaternions(q_window_, index); }
  OSIER_FN Vec3<P> displacements(const I* index) const {
    P c[4];
    quads(u_window_, index, c);
    return {c[0], c[1], c[2]};
  }
  /// A tile's own: from the quadruple `place` on.
  OSIER_FN T* own_quads(T* array, Index place) const { return array + quad(place + first_); }
  OSIER_FN Quat<P> own_quaternions(T* array, Index place) const {
    P c[4];
    load_quads(own_quads(array, place), c);
    return {c[0], c[1], c[2], c[3]};
  }
  OSIER_FN void put_own(const Quat<P>& q, T* array, Index place) const {
    const P quads[4] = {q.x, q.y, q.z, q.w};
    store_quads(quads, own_quads(array, place));
  }
  OSIER_FN Quat<P> own_frames() const { return own_quaternions(g_.q, tile_.place); }
  /// The model's number of the element in lane k.
  OSIER_FN auto numbers_in(const Index* id) const {
    return [first = id + tile_.place + first_](int k) { return first[place_of_lane(W, k)]; };
  }
  OSIER_FN P inverse_step() const { return P(static_cast<T>(1 / view_.h)); }

  // Joints as a segment meets them, first its own, then others': the index row of the frame beyond (that of the joint follows
  // where it is another's), and the quadruple of the first of its own.
  OSIER_FN Index joint_index(Index joint) const { return joint < tile_.in ? 2 + joint : 2 + tile_.in + 2 * (joint - tile_.in); }
  OSIER_FN Index own_joints(Index joint) const { return tile_.joints + joint * kTile; }
  /// The entry of a segment's list of joints for the n-th of its own or of others'; -1 when there are fewer.
  OSIER_FN Index joint_entry(Index s, Index n, bool own) const {
    for (Index at = view_.frame_joint_start[s]; at < view_.frame_joint_start[s + 1]; ++at) {
      const Index entry = view_.frame_joint[at];
      if (owns_joint(entry, view_.joint_frames[entry / 2][0], g_.segments) == own && n-- == 0) return entry;
    }
    return -1;
  }
  OSIER_FN void raise_margin(const P& margin2) const {
    for (int k = 0; k < W; ++k) g_.margin[t_] = larger(g_.margin[t_], lane(margin2, k));
  }

  /// Notes which frames are held and hinged; bits of those whose frame is prescribed.
  OSIER_FN std::uint32_t load_frame_control() const {
    const auto segments = numbers_in(g_.frame_id);
    std::uint32_t fixed = 0, hinged = 0, any_control = 0;
    for (int k = 0; k < W; ++k) any_control |= static_cast<std::uint32_t>(view_.frame_control[segments(k)]);
    if (any_control != 0) [[unlikely]]
      for (int k = 0; k < W; ++k) {
        fixed |= (view_.frame_control[segments(k)] == FrameControl::fixed ? 1u : 0u) << k;
        hinged |= (view_.frame_control[segments(k)] == FrameControl::hinged ? 1u : 0u) << k;
      }
    put_lanes(fixed | nothing(), g_.frame_held[t_]);
    put_lanes(hinged & ~nothing(), g_.frame_hinged[t_]);
    return fixed;
  }
  /// Edges of the start of the step, in double (deviation 1).
  OSIER_FN Vec3<P> edges() const {
    const I *ua = index(0), *ub = index(1);
    return gather_difference<P>(
        view_.position, [&](int i) { return g_.vertex_id[place_at(window_.vertices, ub[i])]; },
        [&](int i) { return g_.vertex_id[place_at(window_.vertices, ua[i])]; });
  }
  /// Edges of now less those of the start.
  OSIER_FN Vec3<P> edge_changes() const { return displacements(index(1)) - displacements(index(0)); }

  /// Notes which vertices are held and m v_t/h + f; returns where they are expected and m/h^2 + c/h.
  OSIER_FN void load_vertex_start(Vec3<P>& u, P& weight) const {
    const auto vertices = numbers_in(g_.vertex_id);
    std::uint32_t fixed = 0, any_fixed = 0;
    for (int k = 0; k < W; ++k) any_fixed |= view_.vertex_fixed[vertices(k)];
    if (any_fixed != 0) [[unlikely]]
      for (int k = 0; k < W; ++k) fixed |= (view_.vertex_fixed[vertices(k)] ? 1u : 0u) << k;
    put_lanes(fixed | nothing(), g_.vertex_held[t_]);
    const VertexStart<P> start =
        vertex_start(gather<P>(view_.mass, vertices), gather<P>(view_.damping, vertices), gather<P>(view_.velocity, vertices),
                     gather<P>(view_.velocity_previous, vertices), gather<P>(view_.force, vertices), view_.h);
    put(start.rhs, own_row(0));
    weight = start.weight;
    u = start.u;
    if (fixed != 0) [[unlikely]] {
      P way[4];
      components_of_rows<P>(
          [&](int k) { return cast_row<T>(row<P>(view_.vertex_target[vertices(k)]) - row<P>(view_.position[vertices(k)])); },
          way);
      u = select<P>(mask_of_bits<P>(fixed), Vec3<P>{way[0], way[1], way[2]}, u);
    }
  }

  // Of a copy: what has its address taken lives in memory from the start, for all lanes.
  OSIER_FN Quat<P> torque_at(Quat<P> q) const { return torque_at_copy(g_, view_, t_, first_, q); }

  const GraphView<T>& g_;
  const StepView& view_;
  const GraphTile tile_;
  const GraphWindow window_;
  const T *const u_window_, *const q_window_, *const force_window_, *const joint_window_;
  const I* const indices_;
  T* const numbers_;
  const Index t_;
  int first_;  ///< of the tile's elements

 private:
  OSIER_FN static void put_frame(const GraphView<T>& g, Index place, const Quatd& q) {
    cast_row<T>(row<P>(q)).store(g.q + quad(place));
  }
  /// f(place, number in the model) for every element of the tiles.
  template <class F>
  OSIER_FN static void each_element(const GraphTile* tile, const Index* id, Index begin, Index end, const F& f) {
    for (Index t = begin; t < end; ++t)
      for (int first = 0; first < kTile; first += W)
        for (int k = 0; k < W; ++k)
          if (const Index i = tile[t].place + first + place_of_lane(W, k); !(tile[t].nothing >> (first + k) & 1u)) f(i, id[i]);
  }
  [[gnu::noinline]] static Quat<P> torque_at_copy(const GraphView<T>& g, const StepView& view, Index t, int first,
                                                  const Quat<P>& q) {
    const auto segments = GraphPack(g, view, kSegments, t, first).numbers_in(g.frame_id);
    return torque_share(gather<P>(view.torque, segments), gather<P>(view.torque_material, segments), q);
  }
};

}  // namespace osier::stable_cosserat
