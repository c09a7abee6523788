#include "solvers/step_hessian.hpp"

#include "math/sym6.hpp"
#include "model/held_axes.hpp"

namespace osier::systems {

void StepHessian::assemble(const StepPotential& potential, const Unknowns& z, std::span<const VertexBlock> blocks) {
  potential_ = &potential;
  const Model& m = potential.model();
  const Subset& part = potential.subset();
  segment_.resize(m.segment_count());
  joint_.resize(m.joint_count());
  frame_.assign(m.segment_count(), {});
  for (std::size_t i = 0; i < part.segments.size(); ++i) {
    const Index s = part.segments[i];
    if (m.segment_alive[s]) segment_[s] = potential.segment_hessian(z, s);
    for (const DirectionTerm& t : potential.directions(s))
      frame_[s] = frame_[s] + stretch_shear::hessian_ww(t.k, t.y, rotate(z.q[s], t.a));
  }
  for (std::size_t i = 0; i < part.joints.size(); ++i)
    if (const Index j = part.joints[i]; m.joint_alive[j]) joint_[j] = potential.joint_hessian(z.q, j);
  blocks_.assign(blocks.begin(), blocks.end());
  springs_.clear();
  for (const Index i : potential.springs()) {
    const SpringAtHand s = potential.spring_at(z, i);
    springs_.push_back({s.a, s.b, vertex_spring::hessian(s.terms, s.d)});
  }
}

double StepHessian::vertex_weight(Index v) const {
  return potential_->vertex_weight(v) + shift_.of_vertex(potential_->model(), v);
}

void StepHessian::clear(Field& f) const {
  f.x.assign(potential_->model().vertex_count(), {});
  f.w.assign(potential_->model().frame_count(), {});
}

void StepHessian::keep_free(Field& f) const {
  const Model& m = potential_->model();
  const Control& c = potential_->control();
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (c.vertex_fixed[v] || !m.vertex_alive[v]) f.x[v] = {};
  for (const HeldAxes& held : c.held_axes) f.x[held.vertex] = across(held, f.x[held.vertex]);
  for (Index s = 0; s < m.frame_count(); ++s) {
    if (m.is_anchor(s) || !m.segment_alive[s] || c.frame_control[s] == FrameControl::fixed) f.w[s] = {};
    else if (c.frame_control[s] == FrameControl::hinged) f.w[s] = dot(c.frame_hinge_axis[s], f.w[s]) * c.frame_hinge_axis[s];
  }
}

void StepHessian::product(const Field& p, const std::vector<Vec3d>* turn, Field& image) const {
  const Model& m = potential_->model();
  clear(image);
  const Subset& part = potential_->subset();
  for (std::size_t i = 0; i < part.vertices.size(); ++i)
    if (const Index v = part.vertices[i]; m.vertex_alive[v]) image.x[v] = vertex_weight(v) * p.x[v];
  for (std::size_t i = 0; i < part.segments.size(); ++i) {
    const Index s = part.segments[i];
    if (!m.segment_alive[s]) continue;
    const auto [a, b] = m.segment_vertices[s];
    const SegmentHessian& h = segment(s);
    const Vec3d along = p.x[b] - p.x[a], force = h.xx * along + h.xw * p.w[s];
    image.x[b] += force;
    image.x[a] -= force;
    image.w[s] += transposed_times(h.xw, along) + h.ww * p.w[s] + frame(s) * p.w[s] + frame_shift(s) * p.w[s];
    if (turn) image.w[s] += cross((*turn)[s], p.w[s]);
  }
  for (std::size_t i = 0; i < part.joints.size(); ++i) {
    const Index j = part.joints[i];
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const JointHessian& h = joint(j);
    const Vec3d difference = h.same * (p.w[b] - p.w[a]);
    image.w[b] += difference + cross(-0.5 * h.gradient, p.w[a]);
    image.w[a] -= difference - cross(0.5 * h.gradient, p.w[b]);
  }
  for (const SpringBlock& s : springs_) {
    const Vec3d pull = s.k * (s.b < 0 ? -p.x[s.a] : p.x[s.b] - p.x[s.a]);
    image.x[s.a] -= pull;
    if (s.b >= 0) image.x[s.b] += pull;
  }
  for (const VertexBlock& block : blocks_) {
    image.x[block.a] += block.aa * p.x[block.a];
    if (block.segment < 0) continue;
    const Index b = m.segment_vertices[block.segment][1];
    image.x[block.a] += block.ab * p.x[b];
    image.x[b] += transposed_times(block.ab, p.x[block.a]) + block.bb * p.x[b];
  }
  keep_free(image);
}

}  // namespace osier::systems
