#include "validate/instruments/trend.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/text.hpp"
#include "scene/setup.hpp"
#include "sim/probes.hpp"

namespace osier::validate {

void ProbeColumn::prepare(const Scene& scene, const std::string& column, const std::string& at, Problems& problems) {
  setup_ = &scene.setup();
  const std::vector<std::string> names = probe_columns(*setup_);
  const auto found = std::find(names.begin(), names.end(), column);
  place_ = static_cast<std::size_t>(found - names.begin());
  if (found != names.end()) return;
  const std::string guess = closest(column, names);
  problems.add(at, fmt::format("no probe has a column `{}`", shorten(column)),
               guess.empty() ? "use one of " + join(names, ", ") : "did you mean `" + guess + "`?");
}

double ProbeColumn::value(const Simulation& simulation) {
  probe_values(*setup_, simulation, values_);
  return values_.at(place_);
}

void Trend::step(const Simulation& simulation) {
  if (simulation.state().time < from) return;
  time_.push_back(simulation.state().time);
  value_.push_back(column_.value(simulation));
}

std::vector<double> Trend::finish(const Simulation&) {
  if (time_.empty()) throw RunError("the run ends before a trend begins");
  const auto n = static_cast<double>(time_.size());
  double time = 0, mean = 0;
  for (std::size_t i = 0; i < time_.size(); ++i) time += time_[i] / n, mean += value_[i] / n;
  double covariance = 0, variance = 0;
  for (std::size_t i = 0; i < time_.size(); ++i) {
    covariance += (time_[i] - time) * (value_[i] - mean);
    variance += (time_[i] - time) * (time_[i] - time);
  }
  const auto [least, most] = std::minmax_element(value_.begin(), value_.end());
  return {mean, variance > 0 ? covariance / variance : 0, *least, *most};
}

}  // namespace osier::validate
