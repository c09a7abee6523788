// The kernels of sweeps as the host runs them one after the other.
#include "solvers/stable_cosserat/sweep_kernels.hpp"

namespace osier::stable_cosserat {

std::unique_ptr<DeviceSweep> sweep_of_twin(const Model& model, const DeviceSweepOptions& options) {
  return make_sweep(Backend::host, model, options);
}

}  // namespace osier::stable_cosserat
