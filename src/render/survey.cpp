#include "render/survey.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace osier::render {

void Survey::add(const Model& model, const Frame& frame, const std::vector<Vec3d>& obstacle_points) {
  for_each_living_end(model, frame, [&](const Vec3d& p, double radius) {
    const double r = thickness_ * radius;
    low_ = {std::min(low_.x, p.x - r), std::min(low_.y, p.y - r), std::min(low_.z, p.z - r)};
    high_ = {std::max(high_.x, p.x + r), std::max(high_.y, p.y + r), std::max(high_.z, p.z + r)};
    lowest_ = std::min(lowest_, dot(p, ground_.up) - r);
    const double s = dot(p, ground_.south), e = dot(p, ground_.east);
    count_ += 1, s_ += s, e_ += e, ss_ += s * s, se_ += s * e, ee_ += e * e;
  });
  // Obstacles near the rods stand on the floor as well.
  const Vec3d middle = center();
  const double near = 1.2 * radius();
  for (const Vec3d& p : obstacle_points)
    if (norm(p - middle) < near) lowest_ = std::min(lowest_, dot(p, ground_.up));
  if (!is_measured(by_)) return;
  const std::vector<double> values = measured(model, frame, by_);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (frame.segment_alive[i]) range_ = std::max(range_, std::abs(values[i]));
}

double Survey::radius() const { return empty() ? 1 : std::max(0.5 * norm(high_ - low_), 1e-9); }

double Survey::broad_azimuth() const {
  constexpr double kAside = 22;
  if (empty()) return kAside;
  const double ss = ss_ / count_ - s_ * s_ / count_ / count_, ee = ee_ / count_ - e_ * e_ / count_ / count_;
  const double se = se_ / count_ - s_ * e_ / count_ / count_;
  if (std::hypot(ss - ee, 2 * se) < 0.05 * (ss + ee)) return kAside;  // as broad from everywhere
  // Long direction at `angle` from south towards east; of the two normals the one that looks from the south.
  const double angle = 0.5 * std::atan2(2 * se, ss - ee) * 180 / std::numbers::pi;
  return (angle > 0 ? angle - 90 : angle + 90) + kAside;
}

}  // namespace osier::render
