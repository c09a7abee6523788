// Single lanes of vectors and quaternions whose components are packs, and the choice between two of them lane by lane. For one
// number, as on a graphics card, there is one lane.
#pragma once

#include "math/number.hpp"

namespace osier {

// clang-format off
template <class P> OSIER_FN Vec3<ScalarOf<P>> lane_of(const Vec3<P>& v, int k) { return {lane(v.x, k), lane(v.y, k), lane(v.z, k)}; }
template <class P> OSIER_FN Quat<ScalarOf<P>> lane_of(const Quat<P>& q, int k) { return {lane(q.x, k), lane(q.y, k), lane(q.z, k), lane(q.w, k)}; }
template <class P> OSIER_FN void set_lanes(Vec3<P>& v, int k, const Vec3<ScalarOf<P>>& a) { set_lane(v.x, k, a.x), set_lane(v.y, k, a.y), set_lane(v.z, k, a.z); }
template <class P> OSIER_FN void set_lanes(Quat<P>& q, int k, const Quat<ScalarOf<P>>& a) { set_lane(q.x, k, a.x), set_lane(q.y, k, a.y), set_lane(q.z, k, a.z), set_lane(q.w, k, a.w); }
template <class P> OSIER_FN Vec3<P> select(MaskOf<P> m, const Vec3<P>& a, const Vec3<P>& b) { return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)}; }
template <class P> OSIER_FN Quat<P> select(MaskOf<P> m, const Quat<P>& a, const Quat<P>& b) { return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z), select(m, a.w, b.w)}; }
// clang-format on

}  // namespace osier
