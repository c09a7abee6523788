// The steps of edit_curves that are more than a line.
#pragma once

#include <vector>

#include "osier/curves.hpp"

namespace osier {

/// What a message calls curve k: `3 ("warp")`.
std::string curve_title(const CurveSet& curves, std::size_t k);

/// Appends curve k of `from` without its points: closedness, name, id.
void copy_traits(const CurveSet& from, std::size_t k, CurveSet& to);

/// The curve that owns a point.
std::size_t curve_of(const CurveSet& curves, std::size_t point);

CurveSet selected(const CurveSet& curves, const std::string& select, Problems& problems);
CurveSet split_closed(const CurveSet& curves);
/// Where the points of a resampled set lie in the old one.
struct Resampling {
  struct Place {
    std::size_t a, b;  ///< (1 - t) a + t b
    double t;
  };
  std::vector<Place> places;
  std::vector<std::size_t> start{0};
  std::vector<std::size_t> now;  ///< of the old points, those that stay; the others are kGone
};
Resampling resampling(const CurveSet& curves, std::optional<double> segment_length, std::optional<int> segments,
                      Problems& problems);
CurveSet resampled(const CurveSet& curves, std::optional<double> segment_length, std::optional<int> segments, Problems& problems);
/// `was_closed`: curves whose ends take no part.
CurveSet welded(CurveSet curves, double distance, const std::vector<std::uint8_t>& was_closed, Problems& problems);

}  // namespace osier
