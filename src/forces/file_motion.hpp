// Motion from a file: of a body, which everything held follows rigidly, or of points, which held vertices follow one by one.
//
//   body     x -> p(t) + R(t) R(0)^-1 (x - p(0)),   frames q -> R(t) R(0)^-1 q
//   points   x_i -> x_i + c_i(t) - c_i(0),          frames q_i -> T_i(t) q_i
//
// with c_i the point of the file that lies where x_i is at the start and T_i the turns without twist by which the direction of
// the curve at c_i goes from sample to sample. 0 is the start of the run. Between samples places follow cubic Hermite curves
// whose slopes are those of the parabola through three samples, or straight lines; quaternions the same with their four numbers,
// made unit. Before the first and after the last sample the motion rests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "io/curves/settings.hpp"
#include "io/motion_file.hpp"
#include "osier/error.hpp"

namespace osier {

enum class SampleInterpolation : std::uint8_t { cubic, linear };
template <>
struct Choices<SampleInterpolation> {
  static constexpr std::array<const char*, 2> names{"cubic", "linear"};
};

/// Weights of four samples at one time.
struct SampleWeights {
  std::size_t at[4] = {0, 0, 0, 0};
  double weight[4] = {1, 0, 0, 0};
};
SampleWeights sample_weights(const std::vector<double>& times, double time, SampleInterpolation how);

class FileMotion {
 public:
  std::string file, prim, select;
  std::optional<UpAxis> up;
  double scale = 1, start = 0, tolerance = 1e-4;
  SampleInterpolation interpolation = SampleInterpolation::cubic;
  std::string where;

  static const char* kind() { return "motion_file"; }
  static const char* help() {
    return "Recorded motion: a table (.csv) or a prim of a .usda file moves as one body, and what is held goes with it from "
           "where "
           "it is at the start; without `prim`, held vertices follow the points of the animated curves of a .usda file, each the "
           "one at its place. See docs/formats.md.";
  }
  /// Just the name of the file.
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("file", file,
      "A .csv table (time, x, y, z and, where it turns, the quaternion qx, qy, qz, qw) or a .usda file; a relative name starts "
      "at "
      "the folder of the scene",
      {.required = true});
    f("prim", prim, "Of a .usda file, the prim whose space moves: its path, or its name. Without, curves are followed");
    f("select", select, "Which curves of a .usda file, as in `curves`; all when left out");
    f("up", up, "Axis that is up in the file, turned to y; replaces what the file itself says (y when it says nothing)");
    f("scale", scale, "Factor on lengths: metres per unit of the file", {.min = 0, .above_min = true});
    f("start", start, "Time of the file, in seconds, at which the run begins", {.unit = "s"});
    f("interpolation", interpolation, "Between samples: `cubic`, smooth, or `linear`, in straight lines");
    f("tolerance", tolerance, "Largest distance between a held vertex and the point of the curves that it follows",
      {.unit = "m", .min = 0});
  }

  /// Reads the file; problems otherwise.
  void load(const std::string& folder, Problems& problems);
  /// Finds the points that these places follow, one each; `turning`: their directions count too. For a body there is nothing to
  /// do.
  void follow(const std::vector<Vec3d>& places, bool turning, Problems& problems);

  bool is_of_body() const { return recorded_.is_of_body(); }
  bool turns() const { return !is_of_body() || recorded_.has_rotation; }

  /// The motion at one time, worked out once for everything held.
  struct Moment {
    Vec3d center, shift;  ///< of the body
    Quatd turn;           ///< likewise
    const FileMotion* points = nullptr;
    SampleWeights now;
    Vec3d place(const Vec3d& x, std::size_t item) const;
    Quatd turn_of(std::size_t item) const;
  };
  Moment at(double time) const;

 private:
  struct Followed {
    std::vector<Vec3d> place;  ///< one for each sample
    std::vector<Quatd> turn;   ///< likewise, where directions count
    Vec3d place_at_start;
    Quatd turn_at_start;
  };
  RecordedMotion recorded_;
  SampleWeights at_start_;
  std::vector<Followed> followed_;
};

}  // namespace osier
