// Sweeps in memory of a graphics card, or of its host twin: what the solver knows of them. The kernels are in sweep_kernels.hpp.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "contact/contacts.hpp"
#include "contact/record.hpp"
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
  /// Before the control: contacts, and what the state remembers of them. They last as long as steps are made with them.
  virtual void put(const contact::Contacts& contacts, const State& state) = 0;
  virtual void put(const Control& control) = 0;
  virtual void step(double h) = 0;
  /// Steps with the loads and holds of a script. Returns whether all steps since the last put() were finite.
  virtual bool run(const StepScript& script) = 0;
  /// The state comes back. Returns whether all steps since the last put() were finite.
  virtual bool get(State& state, std::span<double> gamma) = 0;
  /// In the last step, or in one of the last script, something prescribed was held back by the guard.
  virtual bool was_late() const = 0;
  /// What touched in the last step with contact.
  virtual void tell(contact::Record& record) = 0;
  /// Of the last step with contact, in double.
  virtual std::vector<Vec3d> displacements() const = 0;

  /// For whoever observes a step with contact: it begins, or begins again; and a motion has been taken, to these displacements.
  std::function<void()> on_begin;
  std::function<void(const std::vector<Vec3d>&)> on_motion;
};

/// The model lasts as long as its sweeps. Kernels one after the other on the host.
std::unique_ptr<DeviceSweep> sweep_of_twin(const Model& model, const DeviceSweepOptions& options);
/// Kernels on the first CUDA device; only in programs that were built for it.
std::unique_ptr<DeviceSweep> sweep_of_cuda(const Model& model, const DeviceSweepOptions& options);

}  // namespace osier::stable_cosserat
