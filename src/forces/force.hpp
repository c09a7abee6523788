// Loads. One header per family, one line in registry.cpp.
#pragma once

#include <string>

#include "core/describe.hpp"
#include "exec/simd.hpp"
#include "forces/step_script.hpp"
#include "model/selection.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct LoadContext {
  const Model& model;
  const State& state;  ///< start of the step
  double time;         ///< end of the step [s]
  double ramp;         ///< 1, or the load factor of a static analysis
  Simd simd = Simd::off;
};

class Force {
 public:
  virtual ~Force() = default;
  /// Turns selections into indices.
  virtual void bind(const Names& names, Problems& problems) { (void)names, (void)problems; }
  /// What only the model can say.
  virtual void check(const Model& model, Problems& problems) const { (void)model, (void)problems; }
  // Both add to the control. A load may be linear in the new velocity, f - c v_new: then it cannot make a step unstable.
  /// What acts everywhere, at the vertices from `begin` to `end`: called for pieces of the model, by several threads at once.
  virtual void apply_field(const LoadContext& context, Index begin, Index end, Control& control) const {
    (void)context, (void)begin, (void)end, (void)control;
  }
  /// What acts on a selection, after all fields.
  virtual void apply(const LoadContext& context, Control& control) const { (void)context, (void)control; }
  /// Adds it to the loads of a script, where it follows one rule everywhere; false where it does not.
  virtual bool tell(double time, StepLoads& loads) const { return (void)time, (void)loads, false; }
  /// Potential energy of a conservative load, for diagnostics [J].
  virtual double potential(const LoadContext& context) const { return (void)context, 0; }
  /// Its size at a time, with its unit, as in "0.5 N"; empty for what has none of its own.
  virtual std::string amount(double time, double ramp) const { return (void)time, (void)ramp, std::string(); }
  std::string where;
};

template <>
std::span<const RegistryEntry<Force>> registry<Force>();

}  // namespace osier
