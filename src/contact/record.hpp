// What touched in a step, for those who look at it afterwards: probes, writers, the viewer, the certificate.
#pragma once

#include <array>
#include <vector>

#include "contact/candidates.hpp"

namespace osier::contact {

/// A contact at the end of a step. The force on its vertex j is weight_j times `push`: segment a has negative weights and segment
/// b positive ones; against an obstacle, `push` is the force on the rod.
struct Touch {
  Pair pair;
  std::array<Index, 4> vertex{-1, -1, -1, -1};  ///< -1 where there is none
  std::array<double, 4> weight{};
  Vec3d push;         ///< normal force and friction [N]
  Vec3d friction;     ///< the second of these
  double normal = 0;  ///< size of the normal force [N]
  Vec3d place;        ///< on the side of segment a [m]
  Vec3d surface;      ///< against an obstacle: the point of it that is touched [m]
  double gap = 0;     ///< distance of the centrelines, or of the centreline and the surface, less the radii [m]
};

struct Record {
  std::vector<Touch> touches;          ///< ascending by pair
  bool late = false;                   ///< something prescribed was held back, because it would have torn rods through each other
  Index late_vertex = -1;              ///< such a vertex; -1: obstacles alone
  std::vector<double> obstacle_share;  ///< of its motion that each obstacle has made; empty: all of it
  double list_seconds = 0;             ///< that finding the pairs that may touch took, in all of the step
  int lists = 0;                       ///< of pairs that the step made
  void clear() { *this = {}; }
};

}  // namespace osier::contact
