// A run of a groom as a layer over that groom: `over`s on the prims that its curves came from, in their own spaces, with the unit
// and the up axis of the file. Whoever puts it above the groom sees the groom move; materials, primvars and bindings stay.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "osier/trajectory.hpp"

namespace osier {

struct GroomOver {
  std::filesystem::path groom, out;
  std::vector<int> frames;  ///< of the run
  std::string version;
  std::function<void(int done, int all)> progress = {};
};

/// What a user should know of the result.
struct GroomOverReport {
  std::size_t prims = 0, curves = 0, still = 0;  ///< `still`: curves of these prims that the scene left out
  double largest_error = 0;                      ///< between a cubic curve and the rod it follows [m]
  std::vector<std::string> resampled;            ///< prims whose curves have another number of points than in the groom
};

/// Throws InputError where the run did not take its curves from this file, or where they cannot be brought back.
GroomOverReport write_groom_over(Trajectory& run, const GroomOver& wanted);

}  // namespace osier
