#include "render/camera.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <sstream>

#include "core/text.hpp"

namespace osier::render {

namespace {

constexpr double kRadians = std::numbers::pi / 180;

/// The whole text as a finite number.
std::optional<double> number(const std::string& text) {
  std::size_t used = 0;
  try {
    const double value = std::stod(text, &used);
    if (used == text.size() && std::isfinite(value)) return value;
  } catch (const std::exception&) {  // nothing like a number
  }
  return {};
}

std::optional<Vec3d> vector(const std::string& text) {
  std::istringstream in(text);
  std::string part;
  std::vector<double> values;
  while (std::getline(in, part, ',')) {
    const auto value = number(part);
    if (!value) return {};
    values.push_back(*value);
  }
  if (values.size() != 3 || text.back() == ',') return {};
  return Vec3d{values[0], values[1], values[2]};
}

}  // namespace

Vec3d Camera::direction(double x, double y) const {
  return forward + ((2 * x / width - 1) * tan_x) * right + ((1 - 2 * y / height) * tan_y) * up;
}

Vec3d Camera::project(const Vec3d& point) const {
  const Vec3d d = point - position;
  const double depth = dot(d, forward);
  return {0.5 * width * (1 + dot(d, right) / (depth * tan_x)), 0.5 * height * (1 - dot(d, up) / (depth * tan_y)), depth};
}

double Camera::pixel_size(const Vec3d& point) const { return 2 * tan_y / height * std::abs(dot(point - position, forward)); }

View parse_view(const std::string& text, const char* where, Problems& problems) {
  static const std::vector<std::string> known{"from", "at", "azimuth", "elevation", "fov", "zoom"};
  View view;
  std::istringstream in(text);
  for (std::string word, value; in >> word;) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      const std::string near = closest(word, known);
      problems.add(where, fmt::format("there is no `{}`", word),
                   near.empty() ? fmt::format("use {}", join(known, ", ")) : fmt::format("did you mean `{}`?", near));
      in >> value;
      continue;
    }
    if (!(in >> value)) {
      problems.add(where, fmt::format("`{}` has no value", word), "write a word and its value in turns: fov 30");
      break;
    }
    const bool place = word == "from" || word == "at";
    const auto vec = place ? vector(value) : std::nullopt;
    const auto num = place ? std::nullopt : number(value);
    if (!vec && !num) {
      problems.add(where, fmt::format("{} {}", word, value),
                   place ? "give three numbers with commas and without blanks: 1,2,3" : "give a number");
      continue;
    }
    if (word == "from") view.from = vec;
    else if (word == "at") view.at = vec;
    else if (word == "azimuth") view.azimuth = num;
    else if (word == "elevation") view.elevation = num;
    else if (word == "fov") view.fov = *num;
    else view.zoom = *num;
  }
  if (view.fov < 1 || view.fov > 150) problems.add(where, fmt::format("fov {} degrees", view.fov), "use 1 to 150");
  if (view.zoom < 0.01 || view.zoom > 100) problems.add(where, fmt::format("zoom {}", view.zoom), "use 0.01 to 100");
  if (view.elevation && std::abs(*view.elevation) > 89) problems.add(where, "elevation beyond 89 degrees", "use -89 to 89");
  if (view.from && (view.azimuth || view.elevation))
    problems.add(where, "`from` already says where the camera stands", "leave out `azimuth` and `elevation`");
  if (view.from && view.at && norm(*view.from - *view.at) == 0)
    problems.add(where, "`from` and `at` are the same point", "move one of them");
  return view;
}

Ground::Ground(const Vec3d& upwards) : up(normalized(upwards)) {
  const Vec3d z{0, 0, 1}, minus_y{0, -1, 0};
  const Vec3d hint = std::abs(dot(up, z)) < 0.9 ? z : minus_y;
  south = normalized(hint - dot(hint, up) * up);
  east = cross(up, south);
}

std::array<Vec3d, 3> looking_from(const Ground& ground, double azimuth, double elevation) {
  const double a = azimuth * kRadians, e = elevation * kRadians;
  const Vec3d level = std::cos(a) * ground.south + std::sin(a) * ground.east;
  const Vec3d forward = -(std::cos(e) * level + std::sin(e) * ground.up);
  const Vec3d right = normalized(cross(forward, ground.up));
  return {right, cross(right, forward), forward};
}

Fit::Fit(const std::array<Vec3d, 3>& axes, double fov, int width, int height) {
  axes_ = {.position = {}, .right = axes[0], .up = axes[1], .forward = axes[2], .width = width, .height = height};
  axes_.tan_y = std::tan(fov / 2 * kRadians);
  axes_.tan_x = axes_.tan_y * width / height;
  support_.fill(-std::numeric_limits<double>::infinity());
}

void Fit::add(const Vec3d& p, double radius) {
  const double x = dot(p, axes_.right), y = dot(p, axes_.up), z = dot(p, axes_.forward);
  // A ball touches a slanted edge plane sooner than its centre does, by the length of that plane's normal.
  const double rx = radius * std::hypot(1.0, axes_.tan_x), ry = radius * std::hypot(1.0, axes_.tan_y);
  const std::array<double, 4> reach{x - axes_.tan_x * z + rx, -x - axes_.tan_x * z + rx, y - axes_.tan_y * z + ry,
                                    -y - axes_.tan_y * z + ry};
  for (std::size_t i = 0; i < 4; ++i) support_[i] = std::max(support_[i], reach[i]);
  any_ = true;
}

Camera Fit::camera(double margin) const {
  Camera c = axes_;
  if (!any_) return c;
  const auto [right, left, top, bottom] = support_;
  const double x = (right - left) / 2, y = (top - bottom) / 2;
  const double z_x = -(right + left) / (2 * c.tan_x), z_y = -(top + bottom) / (2 * c.tan_y);
  c.position = x * c.right + y * c.up + std::min(z_x, z_y) * c.forward;
  // The margin narrows the picture that was fitted to; widening it by the lens keeps what was inside inside.
  c.tan_x /= 1 - margin, c.tan_y /= 1 - margin;
  return c;
}

Camera camera_at(const Vec3d& from, const Vec3d& at, const Vec3d& up, double fov, int width, int height) {
  Camera c;
  c.position = from, c.forward = normalized(at - from), c.width = width, c.height = height;
  Vec3d right = cross(c.forward, up);
  if (norm(right) < 1e-9) right = cross(c.forward, -Ground(up).south);  // straight up or down
  c.right = normalized(right);
  c.up = cross(c.right, c.forward);
  c.tan_y = std::tan(fov / 2 * kRadians);
  c.tan_x = c.tan_y * width / height;
  return c;
}

}  // namespace osier::render
