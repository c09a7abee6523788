#include "exec/parallel.hpp"

#include <atomic>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

namespace osier {

struct Executor::Arena {
  // TBB caps its workers at the core count; a user who asks for more gets more, so that thread-count independence can be
  // tested on a small machine.
  tbb::global_control limit;
  tbb::task_arena arena;
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)), arena(threads) {}
};

Executor::Executor(int threads) : threads_(threads < 1 ? 1 : threads) {
  if (threads_ > 1) arena_ = std::make_unique<Arena>(threads_);
}
Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

int Executor::worker() const {
  // A loop too short for threads runs outside the arena, where the index means nothing.
  const int index = arena_ ? tbb::this_task_arena::current_thread_index() : 0;
  return index >= 0 && index < threads_ ? index : 0;
}

void Executor::run(std::size_t n, Range range, const void* context) const {
  arena_->arena.execute([&] {
    const std::size_t grain = n / static_cast<std::size_t>(threads_) + 1;
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, n, grain), [&](const auto& r) { range(context, r.begin(), r.end()); },
        tbb::simple_partitioner{});
  });
}

void Executor::run_jobs(std::size_t n, Range job, const void* context) const {
  if (!arena_) {
    for (std::size_t i = 0; i < n; ++i) job(context, i, i + 1);
    return;
  }
  // TBB hands out ranges, not an order; the counter does.
  std::atomic<std::size_t> next{0};
  arena_->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, n, 1),
        [&](const auto& r) {
          for (std::size_t k = r.begin(); k < r.end(); ++k) {
            const std::size_t i = next.fetch_add(1);
            job(context, i, i + 1);
          }
        },
        tbb::simple_partitioner{});
  });
}

}  // namespace osier
