// The graphics card that this program may use: the first CUDA device.
#pragma once

#include <string>

namespace osier {

struct CudaDevice {
  bool is_built = false;  ///< this program was built with CUDA
  bool is_there = false;  ///< and there is a device that it can use
  std::string name;       ///< of the device
  double memory_gib = 0;
  std::string why_not;  ///< what the driver says where there is none
};
/// Looked up once.
const CudaDevice& cuda_device();

#if defined(OSIER_HAS_CUDA)
/// By the sources that nvcc compiles.
CudaDevice find_cuda_device();
#endif

}  // namespace osier
