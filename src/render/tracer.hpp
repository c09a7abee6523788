// Rays against the pieces of a geometry. The only place that knows Embree.
#pragma once

#include <memory>
#include <span>

#include "render/geometry.hpp"

namespace osier::render {

struct Ray {
  Vec3f origin, direction;  ///< direction: unit
  float nearest = 0;        ///< no hits before this distance
};

struct Hit {
  float distance = 0;
  std::uint32_t piece = 0;
  float along = 0;              ///< 0 to 1 along the piece
  Vec3f normal;                 ///< of the piece, unit
  bool on_obstacle = false;     ///< `piece` is a triangle then
  float second = 0, third = 0;  ///< weights of its second and third corner
};

/// Whether this program was built with a ray tracer, and what to say when not.
bool can_trace();
extern const char* const kCannotTrace;

class Tracer {
 public:
  /// `geometry` must outlive it. Ribbons always face the ray: the cheap form of what is thinner than a pixel.
  Tracer(const Geometry& geometry, bool ribbons);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Up to kPacket rays at once, which is cheaper than one by one. A ray that meets nothing has a hit of distance infinity.
  static constexpr std::size_t kPacket = 16;
  void intersect(std::span<const Ray> rays, std::span<Hit> hits) const;
  /// blocked[i]: something is in the way of ray i. A ray without direction is left out and counts as free.
  void occluded(std::span<const Ray> rays, std::span<bool> blocked) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace osier::render
