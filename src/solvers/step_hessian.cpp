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
  has_directions_ = potential.has_directions();
  if (has_directions_ || frame_.size() != segment_.size()) frame_.assign(m.segment_count(), {});
  const std::size_t segments = part.segments.size();
  executor_.for_each(segments + part.joints.size(), [&](std::size_t i) {
    if (i >= segments) {
      if (const Index j = part.joints[i - segments]; m.joint_alive[j]) joint_[j] = potential.joint_hessian(z.q, j);
      return;
    }
    const Index s = part.segments[i];
    if (m.segment_alive[s]) segment_[s] = potential.segment_hessian(z, s);
    for (const DirectionTerm& t : potential.directions(s))
      frame_[s] = frame_[s] + stretch_shear::hessian_ww(t.k, t.y, rotate(z.q[s], t.a));
  });
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
  const auto vertices = static_cast<std::size_t>(m.vertex_count());
  executor_.for_each(vertices + f.w.size(), [&](std::size_t i) {
    if (i < vertices) {
      if (c.vertex_fixed[i] || !m.vertex_alive[i]) f.x[i] = {};
      return;
    }
    const auto s = static_cast<Index>(i - vertices);
    if (m.is_anchor(s) || !m.segment_alive[s] || c.frame_control[s] == FrameControl::fixed) f.w[s] = {};
    else if (c.frame_control[s] == FrameControl::hinged) f.w[s] = dot(c.frame_hinge_axis[s], f.w[s]) * c.frame_hinge_axis[s];
  });
  for (const HeldAxes& held : c.held_axes) f.x[held.vertex] = across(held, f.x[held.vertex]);
}

/// The elements' shares of the product, and the frames' own.
void StepHessian::multiply_elements(const Field& p, const std::vector<Vec3d>* turn, Field& image) const {
  const Model& m = potential_->model();
  const Subset& part = potential_->subset();
  const std::size_t segments = part.segments.size();
  force_.resize(static_cast<std::size_t>(m.segment_count()));
  couple_.resize(static_cast<std::size_t>(m.joint_count()));
  executor_.for_each(segments + part.joints.size(), [&](std::size_t i) {
    if (i < segments) {
      const Index s = part.segments[i];
      image.w[s] = {};
      if (!m.segment_alive[s]) return;
      const auto [a, b] = m.segment_vertices[s];
      const SegmentHessian& h = segment(s);
      const Vec3d along = p.x[b] - p.x[a], &w = p.w[s];
      force_[s] = h.xx * along + h.xw * w;
      image.w[s] = transposed_times(h.xw, along) + h.ww * w + frame_shift(s) * w;
      if (has_directions_) image.w[s] += frame(s) * w;
      if (turn) image.w[s] += cross((*turn)[s], w);
      return;
    }
    const Index j = part.joints[i - segments];
    if (!m.joint_alive[j]) return;
    const auto [a, b] = m.joint_frames[j];
    const JointHessian& h = joint(j);
    const Vec3d difference = h.same * (p.w[b] - p.w[a]);
    couple_[j] = {cross(0.5 * h.gradient, p.w[b]) - difference, difference - cross(0.5 * h.gradient, p.w[a])};
  });
}

/// Elements first, then every vertex and frame gathers the shares of its elements: no two threads meet.
void StepHessian::product(const Field& p, const std::vector<Vec3d>* turn, Field& image) const {
  const Model& m = potential_->model();
  const Subset& part = potential_->subset();
  image.x.resize(static_cast<std::size_t>(m.vertex_count()));
  image.w.resize(static_cast<std::size_t>(m.frame_count()));
  if (!part.is_whole()) clear(image);
  multiply_elements(p, turn, image);
  const std::size_t vertices = part.vertices.size();
  executor_.for_each(vertices + part.frames.size(), [&](std::size_t i) {
    if (i < vertices) {
      const Index v = part.vertices[i];
      Vec3d sum = m.vertex_alive[v] ? vertex_weight(v) * p.x[v] : Vec3d{};
      for (const Index e : m.vertex_segments.of(v)) {
        if (!part.has_segment(m, e / 2)) continue;
        if (e % 2 == 0) sum -= force_[e / 2];
        else sum += force_[e / 2];
      }
      image.x[v] = sum;
      return;
    }
    const Index f = part.frames[i - vertices];
    if (m.is_anchor(f)) {
      image.w[f] = {};  // it is held
      return;
    }
    for (const Index e : m.frame_joints.of(f))
      if (part.has_joint(m, e / 2)) image.w[f] += couple_[e / 2][e % 2];
  });
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
