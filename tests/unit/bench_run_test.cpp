#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "bench/run_timed.hpp"
#include "bench/subject.hpp"

namespace osier::test {
namespace {

/// A rod that swings is back after a period; one that never left is not right because of that.
TEST(BenchRun, ErrorIsThatOfTheWorstFrame) {
  bench::TimedRun exact, frozen;
  exact.at = {{{0, 0, 0}, {0, -1, 0}}, {{0, 0, 0}, {0, -2, 0}}, {{0, 0, 0}, {0, 0, 0}}};
  exact.motion = 2;
  frozen.at = {3, {{0, 0, 0}, {0, 0, 0}}};
  BenchRow row;
  bench::put_error(frozen, exact, row);
  EXPECT_EQ(row.error_m, 2);
  EXPECT_EQ(row.error, 1);
}

TEST(BenchRun, TimesAreMeansOfWholeRuns) {
  const Scene scene = bench::load(bench::cantilever("rod", 10, 1e6), bench::sweeps(4), ".");
  const bench::TimedRun run = bench::run_timed(scene, 4, true, 1);
  EXPECT_GE(run.ms.size(), 3u);
  EXPECT_LE(run.ms.size(), 50u);  // runs; it has time for 200 frames
  EXPECT_EQ(run.at.size(), 4u);
  EXPECT_EQ(run.iterations, 4);
  EXPECT_TRUE(std::is_sorted(run.ms.begin(), run.ms.end()));
  // One run: 4 frames of 33 or 34 steps of 4 sweeps over 11 vertices. Then ns and ms of the fastest one are the same time.
  const int steps = static_cast<int>(std::lround(run.ms.front() * 1e6 / (run.ns_per_vertex_iteration * 11 * 4)));
  EXPECT_GE(steps, 33);
  EXPECT_LE(steps, 34);
}

}  // namespace
}  // namespace osier::test
