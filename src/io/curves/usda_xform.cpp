#include "io/curves/usda_xform.hpp"

#include <fmt/format.h>
#include <numbers>

#include "io/curves/scan.hpp"
#include "io/curves/usda_scanner.hpp"
#include "math/quat.hpp"

namespace osier {

Affine then(const Affine& a, const Affine& b) {
  return {{b.of_direction(a.rows[0]), b.of_direction(a.rows[1]), b.of_direction(a.rows[2])}, b(a.translation)};
}

Affine inverse(const Affine& a) {
  const auto& [r0, r1, r2] = a.rows;
  const double s = 1 / dot(r0, cross(r1, r2));
  const Vec3d c0 = s * cross(r1, r2), c1 = s * cross(r2, r0), c2 = s * cross(r0, r1);  // columns
  Affine result{{{{c0.x, c1.x, c2.x}, {c0.y, c1.y, c2.y}, {c0.z, c1.z, c2.z}}}, {}};
  result.translation = -result.of_direction(a.translation);
  return result;
}

namespace {

Affine rotation(char axis, double degrees) {
  const double c = std::cos(degrees * std::numbers::pi / 180), s = std::sin(degrees * std::numbers::pi / 180);
  switch (axis) {
    case 'X':
      return {{{{1, 0, 0}, {0, c, s}, {0, -s, c}}}, {}};
    case 'Y':
      return {{{{c, 0, -s}, {0, 1, 0}, {s, 0, c}}}, {}};
    default:
      return {{{{c, s, 0}, {-s, c, 0}, {0, 0, 1}}}, {}};
  }
}

class Transform {
 public:
  Transform(const UsdaPrim& prim, double time) : prim_(prim), time_(time) {}

  /// The prim's own; `reset` says that what is above does not count.
  Affine local(bool& reset) const {
    Affine result;
    const UsdaAttribute* order = prim_.find("xformOpOrder");
    if (!order) return result;
    const std::vector<std::string> ops = UsdaLayer::strings(*order, time_);
    // The last one is the first to act on a point.
    for (std::size_t i = ops.size(); i-- > 0;) {
      if (ops[i] == "!resetXformStack!") {
        reset = true;
        break;
      }
      result = then(result, op(ops[i]));
    }
    return result;
  }

 private:
  std::vector<double> numbers(const UsdaAttribute& a, std::size_t arity) const {
    std::vector<double> v = UsdaLayer::numbers(a, arity, time_);
    if (v.size() != arity) fail(a, "has no value");
    return v;
  }

  /// `place`: an attribute or the prim.
  template <class Place>
  [[noreturn]] void fail(const Place& place, const std::string& what) const {
    UsdaScanner(*place.source)
        .fail_at(place.at, "a transform of prim " + in_quotes(prim_.name) + " " + what, "apply the transform to the points");
  }

  Affine op(std::string_view name) const {
    constexpr std::string_view kInvert = "!invert!";
    const bool inverted = name.starts_with(kInvert);
    if (inverted) name.remove_prefix(kInvert.size());
    const UsdaAttribute* a = prim_.find(name);
    if (!a) fail(prim_, "is called " + in_quotes(name) + " but is not there");
    const Affine result = value(name, *a);
    return inverted ? inverse(result) : result;
  }

  Affine value(std::string_view name, const UsdaAttribute& a) const {
    std::string_view kind = name.substr(name.find(':') + 1);  // xformOp:translate:pivot
    kind = kind.substr(0, kind.find(':'));
    Affine m;
    if (kind == "translate") {
      const auto v = numbers(a, 3);
      m.translation = {v[0], v[1], v[2]};
    } else if (kind == "scale") {
      const auto v = numbers(a, 3);
      m.rows = {{{v[0], 0, 0}, {0, v[1], 0}, {0, 0, v[2]}}};
    } else if (kind == "orient") {
      const auto v = numbers(a, 4);  // (w, x, y, z)
      Quatd q{v[1], v[2], v[3], v[0]};
      if (!(norm2(q) > 0)) fail(a, "is a zero quaternion");
      q = normalized(q);
      m.rows = {rotate(q, Vec3d{1, 0, 0}), rotate(q, Vec3d{0, 1, 0}), rotate(q, Vec3d{0, 0, 1})};
    } else if (kind == "transform") {
      const auto v = numbers(a, 16);
      if (v[3] != 0 || v[7] != 0 || v[11] != 0 || v[15] != 1) fail(a, "is not affine");
      m.rows = {{{v[0], v[1], v[2]}, {v[4], v[5], v[6]}, {v[8], v[9], v[10]}}};
      m.translation = {v[12], v[13], v[14]};
    } else if (kind.starts_with("rotate") && (kind.size() == 7 || kind.size() == 9) &&
               kind.find_first_not_of("XYZ", 6) == std::string_view::npos) {
      const std::string_view axes = kind.substr(6);  // rotateZXY turns about z first; its numbers are still x, y, z
      const auto v = numbers(a, axes.size());
      for (char axis : axes) m = then(m, rotation(axis, axes.size() == 1 ? v[0] : v[static_cast<std::size_t>(axis - 'X')]));
    } else {
      fail(a, "is of the unknown kind " + in_quotes(kind));
    }
    return m;
  }

  const UsdaPrim& prim_;
  double time_;
};

}  // namespace

Affine world_transform(const std::vector<UsdaPrim>& prims, std::size_t prim, double time) {
  Affine result;
  bool reset = false;
  for (std::optional<std::size_t> p = prim; p && !reset; p = prims[*p].parent)
    result = then(result, Transform(prims[*p], time).local(reset));
  return result;
}

}  // namespace osier
