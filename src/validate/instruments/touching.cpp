#include "validate/instruments/touching.hpp"

#include <cmath>

#include "contact/record.hpp"
#include "math/vec3.hpp"

namespace osier::validate {

namespace {

/// Where a segment is: its rod, and the length of rod before it.
struct Place {
  std::size_t rod = 0;
  double before = 0;
};

std::vector<Place> places(const Model& m) {
  std::vector<Place> of(static_cast<std::size_t>(m.segment_count()));
  for (std::size_t r = 0; r < m.rods.size(); ++r) {
    double length = 0;
    for (const Index s : m.rods[r].segments) {
      of[s] = {r, length};
      length += m.segment_rest_length[s];
    }
  }
  return of;
}

}  // namespace

std::vector<double> Touching::finish(const Simulation& simulation) {
  const Model& m = simulation.model();
  const std::vector<Vec3d>& x = simulation.state().vertex_position;
  const std::vector<Place> place = places(scene_->model());
  double count = 0, gap = std::nan(""), normals = 0, arc = 0, arc_weight = 0, arms = 0;
  Vec3d on_later, sum, moment;
  for (const contact::Touch& touch : simulation.touched().touches) {
    if (touch.pair.with_obstacle()) continue;
    const auto [a, b] = std::pair(touch.pair.a, touch.pair.b);
    ++count;
    normals += norm(touch.push);
    for (std::size_t j = 0; j < 4; ++j) {
      const Vec3d force = touch.weight[j] * touch.push;
      sum += force;
      moment += cross(x[touch.vertex[j]] - touch.place, force) + cross(touch.place, force);
      arms += norm(x[touch.vertex[j]]) * norm(force);
    }
    const auto radius = [&](Index s) { return m.vertex_radius[m.segment_vertices[s][0]]; };
    const double radii = radius(a) + radius(b), over = (touch.gap + radii) / radii;
    if (!(gap <= over)) gap = over;
    if (place[a].rod != place[b].rod) {
      on_later += (place[a].rod < place[b].rod ? 1.0 : -1.0) * touch.push;
    } else {
      arc += touch.normal * std::abs(place[b].before - place[a].before);
      arc_weight += touch.normal;
    }
  }
  return {count,
          norm(on_later),
          gap,
          arc_weight > 0 ? arc / arc_weight : std::nan(""),
          normals > 0 ? norm(sum) / normals : 0,
          arms > 0 ? norm(moment) / arms : 0};
}

}  // namespace osier::validate
