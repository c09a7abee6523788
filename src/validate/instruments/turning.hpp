// How far a rod's tangent turns from one end to the other, whole turns included: a tip position cannot tell one turn from two.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Turning final : public Instrument {
 public:
  std::string rod;
  Vec3d axis{0, 0, 1}, from{1, 0, 0};

  static const char* kind() { return "turning"; }
  static const char* help() {
    return "Angle by which the tangent turns along a rod, summed segment by segment. Column: angle [rad].";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("rod", rod, "Which rod; the first when left out");
    f("axis", axis, "Axis of the turning");
    f("from", from, "Direction that counts as angle 0");
  }
  void prepare(const Scene& scene, Problems& problems) override;
  std::vector<std::string> columns() const override { return {"angle"}; }
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  std::vector<Index> segments_;
};

}  // namespace osier::validate
