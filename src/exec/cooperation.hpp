// How threads of a kernel work together: counters whose result does not depend on the order of threads, and blocks of threads
// that wait for each other. No sum of floating-point numbers is formed this way.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "exec/launch.hpp"

namespace osier {

/// Adds to a counter and returns what it was: which thread gets which number is not told.
OSIER_FN Index take_number(Index* counter, Index count = 1) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(counter, count);
#else
  const Index before = *counter;
  *counter += count;
  return before;
#endif
}

/// Keeps the least of non-negative numbers, whose bits have the same order.
OSIER_FN void keep_least(double* least, double x) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(least), static_cast<unsigned long long>(__double_as_longlong(x)));
#else
  if (x < *least) *least = x;
#endif
}

/// Runs a kernel for as many i as a counter in memory of the backend says, by a fixed number of threads.
template <class Kernel>
struct Counted {
  Kernel kernel;
  const Index* count;
  Index threads;
  OSIER_FN void operator()(Index i) const {
    for (const Index n = *count; i < n; i += threads) kernel(i);
  }
};

inline namespace OSIER_BACKEND_NAMESPACE {

/// `most`: what the counter is at most.
template <class Kernel>
void launch_counted(Backend where, Index most, const Index* count, const Kernel& kernel) {
  constexpr Index kMostThreads = 1 << 18;
  const Index threads = std::min(most, where == Backend::host ? 1 : kMostThreads);
  launch(where, threads, Counted<Kernel>{kernel, count, threads});
}

/// The threads of one block, or the host, which is one.
struct Block {
  Index thread = 0, threads = 1;
  /// f(i) for all i below n; then every thread sees what all have done.
  template <class F>
  OSIER_FN void each(Index n, const F& f) const {
    for (Index i = thread; i < n; i += threads) f(i);
    wait();
  }
  OSIER_FN void wait() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
};

#if defined(__CUDACC__)
constexpr int kThreadsOfBlock = 1024;
template <class Kernel>
__global__ void __launch_bounds__(kThreadsOfBlock) run_in_block(const __grid_constant__ Kernel kernel) {
  kernel(Block{static_cast<Index>(threadIdx.x), static_cast<Index>(blockDim.x)});
}
#endif

/// A kernel of one block: `OSIER_FN void operator()(const Block&) const`.
template <class Kernel>
void launch_block([[maybe_unused]] Backend where, const Kernel& kernel) {
#if defined(__CUDACC__)
  if (where == Backend::device) {
    run_in_block<<<1, kThreadsOfBlock>>>(kernel);
    check_cuda(cudaGetLastError(), "a kernel could not be started");
    return;
  }
#endif
  kernel(Block{});
}

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier
