// Every instrument and every experiment of the validation catalogue. A new one is a file and a line below.
#include <algorithm>
#include <fmt/format.h>

#include "core/fields.hpp"
#include "validate/experiments/barrier_gap.hpp"
#include "validate/experiments/certified.hpp"
#include "validate/experiments/descent.hpp"
#include "validate/experiments/gradient_check.hpp"
#include "validate/experiments/lambda_bounds.hpp"
#include "validate/experiments/quaternion_signs.hpp"
#include "validate/experiments/refine_step.hpp"
#include "validate/experiments/rest_drift.hpp"
#include "validate/experiments/reversal.hpp"
#include "validate/experiments/rigid_motion.hpp"
#include "validate/experiments/rigid_spin.hpp"
#include "validate/experiments/steady_state.hpp"
#include "validate/instrument.hpp"
#include "validate/instruments/extent.hpp"
#include "validate/instruments/knot.hpp"
#include "validate/instruments/mass.hpp"
#include "validate/instruments/onset.hpp"
#include "validate/instruments/swing.hpp"
#include "validate/instruments/touching.hpp"
#include "validate/instruments/trend.hpp"
#include "validate/instruments/turning.hpp"
#include "validate/instruments/vibration.hpp"

namespace osier {

template <>
std::span<const RegistryEntry<validate::Instrument>> registry<validate::Instrument>() {
  static const std::array entries{
      registry_entry<validate::Instrument, validate::Turning>("turning", validate::Turning::help()),
      registry_entry<validate::Instrument, validate::Extent>("extent", validate::Extent::help()),
      registry_entry<validate::Instrument, validate::Vibration>("vibration", validate::Vibration::help()),
      registry_entry<validate::Instrument, validate::Swing>("swing", validate::Swing::help()),
      registry_entry<validate::Instrument, validate::Mass>("mass", validate::Mass::help()),
      registry_entry<validate::Instrument, validate::Trend>("trend", validate::Trend::help()),
      registry_entry<validate::Instrument, validate::Onset>("onset", validate::Onset::help()),
      registry_entry<validate::Instrument, validate::Touching>("touching", validate::Touching::help()),
      registry_entry<validate::Instrument, validate::Knot>("knot", validate::Knot::help()),
  };
  return entries;
}

template <>
std::span<const RegistryEntry<validate::Experiment>> registry<validate::Experiment>() {
  using validate::Experiment;
  static const std::array entries{
      registry_entry<Experiment, validate::RefineStep>("refine_step", validate::RefineStep::help()),
      registry_entry<Experiment, validate::RigidMotion>("rigid_motion", validate::RigidMotion::help()),
      registry_entry<Experiment, validate::Reversal>("reversal", validate::Reversal::help()),
      registry_entry<Experiment, validate::RestDrift>("rest_drift", validate::RestDrift::help()),
      registry_entry<Experiment, validate::QuaternionSigns>("quaternion_signs", validate::QuaternionSigns::help()),
      registry_entry<Experiment, validate::GradientCheck>("gradient_check", validate::GradientCheck::help()),
      registry_entry<Experiment, validate::Descent>("descent", validate::Descent::help()),
      registry_entry<Experiment, validate::LambdaBounds>("lambda_bounds", validate::LambdaBounds::help()),
      registry_entry<Experiment, validate::RigidSpin>("rigid_spin", validate::RigidSpin::help()),
      registry_entry<Experiment, validate::SteadyState>("steady_state", validate::SteadyState::help()),
      registry_entry<Experiment, validate::BarrierGap>("barrier_gap", validate::BarrierGap::help()),
      registry_entry<Experiment, validate::Certified>("certified", validate::Certified::help()),
  };
  return entries;
}

namespace validate {

const RodInfo* find_rod(const Scene& scene, const std::string& name, const std::string& at, Problems& problems) {
  const std::vector<RodInfo>& rods = scene.model().rods;
  std::vector<std::string> names;
  for (const RodInfo& r : rods) {
    if (name.empty() || r.name == name) return &r;
    names.push_back(r.name);
  }
  const std::string guess = closest(name, names);
  problems.add(at, fmt::format("there is no rod `{}`", shorten(name)),
               guess.empty() ? "rods: " + join(names, ", ") : "did you mean `" + guess + "`?");
  return nullptr;
}

}  // namespace validate

}  // namespace osier
