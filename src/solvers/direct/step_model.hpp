// One time step, or an equilibrium, as Gauss-Newton iterations see it: the tree, the unknowns, the springs in it and its energy.
// All in double: strains are differences of positions. What belongs to the start of the step is read from the state at hand and
// not kept a second time.
#pragma once

#include <memory>

#include "energies/stretch_shear.hpp"
#include "exec/parallel.hpp"
#include "math/mat3.hpp"
#include "model/edge.hpp"
#include "solvers/direct/joint_model.hpp"
#include "solvers/direct/tree.hpp"
#include "solvers/direction_terms.hpp"

namespace osier::direct {

/// A number with the sum of magnitudes that went into it, which its rounding scales with.
struct Energy {
  double value = 0, magnitude = 0;
  void add(double e) { value += e, magnitude += std::abs(e); }
  void operator+=(const Energy& e) { value += e.value, magnitude += e.magnitude; }
};

class StepModel {
 public:
  /// The tree depends on what is held; true when it is a new one.
  bool build(const Model& model, const Control& control, double h, Loops loops);
  void forget_tree() { built_fixed_.clear(), built_control_.clear(); }
  /// h = 0: statics. The references have to last until the step is done.
  void begin(const Model& model, const Control& control, const State& state, double h, const Executor& executor);

  const Model& model() const { return *m_; }
  const Control& control() const { return *c_; }
  const State& start() const { return *state_; }
  const Tree& tree() const { return tree_; }
  double h() const { return h_; }

  /// Where rows are iterated upon, vertices share what acts on them with their copies: nothing is without mass then.
  bool shares() const { return !copies_.empty(); }
  double share_of(Index v) const { return copies_.empty() ? 1 : 1.0 / (1 + copies_[v]); }

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
  JointSpring joint_spring(Index j) const;
  JointModel joint(Index j) const;
  std::span<const DirectionTerm> directions(Index s) const;
  /// (node, joint) of joints to anchors away from the node's near end.
  std::span<const std::pair<Index, Index>> local_joints(std::size_t node) const;
  bool is_free(Index v) const { return !c_->vertex_fixed[v]; }
  bool is_fixed_frame(Index f) const { return c_->frame_control[f] == FrameControl::fixed; }

  /// The incremental potential, up to a constant, without the work of torques.
  Energy energy(const Executor& executor);

  std::vector<Vec3d> u;  ///< per vertex, x - x_t
  std::vector<Quatd> q;  ///< per frame

  std::size_t bytes() const;
  /// What it will be.
  static std::size_t bytes(const Model& model, const Tree& tree);

 private:
  void count_copies(const Model& model);
  void add_joint_energy(Index j, Energy& e) const;
  void add_vertex_energy(Index v, Energy& e) const;
  Energy node_energy(std::size_t node) const;

  static constexpr std::size_t kBlock = 128;  ///< nodes whose energies are added up in one go
  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const State* state_ = nullptr;
  double h_ = 0;
  Tree tree_;
  std::vector<std::uint8_t> built_fixed_;
  std::vector<FrameControl> built_control_;
  std::vector<std::uint16_t> copies_;  ///< per vertex; empty: everything acts on the vertex itself
  std::vector<DirectionTerm> directions_;
  std::vector<Index> direction_start_;  ///< per segment; empty without directions
  std::vector<Energy> block_energy_;
};

}  // namespace osier::direct
