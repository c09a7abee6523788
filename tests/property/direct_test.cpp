// One step by the direct solver against Newton's method, on random graphs.
#include <gtest/gtest.h>

#include "solvers/direct/direct_step.hpp"
#include "solvers/newton/newton.hpp"
#include "support/problem.hpp"

namespace osier::test {
namespace {

TEST(DirectStep, ArrivesWhereNewtonDoesOnRandomGraphs) {
  for (int i = 0; i < 24; ++i) {
    StepProblem p = random_problem(
        1900 + static_cast<std::uint64_t>(i),
        {.damping = static_cast<Damping>(i % 4), .torque = i % 3 == 0, .held = i % 2 == 0, .broken = i % 5 == 0, .strain = 0.1});
    Random random(1950 + static_cast<std::uint64_t>(i));
    if (i % 4 >= 2) make_anisotropic(p, 3, random);
    if (i % 6 >= 3) make_inertial(p, random);
    newton::Settings exact;
    exact.tolerance = 1e-12;
    State by_newton = p.state;
    ASSERT_FALSE(exact.make(p.model)->step(p.model, p.control, by_newton, p.h).not_converged) << i;
    direct::DirectStepper direct;
    direct.rebind(p.model);
    State by_direct = p.state;
    const StepReport report = direct.step(p.model, p.control, by_direct, p.h, {.tolerance = 1e-10, .max_iterations = 200});
    double error = 0;
    for (Index v = 0; v < p.model.vertex_count(); ++v)
      error = std::max(error, norm(by_direct.vertex_position[v] - by_newton.vertex_position[v]));
    printf("%d iterations %d error %.2e\n", i, report.iterations, error);
    EXPECT_LT(error, 1e-8) << i;
  }
}

}  // namespace
}  // namespace osier::test
