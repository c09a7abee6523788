// The number of threads and the frame rate have no say in the result.
#include <gtest/gtest.h>

#include "support/scenes.hpp"

namespace osier::test {
namespace {

std::string scene_file(const char* name) { return std::string(OSIER_SOURCE_DIR) + "/scenes/" + name; }

State run_with(const char* file, const char* order, const char* precision, int threads, int steps) {
  LoadOptions options;
  options.overrides = {R"(/solver={"name": "stable_cosserat", "iterations": 8, "order": ")" + std::string(order) + "\"}",
                       "/execution/precision=" + std::string(precision)};
  options.threads = threads;
  const Scene scene = Scene::load(scene_file(file), options);
  EXPECT_GT(scene.model().vertex_count(), 1500);
  Simulation sim(scene);
  for (int i = 0; i < steps; ++i) sim.step();
  return sim.state();
}

TEST(ThreadCount, DoesNotChangeABitOfTheSlinky) {
  for (const char* order : {"red_black", "jacobi"})
    for (const char* precision : {"double", "float"}) {
      const State one = run_with("slinky.json", order, precision, 1, 20);
      for (int threads : {2, 3, 7})
        EXPECT_TRUE(identical(one, run_with("slinky.json", order, precision, threads, 20)))
            << order << " " << precision << " " << threads;
    }
}

TEST(ThreadCount, DoesNotChangeABitOfTheNet) {
  for (const char* order : {"red_black", "jacobi"}) {
    const State one = run_with("net.json", order, "double", 1, 20);
    for (int threads : {2, 3, 7})
      EXPECT_TRUE(identical(one, run_with("net.json", order, "double", threads, 20))) << order << " " << threads;
  }
}

/// Wind is blown at packs of vertices, whichever a thread's share begins with.
TEST(ThreadCount, DoesNotChangeABitOfTreesInTheWind) {
  const State one = run_with("trees.json", "red_black", "float", 1, 20);
  for (int threads : {2, 3, 7}) EXPECT_TRUE(identical(one, run_with("trees.json", "red_black", "float", threads, 20))) << threads;
}

constexpr const char* kOneStiffness = R"("stretch_shear": 100, "bend_twist": 0.01, "line_density": 0.1)";

/// Hair, which is swept by strands, beside a net and a tree, which are swept by colours.
void expect_same_bits_of_a_mixed_model(int cells, const std::string& hair = kOneStiffness) {
  std::string rods, roots;
  for (int i = 0; i < 150; ++i) {
    roots += (i > 0 ? ", \"h" : "\"h") + std::to_string(i) + ":start\"";
    rods += (i > 0 ? "," : "") + std::string(R"({"material": "hair", "name": "h)") + std::to_string(i) +
            R"(", "shape": {"type": "line", "from": [)" + std::to_string(0.01 * i) + R"(, 2, 0], "to": [)" +
            std::to_string(0.01 * i) + R"(, 3, 0]}, "segments": )" + std::to_string(7 + i * i % 25) + "}";
  }
  const std::string text = R"({
    "materials": {"hair": {)" +
                           hair +
                           R"(, "tau_stretch": 0.001, "tau_bend": 0.001}},
    "rods": [)" + rods + R"(],
    "structures": [{"type": "net", "name": "net", "nx": )" +
                           std::to_string(cells) + R"(, "ny": )" + std::to_string(cells) +
                           R"(}, {"type": "trees", "name": "tree", "count": 1}],
    "constraints": [{"type": "clamp", "vertices": [)" +
                           roots + R"(]}, {"type": "pin", "vertices": "net.corners:*"},
                    {"type": "pin", "vertices": "tree.roots:*"}],
    "forces": [{"type": "gravity"}, {"type": "drag", "rate": 0.1}],
    "analysis": {"type": "dynamic", "step": 0.001, "duration": 1}})";
  for (const char* precision : {"double", "float"}) {
    const auto run = [&](int threads) {
      LoadOptions options;
      options.overrides = {"/solver/name=stable_cosserat", std::string("/execution/precision=") + precision};
      options.threads = threads;
      const Scene scene = Scene::parse(text, "mixed", ".", options);
      EXPECT_GT(scene.model().vertex_count(), 6000);
      Simulation sim(scene);
      for (int i = 0; i < 15; ++i) sim.step();
      return sim.state();
    };
    const State one = run(1);
    for (int threads : {2, 3, 7}) EXPECT_TRUE(identical(one, run(threads))) << precision << " " << threads;
  }
}

TEST(ThreadCount, DoesNotChangeABitOfAMixedModel) { expect_same_bits_of_a_mixed_model(24); }

TEST(ThreadCount, DoesNotChangeABitOfSeveralRegions) { expect_same_bits_of_a_mixed_model(100); }

/// One rod with axes of its own, and everything is swept as if it had.
TEST(ThreadCount, DoesNotChangeABitWithAStiffnessPerAxis) {
  expect_same_bits_of_a_mixed_model(24, R"("young": 1e7, "poisson": 0.3, "radius": 0.002, "density": 1000)");
}

/// The path that the closed form does not cover: different stiffnesses, rotational inertia, a motor.
TEST(ThreadCount, DoesNotChangeABitOfAnisotropicRods) {
  const char* text = R"({
    "rotational_inertia": true,
    "materials": {"strip": {"young": 1e7, "poisson": 0.3, "density": 1000, "tau_bend": 0.002, "tau_twist": 0.001,
                            "section": {"type": "rectangle", "width": 0.02, "height": 0.005}}},
    "rods": [{"name": "a", "shape": {"type": "helix", "radius": 0.2, "pitch": 0.1, "turns": 6}, "segments": 900, "material": "strip"}],
    "constraints": [{"type": "pin", "vertices": "a:start"}, {"type": "motor", "segment": "a:start", "speed": 20}],
    "forces": [{"type": "gravity"}],
    "analysis": {"type": "dynamic", "step": 0.0005, "duration": 1}})";
  for (const char* order : {"red_black", "jacobi"}) {
    const auto run = [&](int threads) {
      LoadOptions options;
      options.overrides = {"/solver/name=stable_cosserat", std::string("/solver/order=") + order};
      options.threads = threads;
      Simulation sim(Scene::parse(text, "strip", ".", options));
      for (int i = 0; i < 10; ++i) sim.step();
      return sim.state();
    };
    const State one = run(1);
    for (int threads : {2, 3, 7}) EXPECT_TRUE(identical(one, run(threads))) << order << " " << threads;
  }
}

TEST(Repetition, OfARunGivesTheSameBits) {
  EXPECT_TRUE(identical(run_with("net.json", "red_black", "float", 2, 20), run_with("net.json", "red_black", "float", 2, 20)));
}

/// Two chains with weak pieces of different strength that growing gravity tears apart, one after the other.
const char* kTearing = R"({
  "materials": {"m": {"stretch_shear": 100, "bend_twist": 0.4, "line_density": 1, "tau_stretch": 0.001, "tau_bend": 0.001},
                "weak": {"stretch_shear": 20, "bend_twist": 0.1, "line_density": 1, "strain_limit": 0.2},
                "weaker": {"stretch_shear": 20, "bend_twist": 0.1, "line_density": 1, "strain_limit": 0.1}},
  "rods": [{"name": "a", "material": "m", "segments": 20, "shape": {"type": "line", "from": [0, 0, 0], "to": [0, -2, 0]},
            "segment_materials": [{"first": 7, "last": 8, "material": "weak"}]},
           {"name": "b", "material": "m", "segments": 20, "shape": {"type": "line", "from": [1, 0, 0], "to": [1, -2, 0]},
            "segment_materials": [{"first": 3, "last": 5, "material": "weaker"}, {"first": 12, "last": 12, "material": "weak"}]}],
  "constraints": [{"type": "clamp", "vertices": ["a:start", "b:start"]}],
  "forces": [{"type": "gravity", "acceleration": {"keys": [[0, [0, 0, 0]], [1, [0, -30, 0]]]}}, {"type": "drag", "rate": 0.2}],
  "solver": {"name": "stable_cosserat", "iterations": 10},
  "analysis": {"type": "dynamic", "step": 0.001, "duration": 1}})";

TEST(FrameRate, DoesNotChangeWhatBreaksNorWhen) {
  const auto run = [](const char* fps) {
    LoadOptions options;
    options.overrides = {std::string("/analysis/fps=") + fps};
    auto sim = std::make_unique<Simulation>(Scene::parse(kTearing, "tearing", ".", options));
    std::vector<std::pair<double, Index>> breaks;  // time and segment
    for (int f = 0; f < sim->frame_count(); ++f) {
      std::vector<std::uint8_t> alive = sim->model().segment_alive;
      sim->advance_frame([&] {
        for (Index s = 0; s < sim->model().segment_count(); ++s)
          if (alive[s] != sim->model().segment_alive[s]) breaks.emplace_back(sim->state().time, s);
        alive = sim->model().segment_alive;
        return true;
      });
    }
    return std::make_pair(std::move(sim), breaks);
  };
  const auto [slow, slow_breaks] = run("10");
  const auto [fast, fast_breaks] = run("100");
  ASSERT_EQ(slow->state().time, fast->state().time);
  EXPECT_NEAR(slow->state().time, 1, 1e-12);
  EXPECT_GE(slow_breaks.size(), 2u) << "the scene must tear at more than one place";
  EXPECT_EQ(slow_breaks, fast_breaks);
  EXPECT_EQ(slow->model().segment_alive, fast->model().segment_alive);
  EXPECT_TRUE(identical(slow->state(), fast->state()));
}

}  // namespace
}  // namespace osier::test
