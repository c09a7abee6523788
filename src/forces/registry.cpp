#include "core/fields.hpp"
#include "forces/attachment.hpp"
#include "forces/force.hpp"
#include "forces/loads.hpp"
#include "forces/springs.hpp"
#include "forces/supports.hpp"
#include "forces/wind.hpp"

namespace osier {

template <>
std::span<const RegistryEntry<Force>> registry<Force>() {
  static const RegistryEntry<Force> entries[] = {
      registry_entry<Force, Gravity>("gravity", "The same acceleration for every vertex"),
      registry_entry<Force, Drag>("drag", "Linear resistance to motion"),
      registry_entry<Force, Wind>("wind", "Travelling gusts"),
      registry_entry<Force, DeadForce>("force", "A dead force on vertices"),
      registry_entry<Force, Torque>("torque", "A dead or follower couple on segments"),
  };
  return entries;
}

template <>
std::span<const RegistryEntry<Attachment>> registry<Attachment>() {
  static const RegistryEntry<Attachment> entries[] = {
      registry_entry<Attachment, Pin>("pin", "Holds vertices"),
      registry_entry<Attachment, Fix>("fix", "Holds segment frames (first order)"),
      registry_entry<Attachment, Clamp>("clamp", "Holds position and frame at a vertex (second order)"),
      registry_entry<Attachment, Motor>("motor", "Drives a segment's frame at a speed or by a torque-speed curve"),
      registry_entry<Attachment, Hinge>("hinge", "Holds a vertex; one segment turns about an axis"),
      registry_entry<Attachment, Roller>("roller", "Holds vertices along one direction"),
      registry_entry<Attachment, Slider>("slider", "A clamp that slides along an axis"),
      registry_entry<Attachment, Symmetry>("symmetry", "Ends of rods at a plane of symmetry"),
      registry_entry<Attachment, Plane>("plane", "Motion in two dimensions"),
      registry_entry<Attachment, SpringLink>("spring", "Springs and dampers between vertices or to a place"),
      registry_entry<Attachment, Foundation>("foundation", "Elastic support along rods"),
  };
  return entries;
}

}  // namespace osier
