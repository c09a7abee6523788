// One time step, or an equilibrium, as Gauss-Newton iterations see it: the unknowns, the springs between them and the energy.
// All in double: strains are differences of positions. What belongs to the start of the step is read from the state at hand and
// not kept a second time.
#pragma once

#include <memory>

#include "energies/stretch_shear.hpp"
#include "exec/parallel.hpp"
#include "math/mat3.hpp"
#include "model/edge.hpp"
#include "solvers/direction_terms.hpp"
#include "solvers/joint_model.hpp"

namespace osier::systems {

/// A number with the sum of magnitudes that went into it, which its rounding scales with.
struct Energy {
  double value = 0, magnitude = 0;
  void add(double e) { value += e, magnitude += std::abs(e); }
  void operator+=(const Energy& e) { value += e.value, magnitude += e.magnitude; }
};

/// A segment as it is: its spring, and the force through it.
struct SegmentAtHand {
  stretch_shear::FoldedSpring<double> spring;
  Vec3d edge, axis;  ///< over rest length, and what it should be
  Vec3d section;     ///< dE/d(edge)
  bool isotropic;
};

class StepModel {
 public:
  /// h = 0: statics. The references have to last until the step is done.
  void begin(const Model& model, const Control& control, const State& state, double h, const Executor& executor);

  const Model& model() const { return *m_; }
  const Control& control() const { return *c_; }
  const State& start() const { return *state_; }
  double h() const { return h_; }

  // Springs and loads.
  double vertex_weight(Index v) const { return h_ > 0 ? m_->vertex_mass[v] / (h_ * h_) + c_->vertex_damping[v] / h_ : 0; }
  Vec3d vertex_pull(Index v) const {
    return h_ > 0 ? c_->vertex_force[v] + (m_->vertex_mass[v] / h_) * state_->vertex_velocity[v] : c_->vertex_force[v];
  }
  Vec3d torque(Index f) const { return c_->frame_torque[f] + rotate(q[f], c_->frame_torque_material[f]); }
  /// Edges over rest lengths: of the start of the step, and what has been added since.
  Vec3d edge_at_start(Index s) const { return edge_over_length(*m_, state_->vertex_position, s); }
  Vec3d edge_since(Index s) const { return edge_over_length(*m_, u, s); }
  stretch_shear::FoldedSpring<double> spring(Index s, const Vec3d& edge_at_start) const;
  SegmentAtHand segment(Index s) const;
  JointSpring joint_spring(Index j) const;
  JointModel joint(Index j) const;
  std::span<const DirectionTerm> directions(Index s) const;
  bool has_directions() const { return !directions_.empty(); }
  bool is_free(Index v) const { return !c_->vertex_fixed[v]; }
  bool is_fixed_frame(Index f) const { return c_->frame_control[f] == FrameControl::fixed; }

  /// The incremental potential, up to a constant, without the work of torques.
  Energy energy(const Executor& executor);

  std::vector<Vec3d> u;  ///< per vertex, x - x_t
  std::vector<Quatd> q;  ///< per frame

  std::size_t bytes() const;
  /// What it will be.
  static std::size_t bytes(const Model& model);

 private:
  void add_segment_energy(Index s, Energy& e) const;
  void add_joint_energy(Index j, Energy& e) const;
  void add_vertex_energy(Index v, Energy& e) const;

  static constexpr std::size_t kBlock = 256;  ///< elements whose energies are added up in one go
  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const State* state_ = nullptr;
  double h_ = 0;
  std::vector<DirectionTerm> directions_;
  std::vector<Index> direction_start_;  ///< per segment; empty without directions
  std::vector<Energy> block_energy_;
};

}  // namespace osier::systems
