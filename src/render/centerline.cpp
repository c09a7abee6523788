#include "render/centerline.hpp"

#include <algorithm>

namespace osier::render {

namespace {

/// A sharper turn between neighbours is taken for a corner and stays one.
constexpr double kCornerCosine = 0.5;

/// Shortest arc, short enough for a straight line between unit quaternions.
Quatd between(const Quatd& a, const Quatd& b, double t) { return normalized((1 - t) * a + (dot(a, b) < 0 ? -t : t) * b); }

}  // namespace

Centerline::Centerline(const Model& model, const Frame& frame, const Strand& strand, const std::vector<Rgb>& segment_color)
    : segment_(strand.segments), closed_(strand.closed) {
  const std::size_t n = segment_.size();
  for (const Index v : strand.vertices(model)) {
    position_.push_back(frame.vertex_position[v]);
    radius_.push_back(model.vertex_radius[v]);
  }
  along_.push_back(0);
  for (const Index s : segment_) along_.push_back(along_.back() + model.segment_rest_length[s]);
  std::vector<Vec3d> direction(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d edge = position_[i + 1] - position_[i];
    length_.push_back(norm(edge));
    direction[i] = length_[i] > 0 ? (1 / length_[i]) * edge : Vec3d{0, 0, 1};
    // Half a turn about d1 makes d3 point along a strand that runs against its segment.
    const Quatd q = normalized(frame.segment_frame[segment_[i]]);
    rotation_.push_back(strand.reversed[i] ? q * Quatd{1, 0, 0, 0} : q);
  }
  for (std::size_t i = 0; i <= n; ++i) {
    const bool first = i == 0 && !closed_, last = i == n && !closed_;
    const std::size_t before = first ? 0 : (i + n - 1) % n, after = last ? n - 1 : i % n;
    const bool corner = dot(direction[before], direction[after]) < kCornerCosine;
    const Vec3d middle = normalized(direction[before] + direction[after]);
    tangent_in_.push_back(corner ? direction[before] : middle);
    tangent_out_.push_back(corner ? direction[after] : middle);
    rotation_between_.push_back(between(rotation_[before], rotation_[after], 0.5));
    color_.push_back(mix(segment_color[segment_[before]], segment_color[segment_[after]], 0.5F));
  }
}

double Centerline::span_turn(std::size_t i) const {
  return std::acos(std::clamp(dot(tangent_out_[i], tangent_in_[i + 1]), -1.0, 1.0));
}

bool Centerline::corner_before(std::size_t i) const { return dot(tangent_in_[i], tangent_out_[i]) < 0.999; }

CurvePoint Centerline::at(std::size_t i, double t) const {
  const double l = length_[i], t2 = t * t, t3 = t2 * t;
  const Vec3d &a = position_[i], &b = position_[i + 1], &u = tangent_out_[i], &v = tangent_in_[i + 1];
  CurvePoint p;
  p.position = (2 * t3 - 3 * t2 + 1) * a + (3 * t2 - 2 * t3) * b + l * ((t3 - 2 * t2 + t) * u + (t3 - t2) * v);
  const Vec3d slope = (6 * t2 - 6 * t) * (a - b) + l * ((3 * t2 - 4 * t + 1) * u + (3 * t2 - 2 * t) * v);
  p.tangent = norm(slope) > 1e-9 * l ? normalized(slope) : director3(rotation_[i]);
  const Quatd q =
      t < 0.5 ? between(rotation_between_[i], rotation_[i], 2 * t) : between(rotation_[i], rotation_between_[i + 1], 2 * t - 1);
  const Vec3d d1 = rotate(q, Vec3d{1, 0, 0});
  p.d1 = normalized(d1 - dot(d1, p.tangent) * p.tangent);
  p.radius = (1 - t) * radius_[i] + t * radius_[i + 1];
  p.along = (1 - t) * along_[i] + t * along_[i + 1];
  p.color = mix(color_[i], color_[i + 1], static_cast<float>(t));
  return p;
}

}  // namespace osier::render
