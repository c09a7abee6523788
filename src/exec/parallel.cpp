#include "exec/parallel.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "exec/aligned.hpp"

namespace osier {

namespace {

inline void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Of the team at work, in its own threads; the caller of a loop is number 0.
thread_local const void* own_team = nullptr;
thread_local int own_number = 0;

}  // namespace

/// Threads that wait for the next loop, at first without sleeping: a step has dozens of loops of some ten microseconds, and
/// waking a thread that sleeps costs as much as one of them.
///
/// Every loop, counted from the team's first, has one share for each thread. A thread begins with its own, whose data it had the
/// last time, says so and says when it is through; both in a cache line that only it writes, so that the end of a loop costs
/// about one look at every other thread's line. A share that its owner does not begin in time is taken by one who waits for it: a
/// thread that is not there is not missed.
class Executor::Team {
 public:
  /// Executors made one after the other on one thread share a team: a simulation and its solver take turns, and threads of two
  /// teams would wait in each other's way.
  static std::shared_ptr<Team> of(int threads) {
    thread_local std::weak_ptr<Team> latest;
    std::shared_ptr<Team> team = latest.lock();
    if (!team || team->threads() != threads) latest = team = std::make_shared<Team>(threads);
    return team;
  }
  int threads() const { return static_cast<int>(shares_.size()); }

  explicit Team(int threads) : shares_(static_cast<std::size_t>(threads)) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  ~Team() {
    stop_.store(true);
    last_.fetch_add(1);
    last_.notify_all();
    for (std::thread& t : workers_) t.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void run(std::size_t loops, Share share, const void* context) {
    if (busy_.exchange(true)) {  // at work for someone else, or further out in the same loop
      for (std::size_t k = 0; k < loops; ++k)
        for (std::size_t part = 0; part < shares_.size(); ++part) share(context, k, part);
      return;
    }
    struct Release {
      std::atomic<bool>& busy;
      ~Release() { busy.store(false); }
    } const release{busy_};
    const std::uint64_t before = last_.load(std::memory_order_relaxed);
    share_ = share, context_ = context, before_ = before;
    last_.store(before + loops, std::memory_order_release);
    last_.notify_all();
    for (std::uint64_t loop = before + 1; loop <= before + loops; ++loop) {
      take(0, loop);
      finish(loop);
    }
    failed_.store(false, std::memory_order_relaxed);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  struct alignas(kCacheLine) Progress {
    std::atomic<std::uint64_t> begun{0}, ended{0};  ///< the latest loop whose share of this number was
  };

  /// One share of one loop, unless somebody has it. Whoever gets it may rely on the loop's description: the caller of the loops
  /// cannot leave before this share has ended.
  void take(std::size_t part, std::uint64_t loop) {
    Progress& own = shares_[part];
    std::uint64_t before = loop - 1;
    if (!own.begun.compare_exchange_strong(before, loop, std::memory_order_acq_rel)) return;
    try {
      if (!failed_.load(std::memory_order_relaxed)) share_(context_, loop - before_ - 1, part);
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
    own.ended.store(loop, std::memory_order_release);
  }

  /// Waits for all shares of a loop, and takes those that nobody begins.
  void finish(std::uint64_t loop) {
    for (std::size_t part = 0; part < shares_.size(); ++part) {
      const Progress& other = shares_[part];
      for (int i = 0; other.ended.load(std::memory_order_acquire) < loop; ++i) {
        if (i >= kPatience && other.begun.load(std::memory_order_relaxed) < loop) take(part, loop);
        else if (i < kSpins) pause_briefly();
        else std::this_thread::yield();  // perhaps it needs our core
      }
    }
  }

  void work(int number) {
    own_team = this, own_number = number;
    const auto part = static_cast<std::size_t>(number);
    while (!stop_.load(std::memory_order_relaxed)) {
      // Where the others are by now, if they did not wait.
      const std::uint64_t done = shares_[part].begun.load(std::memory_order_acquire);
      std::uint64_t last = last_.load(std::memory_order_acquire);
      for (int i = 0; i < kSpins && last == done; ++i) pause_briefly(), last = last_.load(std::memory_order_acquire);
      if (last == done) {
        last_.wait(last);
        continue;
      }
      if (stop_.load()) return;
      finish(done);
      take(part, done + 1);
    }
  }

  static constexpr int kSpins = 4000;   ///< some hundred microseconds
  static constexpr int kPatience = 40;  ///< a microsecond: longer than a thread that is there takes to notice
  std::vector<Progress> shares_;
  alignas(kCacheLine) std::atomic<std::uint64_t> last_{0};  ///< the last loop asked for
  std::uint64_t before_ = 0;                                ///< the last one of the call before
  Share share_ = nullptr;
  const void* context_ = nullptr;
  std::mutex error_mutex_;
  std::exception_ptr error_;  ///< the first
  std::atomic<bool> failed_{false}, stop_{false}, busy_{false};
  std::vector<std::thread> workers_;
};

Executor::Executor(int threads) : threads_(threads < 1 ? 1 : threads) {
  if (threads_ > 1) team_ = Team::of(threads_);
}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

int Executor::worker() const { return own_team == team_.get() ? own_number : 0; }

void Executor::run(std::size_t loops, Share share, const void* context) const { team_->run(loops, share, context); }

}  // namespace osier
