// The period of a swing of any size: when does the line between a rod's ends pass a plane through its start?
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Swing final : public Instrument {
 public:
  std::string rod;
  Vec3d direction{1, 0, 0};

  static const char* kind() { return "swing"; }
  static const char* help() {
    return "Times at which a rod's last vertex is level with its first one along a direction. Columns: first (the first such "
           "time), "
           "period (from there to the last, in whole periods; not a number when there is none) [s].";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("rod", rod, "Which rod; the first when left out");
    f("direction", direction, "Direction of the swing where it passes its middle");
  }
  void prepare(const Scene& scene, Problems& problems) override;
  std::vector<std::string> columns() const override { return {"first", "period"}; }
  void start(const Simulation& simulation) override { samples_.clear(), step(simulation); }
  void step(const Simulation& simulation) override;
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  Index from_ = 0, to_ = 0;
  std::vector<double> samples_;
};

}  // namespace osier::validate
