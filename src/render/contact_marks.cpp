#include "render/contact_marks.hpp"

#include <algorithm>

namespace osier::render {

namespace {

constexpr double kLeastBall = 1.2;   ///< least radius of a ball [pixels]
constexpr double kHeadLength = 3.2;  ///< of an arrow, in radii of the ball
constexpr double kHeadRadius = 1.2;  ///< likewise

class Marker {
 public:
  Marker(const Camera& camera, const ContactMarks& marks, Geometry& geometry)
      : camera_(camera), marks_(marks), geometry_(geometry) {}

  void ball(const Vec3d& place, const Rgb& color) {
    const double r = radius_at(place);
    const Vec3d step{1e-3 * r, 0, 0};  // a piece needs a length
    piece(place - step, r, place + step, r, color);
  }

  void arrow(const Vec3d& place, const Vec3d& force, const Rgb& color) {
    const double length = marks_.scale * norm(force), r = radius_at(place);
    if (!(length > r)) return;
    const Vec3d direction = normalized(force);
    const double head = std::min(kHeadLength * r, 0.6 * length);
    const Vec3d tip = place + length * direction, neck = tip - head * direction;
    piece(place, 0.5 * r, neck, 0.5 * r, color);
    piece(neck, kHeadRadius * r, tip, 0.02 * r, color);
  }

 private:
  double radius_at(const Vec3d& place) const { return std::max(marks_.radius, kLeastBall * camera_.pixel_size(place)); }

  void piece(const Vec3d& from, double from_radius, const Vec3d& to, double to_radius, const Rgb& color) {
    geometry_.piece.push_back(static_cast<std::uint32_t>(geometry_.point.size()));
    geometry_.neighbors.push_back(0);
    const Vec3f tangent = cast<float>(normalized(to - from));
    const auto add = [&](const Vec3d& p, double r) {
      geometry_.point.push_back(
          {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z), static_cast<float>(r)});
      geometry_.tangent.push_back(tangent);
      geometry_.color.push_back(color);
    };
    add(from, from_radius), add(to, to_radius);
  }

  const Camera& camera_;
  const ContactMarks& marks_;
  Geometry& geometry_;
};

}  // namespace

Rgb normal_force_color() { return *parse_hex("#d1352b"); }
Rgb friction_force_color() { return *parse_hex("#2f9e44"); }

void add_contact_marks(std::span<const ContactPoint> contacts, const ContactMarks& marks, const Camera& camera,
                       Geometry& geometry) {
  static const Rgb kBall = *parse_hex("#f2c230");
  geometry.plain_from = geometry.piece.size();
  Marker marker(camera, marks, geometry);
  for (const ContactPoint& c : contacts) {
    marker.ball(c.position, kBall);
    for (const double side : {1.0, -1.0}) {
      if (side < 0 && c.b < 0) break;  // what an obstacle bears would lie inside of it
      marker.arrow(c.position, side * c.normal_force, normal_force_color());
      marker.arrow(c.position, side * c.friction_force, friction_force_color());
    }
  }
}

}  // namespace osier::render
