#include "linalg/linear_system.hpp"

#include "math/vec3.hpp"

namespace osier::systems {

bool LinearSystem::gather(const Model& m, const Subset& subset, Field& z) const {
  z.x.assign(static_cast<std::size_t>(m.vertex_count()), {});
  z.w.assign(static_cast<std::size_t>(m.frame_count()), {});
  bool finite = true;
  for (std::size_t i = 0; i < subset.vertices.size(); ++i) {
    const Index v = subset.vertices[i];
    z.x[v] = displacement(v);
    finite = finite && is_finite(z.x[v]);
  }
  for (std::size_t i = 0; i < subset.segments.size(); ++i) {
    const Index s = subset.segments[i];
    z.w[s] = turn(s);
    finite = finite && is_finite(z.w[s]);
  }
  return finite;
}

}  // namespace osier::systems
