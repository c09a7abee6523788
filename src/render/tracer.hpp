// Rays against the pieces of a geometry. The only place that knows Embree.
#pragma once

#include <memory>
#include <span>

#include "render/geometry.hpp"

namespace osier::render {

struct Ray {
  Vec3f origin, direction;  ///< direction: unit
  float nearest = 0;        ///< no hits before this distance
  std::uint32_t lot = 0;    ///< draws which of the fibres that are drawn too wide it meets, see lot_of()
};

struct Hit {
  float distance = 0;
  std::uint32_t piece = 0;
  float along = 0;              ///< 0 to 1 along the piece
  Vec3f normal;                 ///< of the piece, unit
  bool on_obstacle = false;     ///< `piece` is a triangle then
  float across = 0;             ///< of a ribbon: -1 to 1 over its width
  float second = 0, third = 0;  ///< weights of its second and third corner
};

/// Whether this program was built with a ray tracer, and what to say when not.
bool can_trace();
extern const char* const kCannotTrace;

/// Of sample number `sample` of a pixel, for its n-th ray. Of a fibre that covers the part c of a pixel about c of the pixel's
/// samples meet it, spread evenly over them; which, differs between fibres, pixels and uses.
std::uint32_t lot_of(int x, int y, int sample, int use);
/// From 0 to 1: a fibre of more coverage than this is met.
float drawn(std::uint32_t lot, std::uint32_t fiber);

class Tracer {
 public:
  /// `geometry` must outlive it. Ribbons always face the ray: the cheap form of what is thinner than a pixel.
  /// Rays pass a point of coverage c with the probability 1 - c.
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
