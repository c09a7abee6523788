// How wide a rod is in one direction. The widest place of a curve lies between vertices, so a parabola goes through the three
// widest ones; the vertex alone would spoil the order of convergence.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Extent final : public Instrument {
 public:
  std::string rod;
  Vec3d direction{1, 0, 0};

  static const char* kind() { return "extent"; }
  static const char* help() { return "Size of a rod along a direction. Columns: least, most, size [m]."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
    f("rod", rod, "Which rod; the first when left out");
    f("direction", direction, "Direction of measurement");
  }
  void prepare(const Scene& scene, Problems& problems) override;
  std::vector<std::string> columns() const override { return {"least", "most", "size"}; }
  std::vector<double> finish(const Simulation& simulation) override;

 private:
  double farthest(const State& state, double sign) const;
  std::vector<Index> vertices_;
  bool closed_ = false;
};

}  // namespace osier::validate
