// What has to be in the picture: one look at every frame before the first is drawn.
#pragma once

#include <limits>

#include "render/camera.hpp"
#include "render/coloring.hpp"

namespace osier::render {

class Survey {
 public:
  Survey(const Vec3d& up, ColorBy by, double thickness) : ground_(up), by_(by), thickness_(thickness) {}
  void add(const Model& model, const Frame& frame, const std::vector<Vec3d>& obstacle_points = {});

  bool empty() const { return count_ == 0; }
  const Ground& axes() const { return ground_; }
  Vec3d center() const { return empty() ? Vec3d{} : 0.5 * (low_ + high_); }
  double radius() const;                                   ///< of a ball around the centre with everything in it [m]
  double lowest() const { return empty() ? 0 : lowest_; }  ///< along `up`
  double range() const { return range_; }                  ///< largest measured value, without sign
  /// From where the scene looks broad: a little off the normal of its longest horizontal direction [degrees].
  double broad_azimuth() const;

 private:
  Ground ground_;
  ColorBy by_;
  double thickness_;
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3d low_{kFar, kFar, kFar}, high_{-kFar, -kFar, -kFar};
  double lowest_ = kFar, range_ = 0;
  double count_ = 0, s_ = 0, e_ = 0, ss_ = 0, se_ = 0, ee_ = 0;  ///< sums over the points of south and east
};

/// f(point, radius) for every vertex of a living segment; a vertex of several comes several times.
template <class F>
void for_each_living_end(const Model& model, const Frame& frame, const F& f) {
  for (std::size_t s = 0; s < model.segment_vertices.size(); ++s)
    if (frame.segment_alive[s])
      for (const Index v : model.segment_vertices[s]) f(frame.vertex_position[v], model.vertex_radius[v]);
}

}  // namespace osier::render
