// A state that is restored is stepped to the same bits as before, by every solver, and as by a solver that never saw another.
#include <gtest/gtest.h>

#include "osier/osier.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "support/mixed.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

struct Named {
  std::string name;
  std::unique_ptr<SolverSettings> settings;
};

/// Every registered solver, in float too where it can, and the sweeps that keep memory in the state.
std::vector<Named> all_solvers() {
  std::vector<Named> list;
  for (const auto& entry : registry<SolverSettings>())
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
      auto settings = make_settings(entry.name);
      if (precision == Precision::single_precision && !settings->traits().single_precision) continue;
      // The problem has loops and branches; solvers without them have tests of their own.
      if (!settings->traits().loops || !settings->traits().branches) continue;
      settings->execution.precision = precision;
      list.push_back({std::string(entry.name) + " " + settings->execution.precision_name(), std::move(settings)});
    }
  for (const auto order : {stable_cosserat::Order::red_black, stable_cosserat::Order::gauss_seidel}) {
    auto exact = std::make_unique<stable_cosserat::Settings>();
    exact->lambda = stable_cosserat::Lambda::exact;
    exact->order = order;
    list.push_back({"exact lambda", std::move(exact)});
  }
  return list;
}

void expect_same(const State& a, const State& b, const std::string& what) {
  EXPECT_TRUE(identical(a, b)) << what;
  ASSERT_EQ(a.memory.size(), b.memory.size()) << what;
  for (std::size_t i = 0; i < a.memory.size(); ++i) {
    EXPECT_EQ(a.memory[i].name, b.memory[i].name) << what;
    EXPECT_EQ(a.memory[i].values, b.memory[i].values) << what;
  }
}

TEST(Restoring, AStateGivesTheSameStepsAgain) {
  // Small, or the sparse Newton takes its time; held, driven and damped in every way.
  const StepProblem p = mixed_problem(77, {.torque = false, .long_chain = 60, .net = 3, .strain = 0.02});
  for (const Named& n : all_solvers()) {
    const auto step = [&](Solver& solver, State& state, int times) {
      for (int i = 0; i < times; ++i) ASSERT_FALSE(solver.step(p.input(), state).non_finite) << n.name;
    };
    State state = p.state;
    const auto solver = n.settings->make(p.model);
    step(*solver, state, 3);
    const State kept = state;
    solver->rebind(p.model, state);
    step(*solver, state, 2);
    const State first = state;
    state = kept;
    solver->rebind(p.model, state);
    step(*solver, state, 2);
    expect_same(first, state, n.name);
    State fresh = kept;
    const auto other = n.settings->make(p.model);
    step(*other, fresh, 2);
    expect_same(first, fresh, n.name + ", a new solver");
  }
}

/// Whatever made a step fail, the run goes on from where it was as if nothing had happened.
TEST(Restoring, AfterAFailedStepNothingIsLeftOfIt) {
  const char* text = R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}},
    "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 8, "material": "m"}],
    "constraints": [{"type": "pin", "vertices": "a:start"}],
    "forces": [{"type": "gravity"}, {"type": "force", "vertices": "a:end", "force": [1e300, 1e300, 0]}],
    "solver": {"name": "stable_cosserat", "lambda": "exact"}, "analysis": {"type": "dynamic", "step": 0.01, "duration": 1}})";
  Simulation failing(Scene::parse(text)), calm(Scene::parse(text));
  for (Simulation* s : {&failing, &calm}) {
    s->enable_force(1, false);
    for (int i = 0; i < 5; ++i) s->step();
  }
  failing.enable_force(1, true);
  EXPECT_THROW(failing.step(), NonFiniteError);
  expect_same(failing.state(), calm.state(), "rolled back");
  failing.enable_force(1, false);
  for (int i = 0; i < 5; ++i) failing.step(), calm.step();
  expect_same(failing.state(), calm.state(), "five steps later");
}

TEST(Restoring, ASimulationHandsItsMemoryOn) {
  const char* text = R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}},
    "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 8, "material": "m"}],
    "constraints": [{"type": "clamp", "vertices": "a:start"}], "forces": [{"type": "gravity"}],
    "solver": {"name": "stable_cosserat", "lambda": "exact"}, "analysis": {"type": "dynamic", "step": 0.01, "duration": 1}})";
  const Scene scene = Scene::parse(text);
  Simulation one(scene), two(scene);
  for (int i = 0; i < 7; ++i) one.step();
  ASSERT_TRUE(two.continue_from(one));
  for (int i = 0; i < 3; ++i) one.step(), two.step();
  ASSERT_EQ(one.state().memory.size(), 1u);
  EXPECT_EQ(one.state().memory[0].name, "stable_cosserat/gamma");
  expect_same(one.state(), two.state(), "continued");
}

}  // namespace
}  // namespace osier::test
