// Statics for solvers that only know time steps: the same loads at full strength from the start, a drag, and time.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "osier/state.hpp"

namespace osier::validate {

/// One rule for every static case, so that nobody can tune it case by case.
struct Schedule {
  double step = 1e-3;            ///< [s]
  double duration = 20;          ///< [s]
  double drag_rate = 1;          ///< mass-proportional [1/s]
  double rest_tolerance = 1e-7;  ///< of the scene's size, or rad, in half a second
};

/// A static case with a tolerance of its own relaxes for as long as drag takes to bring a motion down to it.
Schedule schedule_of(const Json& scene);

/// Finer static cases have no four-sweeps column: relaxing them takes minutes and tells the same, only more so.
constexpr int kRelaxedResolution = 100;

bool is_static(const Json& scene);
/// Looks for a critical load, which no relaxation finds.
bool stops_at_instability(const Json& scene);

/// The static scene as a dynamic one; a dynamic scene is returned as it is.
Json as_dynamics(Json scene);

/// The paper's way: Stable Cosserat Rods with four sweeps per step, in single precision.
Json with_four_sweeps(Json scene);

/// The scene with another solver and its default settings, but with the tolerance that the case asks of a step; as dynamics where
/// that solver cannot do statics.
Json with_solver(Json scene, const std::string& solver);

/// Tells when a relaxation has come to rest, so that its remaining time can be saved.
class RestWatch {
 public:
  /// `from`: when keyframes have done their work.
  RestWatch(double from, double tolerance) : next_(from), tolerance_(tolerance) {}
  /// After every step. True when since half a second ago nothing has moved by more than the tolerance times the scene's size, nor
  /// turned by more than the tolerance in rad.
  bool at_rest(const State& state);

 private:
  double next_, tolerance_;
  std::vector<Vec3d> position_;
  std::vector<Quatd> frame_;
};

std::string four_sweeps_protocol();
std::string solver_protocol(const std::string& solver);

}  // namespace osier::validate
