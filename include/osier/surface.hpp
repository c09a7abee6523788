// The surface of something that is no rod, for those who show it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "osier/types.hpp"

namespace osier {

struct Surface {
  std::string name;
  bool moves = false;
  bool from_inside = false;                     ///< a wall around rods: seen from inside alone, or it would hide them
  std::vector<Vec3d> points;                    ///< [m]
  std::vector<std::array<Index, 3>> triangles;  ///< counter-clockwise from where rods may be
};

/// The points of all, one after the other.
inline std::vector<Vec3d> points_of(const std::vector<Surface>& surfaces) {
  std::vector<Vec3d> all;
  for (const Surface& s : surfaces) all.insert(all.end(), s.points.begin(), s.points.end());
  return all;
}
inline bool any_moves(const std::vector<Surface>& surfaces) {
  for (const Surface& s : surfaces)
    if (s.moves) return true;
  return false;
}

}  // namespace osier
