// Shapes that are lists of points: given in the scene, read from a file, or the paper's slinky.
#pragma once

#include "io/curves/settings.hpp"
#include "scene/shape.hpp"

namespace osier {

/// What all lists of points share; a subclass says where the points come from.
class PointShape : public Shape {
 public:
  double length() const override { return polyline_length(list(), closed()); }
  std::optional<std::vector<Vec3d>> own_points() const override { return list(); }
  std::vector<Vec3d> sample(int segments) const override { return resample(list(), closed(), segments); }

 protected:
  virtual std::vector<Vec3d> list() const = 0;
};

class PointsShape : public PointShape {
 public:
  std::vector<Vec3d> points;
  bool is_closed = false;

  static const char* kind() { return "shape_points"; }
  static const char* help() { return "Straight lines between points. Without resampling each point is a vertex."; }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("points", points, "The points in order along the curve; a closed curve does not repeat its first point",
      {.unit = "m", .required = true});
    f("closed", is_closed, "Whether the last point joins the first");
  }
  void prepare(const std::string& folder, Problems& problems) override;
  bool closed() const override { return is_closed; }

 protected:
  std::vector<Vec3d> list() const override { return points; }
};

class PolylineShape : public PointShape {
 public:
  std::string file;
  CurveReadOptions reading;
  CurveEdits edits;  ///< of these the ones that say which curve and how large
  std::optional<bool> is_closed;

  static const char* kind() { return "shape_polyline"; }
  static const char* help() {
    return "One curve of a file, by its extension: see docs/formats.md. A file with another extension is text: one point per "
           "line, `x y z` in metres, separated by blanks or commas; `#` starts a comment. Blank lines in text do not matter here "
           "unless `select` is given.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("file", file, "The file; a relative name starts at the folder of the scene", {.required = true});
    edits.source_fields(f);
    reading.fields(f);
    f("closed", is_closed, "Whether the last point joins the first; what the file says when left out");
  }
  void prepare(const std::string& folder, Problems& problems) override;
  bool closed() const override { return closed_; }

 protected:
  std::vector<Vec3d> list() const override { return points_; }

 private:
  CurveSet read(const std::filesystem::path& path);

  std::vector<Vec3d> points_;
  std::vector<std::size_t> line_of_point_;  ///< when the file is text
  bool closed_ = false;
};

enum class CoilOutline : std::uint8_t { teapot };
template <>
struct Choices<CoilOutline> {
  static constexpr std::array<const char*, 1> names{"teapot"};
};

/// The slinky of the authors' published scenes of Stable Cosserat Rods: an outline wound up along z.
class CoilShape : public PointShape {
 public:
  CoilOutline outline = CoilOutline::teapot;
  int vertices = 2881;
  double scale = 5e-3;
  double rise = 0.1;

  static const char* kind() { return "shape_coil"; }
  static const char* help() {
    return "A closed outline wound into a spring along z: vertex i is outline point i mod n with y pointing up, raised in "
           "proportion to the outline length walked so far. The defaults are the slinky of the Stable Cosserat Rods paper.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("outline", outline, "The outline; `teapot` has 43 points and measures about 126 by 61 units");
    f("vertices", vertices, "Number of vertices", {.min = 2, .max = 1e7});
    f("scale", scale, "Size of one unit of the outline", {.unit = "m", .min = 0, .above_min = true});
    f("rise", rise, "Rise along z per turn", {.unit = "m"});
  }

 protected:
  std::vector<Vec3d> list() const override;
};

}  // namespace osier
