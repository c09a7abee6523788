// Sweeps in memory of a graphics card, or of its host twin: what the solver knows of them. The kernels are in sweep_kernels.hpp.
#pragma once

#include <memory>
#include <span>

#include "forces/step_script.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/stable_cosserat/lambda.hpp"
#include "solvers/stable_cosserat/order.hpp"

namespace osier::stable_cosserat {

struct DeviceSweepOptions {
  Order order = Order::red_black;
  Lambda lambda = Lambda::secular;
  int iterations = 4;
  bool in_float = false;
};

class DeviceSweep {
 public:
  virtual ~DeviceSweep() = default;
  /// The state and the control of the next step go there.
  virtual void put(const State& state, std::span<const double> gamma) = 0;
  virtual void put(const Control& control) = 0;
  virtual void step(double h) = 0;
  /// Steps with the loads and holds of a script. Returns whether all steps since the last put() were finite.
  virtual bool run(const StepScript& script) = 0;
  /// The state comes back. Returns whether all steps since the last put() were finite.
  virtual bool get(State& state, std::span<double> gamma) = 0;
};

/// The model lasts as long as its sweeps. Kernels one after the other on the host.
std::unique_ptr<DeviceSweep> sweep_of_twin(const Model& model, const DeviceSweepOptions& options);
/// Kernels on the first CUDA device; only in programs that were built for it.
std::unique_ptr<DeviceSweep> sweep_of_cuda(const Model& model, const DeviceSweepOptions& options);

}  // namespace osier::stable_cosserat
