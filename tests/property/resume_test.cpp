// A simulation that was saved and restored takes the same steps as one that went on, to the last bit, whatever solver, contact,
// fracture, weld or integrator has a memory.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/archive.hpp"
#include "osier/osier.hpp"
#include "support/scenes.hpp"

namespace osier::test {
namespace {

namespace fs = std::filesystem;

/// Saves after every one of the first steps, and goes on from each of these for as long as the simulation that was not touched.
void expect_same_steps(const Scene& scene, const std::string& what, int saves, int steps_after) {
  Simulation whole(scene);
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
  for (const char* name : {"hanging_helix", "net", "trees", "ring", "drive_shaft", "spring_strip", "hair_wisp", "knot_tighten", "rod_in_tube",
                           "gripper", "slingshot"})
    expect_same_steps(shipped(name), name, 4, 6);
}

TEST(Resume, EverySolverGoesOnWithTheSameBits) {
  for (const char* solver : {"stable_cosserat", "direct", "newton", "projective", "automatic"})
    expect_same_steps(shipped("hanging_helix", {std::string("/solver={\"name\":\"") + solver + "\"}"}), solver, 3, 8);
  expect_same_steps(shipped("paper/deti/fig02"), "deti", 3, 8);
}

TEST(Resume, IntegratorsGoOnWithTheSameBits) {
  for (const char* integrator : {"bdf2", "midpoint", "generalized_alpha", "implicit_euler"})
    expect_same_steps(shipped("spring_strip", {std::string("/analysis/integrator=") + integrator}), integrator, 4, 6);
}

}  // namespace
}  // namespace osier::test
