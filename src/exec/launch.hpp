// Kernels for a graphics card and for its host twin. A kernel is a functor with `OSIER_FN void operator()(Index i, ...) const`;
// launch() runs it once for every i in [0, n): one thread each on the device, one after the other on the host. The twin is what
// tests and sanitizers see of device code, compiled by the ordinary compiler.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "osier/types.hpp"
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

namespace osier {

enum class Backend : std::uint8_t { host, device };

#if defined(__CUDACC__)
/// Ends the program: what fails here is a driver or a mistake of ours, and nothing on the device can be trusted afterwards.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class Kernel, class... Arguments>
__global__ void run_kernel(Index n, Kernel kernel, Arguments... arguments) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) kernel(i, arguments...);
}
#endif

/// Whether this program can run kernels on a device here.
inline bool has_device() {
#if defined(__CUDACC__)
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
#else
  return false;
#endif
}

/// Returns when all are done. Arguments are copied: numbers and bare pointers.
template <class Kernel, class... Arguments>
void launch([[maybe_unused]] Backend where, Index n, const Kernel& kernel, const Arguments&... arguments) {
#if defined(__CUDACC__)
  if (where == Backend::device) {
    constexpr Index kThreads = 128;
    if (n > 0) run_kernel<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(n, kernel, arguments...);
    check_cuda(cudaGetLastError(), "a kernel could not be started");
    check_cuda(cudaDeviceSynchronize(), "a kernel failed");
    return;
  }
#endif
  for (Index i = 0; i < n; ++i) kernel(i, arguments...);
}

}  // namespace osier
