// Sets of curves: what curve files hold, what scenes take rods from, what a frame of a run is to a modeller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osier/error.hpp"
#include "osier/types.hpp"

namespace osier {

enum class UpAxis : std::uint8_t { x, y, z };

/// Flat arrays: a head of hair has a hundred thousand curves.
struct CurveSet {
  std::vector<Vec3d> points;          ///< all curves, one after the other; a closed curve does not repeat its first point
  std::vector<std::size_t> start{0};  ///< curve k owns points start[k] up to start[k + 1]; it may have one point or none
  std::vector<std::uint8_t> closed;   ///< per curve
  std::vector<std::string> names;     ///< per curve, or empty when the format has none
  std::vector<std::int64_t> ids;      ///< per curve, or empty
  std::vector<double> widths;         ///< diameter at each point, or empty when the format gives none

  /// Pairs of points, the lower index first, that lie at the same place and are one: where curves branch or cross. A place
  /// where several points meet is a star around its lowest index.
  std::vector<std::array<std::size_t, 2>> welds;

  /// The axis that was up in the file. The points have been turned already: y is up here.
  UpAxis up = UpAxis::y;

  std::size_t size() const { return start.size() - 1; }
  std::span<const Vec3d> curve(std::size_t k) const { return {points.data() + start[k], start[k + 1] - start[k]}; }
};

/// What to take from a file that holds more than one answer.
struct CurveReadOptions {
  std::optional<int> frame;    ///< of an animated file: which of its times, counted from 0; negative from the end
  std::optional<double> time;  ///< or which time, in the file's own unit
  int cubic_samples = 8;       ///< straight pieces for each cubic span

  static const char* kind() { return "curve_read_options"; }
  static const char* help() { return "What to take from a curve file that holds more than one answer."; }
  template <class F>
  void fields(F& f) {
    f("frame", frame,
      "Of an animated file, which of its times, counted from 0; negative numbers count from the end. The first one when neither "
      "`frame` nor `time` is given");
    f("time", time, "Of an animated file, the time in the file's own unit; between two samples points move in straight lines");
    f("cubic_samples", cubic_samples, "Straight pieces that each span of a cubic curve becomes", {.min = 1, .max = 1000});
  }
};

/// Reads the curves of a file, in metres (where the format knows its unit) and with y up (where it knows its axis). The
/// extension, in either case, tells the format. Throws InputError with the file and the byte or line that is wrong.
CurveSet read_curves(const std::filesystem::path& file, const CurveReadOptions& options = {});

/// The same from bytes in memory. `extension` is ".bcc" or the like; `file` is the name that errors speak of.
CurveSet parse_curves(std::span<const std::byte> bytes, std::string_view extension, const std::string& file,
                      const CurveReadOptions& options = {});

/// Changes that any set of curves may need before it becomes rods, or another file. They are made in the order below.
struct CurveEdits {
  std::string select;        ///< "0-99,wool*"; everything when empty
  std::optional<UpAxis> up;  ///< replaces what the file says
  double scale = 1;          ///< of coordinates and widths
  /// Three rows of four numbers, x' = M x + t, after `up` and `scale`; nothing when empty. Widths go with the cube root of |det
  /// M|.
  std::vector<std::vector<double>> transform;
  bool split_closed = false;             ///< opens closed curves
  std::optional<double> segment_length;  ///< resamples [m]
  std::optional<int> segments;           ///< or resamples to this many
  std::optional<double> weld;            ///< joins ends that are at most this far apart [m]

  static const char* kind() { return "curve_edits"; }
  static const char* help() { return "Changes to a set of curves, made in this order."; }
  template <class F>
  void fields(F& f) {
    source_fields(f);
    shape_fields(f);
  }
  /// Which curves, and how large they are.
  template <class F>
  void source_fields(F& f) {
    f("select", select,
      "Which curves: names with `*` and `?`, numbers and ranges, as in `0-99,wool*`. Numbers are the file's ids where it has "
      "them, otherwise places counted from 0. All when empty");
    f("up", up, "Axis that is up in the file, turned to y; replaces what the file itself says (y when it says nothing)");
    f("scale", scale, "Factor on coordinates and widths: metres per unit of the file", {.min = 0, .above_min = true});
    f("transform", transform,
      "Three rows of four numbers, a matrix and a shift, applied to all points after `up` and `scale`; widths are multiplied by "
      "the "
      "cube root of its determinant");
  }
  /// What becomes of them.
  template <class F>
  void shape_fields(F& f) {
    f("split_closed", split_closed, "Opens closed curves: each then starts and ends at its first point");
    f("segment_length", segment_length,
      "Resamples each curve to equal segments, as near to this length as fits; welded points stay",
      {.unit = "m", .min = 0, .above_min = true});
    f("segments", segments, "Resamples each curve to this number of equal segments, instead of `segment_length`",
      {.min = 1, .max = 1e7});
    f("weld", weld,
      "Joins ends of curves that are at most this far apart: they move to their middle and become one point. A curve whose own "
      "ends meet becomes closed; ends made by `split_closed` stay apart",
      {.unit = "m", .min = 0});
  }
};

/// Throws InputError with every problem, each at "/" and the edit's name.
CurveSet edit_curves(CurveSet curves, const CurveEdits& edits);

}  // namespace osier
