// The parts of a model that may touch something in a step: they are stepped together, with contact, whatever else steps the rest.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contact/contact_step.hpp"
#include "solvers/driver_options.hpp"
#include "solvers/newton_driver.hpp"
#include "solvers/solver.hpp"
#include "solvers/systems/coupled/coupled_system.hpp"

namespace osier::direct {

class Touching {
 public:
  explicit Touching(const systems::Options& options);
  /// The topology has changed, or the state has been replaced.
  void rebind();
  /// What a step leaves behind for the next.
  void carry(Archive& archive);

  /// Finds what may touch something in the step.
  void begin(const StepInput& input, const State& state);
  bool any() const { return count_ > 0; }
  bool is_whole() const { return whole_; }
  const std::vector<std::uint8_t>& segments() const { return segment_in_; }
  /// Takes everything.
  void take_all(const Model& model);

  StepReport solve(const StepInput& input, const State& state);
  /// Puts the memory of contact into the state, which has to be the one at the start of the step but for that.
  void finish(State& state);
  void tell(contact::Record& record) const { contact_.tell(record); }
  /// Puts the motion into the state. The new velocities go into vertex_velocity_previous.
  void store(State& state, StepReport& report) { driver_.store(state, report); }
  /// Whether what was stepped without contact, from x0 to x1, has touched nothing.
  bool rest_moves_freely(const std::vector<Vec3d>& x0, const std::vector<Vec3d>& x1) const {
    return contact_.moves_freely(x0, x1, segment_in_);
  }
  /// Where it has not: takes what is in the way. The state is at the start of the step again.
  void take_what_meets(const Model& model, const std::vector<Vec3d>& x0, const std::vector<Vec3d>& x1) {
    contact_.expect(x0, x1, segment_in_);
    take_pairs(model);
  }

 private:
  void find_parts(const Model& model, const Control& control);
  bool has_other_springs(const Control& control);
  void find_touching_parts(std::vector<std::uint8_t>& touches);
  /// Adds the parts that hang together by pairs, one of which is active or of a part that is in already. Returns whether there
  /// are new ones.
  bool take_pairs(const Model& model);
  void arrange(const StepInput& input);

  static constexpr int kKeptFor = 64;  ///< steps until parts that touch nothing any more are let go

  systems::Options options_;
  contact::ContactStep contact_;
  systems::NewtonDriver driver_;
  systems::CoupledSystem* coupled_ = nullptr;  ///< the driver's system
  std::vector<Index> part_;                    ///< per segment; empty: not known
  std::vector<std::uint8_t> part_touches_, part_needed_;
  std::vector<Index> group_;  ///< per part: a part of the same group
  std::vector<std::uint8_t> segment_in_;
  Subset subset_;
  Index count_ = 0;  ///< segments
  int age_ = 0;
  bool whole_ = false, arranged_ = false, has_terms_ = false;
  bool sparse_ = false;  ///< in the step at hand: the factor of a tree has lost its digits
  std::vector<std::array<Index, 2>> spring_ends_;
  std::vector<std::uint8_t> vertex_fixed_;
  std::vector<FrameControl> frame_control_;
  std::optional<std::string> kept_system_;  ///< of a checkpoint, until the linear system is made
};

}  // namespace osier::direct
