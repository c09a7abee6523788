// Coloured sweeps over a graph in tiles (graph_pack.hpp has what a step is). Law is one of sweep_laws.hpp. In quadruples, plane
// by plane, lie
//
//                closed form                               stiffness per axis
//   of a vertex  (u, 1/H)                                  (u, m/h^2 + c/h)
//   a segment    (force, c)                                (C_xx, C_yy, C_zz, force_x)  (C_yx, C_zx, C_zy, force_y)
//                                                          (k_1, k_2, k_3, force_z)
//   a joint      target                                    K   rest rotation
//
// with the joint as its owner sees it, damping folded in (kelvin_voigt.hpp).
#pragma once

#include "energies/kelvin_voigt.hpp"
#include "solvers/stable_cosserat/graph_pack.hpp"
#include "solvers/stable_cosserat/safeguarded_frame.hpp"

namespace osier::stable_cosserat {

/// I: of the indices of a GraphPlan.
template <class P, class I, class Law>
class GraphSweep : GraphPack<P, I> {
  using Pack = GraphPack<P, I>;
  friend Pack;
  using Pack::edge_changes, Pack::load_vertex_start, Pack::torque_at, Pack::g_, Pack::view_, Pack::tile_, Pack::window_;
  using Pack::joint_index, Pack::own_joints, Pack::joint_entry, Pack::raise_margin, Pack::load_frame_control, Pack::edges;
  using Pack::own_quaternions, Pack::put_own, Pack::own_frames, Pack::numbers_in, Pack::inverse_step;
  using Pack::q_window_, Pack::force_window_, Pack::joint_window_, Pack::t_, Pack::first_;
  using Pack::vector, Pack::put, Pack::at, Pack::place_at, Pack::quaternions, Pack::frames, Pack::displacements;
  using Pack::W, Pack::kVertices, Pack::kSegments, Pack::lanes_in, Pack::nothing, Pack::own_row, Pack::index, Pack::number;
  using Joint = typename Law::Joint;
  using Segment = typename Law::Segment;
  using Spring = typename Law::Spring;

 public:
  using T = ScalarOf<P>;
  using Pack::load_frames, Pack::hold_frames, Pack::store_vertices;

  static void load_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      g.frame_held[t] = g.frame_hinged[t] = 0;
      g.margin[t] = T(0);
    }
    if (g.damped) each_pack<kSegments, &GraphSweep::load_segment<true>>(g, view, begin, end);
    else each_pack<kSegments, &GraphSweep::load_segment<false>>(g, view, begin, end);
  }
  /// Once all segments are loaded: what their joints' owners have folded.
  static void load_margins(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    if (!g.damped || (Law::kClosedForm && !(g.most_tau > 0))) return;
    each_pack<kSegments, &GraphSweep::load_margin>(g, view, begin, end);
  }
  static void load_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) g.vertex_held[t] = 0;
    each_pack<kVertices, &GraphSweep::load_vertex>(g, view, begin, end);
  }
  static void move_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    each_pack<kVertices, &GraphSweep::move_vertex>(g, view, begin, end);
  }
  static void turn_segments(const GraphView<T>& g, const StepView& view, Lambda lambda, Index begin, Index end) {
    if constexpr (Law::kClosedForm) {
      if (lambda == Lambda::approx) turn<Lambda::approx>(g, view, begin, end);
      if (lambda == Lambda::exact) turn<Lambda::exact>(g, view, begin, end);
    }
    if (!Law::kClosedForm || lambda == Lambda::secular) turn<Lambda::secular>(g, view, begin, end);
  }
  static bool store_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    if (Law::kClosedForm && g.gamma_row >= 0) each_pack<kSegments, &GraphSweep::store_gamma>(g, view, begin, end);
    return Pack::store_segments(g, view, begin, end);
  }

 private:
  using Pack::Pack;

  template <typename Pack::Kind kKind, void (GraphSweep::*kWork)() const>
  OSIER_FN static void each_pack(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    Pack::template each_pack<GraphSweep, kKind, kWork>(g, view, begin, end);
  }
  template <Lambda kLambda>
  static void turn(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    if (g.damped) each_pack<kSegments, &GraphSweep::turn_segment<true, kLambda>>(g, view, begin, end);
    else each_pack<kSegments, &GraphSweep::turn_segment<false, kLambda>>(g, view, begin, end);
  }

  template <bool kDamped>
  void load_segment() const;
  OSIER_FN void load_joint(Index joint, const Quat<P>& q) const;
  void load_margin() const;
  void load_vertex() const;
  OSIER_FN void move_vertex() const;
  template <bool kDamped, Lambda kLambda>
  OSIER_FN void turn_segment() const;
  void store_gamma() const {
    const auto segments = numbers_in(g_.frame_id);
    for (int k = 0; k < W; ++k)
      if (!(nothing() >> k & 1u)) view_.gamma[segments(k)] = static_cast<double>(own_row(g_.gamma_row)[k]);
  }

  // ------------------------------------------------------------------------------------- what the law keeps of an element

  static constexpr int kEdgeRow = Law::kClosedForm ? static_cast<int>(kEdge) : static_cast<int>(kAxesEdge);
  static constexpr int kRestRow = Law::kClosedForm ? static_cast<int>(kAxis) : static_cast<int>(kAxesRest);

  OSIER_FN Spring spring(const I* segment) const {
    const Quat<P> a = quaternions(force_window_, segment);
    if constexpr (Law::kClosedForm) {
      return {imag(a), a.w};
    } else {
      const Quat<P> b = quaternions(force_window_ + g_.force_plane, segment);
      const P force_z = quaternions(force_window_ + 2 * g_.force_plane, segment).w;
      return {{a.x, b.x, a.y, b.y, b.z, a.z}, {a.w, b.w, force_z}};
    }
  }
  /// k: the stiffness of the axes [N/m], which the closed form does without.
  OSIER_FN void store_spring(const Spring& s, const Vec3<P>& k) const {
    const Vec3<P>& f = s.force;
    if constexpr (Law::kClosedForm) {
      put_own({f.x, f.y, f.z, s.stiffness}, g_.force, tile_.place);
    } else {
      const Sym3<P>& C = s.stiffness;
      put_own({C.xx, C.yy, C.zz, f.x}, g_.force, tile_.place);
      put_own({C.yx, C.zx, C.zy, f.y}, g_.force + g_.force_plane, tile_.place);
      put_own({k.x, k.y, k.z, f.z}, g_.force + 2 * g_.force_plane, tile_.place);
    }
  }
  OSIER_FN Joint own_joint(Index joint) const {
    const Index place = own_joints(joint);
    if constexpr (Law::kClosedForm) return {own_quaternions(g_.joint, place)};
    else return {own_quaternions(g_.joint, place), own_quaternions(g_.joint + g_.joint_plane, place)};
  }
  /// As this segment sees it.
  OSIER_FN Joint others_joint(const I* joint) const {
    if constexpr (Law::kClosedForm) return Joint{quaternions(joint_window_, joint)}.reversed();
    else return Joint{quaternions(joint_window_, joint), quaternions(joint_window_ + g_.joint_plane, joint)}.reversed();
  }
  template <bool kDamped>
  OSIER_FN Vec3<P> rest_axis() const {
    if constexpr (kDamped) return vector(own_row(kRestRow));
    else if constexpr (Law::kClosedForm) return {P(0), P(0), P(1)};
    else return {P(0), P(0), number(own_row(kRestRow))};
  }
  template <bool kDamped>
  OSIER_FN Segment segment(const Vec3<P>& edge) const {
    if constexpr (Law::kClosedForm) {  // v of k/l and the whole edge
      const P k_over_length = number(own_row(kStretchRow));
      return {stretch_shear::local_v(k_over_length, edge + edge_changes()), rest_axis<kDamped>()};
    } else {
      const Vec3<P> k = imag(own_quaternions(g_.force + 2 * g_.force_plane, tile_.place));
      return {edge + edge_changes(), k, rest_axis<kDamped>()};
    }
  }

  // Of the closed form.
  OSIER_FN P most_alpha() const { return P(static_cast<T>(g_.most_tau / view_.h)); }
  /// k^bt times rest rotation as seen from the side of this entry.
  OSIER_FN Quadruple<P, double> rest_of(Index entry) const {
    const double k = view_.joint_stiffness[entry / 2].d3, imaginary = entry % 2 == 1 ? k : -k;
    return row<P>(view_.joint_rest[entry / 2]) *
           Quadruple<P, double>{typename Quadruple<P, double>::Vector{imaginary, imaginary, imaginary, k}};
  }

  /// The present frame beyond one of a lane's joints.
  OSIER_FN Quat<T> frame_beyond(int lane, Index frame) const {
    for (Index j = 0; j < tile_.in + tile_.out; ++j)
      if (const I beyond = index(joint_index(j))[lane];  // 0: nothing is there, and its number means nothing
          beyond != 0 && g_.frame_id[place_at(window_.frames, beyond)] == frame) {
        const T* q = at(q_window_, beyond);
        return {q[0], q[1], q[2], q[3]};
      }
    return {};
  }
  /// The frames of some lanes one by one. All by copies: what has its address taken lives in memory from the start, for all
  /// lanes.
  template <bool kDamped, Lambda kLambda>
  OSIER_FN Quat<P> safeguarded(std::uint32_t lanes, Segment local, Quat<P> before, Quat<P> q) const {
    safeguarded_frames<kDamped, kLambda>(g_, view_, t_, first_, lanes, local, before, q);
    return q;
  }
  template <bool kDamped, Lambda kLambda>
  [[gnu::noinline]] static void safeguarded_frames(const GraphView<T>& g, const StepView& view, Index t, int first,
                                                   std::uint32_t lanes, const Segment& local, const Quat<P>& before, Quat<P>& q) {
    const GraphSweep pack(g, view, kSegments, t, first);
    for (int k = 0; k < W; ++k) {
      if (!(lanes >> k & 1u)) continue;
      T none(0), &gamma = kLambda == Lambda::exact ? pack.own_row(g.gamma_row)[k] : none;
      const Index s = pack.numbers_in(g.frame_id)(k);
      const auto frame_of = [&](Index f) { return pack.frame_beyond(k, f); };
      const auto each_joint = [&](const auto& add) { each_joint_spring<T>(view, s, frame_of, add); };
      set_lanes(q, k, safeguarded_frame_of<kDamped, kLambda>(view, s, lane_of(before, k), lane_of(local, k), gamma, each_joint));
    }
  }
};

/// The n-th joint of its own, damping folded in.
template <class P, class I, class Law>
OSIER_FN void GraphSweep<P, I, Law>::load_joint(Index joint, const Quat<P>& q) const {
  const std::uint32_t absent = nothing();
  const auto segments = numbers_in(g_.frame_id);
  Index entry[W];
  for (int k = 0; k < W; ++k) entry[k] = absent >> k & 1u ? -1 : joint_entry(segments(k), joint, true);
  // conj(q_other) q is the rotation between the two as either side sees it.
  const Quat<P> previous = conj(frames(index(2 + joint))) * q;
  P margin2;
  if constexpr (Law::kClosedForm) {
    P c[4];
    components_of_rows<P>([&](int k) { return cast_row<T>(entry[k] < 0 ? Quadruple<P, double>::all(0) : rest_of(entry[k])); }, c);
    const P tau = per_lane<P>([&](int k) { return entry[k] < 0 ? T(0) : static_cast<T>(view_.joint_tau[entry[k] / 2].d3); });
    const Quat<P> elastic{c[0], c[1], c[2], c[3]};
    const P viscous = tau * inverse_step() * root(norm2(elastic));
    const Quat<P> target = kelvin_voigt::fold_joint(elastic, viscous, previous, margin2);
    put_own(target, g_.joint, own_joints(joint));
    if (g_.most_tau > 0) raise_margin(pole_margin2(target, previous, most_alpha()));
  } else {
    const auto joints = [&](int k) { return entry[k] < 0 ? 0 : entry[k] / 2; };
    const P there = per_lane<P>([&](int k) { return entry[k] < 0 ? T(0) : T(1); });
    const P sign = per_lane<P>([&](int k) { return entry[k] % 2 == 1 ? T(1) : T(-1); });
    const Vec3<P> stiffness = there * gather<P>(view_.joint_stiffness, joints), tau = gather<P>(view_.joint_tau, joints);
    const Quat<P> model_rest = gather<P>(view_.joint_rest, joints);
    const Quat<P> rest{sign * model_rest.x, sign * model_rest.y, sign * model_rest.z, model_rest.w};
    const Quat<P> viscous = inverse_step() * bend_twist::viscous4(stiffness, tau);
    Quat<P> K, target;
    kelvin_voigt::fold_joint(bend_twist::stiffness4(stiffness), rest, viscous, previous, K, target, margin2);
    put_own(K, g_.joint, own_joints(joint));
    put_own(target, g_.joint + g_.joint_plane, own_joints(joint));
    raise_margin(margin2);
    for (int k = 0; k < W; ++k) g_.joint_margin[own_joints(joint) + first_ + place_of_lane(W, k)] = lane(margin2, k);
  }
}

template <class P, class I, class Law>
template <bool kDamped>
void GraphSweep<P, I, Law>::load_segment() const {
  const std::uint32_t fixed = load_frame_control();
  const auto segments = numbers_in(g_.frame_id);
  const Vec3<P> edge = edges();
  put(edge, own_row(kEdgeRow));
  Quat<P> q = own_frames();
  const P length = gather<P>(view_.rest_length, segments), inverse_length = P(1) / length;
  const auto strain = [&] { return rotate(conj(q), inverse_length * edge - director3(q)); };
  // Closed form: k/l, c and eta. Otherwise the stiffness of the axes, over l^2, and the rest vector.
  P k_over_length, c;
  Vec3<P> k, axis{P(0), P(0), Law::kClosedForm ? P(1) : length};
  if constexpr (Law::kClosedForm) {
    k_over_length = number(own_row(kStretchRow));
    c = k_over_length * inverse_length;
    if constexpr (kDamped) {
      const P alpha = per_lane<P>([&](int l) { return static_cast<T>(view_.segment_tau[segments(l)].d3); }) * inverse_step();
      c = (P(1) + alpha) * c;
      axis = stretch_shear::generalised_axis(alpha, strain());
      put(axis, own_row(kRestRow));
    }
    if (g_.gamma_row >= 0) store_lanes(gather<P>(view_.gamma, segments), own_row(g_.gamma_row));
  } else {
    k = gather<P>(view_.segment_stiffness, segments);
    if constexpr (kDamped) {
      const auto folded = stretch_shear::folded(k, inverse_step() * gather<P>(view_.segment_tau, segments), strain());
      k = folded.k;
      axis = length * folded.rest;
      put(axis, own_row(kRestRow));
    } else {
      store_lanes(length, own_row(kRestRow));
    }
    k = (inverse_length * inverse_length) * k;
    if (nothing() != 0) [[unlikely]]
      k = select<P>(mask_of_bits<P>(nothing()), Vec3<P>{P(0), P(0), P(0)}, k);
  }
  if constexpr (kDamped)
    for (Index j = 0; j < tile_.in; ++j) load_joint(j, q);
  if (fixed != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(fixed), gather<P>(view_.frame_target, segments), q);
  Spring spring;
  if constexpr (Law::kClosedForm) Law::template put_spring<kDamped>(k_over_length, c, edge, axis, q, spring);
  else Law::put_spring(q, k, axis, edge, spring);
  store_spring(spring, k);
}

template <class P, class I, class Law>
void GraphSweep<P, I, Law>::load_margin() const {
  const Quat<P> q = own_frames();
  for (Index j = tile_.in; j < tile_.in + tile_.out; ++j) {
    const I *frame = index(joint_index(j)), *joint = frame + kTile;
    if constexpr (Law::kClosedForm) raise_margin(pole_margin2(others_joint(joint).target, conj(frames(frame)) * q, most_alpha()));
    else raise_margin(per_lane<P>([&](int k) { return g_.joint_margin[place_at(window_.joints, joint[k])]; }));
  }
}

template <class P, class I, class Law>
void GraphSweep<P, I, Law>::load_vertex() const {
  Vec3<P> u;
  P vertex;
  load_vertex_start(u, vertex);
  if constexpr (Law::kClosedForm) {
    for (Index i = 0; i < tile_.in + tile_.out; ++i) vertex += spring(index(2 * i + 1)).stiffness;
    vertex = select(vertex > P(0), inverse(vertex), P(0));
  }
  put_own({u.x, u.y, u.z, vertex}, g_.u, tile_.place);
}

template <class P, class I, class Law>
OSIER_FN void GraphSweep<P, I, Law>::move_vertex() const {
  const std::uint32_t held = lanes_in(g_.vertex_held[t_]);
  if (held == all_lanes<P>) return;
  const auto own = [&] { return own_quaternions(g_.u, tile_.place); };
  typename Law::Vertex vertex(imag(own()), own().w, vector(own_row(0)));
  for (Index i = 0; i < tile_.in; ++i) vertex.add(spring(index(2 * i + 1)), P(1), displacements(index(2 * i)));
  for (Index i = tile_.in; i < tile_.in + tile_.out; ++i)
    vertex.add(spring(index(2 * i + 1)), P(-1), displacements(index(2 * i)));
  const Quat<P> before = own();
  Vec3<P> u = vertex.updated(before.w);
  if (held != 0) [[unlikely]]
    u = select<P>(mask_of_bits<P>(held), imag(before), u);
  put_own({u.x, u.y, u.z, before.w}, g_.u, tile_.place);
}

template <class P, class I, class Law>
template <bool kDamped, Lambda kLambda>
OSIER_FN void GraphSweep<P, I, Law>::turn_segment() const {
  const std::uint32_t held = lanes_in(g_.frame_held[t_]), hinged = lanes_in(g_.frame_hinged[t_]);
  if (held == all_lanes<P>) return;
  const Quat<P> before = own_frames();
  const Vec3<P> edge = vector(own_row(kEdgeRow));
  const Segment local = segment<kDamped>(edge);
  typename Law::template Frame<kDamped, kLambda> frame(before, local);
  MaskOf<P> differ{};
  const auto add = [&](const Quat<P>& other, const Joint& joint) {
    Quat<P> weighted_rest;
    const P c = frame.add_joint(before, other, joint, weighted_rest);
    if constexpr (kDamped) differ |= c * c < P(g_.margin[t_]) * norm2(weighted_rest);
  };
  for (Index j = 0; j < tile_.in; ++j) add(frames(index(2 + j)), own_joint(j));
  for (Index j = 0; j < tile_.out; ++j) {
    const I* others = index(2 + tile_.in + 2 * j);
    add(frames(others), others_joint(others + kTile));
  }
  bool cables = tile_.in + tile_.out == 0;
  if (view_.torque) [[unlikely]] {
    frame.add_torque(before, torque_at(before));
    if constexpr (Law::kClosedForm) cables = cables && !frame.has_couples();
  }
  MaskOf<P> refused{};
  P gamma(0);
  if (kLambda == Lambda::exact) gamma = number(own_row(g_.gamma_row));
  Quat<P> q;
  if constexpr (Law::kClosedForm) q = cables ? frame.aligned(before, refused) : frame.updated(before, gamma, refused);
  else q = frame.updated(before, gamma, refused);
  std::uint32_t special = bits(refused) | hinged;
  if constexpr (kDamped) special |= bits(differ);
  special &= ~held;
  if constexpr (kLambda == Lambda::exact) {  // of special lanes by safeguarded_frames
    T* memory = own_row(g_.gamma_row);
    store_lanes(select(mask_of_bits<P>(special), number(memory), gamma), memory);
  }
  if (special != 0) [[unlikely]]
    q = safeguarded<kDamped, kLambda>(special, local, before, q);
  if (held != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(held), before, q);
  put_own(q, g_.q, tile_.place);
  Spring spring;
  if constexpr (Law::kClosedForm) {
    const P k_over_length = number(own_row(kStretchRow)), c = own_quaternions(g_.force, tile_.place).w;
    Law::template put_spring<kDamped>(k_over_length, c, edge, local.eta, q, spring);
    store_spring(spring, {});
  } else {
    Law::put_spring(q, local.k, local.rest, edge, spring);
    store_spring(spring, local.k);
  }
}

}  // namespace osier::stable_cosserat
