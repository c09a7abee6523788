// Loads. One header per family, one line in registry.cpp.
#pragma once

#include <string>

#include "core/fields.hpp"
#include "exec/parallel.hpp"
#include "model/selection.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"

namespace osier {

struct LoadContext {
  const Model& model;
  const State& state;  ///< start of the step
  double time;         ///< end of the step [s]
  double ramp;         ///< 1, or the load factor of a static analysis
  const Executor& executor;
  /// f(v) for every vertex, on the threads there are.
  template <class F>
  void each_vertex(const F& f) const {
    executor.for_each(static_cast<std::size_t>(model.vertex_count()), [&](std::size_t v) { f(static_cast<Index>(v)); });
  }
};

class Force {
 public:
  virtual ~Force() = default;
  /// Turns selections into indices.
  virtual void bind(const Names& names, Problems& problems) { (void)names, (void)problems; }
  /// Adds to the control. A load may be linear in the new velocity, f - c v_new: then it cannot make a step unstable.
  virtual void apply(const LoadContext& context, Control& control) const = 0;
  /// Potential energy of a conservative load, for diagnostics [J].
  virtual double potential(const LoadContext& context) const { return (void)context, 0; }
  std::string where;
};

template <>
std::span<const RegistryEntry<Force>> registry<Force>();

}  // namespace osier
