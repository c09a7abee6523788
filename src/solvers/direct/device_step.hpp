// Direct steps of strands in memory of a graphics card, or of its host twin: what the solver knows of them. The kernels are in
// device_kernels.hpp.
#pragma once

#include <memory>
#include <vector>

#include "core/archive.hpp"
#include "forces/step_script.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier::direct {

struct DeviceStepOptions {
  int iterations = 0;  ///< fixed number, or 0: until the tolerance is met
  int max_iterations = 50;
  double tolerance = 1e-3;
  bool in_float = false;
  bool in_pieces = false;  ///< chains are cut into pieces, in double (needs_pieces())
};

struct DeviceStepReport {
  int iterations = 0;
  bool unsettled = false;
  /// Strands whose energy rose, by their segments [first, end): the step has left them as they were.
  std::vector<std::pair<Index, Index>> rose;
};

class DeviceStep {
 public:
  virtual ~DeviceStep() = default;
  virtual void put(const State& state) = 0;
  virtual void get(State& state) const = 0;
  /// Saves or restores what is kept from step to step beside the state.
  virtual void carry(Archive& archive) = 0;
  /// One step by a control.
  virtual DeviceStepReport step(const Control& control, double h) = 0;
  /// Steps of a script are begun once, and then taken one after the other.
  virtual void begin(const StepScript& script) = 0;
  virtual DeviceStepReport step(int number) = 0;
};

/// Kernels one after the other on the host.
std::unique_ptr<DeviceStep> direct_of_twin(const Model& model, const DeviceStepOptions& options);
/// Kernels on the first CUDA device; only in programs that were built for it.
std::unique_ptr<DeviceStep> direct_of_cuda(const Model& model, const DeviceStepOptions& options);

}  // namespace osier::direct
