// The kernels of direct steps as the host runs them one after the other.
#include "solvers/direct/device_kernels.hpp"

namespace osier::direct {

std::unique_ptr<DeviceStep> direct_of_twin(const Model& model, const DeviceStepOptions& options) {
  return make_direct(Backend::host, model, options);
}

}  // namespace osier::direct
