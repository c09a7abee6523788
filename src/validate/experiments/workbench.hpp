// A dynamic scene taken apart: model, start of a step, loads of the first step. For experiments that turn, flip, shake or hold
// parts of it, which a scene cannot say.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json.hpp"
#include "math/secular.hpp"
#include "osier/scene.hpp"
#include "osier/simulation.hpp"
#include "scene/generators/sampling.hpp"
#include "scene/setup.hpp"
#include "solvers/step_potential.hpp"

namespace osier::validate {

/// Positions and frames at the end of a step.
struct Place {
  std::vector<Vec3d> x;
  std::vector<Quatd> q;
};

struct Workbench {
  Scene scene;
  Model model;
  State state;      ///< start of the step
  Control control;  ///< of the scene's first step
  double h = 0;

  /// Throws RunError for a static scene.
  Workbench(const Json& json, const std::filesystem::path& folder);

  StepInput input() const { return constant_input(model, control, h); }
  std::unique_ptr<Solver> solver() const { return scene.setup().spec.solver->make(model); }
  /// The state after `steps` steps under the same loads, by the scene's solver or another one. Throws RunError when a step fails.
  State run(int steps) const { return run(steps, *scene.setup().spec.solver); }
  State run(int steps, const SolverSettings& settings) const;

  /// Moves free vertices by `strain` of their shortest segment, turns free frames by `strain` radians, and gives vertices the
  /// velocity that would do the same in a tenth of a second.
  void shake(double strain, Random& random);
  /// Another place nearby, with random signs of quaternions. Fixed vertices and frames stay.
  Place nearby(double strain, Random& random) const;
  bool is_free(Index segment) const;
  /// cos of half the largest angle of a joint away from rest, at a place: 0 is where its energy has a kink.
  double least_cosine(const Place& at) const;

  /// The incremental potential of the step; its torques are those at `at`.
  StepPotential potential(const Place& at) const;
  Unknowns unknowns(const Place& at) const;

  /// Of one frame, see solvers/local_problem.hpp.
  OrientationProblem<double> local_problem(const Place& at, Index segment) const;
};

/// Where a scene's run ends; its step count is the analysis' duration, not rounded up to frames. Throws RunError when a step does
/// not converge.
State final_state(const Scene& scene);

/// The length of the longest.
double largest(const std::vector<Vec3d>& list);
double farthest(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b);
/// As rotations: q and -q are the same.
double farthest(const std::vector<Quatd>& a, const std::vector<Quatd>& b);
/// Largest distance from the first vertex.
double extent(const std::vector<Vec3d>& x);
bool flip(Random& random);

}  // namespace osier::validate
