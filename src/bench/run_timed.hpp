// A run of whole frames, with its times and where it leads.
#pragma once

#include <vector>

#include "osier/bench.hpp"
#include "osier/scene.hpp"

namespace osier::bench {

struct TimedRun {
  std::vector<double> ms;              ///< mean per frame, of every repetition, ascending
  double ns_per_vertex_iteration = 0;  ///< of the fastest repetition
  double iterations = 0;               ///< mean per step
  bool converged = true;               ///< all steps
  std::vector<std::vector<Vec3d>> at;  ///< positions at the end of every frame
  double motion = 0;                   ///< largest distance of a vertex from its start, at the end of any frame [m]
};

/// `frames` frames from the scene's start, again and again from there while `budget` seconds last, three times at least when
/// `repeat` is set. Times are those that `osier run` reports: loads and solver, without output.
TimedRun run_timed(const Scene& scene, int frames, bool repeat, double budget);

void put_times(const TimedRun& run, BenchRow& row);
/// The largest distance from the reference's positions at the end of any frame, in metres and over the reference's motion. The
/// last frame alone would do for none that swings: one that never left is where another has come back to.
void put_error(const TimedRun& run, const TimedRun& reference, BenchRow& row);

}  // namespace osier::bench
