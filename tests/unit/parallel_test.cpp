// Loops on a team of threads: every item once, whoever does it, and what one loop writes the next one reads. Also run under the
// thread sanitizer (./test --tsan), to which the plain numbers here are the question.
#include "exec/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace osier {
namespace {

constexpr int kThreads[] = {1, 2, 3, 4, 7, 33};

TEST(Executor, DoesEveryItemOnce) {
  for (int threads : kThreads) {
    const Executor executor(threads);
    EXPECT_EQ(executor.threads(), threads);
    for (std::size_t n : {0, 1, 2, 255, 256, 257, 1000, 20011}) {
      std::vector<int> done(n, 0);
      executor.for_each(n, [&](std::size_t i) { ++done[i]; });
      EXPECT_EQ(std::count(done.begin(), done.end(), 1), static_cast<std::ptrdiff_t>(n)) << threads << " threads";
    }
  }
}

TEST(Executor, HasAtLeastOneThread) {
  EXPECT_EQ(Executor(0).threads(), 1);
  EXPECT_EQ(Executor(-3).threads(), 1);
}

TEST(Executor, RangesCoverTheItemsWithoutGapOrOverlap) {
  for (int threads : kThreads) {
    const Executor executor(threads);
    for (std::size_t n : {1, 5, 300, 20011}) {
      std::vector<int> done(n, 0);
      executor.for_each_range(
          n,
          [&](std::size_t begin, std::size_t end) {
            EXPECT_LE(begin, end);
            EXPECT_LE(end, n);
            for (std::size_t i = begin; i < end; ++i) ++done[i];
          },
          1000);  // heavy items: shared out however few there are
      EXPECT_EQ(std::count(done.begin(), done.end(), 1), static_cast<std::ptrdiff_t>(n)) << threads << " threads";
    }
  }
}

TEST(Executor, DoesEveryJobOnceWhateverTheirLengths) {
  for (int threads : kThreads) {
    const Executor executor(threads);
    for (std::size_t n : {0, 1, 2, 31, 32, 33, 200}) {
      std::vector<int> done(n, 0);
      std::vector<double> work(n, 0);
      executor.for_each_job(n, [&](std::size_t i) {
        ++done[i];
        for (std::size_t k = 0; k < 500 * (i % 7); ++k) work[i] += static_cast<double>(k);
      });
      EXPECT_EQ(std::count(done.begin(), done.end(), 1), static_cast<std::ptrdiff_t>(n)) << threads << " threads";
    }
  }
}

TEST(Executor, ALoopSeesWhatTheOneBeforeWrote) {
  constexpr std::size_t kItems = 600;
  constexpr int kLoops = 2000;
  for (int threads : {2, 3}) {
    const Executor executor(threads);
    std::vector<int> a(kItems, 0), b(kItems, 0);
    for (int loop = 0; loop < kLoops; ++loop) {
      // Backwards: every thread reads what another one has written.
      executor.for_each(kItems, [&](std::size_t i) { b[i] = a[kItems - 1 - i] + 1; });
      std::swap(a, b);
    }
    EXPECT_EQ(std::count(a.begin(), a.end(), kLoops), static_cast<std::ptrdiff_t>(kItems));
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

TEST(Executor, WorkersHaveNumbersOfTheirOwn) {
  constexpr std::size_t kItems = 5000;
  for (int threads : kThreads) {
    const Executor executor(threads);
    std::vector<std::size_t> count(static_cast<std::size_t>(threads) * 16, 0);  // plain memory of each worker
    for (int loop = 0; loop < 20; ++loop)
      executor.for_each(kItems, [&](std::size_t) {
        const int worker = executor.worker();
        ASSERT_GE(worker, 0);
        ASSERT_LT(worker, threads);
        ++count[static_cast<std::size_t>(worker) * 16];
      });
    EXPECT_EQ(std::accumulate(count.begin(), count.end(), std::size_t{0}), 20 * kItems);
    EXPECT_EQ(executor.worker(), 0);
  }
}

TEST(Executor, AnErrorReachesTheCallerAndTheTeamGoesOn) {
  for (int threads : kThreads) {
    const Executor executor(threads);
    for (std::size_t bad : {0, 999, 1999})
      EXPECT_THROW(executor.for_each(2000,
                                     [&](std::size_t i) {
                                       if (i == bad) throw std::runtime_error("no");
                                     }),
                   std::runtime_error);
    EXPECT_THROW(executor.for_each_job(40, [](std::size_t) { throw std::runtime_error("all of them"); }), std::runtime_error);
    std::vector<int> done(2000, 0);
    EXPECT_NO_THROW(executor.for_each(done.size(), [&](std::size_t i) { ++done[i]; }));
    EXPECT_EQ(std::count(done.begin(), done.end(), 1), 2000);
  }
}

TEST(Executor, ALoopInsideALoopIsDoneByItsThread) {
  for (int threads : {1, 2, 4}) {
    const Executor executor(threads);
    std::vector<std::vector<int>> done(8, std::vector<int>(700, 0));
    executor.for_each_job(done.size(), [&](std::size_t job) {
      const std::thread::id self = std::this_thread::get_id();
      executor.for_each(done[job].size(), [&](std::size_t i) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        ++done[job][i];
      });
    });
    for (const auto& list : done) EXPECT_EQ(std::count(list.begin(), list.end(), 1), 700);
  }
}

TEST(Executor, TwoCallersShareOneTeam) {
  const Executor executor(3);
  std::vector<int> first(900, 0), second(900, 0);
  const auto fill = [&](std::vector<int>& list) {
    for (int loop = 0; loop < 300; ++loop) executor.for_each(list.size(), [&](std::size_t i) { ++list[i]; });
  };
  std::thread other([&] { fill(second); });
  fill(first);
  other.join();
  EXPECT_EQ(std::count(first.begin(), first.end(), 300), 900);
  EXPECT_EQ(std::count(second.begin(), second.end(), 300), 900);
}

TEST(Executor, ATeamThatFellAsleepWakesUp) {
  using namespace std::chrono_literals;
  const Executor executor(2);
  for (int loop = 0; loop < 5; ++loop) {
    std::this_thread::sleep_for(5ms);  // far longer than it waits without sleeping
    // Both have to be there: each waits for the other.
    std::atomic<int> here{0};
    executor.for_each_job(2, [&](std::size_t) {
      ++here;
      const auto end = std::chrono::steady_clock::now() + 10s;
      while (here.load() < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    });
    EXPECT_EQ(here.load(), 2);
  }
}

TEST(Executor, CanBeMovedAndMadeAgain) {
  for (int round = 0; round < 20; ++round) {
    Executor first(3);
    Executor second(std::move(first));
    std::vector<int> done(1000, 0);
    second.for_each(done.size(), [&](std::size_t i) { ++done[i]; });
    EXPECT_EQ(std::count(done.begin(), done.end(), 1), 1000);
    second = Executor(2);
    second.for_each(done.size(), [&](std::size_t i) { ++done[i]; });
    EXPECT_EQ(std::count(done.begin(), done.end(), 2), 1000);
  }
}

}  // namespace
}  // namespace osier
