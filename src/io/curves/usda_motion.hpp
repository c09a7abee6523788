// What moves in a USD file: its curves, or the space of one prim.
#pragma once

#include <string>
#include <vector>

#include "io/curves/source.hpp"
#include "io/curves/usda_xform.hpp"
#include "osier/curves.hpp"

namespace osier {

struct CurveAnimation {
  std::vector<double> times;     ///< [s], ascending
  std::vector<CurveSet> curves;  ///< one set for each time, as in the file: not turned
};
CurveAnimation read_usda_animation(const CurveSource& source);

struct PrimMotion {
  std::vector<double> times;     ///< [s], ascending
  std::vector<Affine> to_world;  ///< in metres
  UpAxis up = UpAxis::y;
};
/// `prim`: `/World/Gripper`, or the name of the only prim that is called so.
PrimMotion read_usda_prim(const CurveSource& source, const std::string& prim);

}  // namespace osier
