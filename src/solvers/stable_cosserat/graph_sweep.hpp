// Coloured sweeps over a graph in tiles by the closed form (graph_pack.hpp has what a step is).
#pragma once

#include "solvers/stable_cosserat/graph_pack.hpp"

namespace osier::stable_cosserat {

/// I: of the indices of a GraphPlan.
template <class P, class I>
class GraphSweep : GraphPack<P, I> {
  using Pack = GraphPack<P, I>;
  friend Pack;
  using Pack::edge_changes, Pack::load_vertex_start, Pack::torque_at, Pack::g_, Pack::view_, Pack::tile_, Pack::window_;
  using Pack::joint_index, Pack::own_joints, Pack::joint_entry, Pack::raise_margin, Pack::load_frame_control, Pack::edges;
  using Pack::own_quads, Pack::own_quaternions, Pack::put_own, Pack::own_frames, Pack::numbers_in, Pack::inverse_step;
  using Pack::q_window_, Pack::pull_window_, Pack::joint_window_, Pack::t_, Pack::first_;
  using Pack::vector, Pack::put, Pack::at, Pack::place_at, Pack::quads, Pack::quaternions, Pack::frames, Pack::displacements;
  using Pack::W, Pack::kVertices, Pack::kSegments, Pack::lanes_in, Pack::nothing, Pack::own_row, Pack::index, Pack::number;

 public:
  using T = ScalarOf<P>;
  using Pack::load_frames, Pack::hold_frames, Pack::store_vertices;

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
  static bool store_segments(const GraphView<T>& g, const StepView& view, Index begin, Index end) {
    if (g.gamma_row >= 0) each_pack<kSegments, &GraphSweep::store_gamma>(g, view, begin, end);
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

  OSIER_FN Quat<P> own_target(Index joint) const { return own_quaternions(g_.joint, own_joints(joint)); }
  OSIER_FN Quat<P> others_target(const I* joint) const { return conj(quaternions(joint_window_, joint)); }
  OSIER_FN P most_alpha() const { return P(static_cast<T>(g_.most_tau / view_.h)); }
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
  /// The force that the axis carried by q makes, with c beside it.
  template <bool kDamped>
  OSIER_FN void put_pull(P k_over_length, P c, const Vec3<P>& edge, const Vec3<P>& eta, const Quat<P>& q) const {
    // (1 + alpha) k/l p0 = c (x_b - x_a)
    const Vec3<P> pull = edge_pull(c, P(1), edge) + image_pull(k_over_length, axis_image_of<P, kDamped>(q, eta));
    put_own({pull.x, pull.y, pull.z, c}, g_.pull, tile_.place);
  }
};

/// From the model, nothing where a lane has no such joint.
template <class P, class I>
OSIER_FN typename GraphSweep<P, I>::JointConstants GraphSweep<P, I>::joint_constants(Index joint) const {
  const std::uint32_t absent = nothing();
  const auto segments = numbers_in(g_.frame_id);
  P c[4];
  T tau[W];
  components_of_rows<P>(
      [&](int k) {
        const Index entry = absent >> k & 1u ? -1 : joint_entry(segments(k), joint, true);
        tau[k] = entry < 0 ? T(0) : static_cast<T>(view_.joint_tau[entry / 2].d3);
        return cast_row<T>(entry < 0 ? Four<P, double>::all(0) : rest_of(entry));
      },
      c);
  return {{c[0], c[1], c[2], c[3]}, per_lane<P>([&](int k) { return tau[k]; })};
}

template <class P, class I>
template <bool kDamped>
void GraphSweep<P, I>::load_segment() const {
  const std::uint32_t fixed = load_frame_control();
  const auto segments = numbers_in(g_.frame_id);
  const P k_over_length = number(own_row(kStretchRow)), inverse_length = P(1) / gather<P>(view_.rest_length, segments);
  const Vec3<P> edge = edges();
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
      put_own(target, g_.joint, own_joints(j));
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
    const I* frame = index(joint_index(j));
    const Quat<P> previous = conj(frames(frame)) * q;
    raise_margin(pole_margin2(others_target(frame + kTile), previous, most_alpha()));
  }
}

template <class P, class I>
void GraphSweep<P, I>::load_vertex() const {
  Vec3<P> u;
  P hessian;
  load_vertex_start(u, hessian);
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
      k_over_length, edge + edge_changes());
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
  put_own(q, g_.q, tile_.place);
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
              *numbers = own ? own_quads(g_.joint, own_joints(j) + place_of_lane(W, k)) : at(joint_window_, beyond[kTile]);
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
