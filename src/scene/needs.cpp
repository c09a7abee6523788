#include "scene/needs.hpp"

#include <fmt/format.h>
#include <numeric>

#include "forces/attachment.hpp"
#include "forces/loads.hpp"

namespace osier {

/// Whether segments form a ring somewhere.
static bool has_loops(const Model& m) {
  std::vector<Index> parent(static_cast<std::size_t>(m.vertex_count()));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const auto& [a, b] : m.segment_vertices) {
    const Index ra = root(a), rb = root(b);
    if (ra == rb) return true;
    parent[ra] = rb;
  }
  return false;
}

std::vector<Need> needs_of(const Setup& setup) {
  const SceneSpec& spec = setup.spec;
  const Model& m = setup.model;
  const std::string solver = "/solver/name";
  std::vector<Need> needs;
  const DynamicAnalysis* dynamic = spec.dynamic();
  if (dynamic && dynamic->integrator && *dynamic->integrator != IntegratorKind::implicit_euler)
    needs.push_back({&Traits::integrators, "be led by another time integration than its own", "/analysis/integrator"});
  if (spec.statics()) needs.push_back({&Traits::statics, "solve statics", solver});
  if (setup.contacts.active()) needs.push_back({&Traits::contacts, "let rods touch", "/contact"});
  if (has_loops(m) || !setup.timed_joints.empty()) needs.push_back({&Traits::loops, "solve graphs with loops", solver});
  if (!m.is_isotropic()) needs.push_back({&Traits::anisotropy, "solve rods with a stiffness for every axis", solver});
  if (m.has_damping()) needs.push_back({&Traits::damping, "damp rods from inside", solver});
  if (spec.rotational_inertia) needs.push_back({&Traits::rotational_inertia, "give frames inertia", "/rotational_inertia"});
  for (const auto& f : spec.forces)
    if (dynamic_cast<const Torque*>(f.get())) needs.push_back({&Traits::torques, "take torques", f->where});
  for (const auto& c : spec.constraints) {
    const auto* motor = dynamic_cast<const Motor*>(c.get());
    if (!c) continue;
    if (c->holds_directions()) needs.push_back({&Traits::single_directions, "hold vertices along single directions", c->where});
    if (c->has_springs()) needs.push_back({&Traits::springs, "take springs", c->where});
    if (c->hinges()) needs.push_back({&Traits::hinges, "turn frames about one axis only", c->where});
    if (motor && motor->torque_speed.given()) {
      needs.push_back({&Traits::rotary_damping, "drive motors by a torque-speed curve", c->where});
      needs.push_back({&Traits::torques, "take torques", c->where});
    }
  }
  for (std::size_t i = 0; i < spec.probes.size(); ++i)
    if (spec.probes[i].reaction)
      needs.push_back({&Traits::judged, "tell what constraints exert", spec.probes[i].where + "/reaction"});
  if (spec.execution.in_float()) needs.push_back({&Traits::single_precision, "work in float", "/execution/precision"});
  if (spec.execution.threads > 1)
    needs.push_back({&Traits::threads, fmt::format("use {} threads", spec.execution.threads), "/execution/threads"});
  if (spec.execution.device != Device::cpu && device_available(spec.execution.device))
    needs.push_back({&Traits::device, "work on another device", "/execution/device"});
  return needs;
}

}  // namespace osier
