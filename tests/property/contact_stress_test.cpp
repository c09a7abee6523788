// Random rods that hit each other at random, step by step in front of a checker that shares nothing with what keeps them apart.
// The long suite (OSIER_LONG=1) takes 200 scenes and 1e5 steps.
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

#include "certificate/linking.hpp"
#include "certificate/motion_check.hpp"
#include "certificate/path_recorder.hpp"
#include "support/random_contact_scene.hpp"

namespace osier::test {
namespace {

bool long_tests() { return std::getenv("OSIER_LONG") != nullptr; }
constexpr int kBatches = 40;  ///< each is a test of its own

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

bool all_finite(const State& s) {
  double sum = 0;
  for (const Vec3d& x : s.vertex_position) sum += norm2(x);
  for (const Vec3d& v : s.vertex_velocity) sum += norm2(v);
  for (const Quatd& q : s.frame_rotation) sum += norm2(q);
  return std::isfinite(sum);
}

class ContactStress : public testing::TestWithParam<int> {};

void stress(std::uint64_t seed, int steps, int steps_on_threads, const StressOptions& options) {
  RandomContactScene one(seed, options);
  SCOPED_TRACE(one.what);
  one.begin(1);
  State& state = one.scene.state;
  const Executor executor(1);
  certificate::PathRecorder recorder;
  certificate::MotionCheck check;
  one.scene.contacts.set_step(state.time, state.time + one.h);
  const auto crossing = check.begin(one.scene.model, one.scene.contacts, state.vertex_position);
  ASSERT_FALSE(crossing.has_value()) << crossing->a << " and " << crossing->b << " at " << crossing->distance;
  certificate::Linking linking(one.scene.model, state.vertex_position, {});
  one.scene.contacts.set_observer(&recorder);
  std::vector<std::unique_ptr<RandomContactScene>> others;
  for (const int threads : {2, 3, 7}) {
    others.push_back(std::make_unique<RandomContactScene>(seed, options));
    others.back()->begin(threads);
  }
  for (int i = 0; i < steps; ++i) {
    recorder.begin(state.vertex_position, one.scene.obstacles.size());
    one.step();
    ASSERT_FALSE(one.scene.report.non_finite) << "step " << i;
    ASSERT_TRUE(all_finite(state)) << "step " << i;
    const auto found = check.check(recorder.complete(state.vertex_position), executor);
    ASSERT_FALSE(found.has_value()) << "step " << i << ": segments " << found->a << " and " << found->b << " at "
                                    << found->distance << " m, promised " << found->least << " m, motion " << found->motion
                                    << ", time " << found->time;
    if (i % 8 == 0 || i + 1 == steps) {
      ASSERT_TRUE(linking.update(one.scene.model, state.vertex_position).empty()) << "step " << i;
    }
    if (i >= steps_on_threads) continue;
    for (const auto& other : others) {
      other->step();
      ASSERT_TRUE(same_bits(state.vertex_position, other->scene.state.vertex_position)) << "step " << i;
      ASSERT_TRUE(same_bits(state.vertex_velocity, other->scene.state.vertex_velocity)) << "step " << i;
      ASSERT_TRUE(same_bits(state.frame_rotation, other->scene.state.frame_rotation)) << "step " << i;
    }
  }
}

TEST_P(ContactStress, NothingPassesThroughAnything) {
  const int scenes = long_tests() ? 5 : 1, steps = long_tests() ? 500 : 24, on_threads = long_tests() ? 40 : 4;
  for (int i = 0; i < scenes; ++i) {
    stress(static_cast<std::uint64_t>(1 + GetParam() + kBatches * i), steps, on_threads, {});
    if (HasFatalFailure()) return;
  }
}

/// Planes, balls, bars, boxes, drums, rooms and meshes, half of them moving, some turning, some deforming.
TEST_P(ContactStress, NorThroughObstacles) {
  const int scenes = long_tests() ? 5 : 1, steps = long_tests() ? 500 : 24, on_threads = long_tests() ? 40 : 4;
  for (int i = 0; i < scenes; ++i) {
    stress(static_cast<std::uint64_t>(5001 + GetParam() + kBatches * i), steps, on_threads, {.rods = 4, .obstacles = 4});
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Batch, ContactStress, testing::Range(0, kBatches));

}  // namespace
}  // namespace osier::test
