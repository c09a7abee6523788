// Analytic shapes: line, arc, circle, helix, sampled at equal arc length.
//
// Chords of a curve of curvature k are shorter than their arcs by the share (k l)^2/24, and so would be the rod's length and
// mass. A rod that keeps its length has its vertices outside the curve, at the radius
//
//   r' = r (a/2)/sin(a/2)      a: the turn from one vertex to the next
//
// so that every chord is as long as its arc: the rod's length, mass, curvature and pitch are those of the curve. It starts on the
// curve; other vertices lie beside it by up to r (a^2)/12. A full turn ends where it began.
#pragma once

#include "math/vec3.hpp"
#include "scene/shape.hpp"

namespace osier {

/// r'/r of vertices whose chords are as long as their arcs; `turn`: from one vertex to the next [rad]. With less than two
/// segments per turn there is no such polygon, and vertices stay on the curve.
double widening(double turn);

class LineShape : public Shape {
 public:
  Vec3d from, to{1, 0, 0};

  static const char* kind() { return "shape_line"; }
  static const char* help() { return "A straight line."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("from", from, "First point", {.unit = "m", .required = true});
    f("to", to, "Last point", {.unit = "m", .required = true});
  }
  void prepare(const std::string& folder, Problems& problems) override;
  double length() const override { return norm(to - from); }
  std::vector<Vec3d> sample(int segments) const override;
};

class ArcShape : public Shape {
 public:
  Vec3d center, normal{0, 0, 1}, start{1, 0, 0};
  double radius = 1, angle = 90;
  CurveKeep keep = CurveKeep::length;

  static const char* kind() { return "shape_arc"; }
  static const char* help() { return "A circular arc, counterclockwise about `normal` for a positive angle."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("center", center, "Centre of the circle", {.unit = "m"});
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("normal", normal, "Normal of the plane; need not be a unit vector");
    f("start", start, "Direction from the centre to the first point; its part along `normal` is dropped");
    f("angle", angle, "Angle from the first to the last point; negative turns clockwise about `normal`",
      {.unit = "°", .required = true});
    f("keep", keep,
      "What the sampled curve has in common with the true one: its `length` (and so the mass; it starts on the curve, and other "
      "vertices lie beside it by up to a share (k l)²/12 of the radius, k l being the turn of a segment), or `points` (vertices "
      "lie on the curve; the rod is shorter by a share (k l)²/24)");
  }
  void prepare(const std::string& folder, Problems& problems) override;
  double length() const override;
  std::vector<Vec3d> sample(int segments) const override;
};

class CircleShape : public Shape {
 public:
  Vec3d center, normal{0, 0, 1}, start{1, 0, 0};
  double radius = 1;
  CurveKeep keep = CurveKeep::length;

  static const char* kind() { return "shape_circle"; }
  static const char* help() { return "A full circle, closed, counterclockwise about `normal`."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("center", center, "Centre", {.unit = "m"});
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("normal", normal, "Normal of the plane; need not be a unit vector");
    f("start", start, "Direction from the centre to the first vertex; its part along `normal` is dropped");
    f("keep", keep,
      "What the sampled curve has in common with the true one: its `length` (and so the mass; vertices lie outside the curve by "
      "a "
      "share (k l)²/24 of the radius, k l being the turn of a segment), or `points` (vertices lie on the curve; the rod is "
      "shorter "
      "by that share)");
  }
  void prepare(const std::string& folder, Problems& problems) override;
  double length() const override;
  bool closed() const override { return true; }
  std::vector<Vec3d> sample(int segments) const override;
};

/// Turns counterclockwise about `axis` while moving by `pitch` along it per turn: right-handed for pitch > 0, left-handed for
/// pitch < 0 (which descends; reverse `axis` as well for a left-handed helix that climbs).
class HelixShape : public Shape {
 public:
  Vec3d center, axis{0, 0, 1}, start{1, 0, 0};
  double radius = 1, pitch = 1, turns = 1;
  CurveKeep keep = CurveKeep::length;

  static const char* kind() { return "shape_helix"; }
  static const char* help() {
    return "A helix that turns counterclockwise about `axis`: right-handed for a positive pitch, left-handed for a negative one.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("center", center, "Point of the axis beside the first point of the curve", {.unit = "m"});
    f("axis", axis, "Direction of the axis; need not be a unit vector");
    f("start", start, "Direction from the axis to the first point; its part along `axis` is dropped");
    f("radius", radius, "Radius", {.unit = "m", .min = 0, .above_min = true, .required = true});
    f("pitch", pitch, "Advance along `axis` per turn; negative for a left-handed helix, which runs against `axis`",
      {.unit = "m", .required = true});
    f("turns", turns, "Number of turns, whole or not", {.min = 0, .above_min = true, .required = true});
    f("keep", keep,
      "What the sampled curve has in common with the true one: its `length` (and so the mass; it starts on the curve, and other "
      "vertices lie beside it by up to a share (k l)²/12 of the radius, k l being the turn of a segment), or `points` (vertices "
      "lie on the curve; the rod is shorter by a share (k l)²/24)");
  }
  void prepare(const std::string& folder, Problems& problems) override;
  double length() const override;
  std::vector<Vec3d> sample(int segments) const override;
};

}  // namespace osier
