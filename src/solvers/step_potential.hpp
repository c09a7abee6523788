// The function that every implicit Euler solver minimises over one step, in double:
//
//   Phi(x, q) = sum m/(2 h^2) |x - y|^2 + c/(2 h) |x - x_t|^2            inertia and loads (energies/inertia.hpp)
//             + sum k/2 |y_a - R a|^2                                    rotational inertia and motors (direction_terms.hpp)
//             + sum stretch_shear + bend_twist                           elasticity
//             + sum tau/h (the same with the strains of x_t, q_t)        Kelvin-Voigt damping
//             - sum M.log(q conj(q_k))                                   torques
//             + sum springs and dampers between vertices or to space     (energies/vertex_spring.hpp)
//             + contact                                                  barriers and friction (contact/contact_step.hpp)
//
//   y = x_t + h v_t + h^2 f/m; for statics (h = 0) the first line becomes -f.x and damping is left out.
//
// A torque has no potential in general; -M.log(q conj(q_k)) has the right gradient at the point q_k where it was set up and is
// the work done along a turn about a fixed axis, which is all that a line search needs.
//
// The unknowns are displacements u = x - x_t and frames q: edges are formed as (x_b - x_a)_t + u_b - u_a, so that rounding scales
// with the motion and not with world coordinates. With stiff stretching that is the difference between 1e-5 and 1e-12.
//
// Whatever belongs to the start of the step is read from the state at hand and not kept a second time.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "energies/joint_spring.hpp"
#include "energies/stretch_shear.hpp"
#include "energies/vertex_spring.hpp"
#include "exec/parallel.hpp"
#include "model/edge.hpp"
#include "model/subset.hpp"
#include "osier/model.hpp"
#include "osier/state.hpp"
#include "solvers/direction_terms.hpp"

namespace osier::contact {
class ContactStep;
}

namespace osier {

struct EnergyTerms {
  double inertia = 0;  ///< in statics minus the work of the loads
  double stretch_shear = 0;
  double bend_twist = 0;
  double damping = 0;
  double torque = 0;
  double spring = 0;
  double contact = 0;
  double magnitude = 0;  ///< sum of magnitudes of everything that was added up: rounding errors of the total scale with it
  double total() const { return inertia + stretch_shear + bend_twist + damping + torque + spring + contact; }
  void operator+=(const EnergyTerms& e);
};

/// Elastic energies of a state, for diagnostics.
EnergyTerms elastic_energy(const Model& model, const std::vector<Vec3d>& x, const std::vector<Quatd>& q);

/// The unknowns of a step.
struct Unknowns {
  std::vector<Vec3d> u;  ///< per vertex, x - x_t [m]
  std::vector<Quatd> q;  ///< per frame
  /// Per segment, or empty: what rounding has taken from its edge over its length. A segment of stiffness k turns a rounding
  /// error of 1e-16 in its strain into a force of 1e-16 k, which for stiff stretching exceeds the load. Whoever solves for the
  /// forces in segments keeps here the share of the edge that its coordinates cannot hold.
  std::vector<Vec3d> lost_edge = {};
};

/// Hessian of a segment over d = (x_b - x_a) and the turn w of its frame: 1/2 d.xx d + d.xw w + 1/2 w.ww w.
struct SegmentHessian {
  Mat3<double> xx, xw, ww;
};
/// `n` is the force in the segment, k times the strain.
SegmentHessian segment_hessian(const Vec3d& k, double l, const Vec3d& p, const Quatd& q, const Vec3d& n);

/// Hessian of a joint: `same` for either frame with itself, -same + [gradient]x/2 for the first with the second.
struct JointHessian {
  Mat3<double> same;
  Vec3d gradient;  ///< in the turn of the second frame
  Mat3<double> first_second() const { return -1.0 * same + skew(0.5 * gradient); }
};

/// A spring without its damper.
vertex_spring::Terms<double> elastic_terms(const Spring& spring);

/// A spring at given unknowns.
struct SpringAtHand {
  Index a, b;  ///< b negative: the anchor
  vertex_spring::Terms<double> terms;
  Vec3d d;
};

/// A segment at given unknowns: its spring (elasticity and damping in one), and the force through it.
struct SegmentAtHand {
  stretch_shear::FoldedSpring<double> spring;
  Vec3d edge, axis;  ///< edge over rest length, and its strain-free value
  Vec3d section;     ///< dE/d(edge)
  bool isotropic;
};

class StepPotential {
 public:
  /// h = 0: statics. The references have to last as long as this is used. Sums run over the elements of `subset`, which has to
  /// last, too; null: over all that live.
  void begin(const Model& model, const Control& control, const State& start, double h, const Subset* subset = nullptr);
  /// The term of contact; null, as after begin(): none. It has to last as long as this is used.
  void set_contact(const contact::ContactStep* contact) { contact_ = contact; }
  /// The numbers of the springs between living elements of the subset.
  const std::vector<Index>& springs() const { return springs_; }
  SpringAtHand spring_at(const Unknowns& z, Index spring) const;
  /// Sets q_k, the point around which torques are linearised.
  void set_torque_point(const std::vector<Quatd>& q);

  /// Block by block, the same on any number of threads.
  EnergyTerms value(const Unknowns& z, const Executor* executor = nullptr) const;
  /// gx per vertex [N], gw per frame (spatial rotation vector) [N m]; entries of fixed vertices and frames are reactions. 0
  /// outside the subset.
  void gradient(const Unknowns& z, std::vector<Vec3d>& gx, std::vector<Vec3d>& gw, const Executor* executor = nullptr) const;
  /// Without the term of contact.
  void gradient_of_rods(const Unknowns& z, std::vector<Vec3d>& gx, std::vector<Vec3d>& gw,
                        const Executor* executor = nullptr) const;
  SegmentHessian segment_hessian(const Unknowns& z, Index segment) const;
  JointHessian joint_hessian(const std::vector<Quatd>& q, Index joint) const;

  /// Largest force [N] among loads, section forces and moments over length: what a residual is small against.
  double force_scale(const Unknowns& z) const;
  /// Largest left-over force or moment/length of free vertices and frames, with where it is.
  struct Residual {
    double value = 0;
    Index vertex = -1, segment = -1;  ///< exactly one is set
  };
  Residual residual(const std::vector<Vec3d>& gx, const std::vector<Vec3d>& gw) const;
  /// The rounding floor of forces and couples at displacements u: no residual can get below it.
  double rounding_floor(const Unknowns& z, double force_scale) const;

  // Element by element.
  const Model& model() const { return *m_; }
  const Control& control() const { return *c_; }
  const State& start() const { return *start_; }
  const Subset& subset() const { return subset_ ? *subset_ : all_; }
  double h() const { return h_; }
  bool is_static() const { return h_ == 0; }
  bool is_free(Index v) const { return !c_->vertex_fixed[v]; }
  bool is_fixed_frame(Index f) const { return c_->frame_control[f] == FrameControl::fixed; }
  double vertex_weight(Index v) const;
  /// Force of loads and inertia at u = 0.
  Vec3d vertex_force(Index v) const;
  Vec3d torque(Index frame, const Quatd& q) const;
  Vec3d edge_at_start(Index s) const { return edge_over_length(*m_, start_->vertex_position, s); }
  stretch_shear::FoldedSpring<double> spring(Index s, const Vec3d& edge_at_start) const;
  SegmentAtHand segment(const Unknowns& z, Index s) const;
  JointSpring joint_spring(Index j) const;
  std::span<const DirectionTerm> directions(Index s) const;
  bool has_directions() const { return !directions_.empty(); }
  /// Weights of a segment in the quadratic form of positions alone, in its material axes: (1 + alpha) k/l^2.
  PerAxis position_stiffness(Index s) const;
  /// From now on no segment is stiffer than its entry [N m] in Hessians; empty: all are as stiff as they are. A segment that is
  /// many orders stiffer than its joints is rigid for them: more stiffness changes no direction and costs digits.
  void limit_stiffness(std::vector<double> most) { most_stiffness_ = std::move(most); }
  /// position_stiffness() within that limit.
  PerAxis limited_position_stiffness(Index s) const;
  double stiffness_limit(Index s) const {
    return most_stiffness_.empty() ? std::numeric_limits<double>::infinity() : most_stiffness_[static_cast<std::size_t>(s)];
  }

  std::size_t bytes() const;
  static std::size_t bytes(const Model& model);

 private:
  bool is_at_rest(const Unknowns& z, double force_scale) const;
  void add_segment(const Unknowns& z, Index s, EnergyTerms& e) const;
  void add_joint(const Unknowns& z, Index j, EnergyTerms& e) const;
  void add_vertex(const Unknowns& z, Index v, EnergyTerms& e) const;
  void add_spring(const Unknowns& z, Index spring, EnergyTerms& e) const;
  void list_springs();

  static constexpr std::size_t kBlock = 256;  ///< number of elements whose energies are added up first
  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const State* start_ = nullptr;
  const Subset* subset_ = nullptr;  ///< null: the whole
  const contact::ContactStep* contact_ = nullptr;
  double h_ = 0;
  Subset all_;
  std::vector<DirectionTerm> directions_;  ///< rotational inertia, motors; in order of frames
  std::vector<Index> direction_start_;     ///< per segment; empty without directions
  std::vector<Quatd> torque_point_;        ///< q_k
  std::vector<Index> springs_;
  std::vector<double> most_stiffness_;  ///< per segment, or empty
  mutable std::vector<EnergyTerms> block_;
  mutable std::vector<Vec3d> section_, moment_;  ///< in a gradient: force in a segment, moment of a joint on its second frame
};

}  // namespace osier
