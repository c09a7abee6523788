#include "obstacles/shapes/tube.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "obstacles/shapes/tessellate.hpp"
#include "osier/error.hpp"

namespace osier {

void TubeObstacle::prepare(const std::string&, Problems& problems) {
  check_motion(problems);
  if (norm2(to - from) == 0) problems.add(where + "/to", "is where `from` is", "move one of the two");
  if (!(inner / std::cos(std::numbers::pi / sides) < outer))
    problems.add(where + "/inner",
                 inner >= outer ? fmt::format("{:g} m is not less than `outer`, {:g} m: the tube is inside out", inner, outer)
                                : fmt::format("leaves no wall: with {} sides the bore has its edges at {:.4g} m", sides,
                                              inner / std::cos(std::numbers::pi / sides)),
                 inner >= outer ? "exchange the two" : "use more `sides`, or a thicker wall");
}

std::shared_ptr<contact::Obstacle> TubeObstacle::make() const {
  const Surface s = wall();
  auto frames = std::make_shared<MeshFrames>();
  frames->triangles = s.triangles;
  frames->points = {s.points};
  frames->center = center();
  return std::make_shared<MeshSurface>(std::move(frames), motion);
}

/// Without its outside, which would hide what is in it.
Surface TubeObstacle::surface() const {
  Surface s = wall();
  s.from_inside = true;
  s.triangles.erase(s.triangles.begin(), s.triangles.begin() + 2 * sides);
  return s;
}

Surface TubeObstacle::wall() const {
  const double half = 0.5 * norm(to - from), bore = inner / std::cos(std::numbers::pi / sides);
  // The profile goes around the wall and comes back to where it began.
  Surface s = turned_surface({{outer, -half}, {outer, half}, {bore, half}, {bore, -half}, {outer, -half}}, pose_between(from, to),
                             false, sides);
  const auto n = static_cast<Index>(sides);
  s.points.resize(static_cast<std::size_t>(4 * n));
  for (auto& t : s.triangles)
    for (Index& v : t) v %= 4 * n;
  return s;
}

}  // namespace osier
