// Every static case of the validation catalogue by the direct solver. What the values must be is the business of `osier
// validate`; here: that the default solver of statics reaches its tolerance in all of them, along paths to instabilities too.
#include <cstdlib>
#include <gtest/gtest.h>

#include "validate/case.hpp"
#include "validate/relax.hpp"
#include "validate/trial.hpp"

namespace osier::test {
namespace {

using namespace validate;

TEST(Catalogue, EveryStaticCaseReachesAResidualOf1em8ByTheDirectSolver) {
  const bool all = std::getenv("OSIER_LONG") != nullptr;  // otherwise the coarsest of each run
  Problems problems;
  const std::vector<CaseSpec> cases = read_cases(std::filesystem::path(OSIER_SOURCE_DIR) / "scenes" / "validation", {}, problems);
  int trials = 0;
  for (const CaseSpec& c : cases)
    for (const RunSpec& r : c.runs) {
      if (!c.needs.empty() || !r.needs.empty()) continue;
      for (const std::optional<int> n : c.resolutions(r, false)) {
        const Trial trial = make_trial(c, r, n, problems);
        if (!is_static(trial.scene) || !trial.experiment.is_null()) break;
        const std::string what = c.name + ", " + r.name + ", N = " + std::to_string(n.value_or(0));
        const Outcome out = run_trial(trial, Mode::normal, "");
        EXPECT_EQ(out.error, "") << what;
        EXPECT_EQ(out.solver, "automatic") << what;
        EXPECT_EQ(out.steps_not_converged, 0) << what;
        ASSERT_TRUE(out.residual.has_value()) << what;
        EXPECT_LE(*out.residual, 1e-8) << what;
        ++trials;
        if (!all) break;
      }
    }
  EXPECT_TRUE(problems.empty());
  EXPECT_GE(trials, all ? 300 : 80);
}

}  // namespace
}  // namespace osier::test
