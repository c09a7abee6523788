// When something begins: the first time at which a probe's column is larger than a bound, either way.
#pragma once

#include "validate/instruments/trend.hpp"

namespace osier::validate {

class Onset final : public Instrument {
 public:
  std::string of;
  double above = 0, from = 0;

  static const char* kind() { return "onset"; }
  static const char* help() {
    return "The end of the first step after which a probe's column is further from 0 than a bound. Column: time [s].";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("of", of, "A column of the scene's probes, as `tip.vx`", {.required = true});
    f("above", above, "The bound", {.min = 0});
    f("from", from, "Time from which on it counts", {.unit = "s"});
  }
  void prepare(const Scene& scene, Problems& problems) override { column_.prepare(scene, of, where + "/of", problems); }
  std::vector<std::string> columns() const override { return {"time"}; }
  void step(const Simulation& simulation) override;
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  ProbeColumn column_;
  double time_ = -1;
};

}  // namespace osier::validate
