#include "sim/probes.hpp"

#include "sim/measure.hpp"

namespace osier {

std::vector<std::string> probe_columns(const Setup& setup) {
  std::vector<std::string> names;
  for (const Probe& p : setup.probes) {
    std::vector<const char*> columns;
    if (p.kind == Element::vertex) columns = {"x", "y", "z", "vx", "vy", "vz"};
    if (p.kind == Element::segment) columns = {"qx", "qy", "qz", "qw", "fx", "fy", "fz", "tension"};
    if (p.kind == Element::joint) columns = {"mx", "my", "mz", "angle"};
    if (p.clamp) columns = {"mx", "my", "mz"};
    for (const char* c : columns) names.push_back(p.name + "." + c);
  }
  return names;
}

void probe_values(const Setup& setup, const Simulation& simulation, std::vector<double>& values) {
  const State& s = simulation.state();
  const Model& m = simulation.model();
  values.clear();
  const auto put = [&](std::initializer_list<double> numbers) { values.insert(values.end(), numbers); };
  for (const Probe& p : setup.probes) {
    if (p.clamp) {
      const Vec3d moment = clamp_moment(m, s, p.element);
      put({moment.x, moment.y, moment.z});
    } else if (p.kind == Element::vertex) {
      const Vec3d &x = s.vertex_position[p.element], &v = s.vertex_velocity[p.element];
      put({x.x, x.y, x.z, v.x, v.y, v.z});
    } else if (p.kind == Element::segment) {
      const Quatd& q = s.frame_rotation[p.element];
      const Vec3d f = section_force(m, s, p.element);
      put({q.x, q.y, q.z, q.w, f.x, f.y, f.z, dot(f, director3(q))});
    } else {
      const Vec3d moment = joint_moment(m, s, p.element);
      put({moment.x, moment.y, moment.z, joint_angle(m, s, p.element)});
    }
  }
}

}  // namespace osier
