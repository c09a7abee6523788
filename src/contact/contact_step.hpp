// Contact in one step: a term of the step's potential over the displacements u since the start of the step, and the guard,
// through which every motion has to go.
//
//   E(u) = sum over pairs of barrier(D)  +  sum over contacts of friction(z)             (barrier.hpp, segment_gap.hpp)
//
// The barrier is a function of u alone. Friction has the normal forces, normals and places that were at hand at the last
// linearise(), so that it is a function of u between two of them.
//
// The stiffness of a contact is the larger one of its two segments. It follows the load from step to step, so that contacts rest
// at the middle of their range.
//
// The guard: for every pair there is a normal n across which both segments lie on different sides, sep apart. When the front of
// one advances by A along n and that of the other by B, they are sep - (A - B) apart at every time of a straight motion, however
// far both go together. The motion of vertices is shortened until A - B <= share (sep - core) for every pair (guard.cpp).
//
// One source file for each part: contact_step.cpp (a step from begin to end), pair_list.cpp and active_pairs.cpp (which pairs),
// contact_energy.cpp and contact_derivatives.cpp (the potential), contact_friction.cpp, contact_stiffness.cpp, contact_memory.cpp
// (what lasts from step to step) and guard.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "contact/barrier.hpp"
#include "contact/candidates.hpp"
#include "contact/dividing_plane.hpp"
#include "contact/drift.hpp"
#include "contact/load_following.hpp"
#include "contact/record.hpp"
#include "contact/segment_gap.hpp"
#include "contact/state_memory.hpp"
#include "core/archive.hpp"
#include "linalg/linear_system.hpp"

namespace osier::contact {

/// A pair within the range of its barrier.
struct Contact {
  Pair pair;
  std::array<Index, 4> vertex{-1, -1, -1, -1};  ///< -1 where there is none
  std::array<double, 4> weight{};               ///< dD/dx_j = weight_j n
  Vec3d n;
  double distance = 0, range = 0, stiffness_k = 0;
  double force = 0, stiffness = 0;  ///< of the barrier: f [N] and E'' [N/m]
  Vec3d place;                      ///< where it is, on the side of segment a [m]
  Sliding sliding;
  Mat3<double> curvature;  ///< of an obstacle's surface
  Vec3d surface;           ///< nearest point of an obstacle [m]
  // Friction.
  double limit = 0, slip = 0;   ///< Coulomb limit [N], displacement at which sliding begins [m]
  std::array<double, 4> rub{};  ///< weights of friction: z is across `unit` of the sum of rub_j u_j and the anchor
  Vec3d unit, anchor;           ///< normal of length 1; displacement at the start of the step, less the motion of an obstacle
  Vec3d z;                      ///< at the last linearise() [m]
  Friction friction;
  /// How far into the range: 1 at its outer end, 0 at the core.
  double s() const { return (distance - pair.core) / range; }
  Vec3d friction_force() const { return friction.across * z; }  ///< gradient over sum of rub_j u_j
};

/// Gives every contact of the next step this stiffness [J]. From step to step it follows the load again.
void put_stiffness(State& state, const Model& model, double stiffness);
/// One for every segment.
void put_stiffness(State& state, std::vector<double> stiffness);

class ContactStep {
 public:
  explicit ContactStep(int threads = 1) : executor_(threads) {}

  /// Forgets the list of pairs: the model or the state has been replaced.
  void forget() { listed_ = false; }
  /// The list of pairs, which lasts for several steps.
  void carry(Archive& archive);
  /// The references have to last until finish(). h > 0. `predicts`: the first motion with contact will be that of predict(), so
  /// that the list may drift along with it.
  void begin(const Contacts& contacts, const Model& model, const Control& control, const State& start, double h,
             bool predicts = false);
  /// To where inertia and prescribed motion lead, as far as the guard lets them.
  void predict(std::vector<Vec3d>& u);
  /// Moves held vertices and obstacles on to where they are to be.
  void hold(std::vector<Vec3d>& u);
  bool has_arrived() const { return arrived_; }
  /// Whether the last hold() got nearly nowhere: further ones will not help.
  bool is_stuck() const { return stuck_; }
  /// A held vertex that has not arrived, or -1.
  Index late_vertex() const { return late_vertex_; }

  /// Makes sure that the list holds at u, wherever the motion went that led there.
  void reach(const std::vector<Vec3d>& u);

  /// `freshness`: the share of the new Coulomb limits, normals and places of friction that is taken over; the rest are those of
  /// the last call. With 1, `rub` is `weight`.
  void linearise(const std::vector<Vec3d>& u, double freshness = 1);
  const std::vector<Contact>& contacts() const { return contacts_at_hand_; }
  /// Stiffens contacts that are squeezed almost to their core, at most to what their load asks for. The potential has changed
  /// then.
  bool stiffen();

  double value(const std::vector<Vec3d>& u) const;
  /// Of the barriers alone.
  double barrier_value(const std::vector<Vec3d>& u) const;
  void add_gradient(std::vector<Vec3d>& gx) const;
  /// Positive blocks on the diagonal, large enough for vertices to be moved one at a time or all at once.
  void add_diagonal(std::vector<Mat3<double>>& blocks) const;
  /// Positive blocks on the vertices that touch something and are not held.
  void list_blocks(std::vector<systems::VertexBlock>& blocks) const;
  /// Of the exact Hessian.
  /// Which part of the second derivative. `positive`: that of the barriers along their normals, and friction. The rest, force
  /// over distance, takes stiffness from the directions across: a fibre as light as hair has in a step less of it than the force
  /// of a contact that has been squeezed takes away, and its corrections would go anywhere.
  enum class Part : std::uint8_t { whole, positive };
  void add_product(const std::vector<Vec3d>& p, std::vector<Vec3d>& image, Part part = Part::whole) const;

  struct Guarded {
    double share = 1;  ///< of the motion that was left to the vertex that was shortened most
    int cut = 0;       ///< vertices that were shortened
  };
  /// Shortens the motion du from u, so that nothing passes through anything. Any share of it, the same for all, is safe as well.
  Guarded guard(const std::vector<Vec3d>& u, std::vector<Vec3d>& du);
  /// The share of its motion that the last guard() has left to a vertex.
  double share(Index v) const { return share_[v]; }
  /// Shortens all alike instead, by one share, which is returned: a direction of descent stays one.
  Guarded guard_alike(const std::vector<Vec3d>& u, std::vector<Vec3d>& du);

  /// Before the first motion of a step that does not begin with predict(): for whoever observes the step.
  void begin_path() const {
    if (MotionObserver* observer = contacts_->observer()) observer->begin_path();
  }
  /// A guarded motion has been taken, to u: for whoever observes the step.
  void passed(const std::vector<Vec3d>& u) const {
    if (MotionObserver* observer = contacts_->observer()) observer->move(u, obstacle_share_);
  }

  /// Puts stiffness and anchors into the state.
  void finish(const std::vector<Vec3d>& u, State& state);
  /// Removes them, where everything was stepped without contact.
  void finish_untouched(State& state);
  /// After finish().
  void tell(Record& record) const;

  /// Segments on the list: what can touch something in this step.
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// Looks which pairs are active: expected to come within their range in this step, from where they are and how they move. Rods
  /// without such a pair may be stepped without contact, if moves_freely() agrees afterwards.
  void find_active();
  /// After find_active(), until there is another list.
  bool is_active(std::size_t pair) const { return active_[pair] != 0; }
  /// No pair is active, without a look at any.
  bool is_quiet() const { return is_quiet_; }
  bool any_active() {
    find_active();
    return std::find(active_.begin(), active_.end(), 1) != active_.end();
  }
  /// Whether rods that were stepped without contact, straight from x0 to x1, have indeed come within the range of nothing.
  /// `elsewhere`: segments that were stepped with contact, which are not looked at; empty: none. Where the answer is no, pairs in
  /// the way are active from now on, or the list reaches further: ask for the pairs again. x0 is where the step began, and where
  /// its start has to be again.
  bool moves_freely(const std::vector<Vec3d>& x0, const std::vector<Vec3d>& x1, const std::vector<std::uint8_t>& elsewhere) const;
  void expect(const std::vector<Vec3d>& x0, const std::vector<Vec3d>& x1, const std::vector<std::uint8_t>& elsewhere);
  /// For checks that find pairs by themselves: what a pair, whether it is on the list or not, makes at u, with obstacles at these
  /// shares of their motion. Without friction.
  void contacts_of(Pair pair, const std::vector<Vec3d>& u, const std::vector<double>& obstacle_share,
                   std::vector<Contact>& out) const;
  /// The smallest range of a contact at hand, or infinity [m].
  double smallest_range() const;
  /// Smallest distance of two centrelines over the sum of radii among the pairs at hand; infinity without pairs.
  double smallest_gap(Index& a, Index& b) const;

 private:
  Vec3d at(const std::vector<Vec3d>& u, Index v) const { return start_->vertex_position[v] + u[v]; }
  TwoSegments ends(const Pair& pair, const std::vector<Vec3d>& u) const;
  /// What a list has for the vertices of a pair.
  template <class T>
  std::array<T, 4> of_ends(const Pair& pair, const std::vector<T>& list) const {
    const auto& a = m_->segment_vertices[pair.a];
    if (pair.with_obstacle()) return {list[a[0]], list[a[1]], T{}, T{}};
    const auto& b = m_->segment_vertices[pair.b];
    return {list[a[0]], list[a[1]], list[b[0]], list[b[1]]};
  }
  void read_memory(const State& state);
  void read_late_obstacles(const State& state) const;
  void save_late_obstacles(State& state) const;
  void save_contacts(State& state) const;
  void settle_stiffness();
  void settle_stiffness_of_start();
  void make_list(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du, bool drifts);
  void find_pairs();
  double distance_at(const Pair& pair, const std::vector<Vec3d>& x, double obstacle_share) const;
  /// With the obstacle where it is now.
  double distance_at(const Pair& pair, const std::vector<Vec3d>& x) const {
    return distance_at(pair, x, pair.with_obstacle() ? obstacle_share_[pair.obstacle()] : 0);
  }
  void measure_pairs(const std::vector<Vec3d>& u);
  double room_of(std::size_t v) const;
  bool take_drift();
  bool drifts_on();
  void go_with_drift();
  void renew_list(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du);
  void settle_core(Pair& pair, std::size_t index);
  double full_core(const Pair& pair) const;
  double radii_of(const Pair& pair) const;
  bool is_thin(const Pair& pair) const;
  double range_of(const Pair& pair) const;
  void ensure_list(const std::vector<Vec3d>& u, std::vector<Vec3d>& du);
  bool stays(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du) const;
  Vec3d first_motion(Index v) const;
  /// Of some vertices, in squares [m^2].
  struct Reach {
    bool inside = true;  ///< of their balls
    double far2 = 0, fastest2 = 0;
  };
  Reach reach_of_first_motion() const;
  template <class ReachOf>
  Reach reach_of_vertices(const ReachOf& reach_of) const;
  double room(const std::vector<Vec3d>& u, const std::vector<Vec3d>& du) const;
  void measure_motion(const std::vector<Vec3d>& u) const;
  template <class Motion>
  bool stays_apart(const Pair& pair, const std::vector<Vec3d>& x, const Motion& motion) const;
  void find_quiet();
  bool leaves_list(const std::vector<Vec3d>& x, const std::vector<std::uint8_t>& elsewhere) const;
  double least_distance(std::size_t pair) const;
  template <class F>
  void each_contact(const Pair& pair, const std::vector<Vec3d>& u, const std::vector<double>& obstacle_share, const F& f) const;
  template <class F>
  void each_contact(const Pair& pair, const std::vector<Vec3d>& u, const F& f) const {
    each_contact(pair, u, obstacle_share_, f);
  }
  double k_of(const Pair& pair) const;
  SegmentStrength strength_of(Index segment) const { return contacts_->strength(*m_, segment); }
  double speed_of(Index segment) const;
  double largest_stiffness(Index segment) const { return strength_of(segment).most(h_, speed_of(segment)); }
  double regular(Index segment) const { return preference_of_middle(contacts_->radius(segment)); }
  void set_friction(Contact& c, const std::vector<Vec3d>& u, double freshness) const;
  const Contact* earlier(const Contact& c) const;
  const RememberedPair* inherited(const Contact& c) const;
  Vec3d slip_of(const Contact& c, const std::vector<Vec3d>& u) const;
  void put_together(std::size_t chunks);
  void list_touches();
  template <class F>
  void each_touch(Index v, const F& f) const;
  template <class F>
  void each_touched(const F& f) const;
  template <class F>
  double least_of_vertices(const F& of, double most = 1) const;
  std::array<Vec3d, 4> product_of(const Contact& contact, const std::vector<Vec3d>& p, Part part) const;
  void spread(std::vector<double>& stiffness) const;
  void adapt_stiffness(State& state) const;
  void find_planes(const std::vector<Vec3d>& u, bool uncut);
  double farthest_approach(const Pair& pair, bool uncut) const;
  const std::vector<std::size_t>& find_failed(const std::vector<Vec3d>& u);
  void find_plane_of_obstacle(std::size_t pair, const std::vector<Vec3d>& u);
  double distance_in_hollow(std::size_t pair, std::size_t end, const std::vector<Vec3d>& u, double share, double way) const;
  bool fails(std::size_t pair, const std::vector<Vec3d>& u) const;
  void mend(std::size_t pair, bool fix, const std::vector<Vec3d>& u);
  void cut(const std::vector<Vec3d>& u);
  Guarded guard_all(const std::vector<Vec3d>& u, std::vector<Vec3d>& du);
  void push_along(const std::vector<Vec3d>& u, std::vector<Vec3d>& du);
  void go_together(std::vector<Vec3d>& u, std::vector<Vec3d>& du);
  double move_obstacles();

  static constexpr std::size_t kChunk = 256;  ///< pairs whose contacts are found together

  Executor executor_;
  const Contacts* contacts_ = nullptr;
  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const State* start_ = nullptr;
  double h_ = 0;
  bool predicts_ = false;

  // The list.
  bool listed_ = false;
  bool restored_ = false;  ///< the list is that of a checkpoint, for the model and the contacts of the next begin()
  Candidates candidates_;
  std::vector<Vec3d> listed_at_;                    ///< where vertices were when it was made
  std::vector<double> ball_;                        ///< how far from there it would hold if nothing drifted [m]
  Drift drift_;                                     ///< since then; none with obstacles, which stay where they are
  double ratio_ = 1, most_bend_ = 0, longest_ = 0;  ///< its bounds [-], [m]; longest segment [m]
  std::vector<double> reach_of_;     ///< per vertex: half of the distance at which its segments begin to repel others [m]
  std::vector<Vec3d> centre_;        ///< where vertices have drifted to by the end of the way that begin() expects
  std::vector<double> room_;         ///< and how far from there the list holds [m]
  std::vector<Vec3d> shared_;        ///< drift of the step at hand, with which its motion begins; empty: none
  std::vector<Vec3d> way_;           ///< expected when the list was made, less what is shared
  std::vector<std::uint8_t> alive_;  ///< the segments it was made for
  std::vector<Pair> pairs_;
  std::vector<double> pair_distance_;  ///< when the list was made
  std::vector<double> measured_;       ///< per pair: distance with vertices at `measured_at_` [m]
  std::vector<Vec3d> measured_at_;
  std::vector<std::uint8_t> active_;  ///< per pair; empty: not known
  bool amid_step_ = false;            ///< the list was made amid the step: what is in range by now is active, too
  bool generous_ = true;              ///< the last list had large balls
  double slack_ = 1;                  ///< of these, in lengths of segments
  double quiet_ = 0;              ///< while no vertex is further than this from where the list was made, nothing is in range [m]
  bool is_quiet_ = false;         ///< and so it is on all of the straight way that begin() expects
  double least_room_ = 0;         ///< of a vertex [m]
  mutable double quiet_far_ = 0;  ///< how far from there a vertex was at most after the last step in which nothing came near
  mutable double quiet_reach_ = -1;  ///< how far vertices are to be in the next step, after one in which nothing came near; or -1
  bool first_ = true;                ///< no step with contact has been made yet
  int lists_ = 0;
  double list_seconds_ = 0;  ///< since begin(), and so many lists
  int lists_made_ = 0;
  mutable std::vector<double> moved_;  ///< per vertex, since the pairs were measured

  std::vector<double> stiffness_, stiffness_at_start_;  ///< per segment
  std::vector<RememberedPair> memory_;                  ///< ascending
  std::vector<Contact> contacts_at_hand_, earlier_;     ///< by pair, ascending; those of the linearise() before
  std::vector<std::vector<Contact>> found_;             ///< per chunk of pairs
  std::vector<std::size_t> found_start_;                ///< and how many come before it
  std::vector<std::size_t> touch_start_, touch_;        ///< per segment: twice a contact, plus 1 where it is the second one
  std::vector<Index> touched_;                          ///< vertices of these segments, ascending
  mutable std::vector<std::array<Vec3d, 4>> product_;   ///< per contact
  mutable std::vector<double> partial_;
  mutable std::vector<Reach> reach_;

  // The guard.
  std::vector<Plane> planes_;
  std::vector<double> share_;                         ///< per vertex
  std::vector<double> obstacle_share_;                ///< of its motion in this step that an obstacle has behind it
  std::vector<double> obstacle_goal_, obstacle_way_;  ///< in the motion at hand: where to, and the share of that way that is left
  std::vector<Vec3d> du_, given_;
  std::vector<std::uint8_t> bad_;    ///< per pair
  std::vector<std::size_t> failed_;  ///< pairs
  bool arrived_ = true, stuck_ = false;
  Index late_vertex_ = -1;
};

}  // namespace osier::contact
