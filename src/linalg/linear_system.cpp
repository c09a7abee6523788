#include "linalg/linear_system.hpp"

#include <algorithm>
#include <atomic>

#include "math/vec3.hpp"

namespace osier::systems {

bool LinearSystem::gather(const Model& m, const Subset& subset, const Executor& executor, Field& z) const {
  z.x.resize(static_cast<std::size_t>(m.vertex_count()));
  z.w.resize(static_cast<std::size_t>(m.frame_count()));
  if (!subset.is_whole() || m.frame_count() > m.segment_count()) {
    std::fill(z.x.begin(), z.x.end(), Vec3d{});
    std::fill(z.w.begin(), z.w.end(), Vec3d{});
  }
  std::atomic<bool> finite{true};
  const std::size_t vertices = subset.vertices.size();
  executor.for_each(vertices + subset.segments.size(), [&](std::size_t i) {
    Vec3d& to = i < vertices ? z.x[subset.vertices[i]] : z.w[subset.segments[i - vertices]];
    to = i < vertices ? displacement(subset.vertices[i]) : turn(subset.segments[i - vertices]);
    if (!is_finite(to)) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load();
}

}  // namespace osier::systems
