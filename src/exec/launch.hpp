// Kernels for a graphics card and for its host twin. A kernel is a functor with `OSIER_FN void operator()(Index i, ...) const`;
// launch() runs it once for every i in [0, n): one thread each on the device, one after the other on the host. The twin is what
// tests and sanitizers see of device code, compiled by the ordinary compiler.
//
// A program has both: sources that nvcc compiles know the device, all others know the twin alone. What owns memory or launches
// kernels is in OSIER_BACKEND_NAMESPACE, so that the two do not share a name.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "osier/types.hpp"
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define OSIER_BACKEND_NAMESPACE with_device
#else
#define OSIER_BACKEND_NAMESPACE without_device
#endif

namespace osier {

enum class Backend : std::uint8_t { host, device };

inline namespace OSIER_BACKEND_NAMESPACE {

#if defined(__CUDACC__)
/// Throws: what fails here is a driver, memory, or a mistake of ours, and nothing on the device can be trusted afterwards.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

/// A kernel may say how many blocks a multiprocessor should hold at least, at the cost of registers.
template <class Kernel>
constexpr int least_blocks() {
  if constexpr (requires { Kernel::kBlocks; }) return Kernel::kBlocks;
  else return 1;
}
constexpr Index kThreads = 128;

template <class Kernel, class... Arguments>
__global__ void __launch_bounds__(kThreads, least_blocks<Kernel>()) run_kernel(Index n, const __grid_constant__ Kernel kernel, Arguments... arguments) {
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

/// The device does one kernel after the other, and the host need not wait: a copy to the host does. Arguments are copied:
/// numbers and bare pointers.
template <class Kernel, class... Arguments>
void launch([[maybe_unused]] Backend where, Index n, const Kernel& kernel, const Arguments&... arguments) {
#if defined(__CUDACC__)
  if (where == Backend::device) {
    if (n > 0) run_kernel<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(n, kernel, arguments...);
    check_cuda(cudaGetLastError(), "a kernel could not be started");
    return;
  }
#endif
  for (Index i = 0; i < n; ++i) kernel(i, arguments...);
}

/// Waits for all kernels.
inline void synchronize([[maybe_unused]] Backend where) {
#if defined(__CUDACC__)
  if (where == Backend::device) check_cuda(cudaDeviceSynchronize(), "a kernel failed");
#endif
}

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier
