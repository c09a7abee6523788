// The sweeps over one rod, or over one rod in each lane: Algorithm 1 of the paper in Gauss-Seidel order, first positions by their
// global system, then turns by theirs, with the exact gradients of local_step.hpp for the paper's projections.
//
//   positions  Hx du = -dPhi/du,   Hx = w + sum k/l^2, off the diagonal -k/l^2;  k the largest stiffness of a segment
//   turns      Hi d_i = -dPhi/dw_i for i = 1, 2, 3 about the frames' own axes, q <- q (1, d/2)
//
//   H1, H2   J/h^2 + k max(1, |p|) + sum of joints c_i + c theta^2,   off the diagonal -c_i
//   H3       J/h^2 + 2 k |shear|^2 + sum of joints c_3 + c beta^2,    off the diagonal -c_3
//
//   c_i          (K_i + K_v,i)/4 of a joint = EI1/l, EI2/l, GJ/l                                       [N m]
//   theta, beta  2 sin(half the angle between its two frames), and the same for their d3
//
// Stretch and shear do not resist twist, so H3 has no k: with it twist would creep by r^2/2 ((1/ch)^2 + ...) per sweep. The theta
// and beta terms make up for reading components in the axes of two different frames: without them a tight helix diverges.
// H is at least half of the curvature that it stands for, which is what a descent step needs.
#pragma once

#include "math/number.hpp"
#include "solvers/first_guess.hpp"
#include "solvers/projective/global_step.hpp"
#include "solvers/projective/local_step.hpp"
#include "solvers/projective/rod_view.hpp"

namespace osier::projective {

template <class P>
class RodSweep {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;

  explicit RodSweep(const RodView<T>& view) : v_(view) {}

  /// Folds damping, makes the first guess and the global systems.
  void begin(bool paper) {
    fold_segments(paper);
    fold_joints();
    guess_frames();
    assemble();
  }

  /// What the gradients of a sweep have shown: the largest of those of free vertices and frames, and the largest force at work,
  /// both of them forces [N]. Positions are measured at the frames before the sweep, turns at the positions after it.
  struct Measure {
    P residual = P(0), scale = P(0);
  };
  /// Positions, then turns.
  void sweep(Measure* measure) {
    move(measure);
    turn(measure);
  }
  /// The global step in positions.
  void move(Measure* measure = nullptr) {
    if (v_.touches) assemble_positions();
    position_gradient();
    if (measure) measure_positions(*measure);
    Vec3<P>* g = of<Vec3<P>>(v_.gx);
    const P* free = of<P>(v_.vertex_free);
    for (Index i = 0; i < v_.vertices; ++i) g[i] = -free[i] * g[i];
    solve(v_.positions, of<P>(v_.position_pivot), of<P>(v_.position_entry), g);
    Vec3<P>* u = of<Vec3<P>>(v_.u);
    for (Index i = 0; i < v_.vertices; ++i) u[i] += g[i];
  }
  /// The global step in turns.
  void turn(Measure* measure) {
    turn_gradient();
    if (measure) measure_turns(*measure);
    if (stale_turns_) assemble_turns();
    Vec3<P>* g = of<Vec3<P>>(v_.gw);
    const P* free = of<P>(v_.frame_free);
    for (Index s = 0; s < v_.segments; ++s) g[s] = -free[s] * g[s];
    solve(v_.turns, of<Vec3<P>>(v_.turn_pivot), of<Vec3<P>>(v_.turn_entry), g);
    for (Index s = 0; s < v_.segments; ++s) turn_frame(s, g[s]);
    if (v_.hinges) turn_hinges();
  }

  void settle_frames();
  void assemble() {
    assemble_positions();
    assemble_turns();
  }
  void assemble_positions();
  void assemble_turns();
  void position_gradient();
  void turn_gradient();
  /// The step's potential over each lane's rod, but for a constant.
  P energy() const;

  const RodView<T>& view() const { return v_; }
  template <class A>
  static A* of(T* array) {
    return reinterpret_cast<A*>(array);
  }
  template <class A>
  static const A* of(const T* array) {
    return reinterpret_cast<const A*>(array);
  }

 private:
  void fold_segments(bool paper);
  void fold_joints();
  void guess_frames();
  void settle_frame(Index f);
  void turn_hinges();
  void measure_positions(Measure& m) const;
  void measure_turns(Measure& m) const;
  const Quat<P>* turn_of(Index f) const { return kSinceStart<P> ? of<Quat<P>>(v_.turn) + f : nullptr; }
  /// p - d3 of a segment, world axes.
  Vec3<P> world_strain(Index s) const {
    const auto [a, b] = v_.segment_vertices[s];
    const Vec3<P>* u = of<Vec3<P>>(v_.u);
    const Vec3<P> change = of<P>(v_.inverse_length)[s] * (u[b] - u[a]);
    return strain_in_world(of<Vec3<P>>(v_.edge)[s], change, of<Quat<P>>(v_.start)[s], of<Quat<P>>(v_.rotation)[s], turn_of(s));
  }
  SegmentStrain<P> strain(Index s) const {
    return segment_strain(world_strain(s), of<Quat<P>>(v_.rotation)[s], of<Vec3<P>>(v_.offset)[s]);
  }
  JointStress<P> stress(Index j) const;
  void turn_frame(Index s, const Vec3<P>& d);
  static P largest(const Vec3<P>& a) { return larger(larger(a.x, a.y), a.z); }
  static P size_of(const Vec3<P>& a) { return root(norm2(a)); }
  /// |p| up to which the turns' matrix is made, and beyond which it is made again.
  static P stretch_bound(P stretch2) { return larger(P(1), P(T(1.5)) * stretch2); }

  const RodView<T>& v_;
  bool stale_turns_ = false;  ///< some segment is longer than its matrix allows
};

/// Elasticity and damping as one spring (stretch_shear::folded). The printed variant has the stretching stiffness for all axes.
template <class P>
void RodSweep<P>::fold_segments(bool paper) {
  const Vec3<P>*k = of<Vec3<P>>(v_.stiffness), *tau = of<Vec3<P>>(v_.tau), *p = of<Vec3<P>>(v_.edge);
  const Quat<P>* start = of<Quat<P>>(v_.start);
  Vec3<P>*spring = of<Vec3<P>>(v_.spring), *offset = of<Vec3<P>>(v_.offset);
  const P rate = P(T(1) / v_.h), none = P(0);
  for (Index s = 0; s < v_.segments; ++s) {
    spring[s] = k[s];
    offset[s] = {none, none, none};
    if (paper) spring[s] = {k[s].z, k[s].z, k[s].z};
    if (!v_.damped) continue;
    const Vec3<P> alpha = rate * tau[s];
    const Vec3<P> strain = segment_strain(kSinceStart<P> ? p[s] : p[s] - director3(start[s]), start[s], offset[s]).strain;
    spring[s] = stretch_shear::folded(k[s], alpha, strain).k;
    offset[s] = {alpha.x / (P(1) + alpha.x) * strain.x, alpha.y / (P(1) + alpha.y) * strain.y,
                 alpha.z / (P(1) + alpha.z) * strain.z};
  }
}

template <class P>
void RodSweep<P>::fold_joints() {
  if (!v_.damped) return;
  const Quat<P>*start = of<Quat<P>>(v_.start), *viscous = of<Quat<P>>(v_.bend_viscous);
  const P rate = P(T(1) / v_.h);
  for (Index j = 0; j < v_.joints; ++j) {
    const auto [a, b] = v_.joint_frames[j];
    of<Quat<P>>(v_.viscous)[j] = rate * viscous[j];
    of<Quat<P>>(v_.previous)[j] = conj(start[a]) * start[b];
  }
}

/// Frames that follow their edges turn with them; the others have been loaded.
template <class P>
void RodSweep<P>::guess_frames() {
  const Vec3<P>*strain = of<Vec3<P>>(v_.edge), *u = of<Vec3<P>>(v_.u);
  const Quat<P>* start = of<Quat<P>>(v_.start);
  for (Index s = 0; s < v_.segments; ++s) {
    const auto [a, b] = v_.segment_vertices[s];
    const Vec3<P> edge = kSinceStart<P> ? strain[s] + director3(start[s]) : strain[s];
    P moves;
    const Quat<P> carried = systems::carried_turn(edge, of<P>(v_.inverse_length)[s] * (u[b] - u[a]), moves);
    const MaskOf<P> follows = of<P>(v_.follows)[s] > P(0);
    if constexpr (kSinceStart<P>) {
      Quat<P>& turn = of<Quat<P>>(v_.turn)[s];
      turn = select(follows, carried, turn);
    } else {
      Quat<P>& q = of<Quat<P>>(v_.rotation)[s];
      q = select(follows, carried * start[s], q);
    }
  }
  settle_frames();
}

/// q of all frames from their turns, where those are what is kept.
template <class P>
void RodSweep<P>::settle_frames() {
  if constexpr (kSinceStart<P>)
    for (Index f = 0; f < v_.frames; ++f) settle_frame(f);
}
template <class P>
void RodSweep<P>::settle_frame(Index f) {
  if constexpr (kSinceStart<P>) {
    const Quat<P> q = of<Quat<P>>(v_.turn)[f] * of<Quat<P>>(v_.start)[f];
    of<Quat<P>>(v_.rotation)[f] = inverse_sqrt(norm2(q)) * q;
  }
}

/// q <- q (1, d/2), normalised.
template <class P>
OSIER_FN void RodSweep<P>::turn_frame(Index s, const Vec3<P>& d) {
  Quat<P>& q = of<Quat<P>>(v_.rotation)[s];
  if constexpr (kSinceStart<P>) {
    const Vec3<P> w = P(T(0.5)) * rotate(q, d);
    Quat<P>& turn = of<Quat<P>>(v_.turn)[s];
    const Quat<P> to = turn + w * turn;
    turn = inverse_sqrt(norm2(to)) * to;
    settle_frame(s);
  } else {
    q = turned_by(q, d);
  }
}

/// A joint at hand. In float from the strain at the start of the step; where the nearer pole has changed since, anew.
template <class P>
OSIER_FN JointStress<P> RodSweep<P>::stress(Index j) const {
  const auto [a, b] = v_.joint_frames[j];
  const Quat<P>*q = of<Quat<P>>(v_.rotation), K = of<Quat<P>>(v_.bend)[j], rest = of<Quat<P>>(v_.bend_rest)[j];
  const Quat<P> none{P(0), P(0), P(0), P(0)};
  const Quat<P> viscous = v_.damped ? of<Quat<P>>(v_.viscous)[j] : none,
                previous = v_.damped ? of<Quat<P>>(v_.previous)[j] : none;
  if constexpr (kSinceStart<P>) {
    const Quat<P>*turn = of<Quat<P>>(v_.turn), *start = of<Quat<P>>(v_.start);
    const Quat<P> difference = of<Quat<P>>(v_.difference)[j];
    const auto bend =
        v_.damped ? strain_since_start::anisotropic_bend<true>(K, viscous, difference, turn[b], turn[a], start[a], start[b])
                  : strain_since_start::anisotropic_bend<false>(K, viscous, difference, turn[b], turn[a], start[a], start[b]);
    const MaskOf<P> other_pole = bend.pole_margin < P(0);
    JointStress<P> s{bend.r, bend.gradient, bend.energy};
    if (!any(other_pole)) return s;
    const JointStress<P> anew = joint_stress(K, rest, v_.damped, viscous, previous, conj(q[a]) * q[b]);
    return {select(other_pole, anew.r, s.r), select(other_pole, anew.weighted, s.weighted),
            select(other_pole, anew.energy, s.energy)};
  } else {
    return joint_stress(K, rest, v_.damped, viscous, previous, conj(q[a]) * q[b]);
  }
}

template <class P>
void RodSweep<P>::assemble_positions() {
  P *diagonal = of<P>(v_.position_pivot), *entry = of<P>(v_.position_entry);
  const P *free = of<P>(v_.vertex_free), *weight = of<P>(v_.weight);
  for (Index i = 0; i < v_.vertices; ++i) {
    diagonal[i] = weight[i];
    if (v_.touches) diagonal[i] += of<P>(v_.contact_weight)[i];
  }
  for (Index k = 0; k < v_.positions.column_start[v_.vertices]; ++k) entry[k] = P(0);
  for (Index s = 0; s < v_.segments; ++s) {
    const auto [a, b] = v_.segment_vertices[s];
    const P per_length = of<P>(v_.inverse_length)[s];
    const P k = largest(of<Vec3<P>>(v_.spring)[s]) * per_length * per_length;
    diagonal[a] += k;
    diagonal[b] += k;
    entry[v_.positions.edge_entry[s]] -= k * free[a] * free[b];
  }
  for (Index i = 0; i < v_.vertices; ++i) {
    diagonal[i] = select(free[i] > P(0), diagonal[i], P(1));
    of<P>(v_.position_scale)[i] = diagonal[i];
  }
  factor(v_.positions, diagonal, entry);
}

template <class P>
void RodSweep<P>::assemble_turns() {
  stale_turns_ = false;
  Vec3<P>*diagonal = of<Vec3<P>>(v_.turn_pivot), *entry = of<Vec3<P>>(v_.turn_entry);
  const P* free = of<P>(v_.frame_free);
  const Quat<P>* q = of<Quat<P>>(v_.rotation);
  const P none = P(0);
  // A rod that nothing keeps from spinning about itself needs a little of H3; rounding errors of its couples are to stay small.
  const P regular = P(sizeof(T) == 4 ? T(1e-6) : T(1e-9));
  for (Index s = 0; s < v_.segments; ++s) {
    const SegmentStrain<P> here = strain(s);
    const P k = largest(of<Vec3<P>>(v_.spring)[s]);
    const P bound2 = stretch_bound(norm2(here.edge));
    of<P>(v_.stretch2)[s] = bound2;
    const P across = k * root(bound2);
    const P shear2 = here.edge.x * here.edge.x + here.edge.y * here.edge.y;
    diagonal[s] = {across, across, k * (P(2) * shear2 + regular)};
    for (Index t = 0; t < v_.terms; ++t) {
      const P* term = of<P>(v_.term) + (s * v_.terms + t) * kTermNumbers;
      diagonal[s] +=
          {term[0] * (P(1) - term[4] * term[4]), term[0] * (P(1) - term[5] * term[5]), term[0] * (P(1) - term[6] * term[6])};
    }
  }
  for (Index k = 0; k < v_.turns.column_start[v_.segments]; ++k) entry[k] = {none, none, none};
  for (Index j = 0; j < v_.joints; ++j) {
    const auto [a, b] = v_.joint_frames[j];
    const Quat<P> r = conj(q[a]) * q[b];
    Quat<P> K = of<Quat<P>>(v_.bend)[j];
    if (v_.damped) K += of<Quat<P>>(v_.viscous)[j];
    const Vec3<P> axes = P(T(0.25)) * imag(K);
    const P most = largest(axes);
    const P beta2 = P(4) * (r.x * r.x + r.y * r.y), theta2 = beta2 + P(4) * r.z * r.z;
    // Between frames that are turned against each other every axis meets the stiffness of the others.
    const P mixed = smaller(P(1), theta2);
    const Vec3<P> c = axes + mixed * (Vec3<P>{most, most, most} - axes);
    const Vec3<P> own = c + Vec3<P>{most * theta2, most * theta2, most * beta2};
    if (a < v_.segments) diagonal[a] += own;
    if (b < v_.segments) diagonal[b] += own;
    if (v_.joint_entry[j] >= 0) {
      const P both = free[a] * free[b];
      entry[v_.joint_entry[j]] -= both * c;
    }
  }
  for (Index s = 0; s < v_.segments; ++s) {
    of<P>(v_.turn_scale)[s] = diagonal[s].x;
    if (v_.hinges) {
      const Vec3<P> axis = of<Vec3<P>>(v_.hinge)[s];
      of<P>(v_.hinge_curvature)[s] = dot(axis, osier::times(diagonal[s], axis));
    }
    const MaskOf<P> moves = free[s] > P(0);
    diagonal[s] = select(moves, diagonal[s], Vec3<P>{P(1), P(1), P(1)});
  }
  factor(v_.turns, diagonal, entry);
}

template <class P>
void RodSweep<P>::position_gradient() {
  Vec3<P>* g = of<Vec3<P>>(v_.gx);
  const Vec3<P>*u = of<Vec3<P>>(v_.u), *load = of<Vec3<P>>(v_.load);
  const P* weight = of<P>(v_.weight);
  for (Index i = 0; i < v_.vertices; ++i) g[i] = weight[i] * u[i] - load[i];
  if (v_.touches)
    for (Index i = 0; i < v_.vertices; ++i) g[i] += of<Vec3<P>>(v_.contact_gradient)[i];
  const Quat<P>* q = of<Quat<P>>(v_.rotation);
  for (Index s = 0; s < v_.segments; ++s) {
    const auto [a, b] = v_.segment_vertices[s];
    const Vec3<P> k = of<Vec3<P>>(v_.spring)[s];
    const P per_length = of<P>(v_.inverse_length)[s];
    Vec3<P> n;
    if (v_.isotropic && !v_.damped) {  // the axes do not matter
      n = (per_length * k.z) * world_strain(s);
    } else {
      n = per_length * stretch_shear::section_force(k, strain(s).strain, q[s]);
    }
    g[b] += n;
    g[a] -= n;
  }
}

template <class P>
void RodSweep<P>::turn_gradient() {
  Vec3<P>* g = of<Vec3<P>>(v_.gw);
  const Quat<P>* q = of<Quat<P>>(v_.rotation);
  for (Index s = 0; s < v_.segments; ++s) {
    const SegmentStrain<P> here = strain(s);
    g[s] = stretch_shear::gradient_w(osier::times(of<Vec3<P>>(v_.spring)[s], here.strain), here.edge);
    if (any(norm2(here.edge) > of<P>(v_.stretch2)[s])) stale_turns_ = true;
    for (Index t = 0; t < v_.terms; ++t) {
      const P* term = of<P>(v_.term) + (s * v_.terms + t) * kTermNumbers;
      g[s] += stretch_shear::gradient_w(term[0], rotate(conj(q[s]), Vec3<P>{term[1], term[2], term[3]}),
                                        Vec3<P>{term[4], term[5], term[6]});
    }
    if (v_.torques) g[s] -= rotate(conj(q[s]), of<Vec3<P>>(v_.torque)[s]) + of<Vec3<P>>(v_.torque_material)[s];
  }
  for (Index j = 0; j < v_.joints; ++j) {
    const auto [a, b] = v_.joint_frames[j];
    const JointStress<P> here = stress(j);
    const JointGradient<P> both = joint_gradient(here.weighted, here.r);
    if (a < v_.segments) g[a] += both.first;
    if (b < v_.segments) g[b] += both.second;
  }
}

/// Hinged frames, one by one about their axes, after all others.
template <class P>
void RodSweep<P>::turn_hinges() {
  turn_gradient();
  const Vec3<P>* g = of<Vec3<P>>(v_.gw);
  for (Index s = 0; s < v_.segments; ++s) {
    const Vec3<P> axis = of<Vec3<P>>(v_.hinge)[s];
    const P curvature = of<P>(v_.hinge_curvature)[s];
    const P angle = select(curvature > P(0), dot(axis, g[s]) / curvature, P(0));
    if (any(curvature > P(0))) turn_frame(s, -angle * axis);
  }
}

template <class P>
P RodSweep<P>::energy() const {
  const Vec3<P>*u = of<Vec3<P>>(v_.u), *load = of<Vec3<P>>(v_.load);
  const Quat<P>*q = of<Quat<P>>(v_.rotation), *start = of<Quat<P>>(v_.start);
  P sum = P(0);
  for (Index i = 0; i < v_.vertices; ++i) {
    const P free = of<P>(v_.vertex_free)[i];
    sum += free * (P(T(0.5)) * of<P>(v_.weight)[i] * norm2(u[i]) - dot(load[i], u[i]));
  }
  for (Index s = 0; s < v_.segments; ++s) {
    sum += stretch_shear::value(of<Vec3<P>>(v_.spring)[s], strain(s).strain);
    for (Index t = 0; t < v_.terms; ++t) {
      const P* term = of<P>(v_.term) + (s * v_.terms + t) * kTermNumbers;
      sum += stretch_shear::value(term[0], Vec3<P>{term[1], term[2], term[3]}, rotate(q[s], Vec3<P>{term[4], term[5], term[6]}));
    }
    if (v_.torques) {  // the work done along a small turn
      const Vec3<P> turn = P(2) * imag(q[s] * conj(start[s]));
      sum -= dot(turn, of<Vec3<P>>(v_.torque)[s] + rotate(q[s], of<Vec3<P>>(v_.torque_material)[s]));
    }
  }
  for (Index j = 0; j < v_.joints; ++j) sum += stress(j).energy;
  return sum;
}

/// After position_gradient().
template <class P>
void RodSweep<P>::measure_positions(Measure& m) const {
  const Vec3<P>*g = of<Vec3<P>>(v_.gx), *u = of<Vec3<P>>(v_.u);
  for (Index i = 0; i < v_.vertices; ++i) {
    const P free = of<P>(v_.vertex_free)[i];
    m.residual = larger(free * size_of(g[i]), m.residual);
    const P load = size_of(of<Vec3<P>>(v_.load)[i]), inertia = of<P>(v_.weight)[i] * size_of(u[i]);
    m.scale = larger(free * larger(load, inertia), m.scale);
  }
  for (Index s = 0; s < v_.segments; ++s) {
    const Vec3<P> n = osier::times(of<Vec3<P>>(v_.spring)[s], strain(s).strain);
    m.scale = larger(of<P>(v_.inverse_length)[s] * size_of(n), m.scale);
  }
}

/// After turn_gradient().
template <class P>
void RodSweep<P>::measure_turns(Measure& m) const {
  const Vec3<P>* g = of<Vec3<P>>(v_.gw);
  const Quat<P>* q = of<Quat<P>>(v_.rotation);
  for (Index s = 0; s < v_.segments; ++s) {
    P couple = of<P>(v_.frame_free)[s] * size_of(g[s]);
    if (v_.hinges) {
      const P about = dot(of<Vec3<P>>(v_.hinge)[s], g[s]);
      couple = larger(larger(about, -about), couple);
    }
    m.residual = larger(of<P>(v_.inverse_length)[s] * couple, m.residual);
  }
  for (Index j = 0; j < v_.joints; ++j) {
    const auto [a, b] = v_.joint_frames[j];
    const P per_length = of<P>(v_.inverse_length)[b < v_.segments ? b : a];
    const Vec3<P> moment = bend_twist::moment(of<Quat<P>>(v_.bend)[j], conj(q[a]) * q[b], of<Quat<P>>(v_.bend_rest)[j]);
    m.scale = larger(per_length * size_of(moment), m.scale);
  }
}

}  // namespace osier::projective
