#include "sim/probes.hpp"

#include <sstream>

#include "sim/measure.hpp"
#include "sim/readout.hpp"

namespace osier {

static const char* columns(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::vertex:
      return "x y z vx vy vz";
    case ProbeKind::segment:
      return "qx qy qz qw fx fy fz tension n1 n2 n3 g1 g2 g3";
    case ProbeKind::joint:
      return "mx my mz angle m1 m2 m3 k1 k2 k3";
    case ProbeKind::clamp:
      return "mx my mz";
    case ProbeKind::reaction:
    case ProbeKind::obstacle:
      return "fx fy fz mx my mz";
    case ProbeKind::place:
      return "x y z tx ty tz n1 n2 n3 m1 m2 m3 g1 g2 g3 k1 k2 k3";
  }
  return "";
}

std::vector<std::string> probe_columns(const Setup& setup) {
  std::vector<std::string> names;
  for (const Probe& p : setup.probes) {
    std::istringstream words(columns(p.kind));
    for (std::string c; words >> c;) names.push_back(p.name + "." + c);
  }
  return names;
}

void probe_values(const Setup& setup, const Simulation& simulation, std::vector<double>& values) {
  const State& s = simulation.state();
  const Model& m = simulation.model();
  values.clear();
  const auto number = [&](double v) { values.push_back(v); };
  const auto put = [&](std::initializer_list<Vec3d> vectors) {
    for (const Vec3d& v : vectors) number(v.x), number(v.y), number(v.z);
  };
  for (const Probe& p : setup.probes) {
    const Index e = p.element;
    switch (p.kind) {
      case ProbeKind::vertex:
        put({s.vertex_position[e], s.vertex_velocity[e]});
        break;
      case ProbeKind::segment: {
        const Quatd& q = s.frame_rotation[e];
        const Vec3d f = section_force(m, s, e);
        put({imag(q)}), number(q.w);
        put({f}), number(dot(f, director3(q)));
        put({section_force_material(m, s, e), m.segment_alive[e] ? section_strain(m, s, e) : Vec3d{}});
        break;
      }
      case ProbeKind::joint:
        put({joint_moment(m, s, e)}), number(joint_angle(m, s, e));
        put({joint_moment_material(m, s, e), joint_curvature(m, s, e)});
        break;
      case ProbeKind::clamp:
        put({clamp_moment(m, s, e)});
        break;
      case ProbeKind::reaction: {
        const Wrench r = simulation.reaction(static_cast<std::size_t>(e), p.material_axes);
        put({r.force, r.moment});
        break;
      }
      case ProbeKind::obstacle: {
        const Wrench r = simulation.load_on_obstacle(static_cast<std::size_t>(e));
        put({r.force, r.moment});
        break;
      }
      case ProbeKind::place: {
        const Readout r = read_out(m, s, e, p.along);
        put({r.position, r.tangent, r.force, r.moment, r.strain, r.curvature});
        break;
      }
    }
  }
}

}  // namespace osier
