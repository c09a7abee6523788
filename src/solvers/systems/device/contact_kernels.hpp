// A step with contact by kernels: what contact/contact_step.hpp does, with a thread for each pair, vertex or segment.
//
// Two lists. The one of all pairs that may touch lasts for several steps, as on the host. From it every step takes the pairs that
// may come near each other in this step: those that are near anyway, or that the first motion f brings near. It holds while every
// vertex stays within `slack` of where f leads: for two points, |u_b - u_a| <= |f_b - f_a| + slack_a + slack_b at every share of
// the way. Where a vertex leaves it, a flag is raised, and the step is taken again with all pairs; nothing of it has been stored.
//
// Sums are gathered by vertices and segments in the order of the list. The order of near pairs depends on that of threads, and no
// number depends on it.
#pragma once

#include "solvers/systems/device/contact_pairs.hpp"

namespace osier::systems {

enum ContactFlag : Index {
  kNearCount,   ///< near pairs
  kCloseCount,  ///< of these, those that the guard looks at
  kGuardFails,  ///< some pair takes too much room
  kBad,         ///< the same in one round of the guard
  kActive,      ///< a pair may come within its range
  kTouches,     ///< a pair has done so
  kLeftNear,    ///< a vertex is outside of its slack
  kLeftList,    ///< or of its ball
  kLeavesSoon,  ///< or will be in the next step, when it goes on as it does
  kLate,        ///< a held vertex has not arrived
  kTold,        ///< contacts that have been told
  kContactFlags
};

struct ContactView {
  ContactTables tables;
  double h = 0;
  bool all_near = false;

  // The step.
  const Vec3d *x = nullptr, *velocity = nullptr, *target = nullptr;
  const std::uint8_t* fixed = nullptr;
  Vec3d *u = nullptr, *du = nullptr, *first = nullptr;
  Index* flag = nullptr;

  // The list.
  Index pairs = 0;
  Pair* pair = nullptr;
  PairList list;
  const Vec3d* listed_at = nullptr;
  const double* ball = nullptr;
  double* farthest = nullptr;  ///< that a vertex has gone in this step, with this list or the one before [m]
  const Index *second_start = nullptr, *second = nullptr;  ///< per segment: pairs whose second one it is

  // Near pairs, by slots.
  Index *slot_of = nullptr, *near_pair = nullptr;
  double* low = nullptr;  ///< per slot: the plain distance is at least this [m]
  NearContact* near = nullptr;
  Index *touch = nullptr, *touches = nullptr;  ///< per segment: twice a slot, plus 1 where it is the second one; how many

  // From the step before, and for the next one.
  const Index* slot_before = nullptr;  ///< per pair, or -1
  const ContactMemory* memory = nullptr;
  Index* known = nullptr;  ///< per slot: what it remembers, or -1
  ContactMemory* memory_next = nullptr;
  double *stiffness = nullptr, *stiffness_next = nullptr, *wanted = nullptr;

  // The guard.
  double *share = nullptr, *share_next = nullptr;  ///< per vertex
  Index* close_slot = nullptr;
  contact::Plane* plane = nullptr;

  OSIER_FN double slack(Index v) const {
    constexpr double kRadii = 0.25, kOfMotion = 0.25;
    return kRadii * tables.vertex_radius[v] + kOfMotion * norm(first[v]);
  }
  OSIER_FN double slack_of_segment(Index s) const {
    const auto& v = tables.segment_vertices[s];
    return larger(slack(v[0]), slack(v[1]));
  }
  OSIER_FN Index first_touch(Index s) const { return second_start[s] + list.start[s]; }
  OSIER_FN std::array<Vec3d, 4> motion_of(const std::array<Index, 4>& v) const { return ContactTables::of_ends(v, du); }
  OSIER_FN Vec3d at(Index v) const { return x[v] + u[v]; }
  OSIER_FN double speed_of(Index s) const {
    const auto& v = tables.segment_vertices[s];
    return std::sqrt(larger(norm2(velocity[v[0]]), norm2(velocity[v[1]])));
  }
  /// The plane of a pair at u. False where its motions are too short to matter: `uncut`, for whole motions.
  OSIER_FN bool divides(Index slot, const Pair& of, const std::array<Index, 4>& v, bool uncut, contact::Plane& plane_of) const {
    const std::array<Vec3d, 4> d = motion_of(v);
    const double room = contact::kGuardShare * (low[slot] - of.core);
    if (of.with_obstacle()) {
      if (larger(norm(d[0]), norm(d[1])) <= room) return false;
      const contact::ObstaclePoint p = tables.shape_of(of).nearest(at(v[0]), at(v[1]), 0);
      plane_of.n = p.normal;
      for (std::size_t k = 0; k < 2; ++k) plane_of.behind[k] = dot(p.normal, at(v[k]) - p.point);
      plane_of.sep = smaller(plane_of.behind[0], plane_of.behind[1]);
      for (std::size_t k = 0; k < 2; ++k) plane_of.behind[k] -= plane_of.sep;
      return true;
    }
    if ((uncut ? contact::seen_approach(d) : contact::head_on(d)) <= room) return false;
    contact::divide(ContactTables::segments_at(v, x, u), plane_of);
    return true;
  }
  OSIER_FN contact::Approach approach_of(const contact::Plane& p, const Pair& pair_of, const std::array<Index, 4>& v) const {
    const std::array<double, 4> shares = ContactTables::of_ends(v, share);
    if (pair_of.with_obstacle()) return contact::approach_of_obstacle(p, 0, shares, motion_of(v));
    return contact::approach_of(p, shares, motion_of(v));
  }
  OSIER_FN bool takes_too_much(const contact::Plane& p, const Pair& pair_of, const std::array<Index, 4>& v) const {
    if (!pair_of.with_obstacle() && !(p.sep > 0)) return true;
    return contact::takes_too_much(p, pair_of.core, approach_of(p, pair_of, v));
  }
  /// Calls f(contact, j) for every contact of a vertex, of whose vertices it is number j.
  template <class F>
  OSIER_FN void each_touch(Index v, const F& f) const {
    for (Index i = tables.vertex_segment_start[v]; i < tables.vertex_segment_start[v + 1]; ++i) {
      const Index s = tables.vertex_segment[i] / 2, end = tables.vertex_segment[i] % 2, begin = first_touch(s);
      for (Index k = begin; k < begin + touches[s]; ++k) {
        const NearContact& c = near[touch[k] / 2];
        if (c.touches) f(c, static_cast<std::size_t>(2 * (touch[k] % 2) + end));
      }
    }
  }
  /// Adds what contacts do to a vertex at u: gradient and a block that is large enough for all to move at once. Returns whether
  /// there are any.
  OSIER_CALL bool add_contacts(Index v, Vec3d& gradient, Mat3<double>& block) const {
    bool any = false;
    each_touch(v, [&](const NearContact& c, std::size_t j) {
      any = true;
      const double w = c.weight[j], bound = contact::majorised(c.weight, j);
      gradient -= (w * c.at.force) * c.n;
      block = block + (bound * c.at.stiffness) * outer(c.n, c.n);
      if (c.friction.across > 0) {
        gradient += (w * c.friction.across) * c.z;
        block = block + bound * contact::friction_block(c.friction, c.unit, c.z);
      }
      // Rods have no such term; of those, `sliding` is 0.
      if (j < 2) block = block + (2 * c.at.force) * outer(c.sliding[j], c.sliding[j]);
    });
    return any;
  }
};

struct ClearFlags {
  Index* flag;
  Index first;
  OSIER_FN void operator()(Index i) const { flag[first + i] = 0; }
};
struct SettleStiffness {
  ContactView view;
  OSIER_FN void operator()(Index s) const {
    if (!(view.stiffness[s] > 0)) view.stiffness[s] = view.tables.strength[s].base(view.h);
  }
};
/// The first motion, from what a solver expects.
template <class T>
struct ExpectMotion {
  ContactView view;
  const Vec3<T>* from;
  bool again;
  OSIER_FN void operator()(Index v) const {
    Vec3d f = view.fixed[v] ? view.target[v] - view.x[v] : cast<double>(from[v]);
    if (!is_finite(f) || !view.tables.vertex_alive[v]) f = {};
    view.farthest[v] = larger(again ? view.farthest[v] : 0, norm(f));
    view.u[v] = {};
    view.first[v] = view.du[v] = f;
    view.share[v] = view.share_next[v] = 1;
  }
};
struct CheckList {
  ContactView view;
  OSIER_FN void operator()(Index v) const {
    if (!view.tables.vertex_alive[v]) return;
    const double room = view.ball[v];
    if (!(norm2(view.x[v] + view.first[v] - view.listed_at[v]) <= room * room)) view.flag[kLeftList] = 1;
  }
};

/// Takes the pairs that may come near each other in this step, and lets thin ones grow.
struct FindNear {
  ContactView view;
  OSIER_FN void operator()(Index p) const {
    Pair pair = view.pair[p];
    const std::array<Index, 4> v = view.tables.vertices_of(pair);
    const double distance = view.tables.plain_distance(pair, view.x), full = view.tables.full_core(pair);
    if (pair.pushes && pair.core < full) {
      pair.core = contact::grown_core(pair.core, full, distance);
      view.pair[p].core = pair.core;
    }
    const std::array<Vec3d, 4> d = ContactTables::of_ends(v, view.first);
    double seen, slack = view.slack_of_segment(pair.a);
    if (pair.with_obstacle()) seen = larger(norm(d[0]), norm(d[1]));
    else seen = contact::seen_motion(d), slack += view.slack_of_segment(pair.b);
    const double range = view.tables.range_of(pair);
    if (distance < pair.core + (pair.pushes ? 1 : 0.1) * range + seen) view.flag[kActive] = 1;
    const bool near =
        view.all_near || distance - seen - slack <= pair.core + range || !(seen <= contact::kGuardShare * (distance - pair.core));
    Index slot = -1;
    if (near) {
      slot = take_number(view.flag + kNearCount);
      view.near_pair[slot] = p;
      view.low[slot] = distance;
    }
    view.slot_of[p] = slot;
  }
};
/// The near pairs of every segment, in the order of the list.
struct ListTouches {
  ContactView view;
  OSIER_FN void operator()(Index s) const {
    const Index begin = view.first_touch(s);
    Index end = begin;
    for (Index i = view.second_start[s]; i < view.second_start[s + 1]; ++i)
      if (const Index slot = view.slot_of[view.second[i]]; slot >= 0) view.touch[end++] = 2 * slot + 1;
    for (Index p = view.list.start[s]; p < view.list.start[s + 1]; ++p)
      if (const Index slot = view.slot_of[p]; slot >= 0) view.touch[end++] = 2 * slot;
    view.touches[s] = end - begin;
  }
};
/// What a pair remembers: its own contact, or that of the neighbouring pair that carried most.
struct FindKnown {
  ContactView view;
  OSIER_FN void operator()(Index slot) const {
    const Pair& pair = view.pair[view.near_pair[slot]];
    const auto find = [&](const Pair& other) {
      const Index p = view.list.find(other.a, other.b, other.feature);
      const Index known = p >= 0 ? view.slot_before[p] : -1;
      return known >= 0 && view.memory[known].force > 0 ? known : -1;
    };
    Index best = view.slot_before[view.near_pair[slot]];
    if (best < 0 || !(view.memory[best].force > 0)) {
      best = -1;
      const ContactTables& t = view.tables;
      const auto around = [&](Index s, const auto& f) {
        f(s);
        for (std::size_t k = 0; k < 2; ++k) {
          const Index v = t.segment_vertices[s][k];
          for (Index i = t.vertex_segment_start[v]; i < t.vertex_segment_start[v + 1]; ++i)
            if (const Index e = t.vertex_segment[i]; e / 2 != s) f(e / 2);
        }
      };
      contact::each_pair_around(pair, around, [&](const Pair& other) {
        const Index known = find(other);
        if (known >= 0 && (best < 0 || view.memory[known].force > view.memory[best].force)) best = known;
      });
    }
    view.known[slot] = best;
  }
};

/// The contact of a near pair at u.
struct Linearise {
  ContactView view;
  OSIER_FN void operator()(Index slot) const {
    const ContactTables& t = view.tables;
    const Pair pair = view.pair[view.near_pair[slot]];
    const std::array<Index, 4> v = t.vertices_of(pair);
    const double range = t.range_of(pair);
    NearContact c;
    contact::ObstaclePoint on;
    contact::TwoSegments both{};
    if (pair.with_obstacle()) {
      const double regular = contact::preference_of_middle(t.radius[pair.a]);
      both.a = {view.at(v[0]), view.at(v[1])};
      on = t.shape_of(pair).nearest(both.a[0], both.a[1], regular);
      c.s = (on.distance - pair.core) / range;
      view.low[slot] = on.distance - 0.125 * regular;
      c.weight = {1 - on.along, on.along, 0, 0};
      c.n = on.normal;
    } else {
      both = ContactTables::segments_at(v, view.x, view.u);
      const double la = contact::kRegularisation * t.rest_length[pair.a], lb = contact::kRegularisation * t.rest_length[pair.b];
      const contact::Nearest near = contact::nearest_points(both, la * la, lb * lb);
      c.s = (near.distance - pair.core) / range;
      view.low[slot] = contact::plain_distance_of(near.distance, la * la, lb * lb);
      c.weight = near.weights();
      c.n = near.distance > 0 ? (1 / near.distance) * near.d : Vec3d{};
    }
    c.touches = pair.pushes && c.s < 1;
    if (!c.touches) {
      view.near[slot].touches = false;
      return;
    }
    const double k = stiffness_of(pair);
    c.at = contact::barrier(c.s, range, k);
    if (pair.with_obstacle() && on.along_stiffness > 0) {
      const std::array<Vec3d, 4> y = contact::sliding_on_surface(c.weight, on, both.edge_a());
      c.sliding = {y[0], y[1]};
    }
    if (t.has_friction) add_friction(c, pair, v, both, slot);
    view.near[slot] = c;
  }
  OSIER_FN double stiffness_of(const Pair& pair) const {
    const double k = view.stiffness[pair.a];
    return pair.with_obstacle() ? k : larger(k, view.stiffness[pair.b]);
  }

 private:
  OSIER_FN void add_friction(NearContact& c, const Pair& pair, const std::array<Index, 4>& v, const contact::TwoSegments& both,
                             Index slot) const {
    const ContactTables& t = view.tables;
    c.unit = normalized(c.n);
    const auto across = [&](std::size_t first, const Vec3d& edge) {
      const Index nearest = c.weight[first] == 0 ? v[first + 1] : c.weight[first + 1] == 0 ? v[first] : -1;
      if (nearest >= 0 && t.vertex_segment_start[nearest + 1] - t.vertex_segment_start[nearest] == 1) return 1.0;
      return contact::share_across(c.unit, edge);
    };
    double limit = t.friction_of(pair) * c.at.force;
    if (!pair.with_obstacle()) limit *= across(0, both.edge_a()) * across(2, both.edge_b());
    if (!(limit > 0)) return;
    c.slip = t.slip_of(pair);
    Vec3d z;
    if (const Index known = view.known[slot]; known >= 0)
      z = contact::turned_anchor(view.memory[known].anchor, view.memory[known].normal, c.unit);
    for (std::size_t j = 0; j < 4; ++j)
      if (v[j] >= 0) z += c.weight[j] * view.u[v[j]];
    c.z = contact::across_normal(z, c.unit);
    c.friction = contact::friction(limit, c.slip, norm(c.z));
  }
};

/// The motion that a solver wants to make.
template <class T>
struct TakeDifference {
  ContactView view;
  const Vec3<T>* to;
  OSIER_FN void operator()(Index v) const {
    // What is held goes on to where it is to be.
    const Vec3d goal = view.fixed[v] && view.tables.vertex_alive[v] ? view.target[v] - view.x[v] : cast<double>(to[v]);
    const Vec3d d = goal - view.u[v];
    view.du[v] = is_finite(d) ? d : Vec3d{};
  }
};
/// Whether some pair takes too much room.
struct FindFailures {
  ContactView view;
  OSIER_FN void operator()(Index slot) const {
    const Pair pair = view.pair[view.near_pair[slot]];
    const std::array<Index, 4> v = view.tables.vertices_of(pair);
    contact::Plane plane;
    if (view.divides(slot, pair, v, true, plane) && view.takes_too_much(plane, pair, v)) view.flag[kGuardFails] = 1;
  }
};
/// Where one does, the pairs that any cut could make fail.
struct ListClose {
  ContactView view;
  OSIER_FN void operator()(Index slot) const {
    if (view.flag[kGuardFails] == 0) return;
    const Pair pair = view.pair[view.near_pair[slot]];
    contact::Plane plane;
    if (!view.divides(slot, pair, view.tables.vertices_of(pair), false, plane)) return;
    const Index place = take_number(view.flag + kCloseCount);
    view.close_slot[place] = slot;
    view.plane[place] = plane;
  }
};
/// Cuts motions until no pair fails (contact/guard.cpp), all pairs that fail in a round at once: each as if it were alone, and
/// every vertex by the least share that it is left.
struct CutMotions {
  ContactView view;
  OSIER_FN void operator()(const Block& block) const {
    if (view.flag[kGuardFails] == 0) return;
    const Index n = view.flag[kCloseCount];
    for (int round = 0;; ++round) {
      if (block.thread == 0) view.flag[kBad] = 0;
      block.wait();
      block.each(n, [&](Index k) {
        contact::Plane& p = view.plane[k];
        const Pair& pair = view.pair[view.near_pair[view.close_slot[k]]];
        p.close = !p.fixed && view.takes_too_much(p, pair, view.tables.vertices_of(pair));
        if (p.close) view.flag[kBad] = 1;
      });
      const bool done = view.flag[kBad] == 0;
      block.wait();
      if (done) return;
      block.each(n, [&](Index k) { mend(k, round >= contact::kGuardRounds); });
      block.each(n, [&](Index k) {
        if (!view.plane[k].close) return;
        const std::array<Index, 4> v = view.tables.vertices_of(view.pair[view.near_pair[view.close_slot[k]]]);
        for (std::size_t i = 0; i < 4; ++i)
          if (v[i] >= 0) view.share[v[i]] = view.share_next[v[i]];
      });
    }
  }

 private:
  OSIER_FN void mend(Index k, bool fix) const {
    contact::Plane& p = view.plane[k];
    if (!p.close) return;
    const Pair& pair = view.pair[view.near_pair[view.close_slot[k]]];
    const std::array<Index, 4> v = view.tables.vertices_of(pair);
    const std::array<Vec3d, 4> d = view.motion_of(v);
    p.fixed = fix;
    if (!pair.with_obstacle() && !(p.sep > 0)) {
      p.fixed = true;
      for (std::size_t i = 0; i < 4; ++i) keep_least(view.share_next + v[i], 0);
      return;
    }
    const contact::Limits limits = contact::limits_of(p, pair.core, view.approach_of(p, pair, v), fix);
    if (!limits.any) {
      p.fixed = false;
      return;
    }
    const auto limit = [&](Index i, double behind, double along, double most) {
      keep_least(view.share_next + i, contact::limited_share(view.share[i], behind, along, most));
    };
    if (pair.with_obstacle()) {
      for (std::size_t i = 0; i < 2; ++i) limit(v[i], -p.behind[i], -dot(p.n, d[i]), -limits.least_b);
      return;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      limit(v[i], p.behind[i], dot(p.n, d[i]), limits.most_a);
      limit(v[2 + i], -p.behind[2 + i], -dot(p.n, d[2 + i]), -limits.least_b);
    }
  }
};
/// Takes the motion that the guard has left, and gives it to the solver.
template <class T>
struct TakeMotion {
  ContactView view;
  Vec3<T>* to;
  OSIER_FN void operator()(Index v) const {
    const double share = view.share[v];
    // A motion that is whole arrives where it leads, to the last digit.
    if (share < 1) view.u[v] += share * view.du[v];
    else view.u[v] = view.fixed[v] && view.tables.vertex_alive[v] ? view.target[v] - view.x[v] : view.u[v] + view.du[v];
    view.share[v] = view.share_next[v] = 1;
    to[v] = cast<T>(view.u[v]);
    view.farthest[v] = larger(view.farthest[v], norm(view.u[v]));
    if (v == 0) view.flag[kGuardFails] = view.flag[kCloseCount] = 0;
    if (!view.tables.vertex_alive[v]) return;
    const double slack = view.slack(v), room = view.ball[v];
    if (!view.all_near && !(norm2(view.u[v] - view.first[v]) <= slack * slack)) view.flag[kLeftNear] = 1;
    if (!(norm2(view.at(v) - view.listed_at[v]) <= room * room)) view.flag[kLeftList] = 1;
  }
};

/// For those who look at contacts afterwards (contact/record.hpp), when positions are those of the end of the step.
struct TellContact {
  ContactView view;
  contact::Touch* touch;
  OSIER_FN void operator()(Index slot) const {
    const NearContact& c = view.near[slot];
    if (!c.touches) return;
    const ContactTables& t = view.tables;
    const Pair pair = view.pair[view.near_pair[slot]];
    const std::array<Index, 4> v = t.vertices_of(pair);
    contact::Touch out;
    out.pair = pair;
    out.vertex = v;
    out.weight = c.weight;
    out.normal = c.at.force;
    out.friction = -c.friction.across * c.z;
    out.push = c.at.force * c.n + out.friction;
    const Vec3d from = view.x[v[0]], edge = view.x[v[1]] - from;
    out.place = from + std::abs(c.weight[1]) * edge;
    if (pair.with_obstacle())
      out.surface = t.shape_of(pair).nearest(from, from + edge, contact::preference_of_middle(t.radius[pair.a])).point;
    out.gap = pair.core + c.s * t.range_of(pair) - (t.radius[pair.a] + t.other_radius(pair));
    touch[take_number(view.flag + kTold)] = out;
  }
};

/// What a contact leaves for the next step.
struct FinishContact {
  ContactView view;
  OSIER_FN void operator()(Index slot) const {
    const NearContact& c = view.near[slot];
    ContactMemory next;
    double wanted = -1;
    if (c.touches) {
      view.flag[kTouches] = 1;
      const Pair pair = view.pair[view.near_pair[slot]];
      const std::array<Index, 4> v = view.tables.vertices_of(pair);
      double mobility = 0;
      for (std::size_t j = 0; j < 4; ++j)
        if (v[j] >= 0) mobility += c.weight[j] * c.weight[j] / view.tables.mass[v[j]];
      const double k = Linearise{view}.stiffness_of(pair);
      wanted = contact::stiffness_for_load(k, c.at, c.s, view.tables.range_of(pair), view.h, mobility);
      if (c.friction.across > 0) {
        next.force = c.at.force;
        next.anchor = contact::kept_anchor(c.z, c.slip);
        next.normal = c.unit;
      }
    }
    view.memory_next[slot] = next;
    view.wanted[slot] = wanted;
  }
};
/// The stiffness that follows the load; `carried`: that of segments that carry one, 0 elsewhere.
struct FollowLoad {
  ContactView view;
  double* carried;
  OSIER_FN void operator()(Index s) const {
    double need = -1;
    const Index begin = view.first_touch(s);
    for (Index k = begin; k < begin + view.touches[s]; ++k) need = larger(need, view.wanted[view.touch[k] / 2]);
    view.stiffness_next[s] =
        contact::followed_stiffness(view.stiffness[s], need, view.tables.strength[s], view.h, view.speed_of(s));
    carried[s] = need < 0 ? 0 : view.stiffness_next[s];
  }
};
/// Carries stiffness along rods: to the segments at 1, 2 and 3 times a distance, where all in between are one rod.
struct SpreadAlong {
  const double* from;
  double* to;
  const Index* run;  ///< of segments whose numbers follow each other along a rod
  Index segments, distance;
  OSIER_FN void operator()(Index s) const {
    double most = from[s];
    for (Index k = 1; k <= 3; ++k) {
      const double share = std::pow(contact::kSpreadShare, k * distance);
      for (int side = -1; side <= 1; side += 2) {
        const Index other = s + side * k * distance;
        if (other >= 0 && other < segments && run[other] == run[s]) most = larger(most, share * from[other]);
      }
    }
    to[s] = most;
  }
};
/// To all segments at its vertices.
struct SpreadAround {
  ContactTables tables;
  const double* from;
  double* to;
  OSIER_FN void operator()(Index s) const {
    double most = from[s];
    for (std::size_t k = 0; k < 2; ++k) {
      const Index v = tables.segment_vertices[s][k];
      for (Index i = tables.vertex_segment_start[v]; i < tables.vertex_segment_start[v + 1]; ++i)
        most = larger(most, contact::kSpreadShare * from[tables.vertex_segment[i] / 2]);
    }
    to[s] = most;
  }
};
/// Where nothing was near anything, the next contact finds no stiffness.
struct TakeStiffness {
  ContactView view;
  const double* carried;
  OSIER_FN void operator()(Index s) const {
    if (view.flag[kActive] == 0 && view.flag[kTouches] == 0) view.stiffness_next[s] = 0;
    else if (view.tables.segment_alive[s]) view.stiffness_next[s] = larger(view.stiffness_next[s], carried[s]);
  }
};
struct CheckEnd {
  ContactView view;
  OSIER_FN void operator()(Index v) const {
    if (!view.tables.vertex_alive[v]) return;
    const double room = view.ball[v];
    if (!(norm2(view.at(v) + view.u[v] - view.listed_at[v]) <= room * room)) view.flag[kLeavesSoon] = 1;
    if (!view.fixed[v]) return;
    const Vec3d whole = view.target[v] - view.x[v], u = view.u[v];
    if (u.x != whole.x || u.y != whole.y || u.z != whole.z) view.flag[kLate] = 1;
  }
};

// ------------------------------------------------------------------------------------------------- when there is a new list

struct ChooseBalls {
  ContactView view;
  Vec3d* listed_at;
  double* ball;
  OSIER_FN void operator()(Index v) const {
    constexpr double kRadii = 2, kSteps = 2.5;  ///< that the list is to last at this speed
    listed_at[v] = view.x[v];
    ball[v] = kRadii * view.tables.vertex_radius[v] + kSteps * view.farthest[v];
  }
};
struct CountSecond {
  const Pair* pair;
  Index* start;
  OSIER_FN void operator()(Index p) const {
    if (pair[p].b >= 0) take_number(start + pair[p].b);
  }
};
struct FillSecond {
  const Pair* pair;
  const Index* start;
  Index *cursor, *second;
  OSIER_FN void operator()(Index p) const {
    const Index b = pair[p].b;
    if (b >= 0) second[start[b] + take_number(cursor + b)] = p;
  }
};
struct SortSecond {
  const Index* start;
  Index* second;
  OSIER_FN void operator()(Index s) const {
    for (Index i = start[s] + 1; i < start[s + 1]; ++i) {
      const Index p = second[i];
      Index at = i;
      for (; at > start[s] && second[at - 1] > p; --at) second[at] = second[at - 1];
      second[at] = p;
    }
  }
};
/// Gives pairs of a new list what the old one knows of them.
struct Remember {
  ContactView view;
  PairList old;
  const Index* old_slot;
  bool has_old, first;  ///< `first`: the run begins
  Index* slot_before;
  OSIER_FN void operator()(Index p) const {
    Pair& pair = view.pair[p];
    const Index known = has_old ? old.find(pair.a, pair.b, pair.feature) : -1;
    slot_before[p] = known >= 0 ? old_slot[known] : -1;
    const double full = pair.core;
    if (known >= 0 && pair.pushes && old.pair[known].core < full) {
      pair.core = old.pair[known].core;
      return;
    }
    const double distance = view.tables.plain_distance(pair, view.x);
    pair.core = contact::core_at_first(full, larger(0.0, distance), pair.pushes, first);
  }
};
/// The same for the list that is there, from pairs that are not in its order of slots.
struct RememberAgain {
  ContactView view;
  PairList old;
  const Index* old_slot;
  Index* slot_before;
  OSIER_FN void operator()(Index p) const {
    Pair& pair = view.pair[p];
    const Index known = old.find(pair.a, pair.b, pair.feature);
    slot_before[p] = known >= 0 ? old_slot[known] : -1;
    if (known >= 0 && pair.pushes) pair.core = smaller(old.pair[known].core, view.tables.full_core(pair));
  }
};

}  // namespace osier::systems
