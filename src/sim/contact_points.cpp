#include "sim/contact_points.hpp"

#include "math/vec3.hpp"

namespace osier {

namespace {

/// The nearest point of the second segment, which the record does not name.
Vec3d place_on_b(const contact::Touch& touch, const State& state) {
  Vec3d place;
  double weights = 0;
  for (std::size_t j = 2; j < 4; ++j) {
    place += touch.weight[j] * state.vertex_position[static_cast<std::size_t>(touch.vertex[j])];
    weights += touch.weight[j];
  }
  return (1 / weights) * place;
}

}  // namespace

void list_contact_points(const contact::Record& record, const Contacts& contacts, const State& state,
                         std::vector<ContactPoint>& out) {
  out.clear();
  for (const contact::Touch& touch : record.touches) {
    const double share_of_a = touch.weight[0] + touch.weight[1];
    ContactPoint point;
    point.a = touch.pair.a, point.b = touch.pair.b, point.gap = touch.gap;
    point.friction_force = share_of_a * touch.friction;
    point.normal_force = share_of_a * (touch.push - touch.friction);
    if (touch.pair.with_obstacle()) {
      point.position = touch.surface;
    } else {
      const double a = contacts.radius(touch.pair.a), b = contacts.radius(touch.pair.b);
      point.position = touch.place + (a / (a + b)) * (place_on_b(touch, state) - touch.place);
    }
    out.push_back(point);
  }
}

}  // namespace osier
