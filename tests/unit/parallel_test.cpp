// Loops on threads: every item once, every loop after the one before, mistakes handed to the caller.
#include "exec/parallel.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace osier::test {
namespace {

TEST(Executor, CallsEveryItemOnce) {
  for (int threads : {1, 2, 3, 7}) {
    const Executor executor(threads);
    for (std::size_t n : {0u, 1u, 2u, 255u, 256u, 1000u, 4097u}) {
      std::vector<int> calls(n, 0);
      executor.for_each(n, [&](std::size_t i) { ++calls[i]; });
      EXPECT_EQ(std::accumulate(calls.begin(), calls.end(), 0), static_cast<int>(n));
      EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), static_cast<long>(n)) << threads << " threads, " << n;
    }
  }
}

/// Every loop asks for what all others' shares have left in the loop before; some are too short for more than one thread.
TEST(Executor, BeginsALoopWhenTheOneBeforeHasEnded) {
  constexpr std::size_t kLoops = 200;
  const auto size = [](std::size_t k) { return k % 5 == 3 ? std::size_t{7} : 300 + 31 * (k % 11); };
  const auto run = [&](int threads) {
    std::vector<std::uint64_t> before(1000, 1), after(1000, 1);
    const Executor executor(threads);
    executor.in_turn(
        kLoops,
        [&](std::size_t k) {
          return Executor::Loop{size(k), 1};
        },
        [&](std::size_t k, std::size_t begin, std::size_t end) {
          const auto& from = k % 2 == 0 ? before : after;
          auto& to = k % 2 == 0 ? after : before;
          for (std::size_t i = begin; i < end; ++i) to[i] = 3 * from[size(k) - 1 - i] + from[(i + 491) % 1000] + k;
        });
    return std::accumulate(before.begin(), before.end(), std::uint64_t{0});
  };
  const std::uint64_t one = run(1);
  for (int threads : {2, 3, 7})
    for (int again = 0; again < 3; ++again) EXPECT_EQ(run(threads), one) << threads << " threads";
}

TEST(Executor, TakesEveryJobOnce) {
  for (int threads : {1, 2, 7}) {
    const Executor executor(threads);
    for (std::size_t n : {0u, 1u, 5u, 100u}) {
      std::vector<int> calls(n, 0);
      executor.for_each_job(n, [&](std::size_t i) { ++calls[i]; });
      EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), static_cast<long>(n));
    }
  }
}

TEST(Executor, HandsAMistakeToItsCallerAndGoesOn) {
  const Executor executor(3);
  for (int again = 0; again < 20; ++again) {
    EXPECT_THROW(executor.for_each(1000,
                                   [](std::size_t i) {
                                     if (i == 700) throw std::runtime_error("item 700");
                                   }),
                 std::runtime_error);
    std::vector<int> calls(1000, 0);
    executor.for_each(calls.size(), [&](std::size_t i) { ++calls[i]; });
    EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), 1000);
  }
}

TEST(Executor, RunsALoopInsideALoopOnTheThreadItIsOn) {
  const Executor executor(2);
  std::vector<int> calls(4 * 500, 0);
  executor.for_each(
      4, [&](std::size_t i) { executor.for_each(500, [&](std::size_t j) { ++calls[500 * i + j]; }); }, 1000);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), 2000);
}

}  // namespace
}  // namespace osier::test
