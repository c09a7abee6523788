// The exact Hessian of the step's potential, element by element: for products H p without a matrix, and for systems that assemble
// one.
#pragma once

#include <array>
#include <vector>

#include "exec/parallel.hpp"
#include "linalg/linear_system.hpp"
#include "solvers/step_potential.hpp"

namespace osier::systems {

class StepHessian {
 public:
  explicit StepHessian(int threads = 1) : executor_(threads) {}
  /// Evaluates the Hessian at the unknowns z, with extra blocks of contact. `potential` has to outlive it.
  void assemble(const StepPotential& potential, const Unknowns& z, std::span<const VertexBlock> blocks = {});
  void set_shift(const Shift& shift) { shift_ = shift; }

  /// (H + shift) p, plus the skew blocks if there are any. For vertices and frames that are held p has to be 0, and the image is
  /// 0.
  void product(const Field& p, const std::vector<Vec3d>* turn, Field& image) const;
  /// Sets a field to 0 on vertices and frames that are held, and across hinges.
  void keep_free(Field& f) const;
  void clear(Field& f) const;

  const SegmentHessian& segment(Index s) const { return segment_[static_cast<std::size_t>(s)]; }
  const JointHessian& joint(Index j) const { return joint_[static_cast<std::size_t>(j)]; }
  /// The block of direction terms: rotational inertia and motors.
  const Mat3<double>& frame(Index s) const { return frame_[static_cast<std::size_t>(s)]; }
  double vertex_weight(Index v) const;  ///< with the shift
  double frame_shift(Index s) const { return shift_.of_frame(potential_->model(), s); }
  std::span<const VertexBlock> blocks() const { return blocks_; }

  /// sink(row, column, block) for the blocks of H without the shift, both triangles; nodes are vertices first, then frames.
  template <class Sink>
  void each_block(Sink&& sink) const;

 private:
  void multiply_elements(const Field& p, const std::vector<Vec3d>* turn, Field& image) const;

  Executor executor_;
  const StepPotential* potential_ = nullptr;
  Shift shift_;
  bool has_directions_ = false;
  std::vector<SegmentHessian> segment_;
  std::vector<JointHessian> joint_;
  std::vector<Mat3<double>> frame_;
  std::vector<VertexBlock> blocks_;
  /// Springs between vertices a and b, or to space where b is negative: k on either diagonal, -k across.
  struct SpringBlock {
    Index a, b;
    Mat3<double> k;
  };
  std::vector<SpringBlock> springs_;
  // In a product: what a segment adds to its second vertex and takes from its first one, and what a joint adds to its frames.
  mutable std::vector<Vec3d> force_;
  mutable std::vector<std::array<Vec3d, 2>> couple_;
};

/// A StepHessian that is assembled at the first product.
class LazyHessian {
 public:
  /// The references have to last until the last product.
  void set(const StepPotential& potential, const Unknowns& z, std::span<const VertexBlock> blocks) {
    potential_ = &potential;
    z_ = &z;
    blocks_.assign(blocks.begin(), blocks.end());
    ready_ = false;
  }
  std::span<const VertexBlock> blocks() const { return blocks_; }
  void product(const Field& p, Field& image) {
    if (!ready_) hessian_.assemble(*potential_, *z_, blocks_);
    ready_ = true;
    hessian_.product(p, nullptr, image);
  }

 private:
  const StepPotential* potential_ = nullptr;
  const Unknowns* z_ = nullptr;
  std::vector<VertexBlock> blocks_;
  StepHessian hessian_;
  bool ready_ = false;
};

template <class Sink>
void StepHessian::each_block(Sink&& sink) const {
  const Model& m = potential_->model();
  const Index first_frame = m.vertex_count();
  const Subset& part = potential_->subset();
  for (std::size_t i = 0; i < part.vertices.size(); ++i)
    sink(part.vertices[i], part.vertices[i], identity3(potential_->vertex_weight(part.vertices[i])));
  for (std::size_t i = 0; i < part.segments.size(); ++i) {
    const Index s = part.segments[i];
    const Index own = first_frame + s;
    sink(own, own, Mat3<double>{});  // keeps the diagonal in the pattern
    if (!m.segment_alive[s]) continue;
    const auto [a, b] = m.segment_vertices[s];
    const SegmentHessian& h = segment(s);
    sink(a, a, h.xx);
    sink(b, b, h.xx);
    sink(a, b, -1.0 * h.xx);
    sink(b, a, -1.0 * h.xx);
    sink(b, own, h.xw);
    sink(own, b, transposed(h.xw));
    sink(a, own, -1.0 * h.xw);
    sink(own, a, -1.0 * transposed(h.xw));
    sink(own, own, h.ww);
    if (potential_->has_directions()) sink(own, own, frame(s));
  }
  for (std::size_t i = 0; i < part.joints.size(); ++i) {
    const Index j = part.joints[i];
    if (!m.joint_alive[j]) continue;
    const Index a = first_frame + m.joint_frames[j][0], b = first_frame + m.joint_frames[j][1];
    const Mat3<double> across = joint(j).first_second();
    sink(a, a, joint(j).same);
    sink(b, b, joint(j).same);
    sink(a, b, across);
    sink(b, a, transposed(across));
  }
  for (const SpringBlock& s : springs_) {
    sink(s.a, s.a, s.k);
    if (s.b < 0) continue;
    sink(s.b, s.b, s.k);
    sink(s.a, s.b, -1.0 * s.k);
    sink(s.b, s.a, -1.0 * s.k);
  }
  for (const VertexBlock& block : blocks_) {
    sink(block.a, block.a, block.aa);
    if (block.segment < 0) continue;
    const Index b = m.segment_vertices[block.segment][1];
    sink(b, b, block.bb);
    sink(block.a, b, block.ab);
    sink(b, block.a, transposed(block.ab));
  }
}

}  // namespace osier::systems
