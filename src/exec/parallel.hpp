// Loops over independent items on one or more threads. The only place that knows about threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace osier {

/// for_each(n, f) calls f(i) once for every i in [0, n). The items must not touch each other's data, so the result cannot
/// depend on the number of threads. Nothing is allocated on one thread.
class Executor {
 public:
  explicit Executor(int threads = 1);
  ~Executor();
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;

  int threads() const { return threads_; }
  /// Inside a loop: which of the threads is asking, for memory of its own.
  int worker() const;

  /// The same for few long items of very different length: begun in order, each by whichever thread is free.
  template <class F>
  void for_each_job(std::size_t n, const F& f) const {
    if (threads_ == 1) {
      for (std::size_t i = 0; i < n; ++i) f(i);
      return;
    }
    std::atomic<std::size_t> next{0};
    const auto takers = static_cast<std::size_t>(threads_);
    in_turn(
        1,
        [&](std::size_t) {
          return Loop{takers, kSerialBelow};
        },
        [&](std::size_t, std::size_t, std::size_t) {
          for (std::size_t i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < n;) f(i);
        });
  }

  /// `weight`: how many elements one item stands for.
  template <class F>
  void for_each(std::size_t n, const F& f, std::size_t weight = 1) const {
    for_each_range(
        n,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) f(i);
        },
        weight);
  }

  /// The same by f(begin, end), for bodies that want to see their items in a row.
  template <class F>
  void for_each_range(std::size_t n, const F& f, std::size_t weight = 1) const {
    in_turn(
        1,
        [&](std::size_t) {
          return Loop{n, weight};
        },
        [&](std::size_t, std::size_t begin, std::size_t end) { f(begin, end); });
  }

  struct Loop {
    std::size_t items, weight;
  };
  /// Loops one after the other, loop_of(k) by f(k, begin, end), without calling the threads together for each. Every thread has
  /// the same share of every loop.
  template <class LoopOf, class F>
  void in_turn(std::size_t loops, const LoopOf& loop_of, const F& f) const {
    if (threads_ == 1 || (loops == 1 && is_short(loop_of(0)))) {
      for (std::size_t k = 0; k < loops; ++k) f(k, std::size_t{0}, loop_of(k).items);
      return;
    }
    const auto share = [&](std::size_t k, std::size_t part) {
      const Loop loop = loop_of(k);
      const std::size_t n = loop.items, parts = is_short(loop) ? 1 : static_cast<std::size_t>(threads_);
      if (part < parts && n * part / parts < n * (part + 1) / parts) f(k, n * part / parts, n * (part + 1) / parts);
    };
    run(
        loops,
        [](const void* context, std::size_t k, std::size_t part) { (*static_cast<const decltype(share)*>(context))(k, part); },
        &share);
  }

 private:
  /// Below this many items of some 50 ns each, another thread costs more than it saves.
  static constexpr std::size_t kSerialBelow = 256;
  static bool is_short(const Loop& loop) { return loop.items * loop.weight < kSerialBelow; }
  using Share = void (*)(const void* context, std::size_t loop, std::size_t part);
  void run(std::size_t loops, Share share, const void* context) const;

  int threads_;
  class Team;
  std::shared_ptr<Team> team_;
};

}  // namespace osier
