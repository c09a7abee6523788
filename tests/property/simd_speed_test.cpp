// The kernels of wide instruction sets are worth their while: the same sweeps, the same process, one number at a time against
// eight. A ratio of two times of one thread does not depend on the machine's speed, and the least of many interleaved runs, in
// processor time, not on who else is running.
#include <ctime>
#include <gtest/gtest.h>

#include "exec/simd.hpp"
#include "osier/osier.hpp"
#include "scene/setup.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier {
namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST(Simd, SweepsOfStrandsRunFourTimesAsFastWithEightLanes) {
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "speed is a matter of optimised builds";
#endif
  if (!simd_available(Simd::avx2)) GTEST_SKIP() << "this machine has no AVX2";
  LoadOptions options;
  options.overrides = {"/structures/0/strands=256"};
  const Scene scene = Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/hair_wisp.json", options);
  Simulation simulation(scene);
  simulation.step();

  struct Contender {
    std::unique_ptr<Solver> solver;
    double least = 1e300;
  };
  const auto contender = [&](Simd simd) {
    stable_cosserat::Settings s;
    s.iteration_count = 16, s.execution.precision = Precision::single_precision, s.execution.simd = simd;
    return Contender{s.make(scene.model())};
  };
  Contender scalar = contender(Simd::off), wide = contender(Simd::avx2);
  double ratio = 0;
  for (int round = 0; round < 200 && (round < 5 || ratio < 4); ++round) {
    for (Contender* c : {&scalar, &wide}) {
      State state = simulation.state();
      const double start = thread_seconds();
      c->solver->step(constant_input(scene.model(), simulation.control(), simulation.time_step()), state);
      c->least = std::min(c->least, thread_seconds() - start);
    }
    ratio = scalar.least / wide.least;
  }
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_GE(ratio, 4);
}

}  // namespace
}  // namespace osier
