// Which moment of an animated file: shared by the formats that have times.
#pragma once

#include <vector>

#include "io/curves/source.hpp"
#include "osier/curves.hpp"

namespace osier {

/// A moment between two samples, of which `before` and `after` are the numbers: (1 - t) before + t after.
struct Moment {
  std::size_t before = 0, after = 0;
  double t = 0;
};

/// Where `time` lies among ascending `times`, of which there is at least one. Before the first and after the last they hold.
Moment moment_at(const std::vector<double>& times, double time);

/// The time that the options ask for: the first one without a wish. `times` ascend; a wish without times is refused.
double chosen_time(const std::vector<double>& times, const CurveReadOptions& options, const CurveSource& source);

}  // namespace osier
