// The kernels of direct steps on a CUDA device.
#include "solvers/direct/device_kernels.hpp"

namespace osier::direct {

std::unique_ptr<DeviceStep> direct_of_cuda(const Model& model, const DeviceStepOptions& options) {
  return make_direct(Backend::device, model, options);
}

}  // namespace osier::direct
