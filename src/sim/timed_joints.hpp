// Welds and joints that close or open while a simulation runs.
//
// Two vertices that are welded become one: the segments of the second then end at the first, which takes its mass, its loads and
// the momentum of both. The second is no part of the model any more, but stays where the first is. Joints keep the angle between
// their segments that they find when they close.
#pragma once

#include <span>
#include <vector>

#include "core/archive.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "scene/setup.hpp"

namespace osier {

class TimedJoints {
 public:
  TimedJoints() = default;
  explicit TimedJoints(std::span<const TimedJoint> list) : list_(list), now_(list.size()) {}

  /// Those whose time has come, at the start of a step.
  std::vector<std::size_t> due(const State& state) const;
  /// Those whose time to close has come and whose vertices have not met so far.
  long never_met(double time) const;
  /// Closes an open one or opens a closed one. The topology has to be brought up to date afterwards.
  void toggle(std::size_t i, const Control& control, Model& model, State& state);
  /// Loads on vertices that have become others.
  void pass_on(Control& control) const;
  /// Puts vertices that have become others where those are.
  void follow(State& state) const;
  /// Brings the model to where another simulation of the same scene stands. Returns whether that changed it.
  bool continue_from(const TimedJoints& other, const Model& there, Model& model);
  /// Beside the model, which it has changed.
  void carry(Archive& archive) { archive(now_); }

 private:
  enum class Phase : std::uint8_t { waiting, closed, over };
  struct Now {
    Phase phase = Phase::waiting;
    Index kept = -1, gone = -1;              ///< vertices, while closed
    double mass = 0;                         ///< of the one that is gone [kg]
    std::vector<std::array<Index, 2>> ends;  ///< segment and end that were moved
    void carry(Archive& archive) { archive(phase, kept, gone, mass, ends); }
  };
  void join_vertices(std::size_t i, Index kept, Index gone, Model& model);
  void part_vertices(std::size_t i, Model& model);

  std::span<const TimedJoint> list_;
  std::vector<Now> now_;
};

}  // namespace osier
