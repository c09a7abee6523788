// Asks the driver.
#include "exec/cuda_device.hpp"

#include <cuda_runtime.h>

namespace osier {

CudaDevice find_cuda_device() {
  CudaDevice found{.is_built = true};
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  cudaDeviceProp properties{};
  if (status == cudaSuccess && count > 0) status = cudaGetDeviceProperties(&properties, 0);
  if (status != cudaSuccess) {
    found.why_not = cudaGetErrorString(status);
    return found;
  }
  if (count == 0) {
    found.why_not = "the driver knows none";
    return found;
  }
  found.is_there = true;
  found.name = properties.name;
  found.memory_gib = static_cast<double>(properties.totalGlobalMem) / (1024.0 * 1024.0 * 1024.0);
  return found;
}

}  // namespace osier
