// The start of a step in lanes: strains are formed in double (energies/strain_since_start.hpp), in packs of half the lanes, and
// rounded to the number type of the recursion. With the torques on frames, which are read lane by lane as well.
#pragma once

#include "exec/lanes.hpp"
#include "solvers/systems/chains/link_law.hpp"

namespace osier::systems {

template <class P>
OSIER_FN void widen3(const Vec3<P>& v, Vec3<typename InDouble<P>::type> (&part)[InDouble<P>::parts]) {
  typename InDouble<P>::type x[InDouble<P>::parts], y[InDouble<P>::parts], z[InDouble<P>::parts];
  widen(v.x, x), widen(v.y, y), widen(v.z, z);
  for (int g = 0; g < InDouble<P>::parts; ++g) part[g] = {x[g], y[g], z[g]};
}
/// Rounds one quaternion of a start.
template <class P, class Start>
OSIER_FN Quat<P> narrowed(const Start (&start)[InDouble<P>::parts], Quat<typename InDouble<P>::type> Start::*what) {
  typename InDouble<P>::type c[4][InDouble<P>::parts];
  for (int g = 0; g < InDouble<P>::parts; ++g) {
    const auto& q = start[g].*what;
    c[0][g] = q.x, c[1][g] = q.y, c[2][g] = q.z, c[3][g] = q.w;
  }
  return {narrow<P>(c[0]), narrow<P>(c[1]), narrow<P>(c[2]), narrow<P>(c[3])};
}

/// Prepares the Start of a law (begin) and stores it into a row (take), for all lanes or for a single one.
template <class Link>
struct LinkStart;

template <class P>
struct LinkStart<IsotropicLink<P>> {
  using T = ScalarOf<P>;
  using D = typename InDouble<P>::type;
  using Joint = typename IsotropicLink<P>::Joint;
  using Springs = typename Joint::Springs;
  template <class Number>
  using Start = typename IsotropicLink<P>::template Start<Number>;
  static constexpr int kParts = InDouble<P>::parts;

  OSIER_FN static void begin(Start<D> (&start)[kParts], P stretch_viscous, const Springs&) {
    D share[kParts];
    widen(stretch_viscous * inverse(P(1) + stretch_viscous), share);
    for (int g = 0; g < kParts; ++g) start[g].share = share[g];
  }
  OSIER_FN static Start<double> begin_lane(int lane_index, P stretch_viscous, const Springs&) {
    const double alpha = static_cast<double>(lane(stretch_viscous, lane_index));
    return {alpha / (1 + alpha), {}, {}};
  }
  OSIER_FN static void take(const Start<D> (&start)[kParts], Joint& joint) { joint.bend0 = narrowed<P>(start, &Start<D>::bend); }
  OSIER_FN static void take_lane(int lane_index, const Start<double>& start, Joint& joint) {
    set_lanes(joint.bend0, lane_index, cast<T>(start.bend));
  }
};

template <class P>
struct LinkStart<AnisotropicLink<P>> {
  using T = ScalarOf<P>;
  using D = typename InDouble<P>::type;
  using Joint = typename AnisotropicLink<P>::Joint;
  using Springs = typename Joint::Springs;
  template <class Number>
  using Start = typename AnisotropicLink<P>::template Start<Number>;
  static constexpr int kParts = InDouble<P>::parts;

  OSIER_FN static void begin(Start<D> (&start)[kParts], const Vec3<P>& stretch_viscous, const Springs& springs) {
    Vec3<D> share[kParts], bend[kParts];
    D real[kParts];
    const auto part = [](P alpha) { return alpha * inverse(P(1) + alpha); };
    widen3(Vec3<P>{part(stretch_viscous.x), part(stretch_viscous.y), part(stretch_viscous.z)}, share);
    widen3(imag(springs.K), bend);
    widen(springs.K.w, real);
    for (int g = 0; g < kParts; ++g) start[g].share = share[g], start[g].K = {bend[g].x, bend[g].y, bend[g].z, real[g]};
  }
  OSIER_FN static Start<double> begin_lane(int lane_index, const Vec3<P>& stretch_viscous, const Springs& springs) {
    const Vec3d alpha = cast<double>(lane_of(stretch_viscous, lane_index));
    Start<double> start{};
    start.share = {alpha.x / (1 + alpha.x), alpha.y / (1 + alpha.y), alpha.z / (1 + alpha.z)};
    start.K = cast<double>(lane_of(springs.K, lane_index));
    start.difference = {0, 0, 0, 0};
    return start;
  }
  OSIER_FN static void take(const Start<D> (&start)[kParts], Joint& joint) {
    joint.difference0 = narrowed<P>(start, &Start<D>::difference);
  }
  OSIER_FN static void take_lane(int lane_index, const Start<double>& start, Joint& joint) {
    set_lanes(joint.difference0, lane_index, cast<T>(start.difference));
  }
};

/// The torques on the frames of a row, world axes: one that is fixed in the world, and one that turns with the frame. here(k):
/// lane k has a segment.
template <class P, class Segment, class Here>
[[gnu::noinline]] Vec3<P> torques(const Vec3d* fixed, const Vec3d* turning, const Mat3<P>& axes, const Segment& segment,
                                  const Here& here) {
  using T = ScalarOf<P>;
  Vec3<P> world{P(0), P(0), P(0)}, material = world;
  for (int k = 0; k < lanes_of<P>; ++k) {
    if (!here(k)) continue;
    set_lanes(world, k, cast<T>(fixed[segment(k)])), set_lanes(material, k, cast<T>(turning[segment(k)]));
  }
  return world + axes * material;
}

}  // namespace osier::systems
