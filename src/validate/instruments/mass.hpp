// Total mass and its centre.
#pragma once

#include "validate/instrument.hpp"

namespace osier::validate {

class Mass final : public Instrument {
 public:
  static const char* kind() { return "mass"; }
  static const char* help() { return "Mass of everything, and its centre. Columns: total [kg], x, y, z [m]."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the columns", {.required = true});
  }
  void prepare(const Scene&, Problems&) override {}
  std::vector<std::string> columns() const override { return {"total", "x", "y", "z"}; }
  std::vector<double> finish(const Simulation& simulation) override {
    double total = 0;
    Vec3d moment;
    const Model& m = simulation.model();
    for (Index v = 0; v < m.vertex_count(); ++v)
      total += m.vertex_mass[v], moment += m.vertex_mass[v] * simulation.state().vertex_position[v];
    const Vec3d centre = (1 / total) * moment;
    return {total, centre.x, centre.y, centre.z};
  }
};

}  // namespace osier::validate
