// Coloured sweeps over a graph in tiles (graph_plan.hpp), each in as many packs as it takes. Every function works on a range of
// tiles of one kind; the tiles of one colour do not touch each other, so that ranges of them may run on any threads in any order.
// A step is
//
//   load_frames | load_segments | load_margins, load_vertices | hold_frames | { move the colours of vertices, turn those of
//   segments } ... | store
#pragma once

#include "exec/lanes.hpp"
#include "solvers/stable_cosserat/graph_view.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"

namespace osier::stable_cosserat {

/// I: of the indices of a GraphPlan.
template <class P, class I>
class GraphSweep {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;

  /// Frames of the start of the step.
  static void load_frames(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t)
      for (Index i = g.segment_tile[t].place; i < g.segment_tile[t].place + kTile; ++i)
        put_frame(g, i, view.rotation[g.frame_id[i]]);
  }
  static void load_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) g.frame_held[t] = g.frame_hinged[t] = 0, g.margin[t] = T(0);
    if (g.damped) each_pack<kSegments, &GraphSweep::load_segment<true>>(g, view, begin, end);
    else each_pack<kSegments, &GraphSweep::load_segment<false>>(g, view, begin, end);
  }
  /// Once all segments are loaded: what their joints' owners have folded.
  static void load_margins(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    if (!(g.damped && g.most_tau > 0)) return;
    each_pack<kSegments, &GraphSweep::load_margin>(g, view, begin, end);
  }
  /// From here on frames are those of the end of the step where they are prescribed.
  static void hold_frames(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      if (g.frame_held[t] == 0) continue;
      for (Index i = g.segment_tile[t].place; i < g.segment_tile[t].place + kTile; ++i)
        if (const Index s = g.frame_id[i]; view.frame_control[s] == FrameControl::fixed) put_frame(g, i, view.frame_target[s]);
    }
  }
  static void load_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) g.vertex_held[t] = 0;
    each_pack<kVertices, &GraphSweep::load_vertex>(g, view, begin, end);
  }
  static void move_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    each_pack<kVertices, &GraphSweep::move_vertex>(g, view, begin, end);
  }
  static void turn_segments(const GraphView<T>& g, const StepView& view, Lambda lambda, Index begin, Index end) {
    if (lambda == Lambda::approx) turn<Lambda::approx>(g, view, begin, end);
    if (lambda == Lambda::exact) turn<Lambda::exact>(g, view, begin, end);
    if (lambda == Lambda::secular) turn<Lambda::secular>(g, view, begin, end);
  }
  /// False when something is no longer finite; by the squares: a state whose energy overflows is as lost as a NaN.
  static bool store_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    using R = Four<P, double>;
    const R inverse_h = R::all(1 / view.h);
    R sum = R::all(0);
    each_element(g.vertex_tile, g.vertex_id, begin, end, [&](Index i, Index v) {
      const R u = cast_row<double>(Four<P, T>::load(g.u + quad(i)));
      const R x = row<P>(view.position[v]) + u, velocity = inverse_h * u;
      put_row(x, view.position[v]);
      put_row(velocity, view.velocity_previous[v]);
      sum = sum + x * x + velocity * velocity;
    });
    return is_finite(sum);
  }
  static bool store_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    using R = Four<P, double>;
    R sum = R::all(0);
    each_element(g.segment_tile, g.frame_id, begin, end, [&](Index i, Index s) {
      const R q = cast_row<double>(Four<P, T>::load(g.q + quad(i)));
      put_row(q, view.rotation[s]);
      sum = sum + q * q;
    });
    if (g.gamma_row >= 0) each_pack<kSegments, &GraphSweep::store_gamma>(g, view, begin, end);
    return is_finite(sum);
  }

 private:
  enum Kind : bool { kVertices, kSegments };

  /// The pack of tile t whose first element is `first`.
  OSIER_FN GraphSweep(const GraphView<T>& g, const StepView& view, Kind kind, Index t, int first = 0)
      : g_(g),
        view_(view),
        tile_((kind == kVertices ? g.vertex_tile : g.segment_tile)[t]),
        window_(g.window[tile_.region]),
        u_window_(g.u + quad(window_.vertices)),
        q_window_(g.q + quad(window_.frames)),
        pull_window_(g.pull + quad(window_.frames)),
        joint_window_(g.joint + quad(window_.joints)),
        indices_(static_cast<const I*>(kind == kVertices ? g.vertex_index : g.segment_index) + rows(tile_.indices)),
        numbers_(kind == kVertices ? g.vertex_number + rows(t) * kVertexRows : g.segment_number + rows(t) * g.segment_rows),
        t_(t),
        first_(first) {}

  /// kWork of every pack. What belongs to the tile is looked up once.
  template <Kind kKind, void (GraphSweep::*kWork)() const>
  OSIER_FN static void each_pack(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      GraphSweep pack(g, view, kKind, t);
      for (; pack.first_ < kTile; pack.first_ += W) (pack.*kWork)();
    }
  }
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
  template <Lambda kLambda>
  static void turn(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    if (g.damped) each_pack<kSegments, &GraphSweep::turn_segment<true, kLambda>>(g, view, begin, end);
    else each_pack<kSegments, &GraphSweep::turn_segment<false, kLambda>>(g, view, begin, end);
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
    store_lanes(v.x, p), store_lanes(v.y, p + kTile), store_lanes(v.z, p + 2 * kTile);
  }

  /// What an index counts from, and in.
  static constexpr int kNumbers = kUnit / sizeof(T);
  OSIER_FN static const T* at(const T* window, I index) { return window + static_cast<std::ptrdiff_t>(index) * kNumbers; }
  OSIER_FN static Index place_at(Index window, I index) { return window + static_cast<Index>(index) / units_of_quad(sizeof(T)); }
  OSIER_FN static void quads(const T* window, const I* index, P (&out)[4]) {
    components_of_rows<P>([&](int i) { return Four<P, T>::load(at(window, index[i])); }, out);
  }
  OSIER_FN Quat<P> frames(const I* index) const {
    P c[4];
    quads(q_window_, index, c);
    return {c[0], c[1], c[2], c[3]};
  }
  OSIER_FN Vec3<P> displacements(const I* index) const {
    P c[4];
    quads(u_window_, index, c);
    return {c[0], c[1], c[2]};
  }
  /// A tile's own: from the quadruple `place` on.
  OSIER_FN T* own_quads(T* array, Index place) const { return array + quad(place + first_); }
  // Joints as a segment meets them, first its own, then others': the index row of the frame beyond, and the target.
  OSIER_FN Index joint_index(Index joint) const { return joint < tile_.in ? 2 + joint : 2 + tile_.in + 2 * (joint - tile_.in); }
  OSIER_FN Quat<P> own_target(Index joint) const {
    P c[4];
    load_quads(own_quads(g_.joint, tile_.joints + joint * kTile), c);
    return {c[0], c[1], c[2], c[3]};
  }
  OSIER_FN Quat<P> others_target(const I* index) const {
    P c[4];
    quads(joint_window_, index, c);
    return conj(Quat<P>{c[0], c[1], c[2], c[3]});
  }
  OSIER_FN void raise_margin(const P& margin2) const {
    for (int k = 0; k < W; ++k) g_.margin[t_] = larger(g_.margin[t_], lane(margin2, k));
  }
  OSIER_FN P most_alpha() const { return P(static_cast<T>(g_.most_tau / view_.h)); }
  OSIER_FN Quat<P> own_frames() const {
    P c[4];
    load_quads(own_quads(g_.q, tile_.place), c);
    return {c[0], c[1], c[2], c[3]};
  }
  /// The model's number of the element in lane k.
  OSIER_FN auto numbers_in(const Index* id) const {
    return [first = id + tile_.place + first_](int k) { return first[place_of_lane(W, k)]; };
  }

  /// The entry of a segment's list of joints for the n-th of its own or of others'; -1 when there are fewer.
  OSIER_FN Index joint_entry(Index s, Index n, bool own) const {
    for (Index at = view_.frame_joint_start[s]; at < view_.frame_joint_start[s + 1]; ++at) {
      const Index entry = view_.frame_joint[at];
      if (owns_joint(entry, view_.joint_frames[entry / 2][0], g_.segments) == own && n-- == 0) return entry;
    }
    return -1;
  }
  /// Of the n-th joint that every segment owns, as it sees it: k^bt times rest rotation, and its damping time.
  struct JointConstants {
    Quat<P> rest;
    P tau;
  };
  OSIER_FN JointConstants joint_constants(Index joint) const;
  /// k^bt times rest rotation as seen from the side of this entry.
  OSIER_FN Four<P, double> rest_of(Index entry) const {
    const double k = view_.joint_stiffness[entry / 2].d3, imaginary = entry % 2 == 1 ? k : -k;
    return row<P>(view_.joint_rest[entry / 2]) *
           Four<P, double>{typename Four<P, double>::Vector{imaginary, imaginary, imaginary, k}};
  }

  template <bool kDamped>
  void load_segment() const;
  void load_margin() const;
  void load_vertex() const;
  OSIER_FN void move_vertex() const;
  template <bool kDamped, Lambda kLambda>
  OSIER_FN void turn_segment() const;
  template <bool kDamped, Lambda kLambda>
  void repair(std::uint32_t lanes, const Vec3<P>& v, const Vec3<P>& eta, const Quat<P>& before, Quat<P>& q) const;
  void store_gamma() const {
    const auto segments = numbers_in(g_.frame_id);
    for (int k = 0; k < W; ++k)
      if (!(nothing() >> k & 1u)) view_.gamma[segments(k)] = static_cast<double>(own_row(g_.gamma_row)[k]);
  }
  // What is seldom asked for, of copies: what has its address taken lives in memory from the start, for all lanes.
  template <bool kDamped, Lambda kLambda>
  OSIER_FN Quat<P> repaired(std::uint32_t lanes, Vec3<P> v, Vec3<P> eta, Quat<P> before, Quat<P> q) const {
    repair_copy<kDamped, kLambda>(g_, view_, t_, first_, lanes, v, eta, before, q);
    return q;
  }
  template <bool kDamped, Lambda kLambda>
  [[gnu::noinline]] static void repair_copy(const GraphView<T>& g, const StepView& view, Index t, int first, std::uint32_t lanes,
                                            const Vec3<P>& v, const Vec3<P>& eta, const Quat<P>& before, Quat<P>& q) {
    GraphSweep(g, view, kSegments, t, first).template repair<kDamped, kLambda>(lanes, v, eta, before, q);
  }
  OSIER_FN Quat<P> torque_at(Quat<P> q) const { return torque_at_copy(g_, view_, t_, first_, q); }
  [[gnu::noinline]] static Quat<P> torque_at_copy(const GraphView<T>& g, const StepView& view, Index t, int first,
                                                  const Quat<P>& q) {
    const auto segments = GraphSweep(g, view, kSegments, t, first).numbers_in(g.frame_id);
    return torque_pull(gather<P>(view.torque, segments), gather<P>(view.torque_material, segments), q);
  }
  /// The force that the axis carried by q makes, with c beside it.
  template <bool kDamped>
  OSIER_FN void put_pull(P k_over_length, P c, const Vec3<P>& edge, const Vec3<P>& eta, const Quat<P>& q) const {
    // (1 + alpha) k/l p0 = c (x_b - x_a)
    const Vec3<P> pull = edge_pull(c, P(1), edge) + image_pull(k_over_length, axis_image_of<P, kDamped>(q, eta));
    const P quads[4] = {pull.x, pull.y, pull.z, c};
    store_quads(quads, own_quads(g_.pull, tile_.place));
  }
  OSIER_FN P inverse_step() const { return P(static_cast<T>(1 / view_.h)); }

  const GraphView<T>& g_;
  const StepView& view_;
  const GraphTile tile_;
  const GraphWindow window_;
  const T *const u_window_, *const q_window_, *const pull_window_, *const joint_window_;
  const I* const indices_;
  T* const numbers_;
  const Index t_;
  int first_;  ///< of the tile's elements
};

/// From the model, nothing where a lane has no such joint.
template <class P, class I>
OSIER_FN typename GraphSweep<P, I>::JointConstants GraphSweep<P, I>::joint_constants(Index joint) const {
  const std::uint32_t nothing = this->nothing();
  const auto segments = numbers_in(g_.frame_id);
  P c[4];
  T tau[W];
  components_of_rows<P>(
      [&](int k) {
        const Index entry = nothing >> k & 1u ? -1 : joint_entry(segments(k), joint, true);
        tau[k] = entry < 0 ? T(0) : static_cast<T>(view_.joint_tau[entry / 2].d3);
        return cast_row<T>(entry < 0 ? Four<P, double>::all(0) : rest_of(entry));
      },
      c);
  return {{c[0], c[1], c[2], c[3]}, per_lane<P>([&](int k) { return tau[k]; })};
}

template <class P, class I>
template <bool kDamped>
void GraphSweep<P, I>::load_segment() const {
  const std::uint32_t nothing = this->nothing();
  const auto segments = numbers_in(g_.frame_id);
  std::uint32_t fixed = 0, hinged = 0, any_control = 0;
  for (int k = 0; k < W; ++k) any_control |= static_cast<std::uint32_t>(view_.frame_control[segments(k)]);
  if (any_control != 0) [[unlikely]]
    for (int k = 0; k < W; ++k) {
      fixed |= (view_.frame_control[segments(k)] == FrameControl::fixed ? 1u : 0u) << k;
      hinged |= (view_.frame_control[segments(k)] == FrameControl::hinged ? 1u : 0u) << k;
    }
  put_lanes(fixed | nothing, g_.frame_held[t_]);
  put_lanes(hinged & ~nothing, g_.frame_hinged[t_]);
  const I *ua = index(0), *ub = index(1);
  const P k_over_length = number(own_row(kStretchRow)), inverse_length = P(1) / gather<P>(view_.rest_length, segments);
  const Vec3<P> edge = gather_difference<P>(  // in double (deviation 1)
      view_.position, [&](int i) { return g_.vertex_id[place_at(window_.vertices, ub[i])]; },
      [&](int i) { return g_.vertex_id[place_at(window_.vertices, ua[i])]; });
  put(edge, own_row(kEdge));
  Quat<P> q = own_frames();
  P c = k_over_length * inverse_length;
  Vec3<P> eta{P(0), P(0), P(1)};
  if constexpr (kDamped) {
    const P alpha = per_lane<P>([&](int k) { return static_cast<T>(g_.segment_tau[segments(k)].d3); }) * inverse_step();
    c = (P(1) + alpha) * c;
    eta = stretch_shear::generalised_axis(alpha, rotate(conj(q), inverse_length * edge - director3(q)));
    put(eta, own_row(kAxis));
    for (Index j = 0; j < tile_.in; ++j) {
      const JointConstants own = joint_constants(j);
      Quat<P> target;
      P bound;
      // conj(q_other) q is the rotation between the two as either side sees it.
      const Quat<P> previous = conj(frames(index(2 + j))) * q;
      fold_joint(own.rest, root(norm2(own.rest)), own.tau * inverse_step(), previous, target, bound);
      const P quads[4] = {target.x, target.y, target.z, target.w};
      store_quads(quads, own_quads(g_.joint, tile_.joints + j * kTile));
      if (g_.most_tau > 0) raise_margin(pole_margin2(target, previous, most_alpha()));
    }
  }
  if (g_.gamma_row >= 0) store_lanes(gather<P>(view_.gamma, segments), own_row(g_.gamma_row));
  if (fixed != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(fixed), gather<P>(view_.frame_target, segments), q);
  put_pull<kDamped>(k_over_length, c, edge, eta, q);
}

template <class P, class I>
void GraphSweep<P, I>::load_margin() const {
  const Quat<P> q = own_frames();
  for (Index j = tile_.in; j < tile_.in + tile_.out; ++j) {
    const Index at = joint_index(j);
    const Quat<P> previous = conj(frames(index(at))) * q;
    raise_margin(pole_margin2(others_target(index(at + 1)), previous, most_alpha()));
  }
}

template <class P, class I>
void GraphSweep<P, I>::load_vertex() const {
  const auto vertices = numbers_in(g_.vertex_id);
  std::uint32_t fixed = 0, any_fixed = 0;
  for (int k = 0; k < W; ++k) any_fixed |= view_.vertex_fixed[vertices(k)];
  if (any_fixed != 0) [[unlikely]]
    for (int k = 0; k < W; ++k) fixed |= (view_.vertex_fixed[vertices(k)] ? 1u : 0u) << k;
  put_lanes(fixed | nothing(), g_.vertex_held[t_]);
  const P h(static_cast<T>(view_.h)), inverse_h = inverse_step(), inverse_h2(static_cast<T>(1 / (view_.h * view_.h)));
  const Vec3<P> velocity = gather<P>(view_.velocity, vertices), force = gather<P>(view_.force, vertices);
  const P mass = gather<P>(view_.mass, vertices);
  const P inverse_mass = select(mass > P(0), inverse(mass), P(0));
  Vec3<P> u = expected_displacement(velocity, gather<P>(view_.velocity_previous, vertices), force, inverse_mass, h);
  if (fixed != 0) [[unlikely]] {
    P way[4];
    components_of_rows<P>(
        [&](int k) { return cast_row<T>(row<P>(view_.vertex_target[vertices(k)]) - row<P>(view_.position[vertices(k)])); }, way);
    u = select<P>(mask_of_bits<P>(fixed), Vec3<P>{way[0], way[1], way[2]}, u);
  }
  put((mass * inverse_h) * velocity + force, own_row(0));
  P hessian = mass * inverse_h2 + inverse_h * gather<P>(view_.damping, vertices);
  for (Index i = 0; i < tile_.in + tile_.out; ++i) {
    P segment[4];
    quads(pull_window_, index(2 * i + 1), segment);
    hessian += segment[3];
  }
  const P own[4] = {u.x, u.y, u.z, select(hessian > P(0), inverse(hessian), P(0))};
  store_quads(own, own_quads(g_.u, tile_.place));
}

template <class P, class I>
OSIER_FN void GraphSweep<P, I>::move_vertex() const {
  const std::uint32_t held = lanes_in(g_.vertex_held[t_]);
  if (held == all_lanes<P>) return;
  Vec3<P> sum = vector(own_row(0));
  const auto add = [&](Index i, P sign) {
    P segment[4];
    quads(pull_window_, index(2 * i + 1), segment);
    add_segment(sum, sign, Vec3<P>{segment[0], segment[1], segment[2]}, segment[3], displacements(index(2 * i)));
  };
  for (Index i = 0; i < tile_.in; ++i) add(i, P(1));
  for (Index i = tile_.in; i < tile_.in + tile_.out; ++i) add(i, P(-1));
  T* own = own_quads(g_.u, tile_.place);
  P before[4];
  load_quads(own, before);
  Vec3<P> u = before[3] * sum;
  if (held != 0) [[unlikely]]
    u = select<P>(mask_of_bits<P>(held), Vec3<P>{before[0], before[1], before[2]}, u);
  const P after[4] = {u.x, u.y, u.z, before[3]};
  store_quads(after, own);
}

template <class P, class I>
template <bool kDamped, Lambda kLambda>
OSIER_FN void GraphSweep<P, I>::turn_segment() const {
  const std::uint32_t held = lanes_in(g_.frame_held[t_]), hinged = lanes_in(g_.frame_hinged[t_]);
  if (held == all_lanes<P>) return;
  const Quat<P> before = own_frames();
  const P k_over_length = number(own_row(kStretchRow));
  const Vec3<P> edge = vector(own_row(kEdge));
  OrientationProblem<P> o;
  o.v = stretch_shear::orientation_pull(  // of k/l and the whole edge
      k_over_length, edge + (displacements(index(1)) - displacements(index(0))));
  o.b = {P(0), P(0), P(0), P(0)};
  MaskOf<P> differ{};
  const auto add = [&](const Quat<P>& other, const Quat<P>& target) {
    P c;
    o.b += joint_pull(other, target, before, c);
    if constexpr (kDamped) differ |= c * c < P(g_.margin[t_]) * norm2(target);
  };
  for (Index j = 0; j < tile_.in; ++j) add(frames(index(2 + j)), own_target(j));
  for (Index j = 0; j < tile_.out; ++j) {
    const I* others = index(2 + tile_.in + 2 * j);
    add(frames(others), others_target(others + kTile));
  }
  bool cables = tile_.in + tile_.out == 0;
  if (view_.torque) [[unlikely]] {
    o.b += torque_at(before);
    cables = cables && !any(norm2(o.b) > P(0));
  }
  o.eta = {P(0), P(0), P(1)};
  if constexpr (kDamped) o.eta = vector(own_row(kAxis));
  MaskOf<P> degenerate{};
  Quat<P> q;
  P gamma(0);
  if (kLambda == Lambda::exact) gamma = number(own_row(g_.gamma_row));
  if (cables) {  // without joints: along the edge
    o.s = problem_scale<P, kDamped>(o);
    q = orientation_aligned(o, before, degenerate);
  } else {
    complete_problem<P, kDamped>(o);
    q = solve_orientation<P, kLambda>(o, gamma, degenerate);
  }
  std::uint32_t special = bits(degenerate) | hinged;
  if constexpr (kDamped) special |= bits(differ);
  special &= ~held;
  if constexpr (kLambda == Lambda::exact) {  // special lanes: by the repair
    T* memory = own_row(g_.gamma_row);
    store_lanes(select(mask_of_bits<P>(special), number(memory), gamma), memory);
  }
  if (special != 0) [[unlikely]]
    q = repaired<kDamped, kLambda>(special, o.v, o.eta, before, q);
  if (held != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(held), before, q);
  const P own[4] = {q.x, q.y, q.z, q.w};
  store_quads(own, own_quads(g_.q, tile_.place));
  P pull[4];
  load_quads(own_quads(g_.pull, tile_.place), pull);
  put_pull<kDamped>(k_over_length, pull[3], edge, o.eta, q);
}

/// Lane by lane, what the closed form leaves aside: hinges, undetermined frames, and elastic and viscous poles that differ.
template <class P, class I>
template <bool kDamped, Lambda kLambda>
void GraphSweep<P, I>::repair(std::uint32_t lanes, const Vec3<P>& v, const Vec3<P>& eta, const Quat<P>& q_before,
                              Quat<P>& q) const {
  for (int k = 0; k < W; ++k) {
    if (!(lanes >> k & 1u)) continue;
    const Quat<T> present = lane_of(q_before, k);
    const Index s = numbers_in(g_.frame_id)(k);
    OrientationProblem<T> o;
    o.v = lane_of(v, k), o.eta = lane_of(eta, k);
    o.b = {T(0), T(0), T(0), T(0)};
    for (Index j = 0; j < tile_.in + tile_.out; ++j) {
      const bool own = j < tile_.in;
      const I* beyond = index(joint_index(j)) + k;
      const T *frame = at(q_window_, beyond[0]),
              *numbers =
                  own ? own_quads(g_.joint, tile_.joints + j * kTile + place_of_lane(W, k)) : at(joint_window_, beyond[kTile]);
      const Quat<T> other{frame[0], frame[1], frame[2], frame[3]}, kept{numbers[0], numbers[1], numbers[2], numbers[3]};
      const Quat<T> target = own ? kept : conj(kept);
      T c;
      const Quat<T> both = joint_pull(other, target, present, c);
      if (!kDamped || !(c * c < g_.margin[t_] * norm2(target))) {
        o.b += both;
        continue;
      }
      const Index entry = joint_entry(s, own ? j : j - tile_.in, own);
      const Four<P, T> rest = cast_row<T>(rest_of(entry));
      const Quat<T> elastic{rest.v[0], rest.v[1], rest.v[2], rest.v[3]};
      const T k_viscous = static_cast<T>(view_.joint_stiffness[entry / 2].d3 * view_.joint_tau[entry / 2].d3 / view_.h);
      const Quat<T> previous =
          cast<T>(conj(view_.rotation[g_.frame_id[place_at(window_.frames, beyond[0])]]) * view_.rotation[s]);
      o.b += bend_twist::pull(other, elastic, present) + bend_twist::pull(other, k_viscous * previous, present);
    }
    if (view_.torque) o.b += torque_pull(cast<T>(view_.torque[s]), cast<T>(view_.torque_material[s]), present);
    complete_problem<T, kDamped>(o);
    Quat<T> result;
    if (lanes_in(g_.frame_hinged[t_]) >> k & 1u) {
      result = updated_hinge(o, present, cast<T>(view_.frame_target[s]), cast<T>(view_.hinge_axis[s]));
    } else {
      bool degenerate = false;
      T none(0), &gamma = kLambda == Lambda::exact ? own_row(g_.gamma_row)[k] : none;
      const T gamma_before = gamma;
      result = solve_orientation<T, kLambda>(o, gamma, degenerate);
      if (degenerate) result = solve_degenerate<T, kLambda>(o, present), gamma = gamma_before;  // it means nothing here
    }
    set_lanes(q, k, result);
  }
}

}  // namespace osier::stable_cosserat
