// The kernels of sweeps on a CUDA device.
#include "solvers/stable_cosserat/sweep_kernels.hpp"

namespace osier::stable_cosserat {

std::unique_ptr<DeviceSweep> sweep_of_cuda(const Model& model, const DeviceSweepOptions& options) {
  return make_sweep(Backend::device, model, options);
}

}  // namespace osier::stable_cosserat
