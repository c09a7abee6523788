// A rectangular net of crossing rods.
#pragma once

#include "scene/structure.hpp"

namespace osier {

class Net : public Structure {
 public:
  int nx = 10, ny = 10, segments_per_cell = 1;
  double cell = 0.1;
  Vec3d corner, along{1, 0, 0}, across{0, 0, 1};
  bool knots = true;
  double stretch_shear = 500, bend_twist = 1e-3, line_density = 0.05, radius = 0.005;
  double tau = 0;

  static const char* kind() { return "structure_net"; }
  static const char* help() {
    return "Rods in two directions that share a vertex at every crossing. Pieces: `.row0`, ... run along `along`, `.column0`, "
           "... "
           "along `across`; groups: `.border` and `.corners`.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("nx", nx, "Cells along `along`", {.min = 1});
    f("ny", ny, "Cells along `across`", {.min = 1});
    f("segments_per_cell", segments_per_cell, "Segments of a cell's side", {.min = 1});
    f("cell", cell, "Side of a cell", {.unit = "m", .min = 0, .above_min = true});
    f("corner", corner, "Where the first row and the first column meet", {.unit = "m"});
    f("along", along, "Direction of the rows; need not be a unit vector");
    f("across", across, "Direction of the columns; need not be a unit vector, nor at a right angle with `along`");
    f("knots", knots, "Whether crossing rods keep their angle; otherwise they turn freely about their common vertex");
    f("stretch_shear", stretch_shear, "Stretching and shearing stiffness", {.unit = "N", .min = 0, .above_min = true});
    f("bend_twist", bend_twist, "Bending and twisting stiffness; 0 makes cables, without joints or knots",
      {.unit = "N·m²", .min = 0});
    f("line_density", line_density, "Line density", {.unit = "kg/m", .min = 0, .above_min = true});
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true});
    f("tau", tau, "Kelvin–Voigt time of stretching and bending", {.unit = "s", .min = 0});
    f("color", color, "Colour in pictures, in the viewer and in files that hold colours");
  }
  void check(Problems& problems) const override;
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "net"; }
};

}  // namespace osier
