#include "exec/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
/// waking a thread that sleeps costs as much as one of them. Pieces of a loop are claimed one by one, so that a thread that is
/// not there in time is not missed; each thread begins with the piece of its own number, whose data it had the last time.
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
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  explicit Team(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  ~Team() {
    stop_.store(true);
    ticket_.fetch_add(std::uint64_t{1} << 32);
    ticket_.notify_all();
    for (std::thread& t : workers_) t.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void run(std::size_t pieces, std::size_t n, Range range, const void* context) {
    if (busy_.exchange(true)) {  // at work for someone else, or further out in the same loop
      for (std::size_t p = 0; p < pieces; ++p) range(context, n * p / pieces, n * (p + 1) / pieces);
      return;
    }
    struct Release {
      std::atomic<bool>& busy;
      ~Release() { busy.store(false); }
    } const release{busy_};
    range_ = range, context_ = context, n_ = n, pieces_ = pieces;
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t loop = ((ticket_.load(std::memory_order_relaxed) >> 32) + 1) & kClosed;
    ticket_.store(loop << 32, std::memory_order_release);
    ticket_.notify_all();
    take_pieces(loop, 0);
    while (done_.load(std::memory_order_acquire) < pieces) pause_briefly();
    ticket_.store(loop << 32 | kClosed, std::memory_order_release);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  static constexpr std::uint64_t kClosed = 0xffffffffu;  ///< no piece left, whatever their number
  static constexpr std::size_t kFew = 32;                ///< one bit each

  /// Everything that is left of a loop. The ticket is its number and, below, which pieces are taken (few) or the next one (many);
  /// claiming both in one makes sure that a thread which comes late cannot take a piece of another loop for one of this.
  void take_pieces(std::uint64_t loop, int number) {
    for (;;) {
      std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
      const std::size_t pieces = pieces_.load(std::memory_order_relaxed);
      const std::uint64_t low = ticket & kClosed;
      if (ticket >> 32 != loop || low == kClosed) return;
      std::size_t piece = low;
      std::uint64_t claim = 1;
      if (pieces < kFew) {
        const std::uint64_t left = ~low & ((std::uint64_t{1} << pieces) - 1);
        if (left == 0) return;
        piece = static_cast<std::size_t>(number < static_cast<int>(kFew) && (left >> number & 1u) != 0 ? number
                                                                                                       : std::countr_zero(left));
        claim <<= piece;
      } else if (low >= pieces) {
        return;
      }
      if (!ticket_.compare_exchange_weak(ticket, ticket + claim, std::memory_order_acq_rel)) continue;
      const std::size_t begin = n_ * piece / pieces, end = n_ * (piece + 1) / pieces;
      try {
        range_(context_, begin, end);
      } catch (...) {
        const std::lock_guard lock(error_mutex_);
        if (!error_) error_ = std::current_exception();
      }
      done_.fetch_add(1, std::memory_order_acq_rel);
    }
  }

  void work(int number) {
    own_team = this, own_number = number;
    std::uint64_t seen = 0;
    while (!stop_.load()) {
      std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
      for (int i = 0; i < kSpins && ticket >> 32 == seen; ++i) pause_briefly(), ticket = ticket_.load(std::memory_order_acquire);
      while (ticket >> 32 == seen && !stop_.load()) {
        ticket_.wait(ticket);
        ticket = ticket_.load(std::memory_order_acquire);
      }
      seen = ticket >> 32;
      take_pieces(seen, number);
    }
  }

  static constexpr int kSpins = 4000;  ///< some hundred microseconds
  std::atomic<std::uint64_t> ticket_{kClosed};
  std::atomic<std::size_t> done_{0}, pieces_{0};
  std::size_t n_ = 0;
  Range range_ = nullptr;
  const void* context_ = nullptr;
  std::mutex error_mutex_;
  std::exception_ptr error_;  ///< the first
  std::atomic<bool> stop_{false}, busy_{false};
  std::vector<std::thread> workers_;
};

Executor::Executor(int threads) : threads_(threads < 1 ? 1 : threads) {
  if (threads_ > 1) team_ = Team::of(threads_);
}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

int Executor::worker() const { return own_team == team_.get() ? own_number : 0; }

void Executor::run(std::size_t n, Range range, const void* context) const {
  team_->run(std::min(n, static_cast<std::size_t>(threads_)), n, range, context);
}

void Executor::run_jobs(std::size_t n, Range job, const void* context) const {
  if (team_) team_->run(n, n, job, context);
  else
    for (std::size_t i = 0; i < n; ++i) job(context, i, i + 1);
}

}  // namespace osier
