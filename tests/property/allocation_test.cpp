// A time step allocates nothing once the solver has seen the model. Every allocation of the process is counted here: operator new
// always, and malloc itself (which TBB's own allocator falls back on) where glibc and no sanitizer is underneath. What operator
// new has given out and not got back is added up as well.
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

#include "osier/osier.hpp"
#include "solvers/direct/direct.hpp"
#include "solvers/projective/projective.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "support/mixed.hpp"

namespace {
std::atomic<bool> counting{false};
std::atomic<long> allocations{0};
void count_one() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* malloc(std::size_t n) { return count_one(), __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t size) { return count_one(), __libc_calloc(n, size); }
void* realloc(void* p, std::size_t n) { return count_one(), __libc_realloc(p, n); }
}
#endif

namespace {
std::atomic<long> bytes_in_use{0};
// Every block begins with its size, a cache line before what the caller sees.
constexpr std::size_t kLine = 64;
void* take(std::size_t n) {
  count_one();
  void* block = std::aligned_alloc(kLine, (n + 2 * kLine - 1) / kLine * kLine);
  if (block == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(block) = n;
  bytes_in_use.fetch_add(static_cast<long>(n), std::memory_order_relaxed);
  return static_cast<char*>(block) + kLine;
}
void give(void* p) noexcept {
  if (p == nullptr) return;
  void* block = static_cast<char*>(p) - kLine;
  bytes_in_use.fetch_sub(static_cast<long>(*static_cast<std::size_t*>(block)), std::memory_order_relaxed);
  std::free(block);
}
}  // namespace

void* operator new(std::size_t n) { return take(n); }
void* operator new[](std::size_t n) { return take(n); }
void* operator new(std::size_t n, std::align_val_t) { return take(n); }
void* operator new[](std::size_t n, std::align_val_t) { return take(n); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n); }  // out of memory ends the test either way
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n); }
void operator delete(void* p) noexcept { give(p); }
void operator delete[](void* p) noexcept { give(p); }
void operator delete(void* p, std::size_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t) noexcept { give(p); }
void operator delete(void* p, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give(p); }

#if defined(__SANITIZE_ADDRESS__)
/// With operator new from here, the leak checker sees two blocks that Embree keeps until the end.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libembree"; }
#endif

namespace osier::test {
namespace {

using stable_cosserat::Order;

/// A long damped chain, clamped, with torques: every array of the solver is in use, and loops are long enough for threads.
StepProblem long_chain() {
  Random random(91);
  StepProblem p;
  std::vector<Index> path{p.graph.add_vertex({0, 0, 0})};
  for (Index v : random_walk(p.graph, {0, 0, 0}, 1500, 0.1, random)) path.push_back(v);
  add_twisted_chain(p.graph, path, random_section(random, Damping::both), false, 0.3, random);
  p.model = compile_graph(p.graph);
  p.state = initial_state(p.graph, p.model);
  p.state.frame_rotation.push_back(add_clamp(p.model, p.graph, p.state, 0).rotation);
  update_topology(p.model);
  p.control = still_control(p.model, p.state);
  p.control.vertex_fixed[0] = 1;
  p.control.has_torque = true;
  for (Vec3d& f : p.control.vertex_force) f = {0, -0.1, 0};
  for (Vec3d& t : p.control.frame_torque) t = {0.01, 0, 0};
  return p;
}

long allocations_of_steps(const StepProblem& p, const SolverSettings& settings, int warm_up, int steps) {
  State state = p.state;
  const auto solver = settings.make(p.model);
  for (int i = 0; i < warm_up; ++i) solver->step(p.input(), state);
  allocations = 0;
  counting = true;
  for (int i = 0; i < steps; ++i) solver->step(p.input(), state);
  counting = false;
  return allocations;
}

TEST(Allocations, AreCountedByThisTest) {
  allocations = 0;
  counting = true;
  auto* volatile p = new int(1);
  counting = false;
  delete p;
  EXPECT_GE(allocations.load(), 1);
}

TEST(Allocations, NoneInAStepOnOneThread) {
  const StepProblem p = long_chain();
  for (Order order : {Order::gauss_seidel, Order::red_black, Order::jacobi})
    for (Precision number : {Precision::double_precision, Precision::single_precision})
      for (const bool converge : {false, true}) {
        stable_cosserat::Settings s;
        s.order = order, s.execution.precision = number, s.execution.threads = 1;
        if (converge) s.tolerance = 1e-3, s.max_iterations = 16;
        EXPECT_EQ(allocations_of_steps(p, s, 1, 20), 0) << Choices<Order>::names[static_cast<std::size_t>(order)];
      }
}

TEST(Allocations, NoneInAStepOfStrandsBesideANetAndATree) {
  const StepProblem p = mixed_problem(11, {.net = 24});
  for (Precision number : {Precision::double_precision, Precision::single_precision})
    for (int threads : {1, 2})
      for (const bool converge : {false, true}) {
        stable_cosserat::Settings s;
        s.execution.precision = number, s.execution.threads = threads;
        if (converge) s.tolerance = 1e-3, s.max_iterations = 16;
        EXPECT_EQ(allocations_of_steps(p, s, threads == 1 ? 1 : 50, 20), 0) << threads << " threads";
      }
}

TEST(Allocations, NoneInAStepOfProjectiveSweeps) {
  const StepProblem p = mixed_problem(11, {.net = 12});
  for (const auto iteration : {projective::Iteration::sweeps, projective::Iteration::anderson})
    for (Precision number : {Precision::double_precision, Precision::single_precision})
      for (int threads : {1, 2}) {
        // Each setting with each of the others once or more; all of them in the long suite.
        const bool odd = (iteration == projective::Iteration::anderson) != (number == Precision::single_precision);
        if (!std::getenv("OSIER_LONG") && odd != (threads == 2)) continue;
        projective::Settings s;
        s.iteration = iteration, s.execution.precision = number, s.execution.threads = threads;
        EXPECT_EQ(allocations_of_steps(p, s, threads == 1 ? 1 : 50, 20), 0) << threads << " threads";
      }
}

TEST(Memory, OfProjectiveSweepsIsPredictedWithinATenth) {
  const StepProblem p = mixed_problem(12, {.torque = false, .net = 24});
  for (const auto iteration : {projective::Iteration::sweeps, projective::Iteration::anderson})
    for (Precision number : {Precision::double_precision, Precision::single_precision}) {
      projective::Settings s;
      s.iteration = iteration, s.execution.precision = number;
      State state = p.state;
      const long before = bytes_in_use;
      const auto solver = s.make(p.model);
      solver->step(p.input(), state);
      const double used = static_cast<double>(bytes_in_use - before);
      EXPECT_NEAR(static_cast<double>(*s.bytes(p.model, p.control, p.h)) / used, 1, 0.1) << used << " bytes";
    }
}

/// What `osier info` says about memory is what a solver takes.
TEST(Memory, OfTheSweepsIsPredictedWithinTenPercent) {
  const auto expect_prediction = [](const StepProblem& p, const stable_cosserat::Settings& s, const char* what) {
    State state = p.state;
    const long before = bytes_in_use;
    const auto solver = s.make(p.model);
    solver->step(p.input(), state);
    const double used = static_cast<double>(bytes_in_use - before);
    EXPECT_NEAR(static_cast<double>(s.sweep_bytes(p.model)) / used, 1, 0.1) << what << ", " << used << " bytes";
  };
  const StepProblem mixed = mixed_problem(12, {.torque = false, .net = 24}),
                    undamped = mixed_problem(13, {.damping = Damping::none});
  for (Precision number : {Precision::double_precision, Precision::single_precision})
    for (Simd simd : {Simd::automatic, Simd::off}) {
      stable_cosserat::Settings s;
      s.execution.precision = number, s.execution.simd = simd;
      expect_prediction(mixed, s, "mixed");
      expect_prediction(undamped, s, "undamped");
      expect_prediction(long_chain(), s, "chain");
      s.lambda = stable_cosserat::Lambda::exact;
      expect_prediction(mixed, s, "exact");
      s.tolerance = 0.1;
      expect_prediction(mixed, s, "tolerance");
      s.tolerance.reset();
      for (Order order : {Order::gauss_seidel, Order::jacobi}) {
        s.order = order;
        expect_prediction(mixed, s, Choices<Order>::names[static_cast<std::size_t>(order)]);
      }
    }
  StepProblem general = mixed_problem(14, {.net = 24});
  Random random(3);
  make_anisotropic(general, 10, random);
  stable_cosserat::Settings s;
  expect_prediction(general, s, "anisotropic");
  s.tolerance = 0.1;
  expect_prediction(general, s, "anisotropic to a tolerance");
  s.tolerance.reset();
  make_inertial(general, random);
  expect_prediction(general, s, "inertia");
}

/// In float, whatever the instructions and the size: the large net takes several regions.
TEST(Memory, OfTheSweepsIsAtMost200BytesPerVertex) {
  const auto expect_at_most_200 = [](const char* name, const LoadOptions& options) {
    const Scene scene = Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options);
    for (Simd simd : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512}) {
      if (!simd_available(simd)) continue;
      stable_cosserat::Settings s;
      s.execution.precision = Precision::single_precision, s.execution.simd = simd;
      const long before = bytes_in_use;
      const auto solver = s.make(scene.model());
      const double used = static_cast<double>(bytes_in_use - before);
      EXPECT_LE(used / scene.model().vertex_count(), 200) << name << " " << simd_name(simd);
      EXPECT_GT(used, 0) << name;
      EXPECT_NEAR(static_cast<double>(s.sweep_bytes(scene.model())) / used, 1, 0.1) << name << " " << simd_name(simd);
    }
  };
  for (const char* name : {"trees", "bridge", "net", "dome", "slinky", "hair_wisp"}) expect_at_most_200(name, {});
  LoadOptions large;
  large.overrides = {"/structures/0/nx=90", "/structures/0/ny=90"};
  expect_at_most_200("net", large);
  LoadOptions per_axis;  // one chain, everything damped
  per_axis.overrides = {R"(/materials/coil={"young": 1e7, "poisson": 0.3, "density": 1000, "radius": 0.01, "tau_stretch": 1e-6,
                           "tau_bend": 1e-6})"};
  expect_at_most_200("slinky", per_axis);
}

/// The same of direct solves: chains, trees and loops, with one stiffness or one for each axis.
TEST(Memory, OfDirectSolvesIsAtMost400BytesPerVertex) {
  const auto expect_at_most_400 = [](const char* name, const std::vector<std::string>& changes, Simd narrowest = Simd::off) {
    LoadOptions options;
    options.overrides = changes;
    const Simulation simulation(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/" + name + ".json", options));
    const Model& m = simulation.model();
    for (Simd simd : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512}) {
      if (!simd_available(simd) || simd < narrowest) continue;
      direct::Settings s;
      s.execution.precision = Precision::single_precision, s.execution.simd = simd;
      State state = simulation.state();
      const long before = bytes_in_use;
      const auto solver = s.make(m);
      EXPECT_FALSE(solver->step(constant_input(m, simulation.control(), simulation.time_step()), state).not_converged) << name;
      const double used = static_cast<double>(bytes_in_use - before);
      const auto predicted = static_cast<double>(s.bytes(m, simulation.control(), simulation.time_step()).value());
      EXPECT_LE(used / m.vertex_count(), 400) << name << " " << simd_name(simd);
      EXPECT_NEAR(predicted / used, 1, 0.1) << name << " " << simd_name(simd) << ", " << used << " bytes";
    }
  };
  const std::string per_axis = R"(={"young": 1e7, "poisson": 0.3, "density": 1000, "radius": 0.01, "tau_stretch": 1e-6,
                                   "tau_bend": 1e-6})";
  for (const char* name : {"trees", "bridge", "net", "slinky", "hair_wisp"}) expect_at_most_400(name, {});
  expect_at_most_400("dome", {}, Simd::avx2);  // with fewer lanes its 336 vertices are solved faster by columns, which take more
  expect_at_most_400("slinky", {"/materials/coil" + per_axis});
  // Torques are for the law with a stiffness for each axis.
  expect_at_most_400("trees", {R"(/forces/3={"type": "torque", "segments": "tree.roots:*", "torque": [0, 1, 0]})"});
  // A chain that lanes do not take.
  expect_at_most_400("slinky", {"/materials/coil" + per_axis, R"(/constraints/2={"type": "pin", "vertices": "coil:1000"})"});
}

TEST(Allocations, NoneInAStepOfAnisotropicRodsWithInertia) {
  StepProblem p = long_chain();
  Random random(3);
  make_anisotropic(p, 10, random);
  make_inertial(p, random);
  for (Order order : {Order::gauss_seidel, Order::red_black, Order::jacobi}) {
    stable_cosserat::Settings s;
    s.order = order;
    EXPECT_EQ(allocations_of_steps(p, s, 1, 20), 0) << Choices<Order>::names[static_cast<std::size_t>(order)];
  }
}

TEST(Allocations, NoneInADirectStep) {
  const StepProblem p = long_chain();
  for (Precision number : {Precision::double_precision, Precision::single_precision}) {
    direct::Settings s;
    s.execution.precision = number;
    EXPECT_EQ(allocations_of_steps(p, s, 1, 20), 0);
  }
}

TEST(Allocations, NoneInAStepOnTwoThreads) {
  const StepProblem p = long_chain();
  for (Order order : {Order::gauss_seidel, Order::red_black, Order::jacobi})
    for (Precision number : {Precision::double_precision, Precision::single_precision}) {
      stable_cosserat::Settings s;
      s.order = order, s.execution.precision = number, s.execution.threads = 2;
      EXPECT_EQ(allocations_of_steps(p, s, 50, 20), 0) << Choices<Order>::names[static_cast<std::size_t>(order)];
    }
}

TEST(Allocations, NoneInAStepOfTheWholeSimulation) {
  Simulation s(Scene::load(std::string(OSIER_SOURCE_DIR) + "/scenes/trees.json"));  // gravity, drag, wind, pins, held frames
  for (int i = 0; i < 3; ++i) s.step();
  allocations = 0;
  counting = true;
  for (int i = 0; i < 5; ++i) s.step();
  counting = false;
  EXPECT_EQ(allocations.load(), 0);
}

}  // namespace
}  // namespace osier::test
