// What is measured in a state: energies, reactions, section forces, contacts.
#include <vector>

#include "sim/simulation_impl.hpp"
#include "solvers/refusals.hpp"

namespace osier {

Diagnostics Simulation::diagnostics() const {
  impl_->catch_up();
  Diagnostics d = measure_state(impl_->model(), impl_->state);
  const double time = impl_->pseudo_time();
  const double ramp = impl_->ramp_at(time);
  if (impl_->statics) d.load_factor = time / impl_->statics->duration;
  for (std::size_t i = 0; i < impl_->acts.size(); ++i)
    if (impl_->acts[i]) d.external += impl_->force(i).potential({impl_->model(), impl_->state, time, ramp});
  for (const Spring& spring : impl_->control.springs) {
    const std::vector<Vec3d>& x = impl_->state.vertex_position;
    const std::vector<std::uint8_t>& alive = impl_->model().vertex_alive;
    if (!alive[spring.a] || (spring.b >= 0 && !alive[spring.b])) continue;
    const Vec3d span = (spring.b < 0 ? spring.anchor : x[spring.b]) - x[spring.a];
    d.external += vertex_spring::elastic_value(elastic_terms(spring), span);
  }
  d.residual = impl_->report.residual;
  d.residual_relative = impl_->report.residual_relative;
  d.iterations = impl_->report.iterations;
  d.unstable_modes = impl_->report.unstable_modes;
  return d;
}

Wrench Simulation::reaction(std::size_t index, bool material_axes) const {
  impl_->catch_up();
  const Impl& s = *impl_;
  if (s.let_go.at(index)) return {};
  std::vector<Index> vertices, frames;
  const Attachment& constraint = s.constraint(index);
  constraint.list_held(vertices, frames);
  Wrench wrench = constraint.has_springs() ? s.reactions.of_springs(&constraint, vertices, s.state)
                                           : s.reactions.of(vertices, frames, s.state, [&](Index v, const Vec3d& force) {
                                               return constraint.share(s.pseudo_time(), s.control, v, force);
                                             });
  if (!material_axes) return wrench;
  Index frame = frames.empty() ? -1 : frames.front();
  if (frame < 0 && !vertices.empty())
    if (const auto touching = s.model().vertex_segments.of(vertices.front()); !touching.empty()) frame = touching[0] / 2;
  if (frame < 0) return wrench;
  const Quatd axes = conj(s.state.frame_rotation[frame]);
  return {rotate(axes, wrench.force), rotate(axes, wrench.moment)};
}

/// Zero where a clamp has let go.
std::span<const Quatd> Simulation::Impl::clamp_frames() {
  const Model& m = model();
  clamp_frame.assign(static_cast<std::size_t>(m.anchor_count), Quatd{0, 0, 0, 0});
  for (Index j = 0; j < m.joint_count(); ++j)
    if (const Index frame = m.joint_frames[j][0]; m.joint_is_clamp[j] && m.joint_alive[j])
      clamp_frame[frame - m.segment_count()] = state.frame_rotation[frame];
  return clamp_frame;
}

Wrench Simulation::load_on_obstacle(std::size_t index) const {
  const Impl& s = *impl_;
  const Vec3d center = s.contacts.obstacles().at(index)->center(1);
  Wrench sum;
  for (const contact::Touch& touch : s.touched.touches) {
    if (!touch.pair.with_obstacle() || touch.pair.obstacle() != index) continue;
    sum.force -= touch.push;
    sum.moment -= cross(touch.surface - center, touch.push);
  }
  return sum;
}

const contact::Record& Simulation::touched() const { return impl_->touched; }

Frame Simulation::frame(int index) const {
  Impl& s = *impl_;
  s.catch_up();
  Frame frame{.index = index,
              .time = s.state.time,
              .vertex_position = s.state.vertex_position,
              .vertex_velocity = s.state.vertex_velocity,
              .segment_frame = std::span(s.state.frame_rotation).first(static_cast<std::size_t>(s.model().segment_count())),
              .segment_alive = s.model().segment_alive};
  if (s.model().anchor_count > 0) frame.clamp_frame = s.clamp_frames();
  if (s.model().has_inertia())
    frame.segment_spin = std::span(s.state.frame_velocity).first(static_cast<std::size_t>(s.model().segment_count()));
  s.obstacle_points.clear();
  for (std::size_t o = 0; o < s.obstacles.size() && any_moves(s.obstacles); ++o) {
    const double share = o < s.touched.obstacle_share.size() ? s.touched.obstacle_share[o] : 1;
    s.contacts.obstacles()[o]->place_points(s.obstacles[o].points, share, s.points_of_obstacle);
    s.obstacle_points.insert(s.obstacle_points.end(), s.points_of_obstacle.begin(), s.points_of_obstacle.end());
  }
  frame.obstacle_points = s.obstacle_points;
  if (s.setup->spec.output.contacts || s.shows_contacts) {
    list_contact_points(s.touched, s.contacts, s.state, s.contact_points);
    frame.contacts = s.contact_points;
  }
  if (!s.setup->spec.output.sections && !s.shows_sections) return frame;
  s.sections.measure(s.model(), s.state);
  frame.segment_force = s.sections.segment_force;
  frame.segment_strain = s.sections.segment_strain;
  frame.segment_moment = s.sections.segment_moment;
  frame.segment_curvature = s.sections.segment_curvature;
  frame.joint_moment = s.sections.joint_moment;
  frame.joint_curvature = s.sections.joint_curvature;
  return frame;
}

void Simulation::show_contacts(bool on) { impl_->shows_contacts = on; }
void Simulation::show_sections(bool on) { impl_->shows_sections = on; }

void Simulation::measure_reactions() {
  Problems problems;
  refuse(*impl_->setup->spec.solver, {{&Traits::reactions, "report reactions", "reactions"}}, problems);
  problems.throw_if_any();
  impl_->wants_reactions = true;
}

}  // namespace osier
