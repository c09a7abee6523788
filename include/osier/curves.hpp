// Sets of curves: what curve files hold, what scenes take rods from, what a frame of a run is to a modeller.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "osier/types.hpp"

namespace osier {

/// Flat arrays: a head of hair has a hundred thousand curves.
struct CurveSet {
  std::vector<Vec3d> points;          ///< all curves, one after the other; a closed curve does not repeat its first point
  std::vector<std::size_t> start{0};  ///< curve k owns points start[k] up to start[k + 1]; it may have one point or none
  std::vector<std::uint8_t> closed;   ///< per curve
  std::vector<std::string> names;     ///< per curve, or empty when the format has none
  std::vector<std::int64_t> ids;      ///< per curve, or empty
  std::vector<double> widths;         ///< diameter at each point, or empty when the format gives none

  std::size_t size() const { return start.size() - 1; }
  std::span<const Vec3d> curve(std::size_t k) const { return {points.data() + start[k], start[k + 1] - start[k]}; }
};

}  // namespace osier
