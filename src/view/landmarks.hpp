// Points at the ends of a motion, so that a camera can be placed before its frames have been seen.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "math/vec3.hpp"
#include "osier/types.hpp"

namespace osier::view {

/// The farthest positions along the 26 directions to the faces, edges and corners of a cube: they span the box of all that was
/// added, and lie on its hull, so that a camera fitted to them is not held off by the box's empty corners.
class Landmarks {
 public:
  void add(std::span<const Vec3d> positions) {
    for (const Vec3d& x : positions) {
      const double along[kAxes] = {x.x,
                                   x.y,
                                   x.z,
                                   x.x + x.y,
                                   x.x - x.y,
                                   x.y + x.z,
                                   x.y - x.z,
                                   x.x + x.z,
                                   x.x - x.z,
                                   x.x + x.y + x.z,
                                   x.x + x.y - x.z,
                                   x.x - x.y + x.z,
                                   x.x - x.y - x.z};
      for (std::size_t k = 0; k < kAxes; ++k) {  // what is not finite compares false
        if (along[k] < low_[k].along) low_[k] = {along[k], x};
        if (along[k] > high_[k].along) high_[k] = {along[k], x};
      }
    }
  }
  /// Empty when nothing was added.
  std::vector<Vec3d> points() const {
    std::vector<Vec3d> list;
    for (const auto* side : {&low_, &high_})
      for (const Place& p : *side)
        if (std::isfinite(p.along) && std::isfinite(norm2(p.at))) list.push_back(p.at);
    return list;
  }

 private:
  static constexpr std::size_t kAxes = 13;
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  struct Place {
    double along;
    Vec3d at;
  };
  template <std::size_t... I>
  static std::array<Place, kAxes> filled(double along, std::index_sequence<I...>) {
    return {((void)I, Place{along, {}})...};
  }
  std::array<Place, kAxes> low_ = filled(kFar, std::make_index_sequence<kAxes>()),
                           high_ = filled(-kFar, std::make_index_sequence<kAxes>());
};

}  // namespace osier::view
