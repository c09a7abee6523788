// Where two recorded runs begin to differ.
#pragma once

#include <string>
#include <vector>

#include "osier/trajectory.hpp"

namespace osier {

struct Difference {
  int frame = -1;
  double time = 0;
  std::string quantity;  ///< as in trajectory.h5: "position"
  std::string element;   ///< "vertex 17", or empty
  std::string first, second;
  double size = 0;  ///< of the difference, in the unit of the quantity
};

struct RunComparison {
  int frames = 0;                   ///< that both have
  int frames_first = 0, frames_second = 0;
  std::string unlike;               ///< why the runs cannot be compared frame by frame; empty: they can
  std::vector<Difference> first;    ///< in the first frame that differs, one for each quantity that does
  std::vector<Difference> largest;  ///< over the run, one for each quantity that differs somewhere
  bool same() const { return unlike.empty() && first.empty() && frames_first == frames_second; }
};

/// `tolerance`: of a quantity's largest magnitude in the frame; 0: not a bit may differ, nor anything that the solver keeps.
/// Wall times do not count.
RunComparison compare_runs(Trajectory& a, Trajectory& b, double tolerance);

}  // namespace osier
