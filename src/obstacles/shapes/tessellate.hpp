// Surfaces of shapes for those who draw them.
#pragma once

#include <functional>

#include "obstacles/rigid.hpp"
#include "osier/surface.hpp"

namespace osier {

/// A profile of (distance from the axis, height) turned about the third axis of a pose, 48 times. Inside out when `inward`.
Surface turned_surface(const std::vector<std::array<double, 2>>& profile, const Pose& pose, bool inward, int sides = 48);
/// Half extents along the axes of a pose.
Surface box_surface(const Vec3d& half, const Pose& pose, bool inward);
/// The pose whose third axis runs from one point to the other, about their middle.
Pose pose_between(const Vec3d& from, const Vec3d& to);

}  // namespace osier
