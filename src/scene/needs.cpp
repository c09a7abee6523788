#include "scene/needs.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "forces/attachment.hpp"
#include "forces/loads.hpp"
#include "obstacles/plain_shape.hpp"

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

/// Whether more than two segments meet somewhere, or joints are not those along a rod.
static bool has_branches(const Model& m) {
  bool found = false;
  for (Index v = 0; v < m.vertex_count(); ++v) found = found || m.vertex_segments.of(v).size() > 2;
  for (Index j = 0; j < m.joint_count() && !found; ++j) {
    if (m.joint_is_clamp[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    found = m.segment_vertices[a][1] != m.segment_vertices[b][0];
  }
  return found;
}

static bool is_clamped(const Model& m, Index vertex) {
  return std::find(m.anchor_vertex.begin(), m.anchor_vertex.end(), vertex) != m.anchor_vertex.end();
}

/// Whether two segments meet that have no joint with each other and no clamp, or a segment has no joint at all.
static bool has_cables(const Model& m) {
  std::vector<std::uint8_t> clamped(static_cast<std::size_t>(m.vertex_count()), 0);
  for (const Index v : m.anchor_vertex) clamped[static_cast<std::size_t>(v)] = 1;
  std::vector<std::uint8_t> joined(clamped);
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (m.joint_is_clamp[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    for (const Index v : m.segment_vertices[a])
      if (v == m.segment_vertices[b][0] || v == m.segment_vertices[b][1]) joined[static_cast<std::size_t>(v)] = 1;
  }
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_segments.of(v).size() > 1 && !joined[static_cast<std::size_t>(v)]) return true;
  for (Index s = 0; s < m.segment_count(); ++s)
    if (m.frame_joints.of(s).empty()) return true;
  return false;
}

static bool breaks(const Model& m) {
  const auto is_finite = [](double limit) { return std::isfinite(limit); };
  for (const auto* list : {&m.segment_strain_limit, &m.joint_bend_limit, &m.joint_twist_limit})
    if (std::any_of(list->begin(), list->end(), is_finite)) return true;
  return false;
}

/// Where a scene asks for forces that are read from strains.
static std::vector<std::string> readings_of_strain(const SceneSpec& spec) {
  std::vector<std::string> list;
  if (spec.output.sections) list.push_back("/output/sections");
  for (const ProbeSpec& p : spec.probes)
    if (!p.segment.empty() || p.rod) list.push_back(p.where);
  return list;
}

std::vector<Need> needs_of(const Setup& setup) {
  const SceneSpec& spec = setup.spec;
  const Model& m = setup.model;
  const std::string solver = "/solver/name";
  std::vector<Need> needs;
  const DynamicAnalysis* dynamic = spec.dynamic();
  if (dynamic && dynamic->integrator)
    needs.push_back(
        {&Traits::integrator_choice,
         "be led by an integrator: it integrates in time by itself, and `rho_infinity` or `rho` of /solver says what it damps",
         "/analysis/integrator"});
  if (dynamic && dynamic->integrator && *dynamic->integrator != IntegratorKind::implicit_euler)
    needs.push_back({&Traits::integrators, "be led by another time integration than its own", "/analysis/integrator"});
  if (const StaticAnalysis* statics = spec.statics()) {
    needs.push_back({&Traits::statics, "solve statics", solver});
    if (statics->stop_at_instability)
      needs.push_back({&Traits::stability, "tell where an equilibrium becomes unstable", "/analysis/stop_at_instability"});
    if (statics->by_arc_length())
      needs.push_back({&Traits::stability, "follow a path of equilibria by arc length", "/analysis/control"});
    if (statics->branch == Branch::follow)
      needs.push_back({&Traits::stability, "stay on a path through unstable equilibria", "/analysis/branch"});
  }
  if (setup.contacts.active()) needs.push_back({&Traits::contacts, "let rods touch", "/contact"});
  for (std::size_t o = 0; o < setup.contacts.obstacles().size(); ++o) {
    const auto& spec_of = spec.obstacles[o];
    PlainShape shape;
    if (spec_of->moves() || !setup.contacts.obstacles()[o]->tell_plain(shape))
      needs.push_back({&Traits::any_obstacle, "touch obstacles that move, are hollow, or are made of triangles", spec_of->where});
  }
  if (has_loops(m) || !setup.timed_joints.empty()) needs.push_back({&Traits::loops, "solve graphs with loops", solver});
  if (!setup.timed_joints.empty()) needs.push_back({&Traits::branches, "weld rods for a time", solver});
  if (has_branches(m)) needs.push_back({&Traits::branches, "solve rods that branch", solver});
  if (has_cables(m)) needs.push_back({&Traits::cables, "solve segments without bending stiffness", solver});
  if (breaks(m)) needs.push_back({&Traits::fracture, "break rods", spec.fracture ? "/fracture" : solver});
  for (const std::string& where : readings_of_strain(spec))
    needs.push_back({&Traits::strains, "tell section forces from strains", where});
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
    // In an equilibrium springs close loops between rods: what takes its rods one by one cannot find it.
    if (c->has_springs() && spec.statics())
      needs.push_back({&Traits::loops, "find the equilibrium of rods that springs hold", c->where});
    std::vector<Index> vertices, frames;
    c->list_held(vertices, frames);
    const auto is_segment = [&](Index f) { return f >= 0 && !m.is_anchor(f); };
    if (!c->hinges() && std::any_of(frames.begin(), frames.end(), is_segment))
      needs.push_back({&Traits::frame_holds, "hold or drive frames of segments (a `clamp` holds the end of a rod)", c->where});
    const auto is_inside = [&](Index v) {
      return v >= 0 && v < m.vertex_count() && m.vertex_segments.of(v).size() > 1 && !is_clamped(m, v);
    };
    if (!c->has_springs() && std::any_of(vertices.begin(), vertices.end(), is_inside))
      needs.push_back({&Traits::inner_pins, "pin vertices inside of a rod (a `clamp` divides it)", c->where});
    if (c->hinges()) needs.push_back({&Traits::hinges, "turn frames about one axis only", c->where});
    if (motor && motor->torque_speed.given()) {
      needs.push_back({&Traits::rotary_damping, "drive motors by a torque-speed curve", c->where});
      needs.push_back({&Traits::torques, "take torques", c->where});
    }
  }
  for (std::size_t i = 0; i < spec.probes.size(); ++i)
    if (spec.probes[i].reaction) needs.push_back({&Traits::reactions, "report reactions", spec.probes[i].where + "/reaction"});
  if (spec.execution.in_float()) needs.push_back({&Traits::single_precision, "work in float", "/execution/precision"});
  if (spec.execution.threads > 1)
    needs.push_back({&Traits::threads, fmt::format("use {} threads", spec.execution.threads), "/execution/threads"});
  if (spec.execution.elsewhere()) needs.push_back({&Traits::device, "run anything", "/execution/device"});
  return needs;
}

}  // namespace osier
