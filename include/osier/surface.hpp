// The surface of something that is no rod, for those who show it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "osier/types.hpp"

namespace osier {

struct Surface {
  std::string name;
  std::vector<Vec3d> points;                    ///< [m]
  std::vector<std::array<Index, 3>> triangles;  ///< counter-clockwise from where rods may be
};

}  // namespace osier
