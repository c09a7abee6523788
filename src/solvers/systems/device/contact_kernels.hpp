// A step with contact by kernels: what contact/contact_step.hpp does, with a thread for each pair, vertex or segment.
//
// Two lists. The one of all pairs that may touch lasts for several steps, as on the host. From it every step takes the pairs that
// may come near each other in this step: those that are near anyway, or that the first motion f brings near. It holds while every
// vertex stays within its `slack` of where f leads: for two points, |u_b - u_a| <= |f_b - f_a| + slack_a + slack_b at every share
// of the way. Where a vertex leaves it, a flag is raised, and the step is taken again with all pairs; nothing of it has been
// stored.
//
// Sums are gathered by vertices and segments in the order of the list. The order of near pairs depends on that of threads, and no
// number depends on it.
#pragma once

#include "contact/drift_grid.hpp"
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
  /// How far a vertex has gone from where its first motion leads, in this step and not long before; and how far it may in this
  /// one [m].
  double *strayed = nullptr, *slack = nullptr;
  /// What the list drifts by in a step, per vertex, and how often it has by the end of this step. It is that of the first motion
  /// of the step that the list was made in (contact/drift.hpp).
  const Vec3d* drift = nullptr;
  double times = 0;
  struct Holds {
    double ratio = 1, bend = 0;
  } at_start, at_end, after;                               ///< of the step; of the one after it
  const Index *second_start = nullptr, *second = nullptr;  ///< per segment: pairs whose second one it is

  // Near pairs, by slots.
  Index *slot_of = nullptr, *near_pair = nullptr;
  double* low = nullptr;  ///< per slot: the plain distance is at least this [m]
  ContactTerm* term = nullptr;
  std::array<Vec3d, 2>* sliding = nullptr;     ///< of pairs with obstacles
  NearContact* near = nullptr;                 ///< at the end of the step
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

  OSIER_FN double slack_of_segment(Index s) const {
    const auto& v = tables.segment_vertices[s];
    return larger(slack[v[0]], slack[v[1]]);
  }
  OSIER_FN Index first_touch(Index s) const { return second_start[s] + list.start[s]; }
  OSIER_FN std::array<Vec3d, 4> motion_of(const std::array<Index, 4>& v) const { return ContactTables::of_ends(v, du); }
  OSIER_FN Vec3d at(Index v) const { return x[v] + u[v]; }
  OSIER_FN double stiffness_of(const Pair& of) const {
    return of.with_obstacle() ? stiffness[of.a] : larger(stiffness[of.a], stiffness[of.b]);
  }
  OSIER_FN double speed_of(Index s) const {
    const auto& v = tables.segment_vertices[s];
    return std::sqrt(larger(norm2(velocity[v[0]]), norm2(velocity[v[1]])));
  }
  /// Whether the list holds for a vertex at a place when all has drifted so often.
  OSIER_FN bool is_inside(Index v, const Vec3d& place, double drifted, const Holds& holds) const {
    const double room = contact::room_in_drift(ball[v], tables.vertex_reach[v], holds.ratio, holds.bend);
    return room > 0 && norm2(place - (listed_at[v] + drifted * drift[v])) <= room * room;
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
  /// Adds what contacts do to a vertex at u: gradient and a block that is large enough for all to move at once. Returns whether
  /// there are any.
  OSIER_CALL bool add_contacts(Index v, Vec3d& gradient, Sym3<double>& block) const {
    bool any = false;
    for (Index i = tables.vertex_segment_start[v]; i < tables.vertex_segment_start[v + 1]; ++i) {
      const Index s = tables.vertex_segment[i] / 2, end = tables.vertex_segment[i] % 2, begin = first_touch(s);
      for (Index k = begin; k < begin + touches[s]; ++k) {
        const ContactTerm& c = term[touch[k] / 2];
        if (!(c.bound > 0)) continue;
        any = true;
        const double w = c.weight[static_cast<std::size_t>(2 * (touch[k] % 2) + end)];
        gradient += w * c.gradient;
        block = block + (c.bound * std::abs(w)) * c.block;
        if (c.weight[2] == 0 && c.weight[3] == 0) {  // an obstacle
          const Vec3d y = sliding[touch[k] / 2][static_cast<std::size_t>(end)];
          block = block + 2.0 * packed(outer(y, y));
        }
      }
    }
    return any;
  }
};

struct ClearFlags {
  Index* flag;
  Index first;
  OSIER_FN void operator()(Index i) const { flag[first + i] = 0; }
};
struct CopyForce {
  const Vec3d* from;
  Vec3d* to;
  OSIER_FN void operator()(Index v) const { to[v] = from[v]; }
};
/// At the start of a run, for segments whose contacts are within range then (contact/load_following.hpp).
struct SettleStiffnessOfStart {
  ContactView view;
  const double* loads;  ///< contact/start_load.hpp
  OSIER_FN double stop(Index v) const { return view.tables.mass[v] / view.h * norm(view.velocity[v]); }
  OSIER_FN void operator()(Index segment) const {
    if (view.stiffness[segment] > 0) return;
    const auto& v = view.tables.segment_vertices[segment];
    const double load = loads[segment] + 0.5 * (stop(v[0]) + stop(v[1]));
    double softest = 0;
    const Index begin = view.first_touch(segment);
    for (Index k = begin; k < begin + view.touches[segment]; ++k) {
      const Index slot = view.touch[k] / 2;
      const Pair& pair = view.pair[view.near_pair[slot]];
      const double range = view.tables.range_of(pair), s = (view.low[slot] - pair.core) / range;
      if (!pair.pushes || s >= 1) continue;
      const double of_pair = contact::stiffness_at_start(view.tables.strength[segment], load, s, range, view.h);
      softest = softest > 0 ? smaller(softest, of_pair) : of_pair;
    }
    view.stiffness[segment] = softest;
  }
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
    constexpr double kRadii = 0.25, kOfMotion = 0.25, kStrayed = 1.5;
    view.slack[v] = kRadii * view.tables.vertex_radius[v] + kOfMotion * norm(f) + kStrayed * view.strayed[v];
    if (!again) view.strayed[v] *= 0.5;
    view.u[v] = {};
    view.first[v] = view.du[v] = f;
    view.share[v] = view.share_next[v] = 1;
  }
};
struct CheckList {
  ContactView view;
  OSIER_FN void operator()(Index v) const {
    if (!view.tables.vertex_alive[v]) return;
    // The start as well: somebody may have put the state there.
    if (!view.is_inside(v, view.x[v], view.times - 1, view.at_start) ||
        !view.is_inside(v, view.x[v] + view.first[v], view.times, view.at_end))
      view.flag[kLeftList] = 1;
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

/// The contact of a near pair at u. kEnd: at the end of the step, with all that is remembered of it.
template <bool kEnd>
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
      if constexpr (kEnd) view.near[slot].touches = false;
      else view.term[slot].bound = 0;
      return;
    }
    c.at = contact::barrier(c.s, range, view.stiffness_of(pair));
    if (t.has_friction) add_friction(c, pair, v, both, slot);
    if constexpr (kEnd) {
      view.near[slot] = c;
    } else {
      ContactTerm term;
      for (std::size_t j = 0; j < 4; ++j) term.bound += std::abs(c.weight[j]);
      term.weight = c.weight;
      term.gradient = c.friction.across * c.z - c.at.force * c.n;
      Mat3<double> block = c.at.stiffness * outer(c.n, c.n);
      if (c.friction.across > 0) block = block + contact::friction_block(c.friction, c.unit, c.z);
      term.block = packed(block);
      view.term[slot] = term;
      if (!pair.with_obstacle()) return;
      std::array<Vec3d, 2> y{};
      if (on.along_stiffness > 0) {
        const std::array<Vec3d, 4> all = contact::sliding_on_surface(c.weight, on, both.edge_a());
        y = {std::sqrt(c.at.force) * all[0], std::sqrt(c.at.force) * all[1]};
      }
      view.sliding[slot] = y;
    }
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
    const contact::Limits limits = contact::limits_of(p, pair.core, view.approach_of(p, pair, v), fix);
    p.fixed = fix;
    if ((!pair.with_obstacle() && !(p.sep > 0)) || !limits.any) {  // nothing separates them, or not by a number
      p.fixed = true;
      for (std::size_t i = 0; i < 4; ++i)
        if (v[i] >= 0) keep_least(view.share_next + v[i], 0);
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
    const double strayed = norm(view.u[v] - view.first[v]);
    view.strayed[v] = larger(view.strayed[v], strayed);
    if (v == 0) view.flag[kGuardFails] = view.flag[kCloseCount] = 0;
    if (!view.tables.vertex_alive[v]) return;
    if (!view.all_near && !(strayed <= view.slack[v])) view.flag[kLeftNear] = 1;
    if (!view.is_inside(v, view.at(v), view.times, view.at_end)) view.flag[kLeftList] = 1;
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
      double mobility = 0, free[2] = {0, 0};
      for (std::size_t j = 0; j < 4; ++j) {
        if (v[j] < 0) continue;
        mobility += c.weight[j] * c.weight[j] / view.tables.mass[v[j]];
        if (!view.fixed[v[j]]) free[j / 2] += std::abs(c.weight[j]);
      }
      const double k = view.stiffness_of(pair);
      wanted = contact::stiffness_for_load(k, c.at, c.s, view.tables.range_of(pair), view.h, mobility, larger(free[0], free[1]));
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
    if (!view.is_inside(v, view.at(v) + view.u[v], view.times + 1, view.after)) view.flag[kLeavesSoon] = 1;
    if (!view.fixed[v]) return;
    const Vec3d whole = view.target[v] - view.x[v], u = view.u[v];
    if (u.x != whole.x || u.y != whole.y || u.z != whole.z) view.flag[kLate] = 1;
  }
};

// ------------------------------------------------------------------------------------------------- when there is a new list

/// Where vertices are, how their first motion goes on average, and the longest segment.
struct Extent {
  static constexpr Index kChunk = 256;
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3d low{kFar, kFar, kFar}, high{-kFar, -kFar, -kFar};
  double longest = 0;
  contact::AffineMotion motion;
};
struct MeasureExtent {
  ContactView view;
  Extent* extent;
  OSIER_FN void operator()(Index chunk) const {
    Extent all;
    const Index end = (chunk + 1) * Extent::kChunk;
    for (Index s = chunk * Extent::kChunk; s < view.tables.segments && s < end; ++s) {
      if (!view.tables.segment_alive[s]) continue;
      const auto& v = view.tables.segment_vertices[s];
      const Vec3d &a = view.x[v[0]], &b = view.x[v[1]];
      all.low = {smaller(all.low.x, smaller(a.x, b.x)), smaller(all.low.y, smaller(a.y, b.y)),
                 smaller(all.low.z, smaller(a.z, b.z))};
      all.high = {larger(all.high.x, larger(a.x, b.x)), larger(all.high.y, larger(a.y, b.y)),
                  larger(all.high.z, larger(a.z, b.z))};
      all.longest = larger(all.longest, norm(b - a));
      all.motion.add(contact::AffineMotion::coordinates(a), view.first[v[0]]);
    }
    extent[chunk] = all;
  }
};
/// Any displacement will do as long as its bounds are known: nodes have the mean around them of what first motions are beside an
/// affine one.
struct FitDrift {
  ContactView view;
  contact::DriftGrid grid;
  contact::AffineMotion affine;
  Index stride;  ///< between the vertices that are looked at
  Vec3d* node;
  double* weight;
  OSIER_FN void operator()(Index n) const {
    Vec3d sum;
    double all = 0;
    for (Index v = 0; v < view.tables.vertices; v += stride) {
      if (!view.tables.vertex_alive[v]) continue;
      const contact::DriftGrid::Weights w = grid.weights_at(view.x[v]);
      const Index from = n - static_cast<Index>(w.first);
      if (from < 0) continue;
      const Index i = from % static_cast<Index>(grid.nodes[0]),
                  j = from / static_cast<Index>(grid.nodes[0]) % static_cast<Index>(grid.nodes[1]),
                  k = from / static_cast<Index>(grid.nodes[0] * grid.nodes[1]);
      if (i > 2 || j > 2 || k > 2) continue;
      const double here = w.along[0][static_cast<std::size_t>(i)] * w.along[1][static_cast<std::size_t>(j)] *
                          w.along[2][static_cast<std::size_t>(k)];
      sum += here * (view.first[v] - affine.at(view.x[v]));
      all += here;
    }
    constexpr double kLeast = 1e-3;
    weight[n] = all > kLeast ? 1 : 0;
    node[n] = all > kLeast ? (1 / all) * sum : Vec3d{};
  }
};
/// Nodes without a mean have that of their neighbours.
struct FillDrift {
  contact::DriftGrid grid;
  const Vec3d* from;
  const double* weight;
  Vec3d* to;
  double* weight_to;
  OSIER_FN void operator()(Index n) const {
    to[n] = from[n], weight_to[n] = weight[n];
    if (weight[n] > 0) return;
    Vec3d sum;
    double all = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto step = static_cast<Index>(grid.step_along(axis)), count = static_cast<Index>(grid.nodes[axis]);
      const Index place = n / step % count;
      for (Index side = -1; side <= 1; side += 2)
        if (place + side >= 0 && place + side < count && weight[n + side * step] > 0) sum += from[n + side * step], all += 1;
    }
    if (all > 0) to[n] = (1 / all) * sum, weight_to[n] = 1;
  }
};
struct AddAffine {
  contact::DriftGrid grid;
  contact::AffineMotion affine;
  Vec3d* node;
  OSIER_FN void operator()(Index n) const { node[n] += affine.at(grid.place_of(static_cast<std::size_t>(n))); }
};
struct BoundDrift {
  contact::DriftGrid grid;
  const Vec3d* node;
  contact::DriftGrid::Bounds* bounds;
  OSIER_FN void operator()(Index cell) const { bounds[cell] = grid.bounds_in(static_cast<std::size_t>(cell), node); }
};
/// `node` is null where nothing drifts.
struct ChooseBalls {
  ContactView view;
  contact::DriftGrid grid;
  const Vec3d* node;
  ContactView::Holds holds;  ///< after the steps that the list is to last
  double generosity;
  Vec3d *listed_at, *drift;
  double* ball;
  OSIER_FN void operator()(Index v) const {
    constexpr double kRadii = 2, kSteps = 2.5, kStrayed = 1.5;  // beside what drifts
    listed_at[v] = view.x[v];
    drift[v] = node != nullptr ? grid.at(view.x[v], node) : Vec3d{};
    const double room = generosity * (kRadii * view.tables.vertex_radius[v] + kSteps * norm(view.first[v] - drift[v])) +
                        kStrayed * view.strayed[v];
    ball[v] = contact::ball_for_drift(room, view.tables.vertex_reach[v], holds.ratio, holds.bend);
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
