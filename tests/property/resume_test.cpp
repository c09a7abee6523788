// A simulation that was saved and restored takes the same steps as one that went on, to the last bit, whatever solver, contact,
// fracture, weld or integrator has a memory.
#include <filesystem>
#include <gtest/gtest.h>

#include "core/archive.hpp"
#include "osier/osier.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

namespace fs = std::filesystem;

/// Saves after each of some steps, and goes on from each of these for as long as the simulation that was not touched.
void expect_same_steps(const Scene& scene, const std::string& what, int saves, int steps_after, int before = 0) {
  Simulation whole(scene);
  for (int i = 0; i < before; ++i) whole.step();
  std::vector<std::string> saved;
  std::vector<std::uint64_t> hash;
  for (int i = 0; i < saves + steps_after && !whole.finished(); ++i) {
    if (i < saves) saved.push_back(whole.save());
    whole.step();
    hash.push_back(whole.state_hash());
  }
  for (std::size_t k = 0; k < saved.size(); ++k) {
    Simulation again(scene);
    again.restore(saved[k]);
    ASSERT_EQ(again.save(), saved[k]) << what << ": what was read is not what was written, at step " << k;
    for (std::size_t i = k; i < std::min(hash.size(), k + static_cast<std::size_t>(steps_after)); ++i) {
      again.step();
      ASSERT_EQ(again.state_hash(), hash[i]) << what << ": saved after " << k << " steps, step " << i;
    }
  }
}

Scene shipped(const std::string& name, std::vector<std::string> sets = {}) {
  LoadOptions options;
  options.overrides = std::move(sets);
  return Scene::load(fs::path(OSIER_SOURCE_DIR) / "scenes" / (name + ".json"), options);
}

TEST(Resume, ShippedScenesGoOnWithTheSameBits) {
  for (const char* name : {"hanging_helix", "net", "trees", "ring", "drive_shaft", "spring_strip", "hair_wisp", "knot_tighten",
                           "rod_in_tube", "gripper", "slingshot"})
    expect_same_steps(shipped(name), name, 4, 6);
}

TEST(Resume, EverySolverGoesOnWithTheSameBits) {
  for (const char* solver : {"stable_cosserat", "direct", "newton", "projective", "automatic"})
    for (const char* precision : {"double", "float"}) {
      if (std::string(solver) == "newton" && std::string(precision) == "float") continue;
      const std::string settings = std::string("/solver={\"name\":\"") + solver + "\"}";
      expect_same_steps(shipped("hanging_helix", {settings, std::string("/execution/precision=") + precision}), solver, 3, 8);
    }
  expect_same_steps(shipped("hanging_helix", {R"(/solver={"name":"stable_cosserat","lambda":"exact"})"}), "exact lambda", 3, 8);
  expect_same_steps(shipped("paper/deti/fig02"), "deti", 3, 8);
  expect_same_steps(shipped("paper/generalized_alpha/hair"), "generalized_alpha", 3, 8);
}

TEST(Resume, IntegratorsGoOnWithTheSameBits) {
  for (const char* integrator : {"bdf2", "midpoint", "generalized_alpha", "implicit_euler"})
    expect_same_steps(shipped("cantilever", {std::string("/analysis/integrator=") + integrator}), integrator, 4, 6);
}

/// Rods that meet, break and are let go, a spring, a motor, a weld that closes when its ends meet and opens again.
const char* const kEventful =
    R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 0.02, "line_density": 1, "radius": 0.01},
                                               "weak": {"stretch_shear": 60, "bend_twist": 0.01, "line_density": 1, "radius": 0.01}},
  "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 12, "material": "weak"},
           {"name": "b", "shape": {"type": "line", "from": [0, -0.1, 0.3], "to": [1, -0.1, 0.3]}, "segments": 12, "material": "m"},
           {"name": "c", "shape": {"type": "line", "from": [1.01, 0, 0], "to": [1.5, 0, 0]}, "segments": 6, "material": "m"}],
  "constraints": [{"type": "clamp", "vertices": "a:start"}, {"type": "clamp", "vertices": "b:start"},
                  {"type": "pin", "vertices": "b:end", "release": 0.05}],
  "welds": [{"vertices": ["a:end", "c:start"], "close": 0.02, "within": 0.05, "open": 0.09}],
  "fracture": {"strain_limit": 0.08, "curvature_limit": 40},
  "forces": [{"type": "gravity"}, {"type": "drag", "rate": 0.5}],
  "analysis": {"type": "dynamic", "step": 0.005, "duration": 1}})";

TEST(Resume, BreaksWeldsAndReleasesAreKept) {
  for (const char* solver : {"direct", "stable_cosserat"})
    expect_same_steps(scene_with(kEventful, std::string("{\"name\": \"") + solver + "\"}"), solver, 30, 12);
}

TEST(Resume, ContactWithFrictionIsKept) {
  for (const char* name : {"incline", "rope_pile", "twirl"}) expect_same_steps(shipped(name), name, 3, 4, 60);
}

TEST(Resume, StaticsGoOnWithTheSameBits) {
  const std::string beam = R"({"materials": {"m": {"stretch_shear": 1000, "bend_twist": 4, "line_density": 1}},
    "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 16, "material": "m"}],
    "constraints": [{"type": "clamp", "vertices": "a:start"}],
    "forces": [{"type": "force", "vertices": "a:end", "force": [-8, -0.1, 0]}], "analysis": )";
  for (const char* analysis : {R"({"type": "static", "load_steps": 12}})", R"({"type": "static", "control": "arc_length"}})",
                               R"({"type": "static", "load_steps": 12, "branch": "follow"}})"})
    expect_same_steps(Scene::parse(beam + analysis), analysis, 6, 6);
}

TEST(Resume, AnotherSceneIsRefusedAndDamagedBytesAreToldAs) {
  Simulation helix(shipped("hanging_helix")), ring(shipped("ring"));
  const std::string saved = helix.save();
  EXPECT_THROW(ring.restore(saved), InputError);
  EXPECT_THROW(helix.restore(saved.substr(0, saved.size() / 2)), RunError);
  EXPECT_THROW(helix.restore(saved + "more"), RunError);
}

}  // namespace
}  // namespace osier::test
