// How a probe's column goes on during the later part of a run: its mean, and the slope of the straight line nearest to it.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

/// One column of the scene's probes.
class ProbeColumn {
 public:
  /// A problem at `at` where there is no such column. The scene has to outlive this.
  void prepare(const Scene& scene, const std::string& column, const std::string& at, Problems& problems);
  double value(const Simulation& simulation);

 private:
  const Setup* setup_ = nullptr;
  std::size_t place_ = 0;
  std::vector<double> values_;
};

class Trend final : public Instrument {
 public:
  std::string of;
  double from = 0;

  static const char* kind() { return "trend"; }
  static const char* help() {
    return "A probe's column from a time to the end of the run. Columns: mean, slope (least squares) [1/s], least, most.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("of", of, "A column of the scene's probes, as `tip.x`", {.required = true});
    f("from", from, "Time from which on it counts", {.unit = "s"});
  }
  void prepare(const Scene& scene, Problems& problems) override { column_.prepare(scene, of, where + "/of", problems); }
  std::vector<std::string> columns() const override { return {"mean", "slope", "least", "most"}; }
  void step(const Simulation& simulation) override;
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  ProbeColumn column_;
  std::vector<double> time_, value_;
};

}  // namespace osier::validate
