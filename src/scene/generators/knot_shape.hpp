// Knots as shapes of one rod.
#pragma once

#include "math/vec3.hpp"
#include "scene/shape.hpp"

namespace osier {

enum class KnotKind : std::uint8_t { overhand, trefoil, figure_eight };
template <>
struct Choices<KnotKind> {
  static constexpr std::array<const char*, 3> names{"overhand", "trefoil", "figure_eight"};
};

class KnotShape : public Shape {
 public:
  KnotKind knot = KnotKind::overhand;
  Vec3d center, along{1, 0, 0}, up{0, 1, 0};
  double size = 0.1;
  std::optional<double> length_given;

  static const char* kind() { return "shape_knot"; }
  static const char* help() {
    return "A loosely tied knot: an overhand knot with two straight ends along `along`, or a closed trefoil or figure-eight "
           "knot.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("knot", knot, "Which one");
    f("center", center, "Its middle", {.unit = "m"});
    f("along", along,
      "Direction of the ends; for closed knots an axis of the plane in which they lie. Need not be a unit vector");
    f("up", up, "The other axis of that plane; its part along `along` is dropped");
    f("size", size, "Width of the loop of an overhand knot, or diameter of a closed one",
      {.unit = "m", .min = 0, .above_min = true});
    f("length", length_given, "Length of an overhand knot with its ends, at least 9.2 times `size`; ten times when left out",
      {.unit = "m", .min = 0, .above_min = true});
  }
  void prepare(const std::string& folder, Problems& problems) override;
  double length() const override;
  bool closed() const override { return knot != KnotKind::overhand; }
  std::vector<Vec3d> sample(int segments) const override;

 private:
  std::vector<Vec3d> unit_curve() const;
  std::vector<Vec3d> curve() const;
};

}  // namespace osier
