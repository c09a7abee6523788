// What a step knows of contact before it begins: thickness, friction, which segments are neighbours along a rod, and obstacles
// with their poses at the start and the end of the step. It does not change during a step. What a solver works with is a
// ContactStep (contact_step.hpp).
#pragma once

#include <memory>
#include <set>
#include <span>
#include <vector>

#include "contact/load_following.hpp"
#include "contact/motion_observer.hpp"
#include "contact/obstacle.hpp"
#include "contact/settings.hpp"
#include "contact/thickness.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier::contact {

/// A pair of segments that are near each other along the rods. `core` < 0: they share a vertex and are no pair at all. Otherwise
/// they cannot touch by bending alone; the guard keeps them from crossing with this core, and no force acts.
struct Neighbour {
  Index segment;
  double core;
};

/// Friction of every pair of materials; the last one stands for what has no material of its own.
struct FrictionTable {
  std::size_t materials = 1;
  std::vector<double> value{0};
  double of(std::size_t a, std::size_t b) const { return value[a * materials + b]; }
};

class Contacts {
 public:
  /// No contact at all.
  Contacts() = default;
  /// `segment_material`: places in the table.
  Contacts(const Model& model, const State& initial, const Settings& settings, FrictionTable table,
           std::vector<Index> segment_material);

  bool active() const { return active_; }
  bool rods_touch() const { return settings_.rods; }
  /// Of the thicker end [m].
  double radius(Index segment) const { return segment_radius_[static_cast<std::size_t>(segment)]; }
  double core(Index a, Index b) const { return core_of(radius(a), radius(b)); }
  double range(Index a, Index b) const { return full_range_of(radius(a), radius(b)); }
  /// What bounds the stiffness of a segment's contacts.
  SegmentStrength strength(const Model& model, Index segment) const;
  /// With an obstacle: as with a rod that is a mirror image.
  double core(Index segment) const { return core_of(radius(segment), 0); }
  double range(Index segment) const { return full_range_of(radius(segment), 0); }
  double slip(Index segment) const { return settings_.slip * radius(segment); }

  bool has_friction() const { return friction_; }
  double friction(Index a, Index b) const { return table_.of(material(a), material(b)); }
  double friction_with(Index segment, std::size_t obstacle) const;

  // For solvers that keep all of this elsewhere.
  const Settings& settings() const { return settings_; }
  const FrictionTable& friction_table() const { return table_; }
  const std::vector<Index>& materials() const { return segment_material_; }
  std::size_t material_of_obstacle(std::size_t obstacle) const { return obstacle_material_[obstacle]; }
  bool has_attached() const { return !attached_.empty(); }

  std::span<const Neighbour> neighbours(Index segment) const {
    return {neighbour_.data() + neighbour_start_[static_cast<std::size_t>(segment)],
            neighbour_.data() + neighbour_start_[static_cast<std::size_t>(segment) + 1]};
  }
  /// Null for segments that are not neighbours.
  const Neighbour* neighbour(Index a, Index b) const;

  /// Every obstacle with the place of its material in the friction table.
  void add(std::shared_ptr<Obstacle> obstacle, std::size_t material);
  const std::vector<std::shared_ptr<Obstacle>>& obstacles() const { return obstacles_; }
  /// A segment that is fastened to an obstacle is no pair with it: it begins in its surface.
  void attach(Index segment, std::size_t obstacle) { attached_.insert({segment, obstacle}); }
  bool is_attached(Index segment, std::size_t obstacle) const {
    return !attached_.empty() && attached_.contains({segment, obstacle});
  }
  /// Gives every obstacle a pose of its own, which copies of this share otherwise.
  void separate() {
    for (auto& obstacle : obstacles_) obstacle = obstacle->clone();
  }
  /// Is told the motions of every step from now on; null: nobody is. Not owned.
  void set_observer(MotionObserver* observer) { observer_ = observer; }
  MotionObserver* observer() const { return observer_; }
  void set_step(double start, double end) {
    for (const auto& obstacle : obstacles_) obstacle->set_step(start, end);
  }

 private:
  std::size_t material(Index segment) const {
    return static_cast<std::size_t>(segment_material_[static_cast<std::size_t>(segment)]);
  }
  void find_neighbours(const Model& model, const State& initial);

  bool active_ = false, friction_ = false;
  Settings settings_;
  FrictionTable table_;
  std::vector<Index> segment_material_;
  std::vector<double> segment_radius_;
  std::vector<std::size_t> neighbour_start_;
  std::vector<Neighbour> neighbour_;  ///< by segment, ascending
  std::vector<std::shared_ptr<Obstacle>> obstacles_;
  std::vector<std::size_t> obstacle_material_;
  std::set<std::pair<Index, std::size_t>> attached_;
  MotionObserver* observer_ = nullptr;
};

}  // namespace osier::contact

namespace osier {
using contact::Contacts;
}
