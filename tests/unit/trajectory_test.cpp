// A run comes back from trajectory.h5 as it was; a file that is something else is named and refused.
#include "osier/trajectory.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

#include "osier/osier.hpp"

namespace osier {
namespace {

namespace fs = std::filesystem;

class TrajectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("osier_trajectory_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void record(const Scene& scene, int frames = -1) {
    RunOptions options;
    options.folder = folder_;
    options.frames = frames;
    ASSERT_EQ(run_scene(scene, options).error, "");
  }
  fs::path folder_;
};

constexpr const char* kScene = R"({
  "rods": [{"name": "bögen", "shape": {"type": "line", "from": [0,0,0], "to": [1,0,0]}, "segments": 8, "material": "soft"},
           {"name": "ring", "shape": {"type": "circle", "radius": 0.2}, "segments": 12, "material": "soft"}],
  "materials": {"soft": {"young": 1e6, "density": 1000, "radius": 0.01}},
  "constraints": [{"type": "clamp", "vertices": "bögen:start"}],
  "forces": [{"type": "gravity"}],
  "analysis": {"type": "dynamic", "duration": 0.1, "step": 0.005},
  "solver": {"name": "stable_cosserat", "precision": "double"},
  "output": {"sections": true}
})";

TEST_F(TrajectoryTest, ComesBackAsItWasWritten) {
  const Scene scene = Scene::parse(kScene, "two");
  record(scene);
  Trajectory trajectory = Trajectory::open(folder_);
  EXPECT_EQ(trajectory.name(), "two");
  EXPECT_TRUE(trajectory.double_precision());
  EXPECT_TRUE(trajectory.has_sections());
  const Model &read = trajectory.model(), &written = scene.model();
  EXPECT_EQ(read.segment_vertices, written.segment_vertices);
  EXPECT_EQ(read.vertex_radius, written.vertex_radius);
  EXPECT_EQ(read.segment_rest_length, written.segment_rest_length);
  EXPECT_EQ(read.joint_count(), written.joint_count());
  ASSERT_EQ(read.rods.size(), 2U);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(read.rods[r].name, written.rods[r].name);
    EXPECT_EQ(read.rods[r].vertices, written.rods[r].vertices);
    EXPECT_EQ(read.rods[r].segments, written.rods[r].segments);
    EXPECT_EQ(read.rods[r].closed, written.rods[r].closed);
  }
  Simulation again(scene);
  ASSERT_EQ(trajectory.frame_count(), again.frame_count() + 1);
  for (int f = 0; f < trajectory.frame_count(); ++f) {
    if (f > 0) again.advance_frame();
    const Frame a = trajectory.read(f), b = again.frame(f);
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(trajectory.time(f), b.time);
    for (std::size_t v = 0; v < b.vertex_position.size(); ++v) {
      EXPECT_EQ(a.vertex_position[v].y, b.vertex_position[v].y);
      EXPECT_EQ(a.vertex_velocity[v].y, b.vertex_velocity[v].y);
    }
    for (std::size_t s = 0; s < b.segment_frame.size(); ++s) {
      EXPECT_EQ(a.segment_frame[s].w, b.segment_frame[s].w);
      EXPECT_EQ(a.segment_force[s].x, b.segment_force[s].x);
    }
  }
  EXPECT_THROW(trajectory.read(trajectory.frame_count()), RunError);
}

TEST_F(TrajectoryTest, RefusesWhatIsNotATrajectory) {
  EXPECT_THROW(Trajectory::open(folder_), InputError);  // no file in it
  const fs::path text = folder_ / "trajectory.h5";
  std::ofstream(text) << "not HDF5";
  EXPECT_THROW(Trajectory::open(text), InputError);
}

/// Every cut of a good file either opens (its tail was not needed) or is refused; nothing else may happen.
TEST_F(TrajectoryTest, SurvivesCutFiles) {
  record(Scene::parse(kScene, "two"), 2);
  const fs::path whole = folder_ / "trajectory.h5", cut = folder_ / "cut.h5";
  const std::uintmax_t size = fs::file_size(whole);
  int refused = 0;
  for (int part = 0; part < 40; ++part) {
    fs::copy_file(whole, cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, size * static_cast<std::uintmax_t>(part) / 40);
    try {
      Trajectory trajectory = Trajectory::open(cut);
      for (int f = 0; f < trajectory.frame_count(); ++f) trajectory.read(f);
    } catch (const InputError&) {
      ++refused;
    } catch (const RunError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

}  // namespace
}  // namespace osier
