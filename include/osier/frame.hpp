// A read-only snapshot handed to writers, viewers and scripts.
#pragma once

#include <span>

#include "osier/model.hpp"
#include "osier/types.hpp"

namespace osier {

struct Frame {
  int index = 0;    ///< 0 is the initial state
  double time = 0;  ///< [s]
  std::span<const Vec3d> vertex_position;
  std::span<const Vec3d> vertex_velocity;
  std::span<const Quatd> segment_frame;         ///< one per segment, anchors left out
  std::span<const std::uint8_t> segment_alive;  ///< 0 once a segment has broken
};

}  // namespace osier
