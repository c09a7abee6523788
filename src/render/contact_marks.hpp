// Contacts in a picture: a ball where surfaces touch, and arrows for the forces on what touches there.
#pragma once

#include "osier/frame.hpp"
#include "render/geometry.hpp"

namespace osier::render {

/// What normal force and friction are drawn in.
Rgb normal_force_color();
Rgb friction_force_color();

struct ContactMarks {
  double scale = 0;   ///< length of an arrow per newton [m/N]
  double radius = 0;  ///< of balls; arrows are half as thick [m]
};

/// A force on a rod starts at the contact and leads out of the rod on its far side. Between two rods there are two of them, one
/// on each. Must be added last.
void add_contact_marks(std::span<const ContactPoint> contacts, const ContactMarks& marks, const Camera& camera,
                       Geometry& geometry);

}  // namespace osier::render
