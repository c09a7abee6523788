// A strand as a smooth curve with frames: Hermite spans between vertices.
#pragma once

#include <vector>

#include "math/quat.hpp"
#include "model/strands.hpp"
#include "osier/frame.hpp"
#include "render/color.hpp"

namespace osier::render {

/// One place on the curve.
struct CurvePoint {
  Vec3d position, tangent;  ///< tangent: unit
  Vec3d d1;                 ///< material axis across the tangent
  double radius = 0;
  double along = 0;  ///< material coordinate: rest length from the strand's start [m]
  Rgb color;
};

class Centerline {
 public:
  Centerline(const Model& model, const Frame& frame, const Strand& strand, const std::vector<Rgb>& segment_color);

  std::size_t spans() const { return segment_.size(); }
  bool closed() const { return closed_; }
  double length() const { return along_.back(); }  ///< at rest
  double span_length(std::size_t i) const { return length_[i]; }
  double span_rest_length(std::size_t i) const { return along_[i + 1] - along_[i]; }
  /// Angle between the tangents at the two ends of a span.
  double span_turn(std::size_t i) const;
  /// The rod has a corner between this span and the one before it.
  bool corner_before(std::size_t i) const;
  const Vec3d& vertex(std::size_t i) const { return position_[i]; }
  double radius(std::size_t i) const { return radius_[i]; }
  /// t from 0 to 1 along span i.
  CurvePoint at(std::size_t i, double t) const;

 private:
  std::vector<Index> segment_;
  bool closed_ = false;
  std::vector<Vec3d> position_;  ///< spans + 1, the first again at the end of a closed strand
  std::vector<double> radius_, along_;
  std::vector<double> length_;                   ///< of the chords
  std::vector<Vec3d> tangent_in_, tangent_out_;  ///< at vertex i, of the span before and after it; equal unless a corner
  std::vector<Quatd> rotation_;                  ///< per span, its d3 along the strand
  std::vector<Quatd> rotation_between_;          ///< per vertex, halfway between its spans
  std::vector<Rgb> color_;                       ///< per vertex
};

}  // namespace osier::render
