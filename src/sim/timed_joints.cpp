#include "sim/timed_joints.hpp"

#include "math/quat.hpp"
#include "model/held_axes.hpp"

namespace osier {

namespace {

bool has_come(double t, double when) { return t >= when * (1 - 1e-12); }

}  // namespace

std::vector<std::size_t> TimedJoints::due(const State& state) const {
  std::vector<std::size_t> list;
  const double t = state.time;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const TimedJoint& j = list_[i];
    if (now_[i].phase == Phase::closed) {
      if (j.open && has_come(t, *j.open)) list.push_back(i);
      continue;
    }
    if (now_[i].phase == Phase::over || (j.open && has_come(t, *j.open)) || !has_come(t, j.close.value_or(0))) continue;
    const bool meet = j.a < 0 || norm(state.vertex_position[j.b] - state.vertex_position[j.a]) <= j.within;
    if (meet) list.push_back(i);
  }
  return list;
}

long TimedJoints::never_met(double time) const {
  long count = 0;
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (now_[i].phase == Phase::waiting && has_come(time, list_[i].close.value_or(0))) ++count;
  return count;
}

void TimedJoints::join_vertices(std::size_t i, Index kept, Index gone, Model& m) {
  Now& now = now_[i];
  now.kept = kept, now.gone = gone;
  now.ends.clear();
  for (Index s = 0; s < m.segment_count(); ++s)
    for (Index e = 0; e < 2; ++e) {
      Index& v = m.segment_vertices[s][static_cast<std::size_t>(e)];
      if (v != gone) continue;
      v = kept;
      now.ends.push_back({s, e});
    }
  now.mass = m.vertex_mass[gone];
  m.vertex_mass[kept] += now.mass;
  m.vertex_mass[gone] = 0;
}

void TimedJoints::part_vertices(std::size_t i, Model& m) {
  Now& now = now_[i];
  for (const auto& [s, e] : now.ends) m.segment_vertices[s][static_cast<std::size_t>(e)] = now.gone;
  m.vertex_mass[now.gone] = now.mass;
  m.vertex_mass[now.kept] -= now.mass;
  now.kept = now.gone = -1;
}

void TimedJoints::toggle(std::size_t i, const Control& control, Model& m, State& state) {
  const TimedJoint& j = list_[i];
  Now& now = now_[i];
  if (now.phase == Phase::closed) {
    follow(state);
    if (now.gone >= 0) part_vertices(i, m);
    for (const Index joint : j.joints) m.joint_alive[joint] = 0;
    now.phase = Phase::over;
    return;
  }
  now.phase = Phase::closed;
  if (j.a >= 0) {
    const auto is_held = [&](Index v) {
      return static_cast<std::size_t>(v) < control.vertex_fixed.size() &&
             (control.vertex_fixed[v] || held_axes_of(control, v) != nullptr);
    };
    const Index kept = j.a, gone = j.b;
    const double m1 = m.vertex_mass[kept], m2 = m.vertex_mass[gone];
    const double share = is_held(kept) ? 0 : m1 + m2 > 0 ? m2 / (m1 + m2) : 0.5;
    for (std::vector<Vec3d>* list : {&state.vertex_position, &state.vertex_velocity, &state.vertex_velocity_previous})
      (*list)[kept] += share * ((*list)[gone] - (*list)[kept]);
    join_vertices(i, kept, gone, m);
    follow(state);
  }
  for (const Index joint : j.joints) {
    const auto [a, b] = m.joint_frames[joint];
    if (!m.segment_alive[a] || !m.segment_alive[b]) continue;
    if (!j.keeps_rest) m.joint_rest_rotation[joint] = normalized(conj(state.frame_rotation[a]) * state.frame_rotation[b]);
    m.joint_alive[joint] = 1;
  }
}

void TimedJoints::pass_on(Control& c) const {
  for (const Now& now : now_) {
    if (now.gone < 0) continue;
    c.vertex_force[now.kept] += c.vertex_force[now.gone];
    c.vertex_damping[now.kept] += c.vertex_damping[now.gone];
    c.vertex_force[now.gone] = {};
    c.vertex_damping[now.gone] = 0;
    for (Spring& s : c.springs) {
      if (s.a == now.gone) s.a = now.kept;
      if (s.b == now.gone) s.b = now.kept;
    }
  }
}

void TimedJoints::follow(State& state) const {
  for (const Now& now : now_) {
    if (now.gone < 0) continue;
    for (std::vector<Vec3d>* list : {&state.vertex_position, &state.vertex_velocity, &state.vertex_velocity_previous})
      (*list)[now.gone] = (*list)[now.kept];
  }
}

bool TimedJoints::continue_from(const TimedJoints& other, const Model& there, Model& m) {
  bool changed = false;
  for (std::size_t i = 0; i < now_.size(); ++i) {
    const Now& o = other.now_[i];
    if (now_[i].phase == o.phase) continue;
    changed = true;
    if (now_[i].gone >= 0) part_vertices(i, m);
    if (o.gone >= 0) join_vertices(i, o.kept, o.gone, m);
    for (const Index joint : list_[i].joints) m.joint_rest_rotation[joint] = there.joint_rest_rotation[joint];
    now_[i].phase = o.phase;
  }
  return changed;
}

}  // namespace osier
