#include "exec/execution.hpp"

#include <fmt/format.h>

#include "exec/cuda_device.hpp"
#include "exec/simd_dispatch.hpp"

namespace osier {

const CudaDevice& cuda_device() {
#if defined(OSIER_HAS_CUDA)
  static const CudaDevice found = find_cuda_device();
#else
  static const CudaDevice found;
#endif
  return found;
}

bool device_available(Device device) { return device != Device::cuda || cuda_device().is_there; }

void Execution::check(Problems& problems) const {
  if (!simd_available(simd))
    problems.add("/execution/simd", fmt::format("this {} has no {}", simd_compiled(simd) ? "machine" : "build", simd_name(simd)),
                 simd_compiled(simd) ? "use `auto`" : "use `auto`, or configure with -DOSIER_SIMD=all");
  if (!device_available(device)) {
    const CudaDevice& cuda = cuda_device();
    problems.add(
        "/execution/device",
        cuda.is_built ? "there is no CUDA device: " + cuda.why_not : "no CUDA device: this program was built without CUDA",
        "use `cpu`");
  }
}

}  // namespace osier
