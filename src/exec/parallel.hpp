// Loops over independent items on one or more threads. The only place that knows about threads.
#pragma once

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
  /// Inside for_each: which of the threads is asking, for memory of its own.
  int worker() const;

  /// The same for few long items of very different length: begun in order, each by whichever thread is free.
  template <class F>
  void for_each_job(std::size_t n, const F& f) const {
    run_jobs(
        n, [](const void* context, std::size_t i, std::size_t) { (*static_cast<const F*>(context))(i); }, &f);
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
    if (threads_ == 1 || n * weight < kSerialBelow) {
      f(std::size_t{0}, n);
      return;
    }
    run(
        n, [](const void* context, std::size_t begin, std::size_t end) { (*static_cast<const F*>(context))(begin, end); }, &f);
  }

 private:
  /// Below this many items of some 50 ns each, waking another thread costs more than it saves.
  static constexpr std::size_t kSerialBelow = 256;
  using Range = void (*)(const void* context, std::size_t begin, std::size_t end);
  void run(std::size_t n, Range range, const void* context) const;
  void run_jobs(std::size_t n, Range job, const void* context) const;

  int threads_;
  class Team;
  std::shared_ptr<Team> team_;
};

}  // namespace osier
