// Coloured sweeps over a graph in tiles where stiffness differs between axes (graph_pack.hpp has what a step is,
// frame_problem.hpp the problem of a frame). A segment keeps, in three quadruples, C = R k R' [N/m], its pull C (R rest - (x_b -
// x_a)) on its second vertex at u = 0 [N] and k:
//
//   (C_xx, C_yy, C_zz, pull_x)   (C_yx, C_zx, C_zy, pull_y)   (k_1, k_2, k_3, pull_z)
//
// and a joint, in two, K and the rest rotation as its owner sees it, damping folded in (fold_joint). A vertex keeps
// (u_x, u_y, u_z, m/h^2 + c/h).
#pragma once

#include "math/sym3.hpp"
#include "solvers/stable_cosserat/frame_joints.hpp"
#include "solvers/stable_cosserat/graph_pack.hpp"

namespace osier::stable_cosserat {

/// I: of the indices of a GraphPlan.
template <class P, class I>
class GraphAxesSweep : GraphPack<P, I> {
  using Pack = GraphPack<P, I>;
  friend Pack;
  using Pack::edge_changes, Pack::load_vertex_start, Pack::torque_at, Pack::g_, Pack::view_, Pack::tile_, Pack::window_;
  using Pack::joint_index, Pack::own_joints, Pack::joint_entry, Pack::raise_margin, Pack::load_frame_control, Pack::edges;
  using Pack::own_quaternions, Pack::put_own, Pack::own_frames, Pack::numbers_in, Pack::inverse_step;
  using Pack::q_window_, Pack::pull_window_, Pack::joint_window_, Pack::t_, Pack::first_;
  using Pack::vector, Pack::put, Pack::at, Pack::place_at, Pack::quaternions, Pack::frames, Pack::displacements;
  using Pack::W, Pack::kVertices, Pack::kSegments, Pack::lanes_in, Pack::nothing, Pack::own_row, Pack::index, Pack::number;

 public:
  using T = ScalarOf<P>;
  using Pack::load_frames, Pack::hold_frames, Pack::store_vertices, Pack::store_segments;

  static void load_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) g.frame_held[t] = g.frame_hinged[t] = 0, g.margin[t] = T(0);
    if (g.damped) each_pack<kSegments, &GraphAxesSweep::load_segment<true>>(g, view, begin, end);
    else each_pack<kSegments, &GraphAxesSweep::load_segment<false>>(g, view, begin, end);
  }
  /// Once all segments are loaded: what their joints' owners have folded.
  static void load_margins(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    if (g.damped) each_pack<kSegments, &GraphAxesSweep::load_margin>(g, view, begin, end);
  }
  static void load_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) g.vertex_held[t] = 0;
    each_pack<kVertices, &GraphAxesSweep::load_vertex>(g, view, begin, end);
  }
  static void move_vertices(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    each_pack<kVertices, &GraphAxesSweep::move_vertex>(g, view, begin, end);
  }
  /// There is one lambda, that of the minimum.
  static void turn_segments(const GraphView<T>& g, const StepView& view, Lambda, Index begin, Index end) {
    if (g.damped) each_pack<kSegments, &GraphAxesSweep::turn_segment<true>>(g, view, begin, end);
    else each_pack<kSegments, &GraphAxesSweep::turn_segment<false>>(g, view, begin, end);
  }

 private:
  using Pack::Pack;

  template <typename Pack::Kind kKind, void (GraphAxesSweep::*kWork)() const>
  OSIER_FN static void each_pack(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    Pack::template each_pack<GraphAxesSweep, kKind, kWork>(g, view, begin, end);
  }

  template <bool kDamped>
  OSIER_FN Vec3<P> rest_axis() const {
    if constexpr (kDamped) return vector(own_row(kAxesRest));
    else return {P(0), P(0), number(own_row(kAxesRest))};
  }

  template <bool kDamped>
  void load_segment() const;
  void load_margin() const;
  void load_vertex() const;
  OSIER_FN void load_joint(Index joint, const Quat<P>& q) const;
  OSIER_FN void move_vertex() const;
  template <bool kDamped>
  OSIER_FN void turn_segment() const;
  OSIER_FN void put_spring(const Quat<P>& q, const Vec3<P>& k, const Vec3<P>& rest, const Vec3<P>& edge) const;

  template <bool kDamped>
  OSIER_FN void add_joint(FrameProblem<P>& problem, const Quat<P>& q, const JointTerm<P>& joint, MaskOf<P>& poles_differ) const {
    Quat<P> weighed_rest;
    P c;
    problem.add_joint(q, joint, weighed_rest, c);
    if constexpr (kDamped) poles_differ |= c * c < P(g_.margin[t_]) * norm2(weighed_rest);
  }
  /// The present frame beyond one of a lane's joints.
  OSIER_FN Quat<T> frame_beyond(int lane, Index frame) const;
  // Of copies: what has its address taken lives in memory from the start, for all lanes.
  template <bool kDamped>
  OSIER_FN Quat<P> careful(std::uint32_t lanes, Vec3<P> p, Vec3<P> k, Quat<P> before, Quat<P> q) const {
    careful_copy<kDamped>(g_, view_, t_, first_, lanes, p, k, before, q);
    return q;
  }
  template <bool kDamped>
  [[gnu::noinline]] static void careful_copy(const GraphView<T>& g, const StepView& view, Index t, int first, std::uint32_t lanes,
                                             const Vec3<P>& p, const Vec3<P>& k, const Quat<P>& before, Quat<P>& q) {
    GraphAxesSweep(g, view, kSegments, t, first).template careful_frames<kDamped>(lanes, p, k, before, q);
  }
  template <bool kDamped>
  void careful_frames(std::uint32_t lanes, const Vec3<P>& p, const Vec3<P>& k, const Quat<P>& before, Quat<P>& q) const;
};

template <class P, class I>
OSIER_FN void GraphAxesSweep<P, I>::put_spring(const Quat<P>& q, const Vec3<P>& k, const Vec3<P>& rest,
                                               const Vec3<P>& edge) const {
  const Sym3<P> C = packed(rotated_diagonal(rotation_matrix(q), k));
  const Vec3<P> pull = C * (rotate(q, rest) - edge);
  put_own({C.xx, C.yy, C.zz, pull.x}, g_.pull, tile_.place);
  put_own({C.yx, C.zx, C.zy, pull.y}, g_.pull + g_.pull_plane, tile_.place);
  put_own({k.x, k.y, k.z, pull.z}, g_.pull + 2 * g_.pull_plane, tile_.place);
}

/// The n-th joint of its own, damping folded in.
template <class P, class I>
OSIER_FN void GraphAxesSweep<P, I>::load_joint(Index joint, const Quat<P>& q) const {
  const std::uint32_t absent = nothing();
  const auto segments = numbers_in(g_.frame_id);
  Index entry[W];
  for (int k = 0; k < W; ++k) entry[k] = absent >> k & 1u ? -1 : joint_entry(segments(k), joint, true);
  const auto joints = [&](int k) { return entry[k] < 0 ? 0 : entry[k] / 2; };
  const P there = per_lane<P>([&](int k) { return entry[k] < 0 ? T(0) : T(1); });
  const P sign = per_lane<P>([&](int k) { return entry[k] % 2 == 1 ? T(1) : T(-1); });
  const Vec3<P> stiffness = there * gather<P>(view_.joint_stiffness, joints), tau = gather<P>(view_.joint_tau, joints);
  Quat<P> rest = gather<P>(view_.joint_rest, joints);
  rest = {sign * rest.x, sign * rest.y, sign * rest.z, rest.w};
  // conj(q_other) q is the rotation between the two as either side sees it.
  const Quat<P> previous = conj(frames(index(2 + joint))) * q;
  Quat<P> K, target;
  P margin2;
  fold_joint(bend_twist::stiffness4(stiffness), rest, inverse_step() * bend_twist::viscous4(stiffness, tau), previous, K, target,
             margin2);
  put_own(K, g_.joint, own_joints(joint));
  put_own(target, g_.joint + g_.joint_plane, own_joints(joint));
  raise_margin(margin2);
  for (int k = 0; k < W; ++k) g_.joint_margin[own_joints(joint) + first_ + place_of_lane(W, k)] = lane(margin2, k);
}

template <class P, class I>
template <bool kDamped>
void GraphAxesSweep<P, I>::load_segment() const {
  const std::uint32_t fixed = load_frame_control();
  const auto segments = numbers_in(g_.frame_id);
  const Vec3<P> edge = edges();
  put(edge, own_row(kAxesEdge));
  Quat<P> q = own_frames();
  const P length = gather<P>(view_.rest_length, segments), inverse_length = P(1) / length;
  Vec3<P> k = gather<P>(view_.segment_stiffness, segments), rest{P(0), P(0), length};
  if constexpr (kDamped) {
    const Vec3<P> strain = rotate(conj(q), inverse_length * edge - director3(q));
    const auto spring = stretch_shear::folded(k, inverse_step() * gather<P>(view_.segment_tau, segments), strain);
    k = spring.k, rest = length * spring.rest;
    put(rest, own_row(kAxesRest));
    for (Index j = 0; j < tile_.in; ++j) load_joint(j, q);
  } else {
    store_lanes(length, own_row(kAxesRest));
  }
  k = (inverse_length * inverse_length) * k;
  if (nothing() != 0) [[unlikely]]
    k = select<P>(mask_of_bits<P>(nothing()), Vec3<P>{P(0), P(0), P(0)}, k);
  if (fixed != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(fixed), gather<P>(view_.frame_target, segments), q);
  put_spring(q, k, rest, edge);
}

template <class P, class I>
void GraphAxesSweep<P, I>::load_margin() const {
  for (Index j = 0; j < tile_.out; ++j) {
    const I* joint = index(joint_index(tile_.in + j)) + kTile;
    raise_margin(per_lane<P>([&](int k) { return g_.joint_margin[place_at(window_.joints, joint[k])]; }));
  }
}

template <class P, class I>
void GraphAxesSweep<P, I>::load_vertex() const {
  Vec3<P> u;
  P weight;
  load_vertex_start(u, weight);
  put_own({u.x, u.y, u.z, weight}, g_.u, tile_.place);
}

template <class P, class I>
OSIER_FN void GraphAxesSweep<P, I>::move_vertex() const {
  const std::uint32_t held = lanes_in(g_.vertex_held[t_]);
  if (held == all_lanes<P>) return;
  const Quat<P> own = own_quaternions(g_.u, tile_.place);
  const P weight = own.w;
  const Vec3<P> before = imag(own);
  Vec3<P> gradient = weight * before - vector(own_row(0));
  Mat3<P> hessian = identity3(weight);
  const auto add = [&](Index i, P sign) {
    const I* segment = index(2 * i + 1);
    const Quat<P> a = quaternions(pull_window_, segment), b = quaternions(pull_window_ + g_.pull_plane, segment);
    const P pull_z = quaternions(pull_window_ + 2 * g_.pull_plane, segment).w;
    const Sym3<P> C{a.x, b.x, a.y, b.y, b.z, a.z};
    gradient += C * (before - displacements(index(2 * i))) - sign * Vec3<P>{a.w, b.w, pull_z};
    hessian = hessian + full(C);
  };
  for (Index i = 0; i < tile_.in; ++i) add(i, P(1));
  for (Index i = tile_.in; i < tile_.in + tile_.out; ++i) add(i, P(-1));
  Vec3<P> u = after_block_step(before, gradient, hessian);
  if (held != 0) [[unlikely]]
    u = select<P>(mask_of_bits<P>(held), before, u);
  put_own({u.x, u.y, u.z, weight}, g_.u, tile_.place);
}

template <class P, class I>
template <bool kDamped>
OSIER_FN void GraphAxesSweep<P, I>::turn_segment() const {
  const std::uint32_t held = lanes_in(g_.frame_held[t_]), hinged = lanes_in(g_.frame_hinged[t_]);
  if (held == all_lanes<P>) return;
  const Quat<P> before = own_frames();
  const Vec3<P> edge = vector(own_row(kAxesEdge)), rest = rest_axis<kDamped>();
  const Vec3<P> k = imag(own_quaternions(g_.pull + 2 * g_.pull_plane, tile_.place));
  const Vec3<P> p = edge + edge_changes();
  FrameProblem<P> problem(before, p, k, rest);
  MaskOf<P> differ{};
  for (Index j = 0; j < tile_.in; ++j)
    add_joint<kDamped>(problem, before,
                       {frames(index(2 + j)), own_quaternions(g_.joint, own_joints(j)),
                        own_quaternions(g_.joint + g_.joint_plane, own_joints(j))},
                       differ);
  for (Index j = 0; j < tile_.out; ++j) {
    const I *frame = index(2 + tile_.in + 2 * j), *joint = frame + kTile;
    add_joint<kDamped>(
        problem, before,
        {frames(frame), quaternions(joint_window_, joint), conj(quaternions(joint_window_ + g_.joint_plane, joint))}, differ);
  }
  if (view_.torque) [[unlikely]]
    problem.add_torque(before, torque_at(before));
  MaskOf<P> refused{};
  Quat<P> q = newton_frame(problem, before, refused);
  std::uint32_t special = bits(refused) | hinged;
  if constexpr (kDamped) special |= bits(differ);
  special &= ~held;
  if (special != 0) [[unlikely]]
    q = careful<kDamped>(special, p, k, before, q);
  if (held != 0) [[unlikely]]
    q = select<P>(mask_of_bits<P>(held), before, q);
  put_own(q, g_.q, tile_.place);
  put_spring(q, k, rest, edge);
}

template <class P, class I>
OSIER_FN Quat<ScalarOf<P>> GraphAxesSweep<P, I>::frame_beyond(int lane, Index frame) const {
  for (Index j = 0; j < tile_.in + tile_.out; ++j)
    if (const I beyond = index(joint_index(j))[lane];  // 0: nothing is there, and its number means nothing
        beyond != 0 && g_.frame_id[place_at(window_.frames, beyond)] == frame) {
      const T* q = at(q_window_, beyond);
      return {q[0], q[1], q[2], q[3]};
    }
  return {};
}

/// Lane by lane, where a Newton step is refused, for hinges, and where elastic and viscous poles may differ.
template <class P, class I>
template <bool kDamped>
void GraphAxesSweep<P, I>::careful_frames(std::uint32_t lanes, const Vec3<P>& p, const Vec3<P>& k, const Quat<P>& before,
                                          Quat<P>& q) const {
  const Vec3<P> rest = rest_axis<kDamped>();
  for (int i = 0; i < W; ++i)
    if (lanes >> i & 1u)
      set_lanes(q, i,
                careful_frame_of(view_, numbers_in(g_.frame_id)(i), lane_of(before, i), lane_of(p, i), lane_of(k, i),
                                 lane_of(rest, i), [&](Index f) { return frame_beyond(i, f); }));
}

}  // namespace osier::stable_cosserat
