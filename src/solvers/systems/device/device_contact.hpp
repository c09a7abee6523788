// Contact in memory of a backend: the lists, the memory of contacts, and the kernels of a step in their order
// (contact_kernels.hpp).
//
//   begin()   the step at hand
//   expect()  its first motion, from a solver's displacements, through the guard
//   linearise(), then guard() a new displacement: as often as the solver wants
//   finish()  whether the step counts: where it does not, everything since begin() is done again; then accept()
#pragma once

#include <algorithm>
#include <cmath>

#include "contact/start_load.hpp"
#include "contact/state_memory.hpp"
#include "solvers/systems/device/contact_kernels.hpp"

namespace osier::systems {
inline namespace OSIER_BACKEND_NAMESPACE {

class DeviceContact {
 public:
  explicit DeviceContact(Backend where) : where_(where) { flags_.make(kContactFlags); }

  bool is_active() const { return contacts_ != nullptr && contacts_->active(); }
  /// Both last until the next bind(). Obstacles are such as tell_plain() knows.
  void bind(const Model& m, const DeviceState& state, const contact::Contacts& contacts) {
    model_ = &m, contacts_ = &contacts;
    tables_ = {};
    tables_.vertices = m.vertex_count(), tables_.segments = m.segment_count();
    tables_.segment_vertices = state.segment_vertices();
    tables_.vertex_segment_start = state.vertex_segment_start(), tables_.vertex_segment = state.vertex_segment();
    tables_.vertex_alive = state.vertex_alive(), tables_.segment_alive = state.segment_alive();
    tables_.mass = state.mass(), tables_.vertex_radius = state.radius(), tables_.rest_length = state.rest_length();
    tables_.rods_touch = contacts.rods_touch(), tables_.has_friction = contacts.has_friction();
    tables_.slip = contacts.settings().slip;
    put_segments();
    put_obstacles();
    const auto nv = static_cast<std::size_t>(m.vertex_count()), ns = static_cast<std::size_t>(m.segment_count());
    for (auto* list : {&u_, &du_, &first_, &listed_at_, &drift_}) list->make(nv);
    for (auto* list : {&ball_, &strayed_, &slack_, &share_, &share_next_}) list->make(nv);
    for (auto* list : {&stiffness_, &stiffness_next_, &carried_, &carried_next_}) list->make(ns);
    touches_.make(ns);
    launch(where_, m.segment_count(), FillWith<double>{stiffness_.data(), 0.0});
    launch(where_, m.vertex_count(), FillWith<double>{strayed_.data(), 0.0});
    forget();
  }
  /// The model or the state has been replaced.
  void forget() { listed_ = remembers_again_ = false, is_first_ = true, renew_ = true, pairs_ = near_count_ = 0; }

  /// What contact remembers in a state (contact/contact_step.hpp).
  void put(const State& state) {
    std::vector<double> stiffness = contact::stiffness_memory(state);
    stiffness.resize(static_cast<std::size_t>(tables_.segments), 0.0);
    stiffness_.put(stiffness);
    const contact::PairMemory pairs = contact::pair_memory(state);
    is_first_ = !pairs.exists;
    std::vector<Pair> list;
    std::vector<ContactMemory> memory;
    std::vector<Index> start(static_cast<std::size_t>(tables_.segments) + 1, 0), slot;
    for (const contact::RememberedPair& one : pairs.pairs) {
      slot.push_back(static_cast<Index>(list.size()));
      list.push_back(one.pair);
      memory.push_back({one.force, one.anchor, one.normal});
      ++start[static_cast<std::size_t>(one.pair.a) + 1];
    }
    for (std::size_t s = 1; s < start.size(); ++s) start[s] += start[s - 1];
    given_.put(list, start);
    given_slot_.put(slot);
    memory_.put(memory);
    remembers_again_ = true;
  }
  void get(State& state) const {
    const auto ns = static_cast<std::size_t>(tables_.segments);
    std::vector<double> stiffness = stiffness_.get(ns);
    if (std::all_of(stiffness.begin(), stiffness.end(), [](double k) { return k == 0; })) stiffness.clear();
    contact::put_stiffness_memory(state, std::move(stiffness));
    std::vector<contact::RememberedPair> out;
    if (listed_ && !was_untouched_) {
      const std::vector<Pair> pairs = finder_.get(pairs_);
      const std::vector<Index> slot = slot_before_.get(static_cast<std::size_t>(pairs_));
      const std::vector<ContactMemory> memory = memory_.get(static_cast<std::size_t>(near_count_));
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const ContactMemory* known = slot[p] >= 0 && memory[static_cast<std::size_t>(slot[p])].force > 0
                                         ? &memory[static_cast<std::size_t>(slot[p])]
                                         : nullptr;
        const Pair& pair = pairs[p];
        const double full = pair.with_obstacle() ? contacts_->core(pair.a) : contacts_->core(pair.a, pair.b);
        if (known) out.push_back({pair, known->force, known->anchor, known->normal});
        else if (pair.pushes && pair.core < full) out.push_back({.pair = pair, .force = 0, .anchor = {}, .normal = {}});
      }
    }
    contact::put_pair_memory(state, out);
  }

  /// x, velocity and the control of a step, in memory of the backend.
  void begin(const lanes::StepView& step) {
    step_ = step;
    attempt_ = 0;
    lists_before_ = lists_;
  }
  /// The first motion of the step. What a solver works with are displacements in its own number type.
  template <class T>
  void expect(Vec3<T>* u) {
    launch(where_, kContactFlags, ClearFlags{flags_.data(), 0});
    view_ = make_view();
    launch(where_, tables_.vertices, ExpectMotion<T>{view_, u, attempt_ > 0});
    if (renew_) make_list();
    else if (remembers_again_) remember_again();
    slot_of_.make(static_cast<std::size_t>(pairs_)), memory_next_.make(static_cast<std::size_t>(pairs_));
    view_ = make_view();
    launch(where_, tables_.vertices, CheckList{view_});
    launch(where_, pairs_, FindNear{view_});
    launch(where_, tables_.segments, ListTouches{view_});
    if (is_first_) settle_stiffness_of_start();
    launch(where_, tables_.segments, SettleStiffness{view_});
    if (tables_.has_friction) on_near(FindKnown{view_});
    cut(u);
  }
  void linearise() { on_near(Linearise<false>{view_}); }
  /// Shortens the way to new displacements, so that nothing passes through anything, and takes it.
  template <class T>
  void guard(Vec3<T>* u) {
    launch(where_, tables_.vertices, TakeDifference<T>{view_, u});
    cut(u);
  }
  /// Linearised at the end, what contacts leave for the next step. Returns whether the step counts; otherwise it begins again.
  bool finish() {
    on_near(Linearise<true>{view_});
    on_near(FinishContact{view_});
    launch(where_, tables_.segments, FollowLoad{view_, carried_.data()});
    spread();
    launch(where_, tables_.segments, TakeStiffness{view_, carried_.data()});
    launch(where_, tables_.vertices, CheckEnd{view_});
    return holds();
  }
  /// Whether the lists held on all of the way so far: where they did not, the step begins again, with others.
  bool holds() {
    const std::vector<Index> flags = flags_.get(kContactFlags);
    if (flags[kLeftList] != 0 || flags[kLeftNear] != 0) {
      ++repeated_;
      if (++attempt_ > kMostAttempts) throw std::runtime_error("contact on the device: a step goes further with every list");
      all_near_ = flags[kLeftNear] != 0 && attempt_ > kWithMoreSlack;
      renew_ = flags[kLeftList] != 0;
      return false;
    }
    was_untouched_ = flags[kActive] == 0 && flags[kTouches] == 0;
    near_count_ = flags[kNearCount];
    renew_ = flags[kLeavesSoon] != 0;
    is_late_ = flags[kLate] != 0;
    return true;
  }
  /// The step counts, and its displacements have been added to positions.
  void accept() {
    stiffness_.swap(stiffness_next_);
    memory_.swap(memory_next_);
    slot_before_.swap(slot_of_);
    all_near_ = is_first_ = false;
    ++drifted_;
  }
  const Vec3d* displacements() const { return u_.data(); }
  std::vector<Vec3d> get_displacements() const { return u_.get(static_cast<std::size_t>(tables_.vertices)); }
  /// Something prescribed was held back in the last step.
  bool is_late() const { return is_late_; }
  /// The contacts at the end of the last step.
  void tell(contact::Record& record) {
    record.clear();
    record.late = is_late_;
    record.obstacle_share.assign(contacts_->obstacles().size(), 1);
    record.lists = lists_ - lists_before_;
    launch(where_, 1, ClearFlags{flags_.data(), kTold});
    contact::Touch* touch = touch_told_.make(static_cast<std::size_t>(near_count_));
    on_near(TellContact{view_, touch});
    Index count = 0;
    flags_.read(kTold, count);
    record.touches = touch_told_.get(static_cast<std::size_t>(count));
    std::sort(record.touches.begin(), record.touches.end(),
              [](const contact::Touch& a, const contact::Touch& b) { return a.pair < b.pair; });
  }
  const ContactView& view() const { return view_; }
  const ContactTables& tables() const { return tables_; }
  Index pairs() const { return pairs_; }
  Index near_pairs() const { return near_count_; }
  int lists_made() const { return lists_; }
  int steps_repeated() const { return repeated_; }
  std::vector<Pair> get_pairs() const { return finder_.get(pairs_); }

 private:
  static constexpr int kMostAttempts = 40, kWithMoreSlack = 2;
  static constexpr double kLasts = 12;  ///< steps that a list that drifts is to last

  template <class Kernel>
  void on_near(const Kernel& kernel) const {
    launch_counted(where_, pairs_, flags_.data() + kNearCount, kernel);
  }
  template <class T>
  void cut(Vec3<T>* u) {
    on_near(FindFailures{view_});
    on_near(ListClose{view_});
    launch_block(where_, CutMotions{view_});
    launch(where_, tables_.vertices, TakeMotion<T>{view_, u});
  }
  void spread() {
    const auto along = [&] {
      for (const Index distance : {1, 4, 16, 64}) {
        launch(where_, tables_.segments,
               SpreadAlong{carried_.data(), carried_next_.data(), run_.data(), tables_.segments, distance});
        carried_.swap(carried_next_);
      }
    };
    along();
    if (!has_other_links_) return;
    launch(where_, tables_.segments, SpreadAround{tables_, carried_.data(), carried_next_.data()});
    carried_.swap(carried_next_);
    along();
  }

  ContactView::Holds holds_after(double times) const {
    return {grid_.least_ratio(bounds_, times), grid_.most_bend(bounds_, times, longest_)};
  }
  /// Finds what vertices share of the first motion. Returns whether that is good for something.
  bool fit_drift() {
    constexpr double kCells = 12, kLeastRatio = 0.75;
    constexpr Index kSamples = 4096;
    bounds_ = {};
    lasts_ = 0;
    const Index chunks = (tables_.segments + Extent::kChunk - 1) / Extent::kChunk;
    launch(where_, chunks, MeasureExtent{view_, extent_.make(static_cast<std::size_t>(chunks))});
    Extent all;
    for (const Extent& e : extent_.get(static_cast<std::size_t>(chunks))) {
      all.low = {std::min(all.low.x, e.low.x), std::min(all.low.y, e.low.y), std::min(all.low.z, e.low.z)};
      all.high = {std::max(all.high.x, e.high.x), std::max(all.high.y, e.high.y), std::max(all.high.z, e.high.z)};
      all.longest = std::max(all.longest, e.longest);
      all.motion.add(e.motion);
    }
    all.motion.solve();
    longest_ = all.longest;
    const Vec3d size = all.high - all.low;
    const double largest = std::max({size.x, size.y, size.z});
    grid_ = {};
    if (!(largest > 0 && std::isfinite(largest))) return false;
    grid_.origin = all.low, grid_.cell = largest / kCells;
    for (std::size_t axis = 0; axis < 3; ++axis)
      grid_.nodes[axis] =
          static_cast<std::size_t>(std::clamp(std::ceil(contact::component(size, axis) / grid_.cell), 1.0, kCells)) + 2;
    const std::size_t n = grid_.count();
    for (auto* list : {&node_, &node_next_}) list->make(n);
    for (auto* list : {&node_weight_, &node_weight_next_}) list->make(n);
    launch(
        where_, static_cast<Index>(n),
        FitDrift{view_, grid_, all.motion, std::max<Index>(1, tables_.vertices / kSamples), node_.data(), node_weight_.data()});
    for (int pass = 0; pass < 3 * static_cast<int>(kCells); ++pass) {
      launch(where_, static_cast<Index>(n),
             FillDrift{grid_, node_.data(), node_weight_.data(), node_next_.data(), node_weight_next_.data()});
      node_.swap(node_next_), node_weight_.swap(node_weight_next_);
    }
    launch(where_, static_cast<Index>(n), AddAffine{grid_, all.motion, node_.data()});
    const std::size_t cells = grid_.cells();
    launch(where_, static_cast<Index>(cells), BoundDrift{grid_, node_.data(), bounds_of_cell_.make(cells)});
    for (const contact::DriftGrid::Bounds& b : bounds_of_cell_.get(cells)) {
      bounds_.compression = std::max(bounds_.compression, b.compression);
      bounds_.second = std::max(bounds_.second, b.second);
    }
    for (lasts_ = kLasts; lasts_ >= 1; lasts_ *= 0.5)
      if (grid_.least_ratio(bounds_, lasts_) > kLeastRatio) return true;
    bounds_ = {};
    lasts_ = 0;
    return false;
  }
  void make_list() {
    drifted_ = 0;
    const bool drifts = fit_drift();
    finder_.swap(old_finder_);
    const bool has_old = remembers_again_ || listed_;
    const PairList old = remembers_again_ ? given_.list() : old_finder_.list();
    const Index* old_slot = remembers_again_ ? given_slot_.data() : slot_before_.data();
    // Fast vertices need large balls, and large balls many pairs: where there are too many, the list lasts for this step alone.
    constexpr double kMostPairs = 48;  // of a segment
    for (const double generosity : {1.0, 0.45}) {
      launch(where_, tables_.vertices,
             ChooseBalls{view_, grid_, drifts ? node_.data() : nullptr, holds_after(lasts_), generosity, listed_at_.data(),
                         drift_.data(), ball_.data()});
      const double most = kMostPairs * static_cast<double>(tables_.segments) + 1000;
      const Index all = std::numeric_limits<Index>::max();
      const Index allowed = generosity < 1 || most > all ? all : static_cast<Index>(most);
      pairs_ = finder_.find(tables_, view_.x, ball_.data(), allowed);
      if (pairs_ <= allowed) break;
    }
    const auto n = static_cast<std::size_t>(pairs_);
    slot_of_.make(n), near_pair_.make(n), low_.make(n), near_.make(n), term_.make(n), known_.make(n), memory_next_.make(n),
        wanted_.make(n);
    close_slot_.make(n), plane_.make(n), touch_.make(2 * n), second_.make(n);
    if (tables_.obstacles > 0) sliding_.make(n);
    view_ = make_view();
    // The list of slots that is being replaced is looked into meanwhile.
    Index* slots = slot_of_.data();
    launch(where_, pairs_, Remember{view_, old, old_slot, has_old, is_first_, slots});
    slot_before_.swap(slot_of_);
    slot_of_.make(n);
    list_second();
    listed_ = true, remembers_again_ = renew_ = false;
    ++lists_;
    view_ = make_view();
  }
  void remember_again() {
    launch(where_, pairs_, RememberAgain{view_, given_.list(), given_slot_.data(), slot_before_.data()});
    remembers_again_ = false;
  }
  void list_second() {
    const Index rows = tables_.segments + 1;
    Index* start = second_start_.make(static_cast<std::size_t>(rows));
    Index* cursor = second_cursor_.make(static_cast<std::size_t>(rows));
    launch(where_, rows, FillWith<Index>{start, 0});
    launch(where_, rows, FillWith<Index>{cursor, 0});
    launch(where_, pairs_, CountSecond{finder_.pairs(), start});
    scan_.run(start, rows);
    launch(where_, pairs_, FillSecond{finder_.pairs(), start, cursor, second_.data()});
    launch(where_, tables_.segments, SortSecond{start, second_.data()});
  }

  /// Once in a run: rods are told apart on the host.
  void settle_stiffness_of_start() {
    Room<Vec3d> force(where_);
    force.make(static_cast<std::size_t>(tables_.vertices));
    launch(where_, tables_.vertices, CopyForce{step_.force, force.data()});
    start_loads_.put(contact::loads_at_start(*model_, force.get(static_cast<std::size_t>(tables_.vertices))));
    launch(where_, tables_.segments, SettleStiffnessOfStart{view_, start_loads_.data()});
  }

  ContactView make_view() const {
    ContactView v;
    v.tables = tables_;
    v.h = step_.h;
    v.all_near = all_near_;
    v.x = step_.position, v.velocity = step_.velocity, v.target = step_.vertex_target, v.fixed = step_.vertex_fixed;
    v.u = u_.data(), v.du = du_.data(), v.first = first_.data();
    v.flag = flags_.data();
    v.pairs = pairs_, v.pair = finder_.pairs(), v.list = finder_.list();
    v.listed_at = listed_at_.data(), v.ball = ball_.data(), v.strayed = strayed_.data(), v.slack = slack_.data(),
    v.drift = drift_.data();
    v.times = drifted_ + 1, v.at_start = holds_after(drifted_), v.at_end = holds_after(drifted_ + 1),
    v.after = holds_after(drifted_ + 2);
    v.second_start = second_start_.data(), v.second = second_.data();
    v.slot_of = slot_of_.data(), v.near_pair = near_pair_.data(), v.low = low_.data(), v.near = near_.data();
    v.term = term_.data(), v.sliding = sliding_.data();
    v.touch = touch_.data(), v.touches = touches_.data();
    v.slot_before = slot_before_.data(), v.memory = memory_.data(), v.known = known_.data();
    v.memory_next = memory_next_.data();
    v.stiffness = stiffness_.data(), v.stiffness_next = stiffness_next_.data(), v.wanted = wanted_.data();
    v.share = share_.data(), v.share_next = share_next_.data();
    v.close_slot = close_slot_.data(), v.plane = plane_.data();
    return v;
  }

  void put_segments() {
    const Model& m = *model_;
    std::vector<double> radius;
    std::vector<contact::SegmentStrength> strength;
    std::vector<Index> neighbour_start{0}, run;
    std::vector<contact::Neighbour> neighbour;
    Index runs = 0;
    for (Index s = 0; s < m.segment_count(); ++s) {
      radius.push_back(contacts_->radius(s));
      strength.push_back(contacts_->strength(m, s));
      const auto list = contacts_->neighbours(s);
      neighbour.insert(neighbour.end(), list.begin(), list.end());
      neighbour_start.push_back(static_cast<Index>(neighbour.size()));
      run.push_back(s > 0 && shares_vertex(m, s - 1, s) ? runs : ++runs);
    }
    has_other_links_ = false;
    for (Index v = 0; v < m.vertex_count(); ++v) {
      const auto segments = m.vertex_segments.of(v);
      for (const Index e : segments)
        for (const Index f : segments)
          if (e / 2 != f / 2 && std::abs(e / 2 - f / 2) != 1) has_other_links_ = true;
    }
    std::vector<double> vertex_reach(static_cast<std::size_t>(m.vertex_count()), 0);
    for (Index s = 0; s < m.segment_count(); ++s)
      for (const Index v : m.segment_vertices[s]) vertex_reach[v] = std::max(vertex_reach[v], contact::reach_of(radius[s]));
    vertex_reach_.put(vertex_reach);
    tables_.vertex_reach = vertex_reach_.data();
    radius_.put(radius), strength_.put(strength), neighbour_start_.put(neighbour_start), neighbour_.put(neighbour);
    run_.put(run), material_.put(contacts_->materials()), friction_.put(contacts_->friction_table().value);
    tables_.radius = radius_.data(), tables_.strength = strength_.data();
    tables_.neighbour_start = neighbour_start_.data(), tables_.neighbour = neighbour_.data();
    tables_.material = material_.data(), tables_.friction = friction_.data();
    tables_.materials = static_cast<Index>(contacts_->friction_table().materials);
  }
  static bool shares_vertex(const Model& m, Index s, Index t) {
    if (!m.segment_alive[s] || !m.segment_alive[t]) return false;
    for (const Index a : m.segment_vertices[s])
      for (const Index b : m.segment_vertices[t])
        if (a == b) return true;
    return false;
  }
  void put_obstacles() {
    std::vector<DeviceObstacle> list;
    std::vector<std::uint8_t> attached;
    for (std::size_t o = 0; o < contacts_->obstacles().size(); ++o) {
      const contact::Obstacle& obstacle = *contacts_->obstacles()[o];
      DeviceObstacle one{
          .shape = {}, .friction = obstacle.friction, .material = static_cast<Index>(contacts_->material_of_obstacle(o))};
      if (!obstacle.tell_plain(one.shape)) throw std::logic_error("an obstacle that kernels do not know: " + obstacle.name);
      list.push_back(one);
      for (Index s = 0; s < tables_.segments && contacts_->has_attached(); ++s) attached.push_back(contacts_->is_attached(s, o));
    }
    obstacle_.put(list), attached_.put(attached);
    tables_.obstacles = static_cast<Index>(list.size()), tables_.obstacle = obstacle_.data();
    tables_.attached = attached.empty() ? nullptr : attached_.data();
  }

  Backend where_;
  const Model* model_ = nullptr;
  const contact::Contacts* contacts_ = nullptr;
  ContactTables tables_;
  ContactView view_;
  lanes::StepView step_{};
  bool listed_ = false;  ///< there is a list, with what its pairs remember
  bool renew_ = true;    ///< it is to be made anew
  bool is_first_ = true, has_other_links_ = false;
  bool remembers_again_ = false;  ///< a state has been put, whose memory belongs to no list
  bool all_near_ = false, was_untouched_ = false, is_late_ = false;
  int attempt_ = 0, lists_ = 0, lists_before_ = 0, repeated_ = 0;
  Index pairs_ = 0, near_count_ = 0;

  Room<double> radius_{where_}, friction_{where_};
  Room<contact::SegmentStrength> strength_{where_};
  Room<Index> neighbour_start_{where_}, run_{where_}, material_{where_};
  Room<contact::Neighbour> neighbour_{where_};
  Room<DeviceObstacle> obstacle_{where_};
  Room<std::uint8_t> attached_{where_};

  Room<Vec3d> u_{where_}, du_{where_}, first_{where_}, listed_at_{where_}, drift_{where_};
  Room<Vec3d> node_{where_}, node_next_{where_};
  Room<double> node_weight_{where_}, node_weight_next_{where_};
  Room<Extent> extent_{where_};
  Room<contact::DriftGrid::Bounds> bounds_of_cell_{where_};
  contact::DriftGrid grid_;
  contact::DriftGrid::Bounds bounds_;
  double longest_ = 0, drifted_ = 0, lasts_ = 0;  ///< longest segment [m]; steps since the list was made, and that it is to last
  Room<double> ball_{where_}, strayed_{where_}, slack_{where_}, vertex_reach_{where_}, share_{where_}, share_next_{where_};
  Room<double> stiffness_{where_}, stiffness_next_{where_}, carried_{where_}, carried_next_{where_}, start_loads_{where_};
  Room<Index> flags_{where_};

  PairFinder finder_{where_}, old_finder_{where_}, given_{where_};
  Scan scan_{where_};
  Room<Index> second_start_{where_}, second_cursor_{where_}, second_{where_}, given_slot_{where_};
  Room<Index> slot_of_{where_}, slot_before_{where_}, near_pair_{where_}, known_{where_}, touch_{where_}, touches_{where_};
  Room<double> low_{where_}, wanted_{where_};
  Room<NearContact> near_{where_};
  Room<ContactTerm> term_{where_};
  Room<std::array<Vec3d, 2>> sliding_{where_};
  Room<ContactMemory> memory_{where_}, memory_next_{where_};
  Room<Index> close_slot_{where_};
  Room<contact::Plane> plane_{where_};
  Room<contact::Touch> touch_told_{where_};
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::systems
