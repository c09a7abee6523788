// Recorded motion from files: of one body (a table, or a prim of USD) or of points (animated curves of USD).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "math/quat.hpp"
#include "osier/curves.hpp"

namespace osier {

struct MotionRequest {
  std::string prim = {};          ///< of USD: the body; empty: the curves
  std::optional<UpAxis> up = {};  ///< replaces what the file says
  double scale = 1;               ///< of lengths
};

/// In metres with y up.
struct RecordedMotion {
  std::vector<double> times;    ///< [s], ascending
  std::vector<Vec3d> position;  ///< of the body, one for each time
  /// Of the body, one for each time, each on the side of the one before: |q_i - q_(i-1)| <= |q_i + q_(i-1)|.
  std::vector<Quatd> rotation;
  std::vector<CurveSet> curves;  ///< instead of the two, alike but for the places of their points
  bool has_rotation = false;
  bool is_of_body() const { return curves.empty(); }
};

/// The extension, .csv or .usda, tells the format. Throws InputError with the file and the line or byte that is wrong.
RecordedMotion read_motion(const std::filesystem::path& file, const MotionRequest& request);

}  // namespace osier
