// One run of a case at one resolution: everything filled in, ready to go.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "osier/validate.hpp"
#include "validate/case.hpp"
#include "validate/instrument.hpp"

namespace osier::validate {

struct Trial {
  const CaseSpec* spec = nullptr;
  const RunSpec* run = nullptr;
  std::optional<int> resolution;
  Values parameters;  ///< the resolution included
  Json scene, instruments, experiment;
  std::optional<ShapeSpec> shape;  ///< when this resolution is drawn
};

Trial make_trial(const CaseSpec& spec, const RunSpec& run, std::optional<int> resolution, Problems& problems);

/// Reads the scene and the instruments and evaluates every expectation with stand-ins for what is measured, so that a misspelt
/// name is found before anything runs.
void check_trial(const Trial& trial, Problems& problems);

/// What a run gave.
struct Outcome {
  Values values;  ///< parameters and measured names
  std::string solver;
  long iterations = 0;
  std::optional<double> residual;  ///< largest relative one
  long steps = 0, steps_not_converged = 0;
  double seconds = 0;
  std::vector<Vec3d> rod;  ///< its vertices at the end, when the trial is drawn
  std::string error;       ///< why there are no values, or empty
};

/// Steps of a run. A frame may end after the duration; a case means what it says.
long step_count(const Setup& setup);

/// Runs a scene to its end with instruments looking on, and adds what was measured to `out`. `where` is the instruments' place in
/// their file. `trial`, when given, says whether the scene stands in for a static one (then it ends at rest, by `rest_tolerance`)
/// and which rod is drawn. Throws what goes wrong.
void run_to_end(const Json& scene, const Json& instruments, const std::string& where, const std::filesystem::path& folder,
                Outcome& out, const Trial* trial = nullptr, double rest_tolerance = 0);

enum class Mode : std::uint8_t { normal, four_sweeps };

/// Never throws: what goes wrong is in `error`. `solver` replaces the scene's own when not empty.
Outcome run_trial(const Trial& trial, Mode mode, const std::string& solver);

/// Whether the four-sweeps run means anything for this trial.
bool has_four_sweeps(const Trial& trial);

}  // namespace osier::validate
