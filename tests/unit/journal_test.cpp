// trajectory.h5 is that of a whole frame, whenever the process that writes it is killed.
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "osier/osier.hpp"
#include "osier/trajectory.hpp"
#include "sim/recorder.hpp"
#include "support/files.hpp"

namespace osier::test {
namespace {

namespace fs = std::filesystem;

const char* const kBeam = R"({"materials": {"m": {"stretch_shear": 100, "bend_twist": 1, "line_density": 1}},
  "rods": [{"name": "a", "shape": {"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}, "segments": 40, "material": "m"}],
  "analysis": {"type": "dynamic", "step": 0.01, "duration": 1}})";

/// Frame i has i as every coordinate.
class Numbered {
 public:
  explicit Numbered(const fs::path& folder) : writer_(find_format("hdf5")->make(folder)) {}
  Writer& writer() { return *writer_; }
  void write(int i) {
    positions_.assign(simulation_.state().vertex_position.size(), {1.0 * i, 1.0 * i, 1.0 * i});
    Frame frame = simulation_.frame(i);
    frame.time = i;
    frame.vertex_position = positions_;
    frame.report = FrameReport{.state_hash = static_cast<std::uint64_t>(i)};
    writer_->write(frame);
  }
  void begin() { writer_->begin(simulation_.model(), run_info(scene_.setup())); }
  void resume(int frames) { writer_->resume(simulation_.model(), run_info(scene_.setup()), frames); }

 private:
  Scene scene_ = Scene::parse(kBeam);
  Simulation simulation_{scene_};
  std::unique_ptr<Writer> writer_;
  std::vector<Vec3d> positions_;
};

int expect_numbered(const fs::path& folder, int at_least) {
  Trajectory run = Trajectory::open(folder);
  EXPECT_GE(run.frame_count(), at_least);
  for (int f = 0; f < run.frame_count(); ++f) {
    const Frame frame = run.read(f);
    EXPECT_EQ(frame.time, f);
    EXPECT_EQ(frame.report->state_hash, static_cast<std::uint64_t>(f));
    for (const Vec3d& x : frame.vertex_position) {
      EXPECT_EQ(x.x, f);
      EXPECT_EQ(x.z, f);
    }
  }
  return run.frame_count();
}

/// Ended by a signal at a random time, as kill -9 would end it.
void write_until_killed(const fs::path& folder, int from, long microseconds) {
  const pid_t child = ::fork();
  if (child == 0) {
    Numbered numbered(folder);
    if (from == 0) numbered.begin(), numbered.write(0);
    std::signal(SIGALRM, SIG_DFL);
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = microseconds}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
    if (from > 0) numbered.resume(from);
    for (int i = std::max(from, 1);; ++i) numbered.write(i);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

TEST(Journal, AKillAtAnyTimeLeavesTheFileOfAWholeFrame) {
  const TemporaryFolder folder;
  std::mt19937 random(7);
  int frames = 0;
  for (int round = 0; round < 30; ++round) {
    write_until_killed(folder.path(), frames, 1 + static_cast<long>(random() % (round % 2 == 0 ? 30000 : 1000)));
    frames = expect_numbered(folder.path(), std::max(frames, 1));
    if (HasFailure()) return;
    frames = std::max(1, frames / 2);  // and what comes after a checkpoint is cut off
  }
}

TEST(Journal, WhatAKilledProcessBeganIsFinishedOnce) {
  const TemporaryFolder folder;
  Numbered numbered(folder.path());
  numbered.begin();
  for (int i = 0; i < 3; ++i) numbered.write(i);
  numbered.writer().end();
  // A journal that is not whole is that of a flush which never began.
  const fs::path journal = folder.path() / "trajectory.h5.journal";
  std::ofstream(journal) << "osier-journal 1\nhalf a line";
  EXPECT_EQ(expect_numbered(folder.path(), 3), 3);
  EXPECT_FALSE(fs::exists(journal));
}

}  // namespace
}  // namespace osier::test
