#include "solvers/direct/direct_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "exec/parallel.hpp"
#include "model/edge.hpp"
#include "solvers/direct/tree.hpp"
#include "solvers/direct/tree_factor.hpp"
#include "solvers/direct/tree_system.hpp"

namespace osier::direct {

namespace {

template <class T>
Vec6<T> cast6(const Vec6<double>& v) {
  return {cast<T>(v.x), cast<T>(v.w)};
}
template <class T>
Mat3<T> cast3(const Mat3<double>& m) {
  Mat3<T> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r.m[i][j] = static_cast<T>(m.m[i][j]);
  return r;
}

/// How far the rods reach from their first vertex [m].
double extent(const Model& m, const State& state) {
  double size = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v]) size = std::max(size, norm(state.vertex_position[v] - state.vertex_position[0]));
  return size;
}

/// A number with the sum of magnitudes that went into it, which its rounding scales with.
struct Energy {
  double value = 0, magnitude = 0;
  void add(double e) { value += e, magnitude += std::abs(e); }
  void operator+=(const Energy& e) { value += e.value, magnitude += e.magnitude; }
};

/// A joint seen by its second frame: gradient in its turn, and the compliances of the Gauss-Newton model.
struct JointModel {
  Vec3d gradient;  ///< world
  Mat3<double> axes;
  Vec3d compliance;
  bool isotropic;
};

}  // namespace

/// The algorithm, whatever the number type of its recursion.
class DirectSolver::Engine {
 public:
  explicit Engine(const Options& options) : options_(options), executor_(options.threads) {}
  virtual ~Engine() = default;
  virtual std::size_t bytes() const = 0;
  void rebind(const Model& m);
  StepReport step(const Model& m, const Control& c, State& state, double h);

 protected:
  /// Links, roots and rows for the state at hand.
  virtual void assemble(const Model& m, const Control& c) = 0;
  virtual void solve() = 0;
  virtual void make_arrays(const Model& m) = 0;
  /// Corrections of all vertices and frames; tensions for the next time.
  virtual void read(const Model& m) = 0;

  void build(const Model& m, const Control& c);
  void begin(const Model& m, const Control& c, const State& state);
  Vec3d edge(const Model& m, const std::vector<Vec3d>& u, Index s) const { return edge_start_[s] + edge_over_length(m, u, s); }
  double vertex_weight(const Model& m, const Control& c, Index v) const {
    return h_ > 0 ? m.vertex_mass[v] / (h_ * h_) + c.vertex_damping[v] / h_ : 0;
  }
  Vec3d vertex_pull(const Model& m, const Control& c, Index v) const {
    return h_ > 0 ? c.vertex_force[v] + (m.vertex_mass[v] / h_) * state_->vertex_velocity[v] : c.vertex_force[v];
  }
  stretch_shear::FoldedSpring<double> spring(const Model& m, Index s) const;
  JointModel joint_model(const Model& m, Index j, const std::vector<Quatd>& q) const;
  void add_joint_energy(const Model& m, Index j, const std::vector<Quatd>& q, Energy& e) const;
  void add_vertex_energy(const Model& m, const Control& c, Index v, const std::vector<Vec3d>& u, Energy& e) const;
  Energy node_energy(const Model& m, const Control& c, std::size_t node, const std::vector<Vec3d>& u,
                     const std::vector<Quatd>& q) const;
  Vec3d torque(const Control& c, Index f) const { return c.frame_torque[f] + rotate(q_[f], c.frame_torque_material[f]); }
  double energy(const Model& m, const Control& c, const std::vector<Vec3d>& u, const std::vector<Quatd>& q, double* magnitude);
  void move(const Model& m, double share);
  bool descend(const Model& m, const Control& c);
  double correction_size(const Model& m) const;
  void store(const Model& m, const Control& c, State& state, StepReport& report);
  std::size_t shared_bytes() const;

  Options options_;
  Executor executor_;
  Tree tree_;
  std::vector<std::uint8_t> built_fixed_;
  std::vector<FrameControl> built_control_;
  const State* state_ = nullptr;  ///< start of the step
  double h_ = 0;                  ///< 0: statics
  std::vector<double> tension_;   ///< per segment, kept across steps
  std::vector<DirectionTerm> directions_;
  std::vector<Index> direction_start_;             ///< per segment
  std::vector<Index> local_start_;                 ///< per node, into tree_.local_joints
  std::vector<Vec3d> edge_start_, strain_prev_;    ///< per segment, of the start of the step
  std::vector<Quatd> rotation_prev_;               ///< per joint
  std::vector<Vec3d> u_, u_trial_, correction_x_;  ///< per vertex
  std::vector<Quatd> q_, q_trial_;                 ///< per frame
  std::vector<Vec3d> correction_w_;
  std::vector<Energy> node_energy_;
  double turned_ = 0;  ///< largest turn of the corrections [rad]
  /// Below, what the quadratic model leaves out is a hundredth of what it says.
  static constexpr double kSmallTurn = 0.1;
};

namespace {

template <class T>
class EngineOf final : public DirectSolver::Engine {
 public:
  using Engine::Engine;
  std::size_t bytes() const override {
    const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
    return shared_bytes() + factor_.bytes() + of(links_) + of(roots_) + of(rows_);
  }

 private:
  void make_arrays(const Model& m) override;
  void assemble(const Model& m, const Control& c) override;
  void assemble_link(const Model& m, const Control& c, std::size_t i);
  void assemble_row(const Model& m, const Control& c, std::size_t i);
  void solve() override {
    factor_.factor(links_, roots_, rows_, &executor_);
    factor_.solve(links_, roots_, rows_, &executor_);
  }
  void read(const Model& m) override;

  TreeFactor<T> factor_;
  std::vector<Link<T>> links_;
  std::vector<RootVertex<T>> roots_;
  std::vector<Row<T>> rows_;
};

}  // namespace

void DirectSolver::Engine::rebind(const Model& m) {
  built_fixed_.clear();
  built_control_.clear();
  tension_.assign(m.segment_count(), 0);
}

/// The tree depends on what is held.
void DirectSolver::Engine::build(const Model& m, const Control& c) {
  if (!built_control_.empty() && built_fixed_ == c.vertex_fixed && built_control_ == c.frame_control) return;
  built_fixed_ = c.vertex_fixed;
  built_control_ = c.frame_control;
  tree_ = build_tree(m, c);
  tension_.resize(m.segment_count(), 0);
  std::sort(tree_.local_joints.begin(), tree_.local_joints.end());
  local_start_.assign(tree_.nodes.size() + 1, 0);
  for (const auto& [node, joint] : tree_.local_joints) ++local_start_[node + 1];
  for (std::size_t i = 1; i < local_start_.size(); ++i) local_start_[i] += local_start_[i - 1];
  node_energy_.resize(tree_.nodes.size());
  correction_x_.assign(m.vertex_count(), {});
  correction_w_.assign(m.frame_count(), {});
  make_arrays(m);
}

void DirectSolver::Engine::begin(const Model& m, const Control& c, const State& state) {
  state_ = &state;
  direction_terms(m, c, state, h_, directions_);
  direction_start_.assign(m.segment_count() + 1, 0);
  for (const DirectionTerm& t : directions_) ++direction_start_[t.frame + 1];
  for (std::size_t s = 1; s < direction_start_.size(); ++s) direction_start_[s] += direction_start_[s - 1];
  edge_start_.resize(m.segment_count());
  strain_prev_.resize(m.segment_count());
  executor_.for_each(edge_start_.size(), [&](std::size_t s) {
    edge_start_[s] = edge_over_length(m, state.vertex_position, static_cast<Index>(s));
    strain_prev_[s] = stretch_shear::local_strain(edge_start_[s], state.frame_rotation[s]);
  });
  rotation_prev_.resize(m.joint_count());
  executor_.for_each(rotation_prev_.size(), [&](std::size_t j) {
    rotation_prev_[j] = conj(state.frame_rotation[m.joint_frames[j][0]]) * state.frame_rotation[m.joint_frames[j][1]];
  });
  u_.resize(m.vertex_count());
  for (Index v = 0; v < m.vertex_count(); ++v)
    u_[v] = c.vertex_fixed[v] ? c.vertex_target[v] - state.vertex_position[v] : h_ * state.vertex_velocity[v];
  q_ = state.frame_rotation;
  const bool inertia = h_ > 0 && m.has_inertia();
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (inertia && c.frame_control[f] != FrameControl::fixed) q_[f] = guessed_frame(m, c, state, h_, f);
    if (c.frame_control[f] == FrameControl::fixed) q_[f] = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) q_[f] = nearest_on_hinge(q_[f], c.frame_target[f], c.frame_hinge_axis[f]);
  }
}

stretch_shear::FoldedSpring<double> DirectSolver::Engine::spring(const Model& m, Index s) const {
  const Vec3d k = cast<double>(m.segment_stiffness[s]);
  if (!(h_ > 0) || !m.segment_tau[s].any()) return {k, {0, 0, 1}};
  return stretch_shear::folded(k, cast<double>((1 / h_) * m.segment_tau[s]), strain_prev_[s]);
}

JointModel DirectSolver::Engine::joint_model(const Model& m, Index j, const std::vector<Quatd>& q) const {
  const auto [a, b] = m.joint_frames[j];
  const Quatd r = conj(q[a]) * q[b];
  const Vec3d k = cast<double>(m.joint_stiffness[j]);
  JointModel model;
  model.gradient = bend_twist::moment(bend_twist::stiffness4(k), r, m.joint_rest_rotation[j]);
  Vec3d stiff = k;
  model.isotropic = m.joint_stiffness[j].uniform() && m.joint_tau[j].uniform();
  if (h_ > 0 && m.joint_tau[j].any()) {
    const Vec3d tau = cast<double>(m.joint_tau[j]);
    model.gradient += bend_twist::moment((1 / h_) * bend_twist::viscous4(k, tau), r, rotation_prev_[j]);
    stiff = {k.x * (1 + tau.x / h_), k.y * (1 + tau.y / h_), k.z * (1 + tau.z / h_)};
  }
  model.gradient = rotate(q[a], model.gradient);
  model.axes = model.isotropic ? identity3(1.0) : rotation_matrix(normalized(q[a] * half_rotation(r)));
  const auto soft = [](double stiffness) { return stiffness > 0 ? 4 / stiffness : kLoose<double>; };
  model.compliance = {soft(stiff.x), soft(stiff.y), soft(stiff.z)};
  return model;
}

void DirectSolver::Engine::add_joint_energy(const Model& m, Index j, const std::vector<Quatd>& q, Energy& e) const {
  const auto [a, b] = m.joint_frames[j];
  const Quatd r = conj(q[a]) * q[b];
  const Vec3d k = cast<double>(m.joint_stiffness[j]);
  const auto add = [&](const Quatd& K, const Quatd& rest) { e.add(bend_twist::value4(K, bend_twist::difference(K, r, rest))); };
  add(bend_twist::stiffness4(k), m.joint_rest_rotation[j]);
  if (h_ > 0 && m.joint_tau[j].any()) add((1 / h_) * bend_twist::viscous4(k, cast<double>(m.joint_tau[j])), rotation_prev_[j]);
}

void DirectSolver::Engine::add_vertex_energy(const Model& m, const Control& c, Index v, const std::vector<Vec3d>& u,
                                             Energy& e) const {
  if (c.vertex_fixed[v]) return;
  e.add(0.5 * vertex_weight(m, c, v) * norm2(u[v]));
  e.add(-dot(vertex_pull(m, c, v), u[v]));
}

/// Of the node's segment, its joint and its vertex: the incremental potential but for a constant. Torques are left out.
Energy DirectSolver::Engine::node_energy(const Model& m, const Control& c, std::size_t i, const std::vector<Vec3d>& u,
                                         const std::vector<Quatd>& q) const {
  const TreeNode& n = tree_.nodes[i];
  const Index s = n.segment;
  Energy e;
  const auto k = spring(m, s);
  e.add(stretch_shear::value(k.k, stretch_shear::strain(edge(m, u, s), q[s], k.rest)));
  if (n.joint >= 0) add_joint_energy(m, n.joint, q, e);
  for (Index l = local_start_[i]; l < local_start_[i + 1]; ++l) add_joint_energy(m, tree_.local_joints[l].second, q, e);
  if (n.far_vertex >= 0) add_vertex_energy(m, c, n.far_vertex, u, e);
  for (Index t = direction_start_[s]; t < direction_start_[s + 1]; ++t) {
    const Vec3d a = rotate(q[s], directions_[t].a);
    e.add(stretch_shear::value(directions_[t].k, directions_[t].y, a));
    e.magnitude += directions_[t].k * norm(directions_[t].y - a);  // what rounding of k |y - R a|^2 goes with
  }
  return e;
}

/// Of the trial, up to a constant; torques do the work of the turns that lead there.
double DirectSolver::Engine::energy(const Model& m, const Control& c, const std::vector<Vec3d>& u, const std::vector<Quatd>& q,
                                    double* magnitude) {
  const std::size_t n = tree_.nodes.size();
  executor_.for_each(n, [&](std::size_t i) { node_energy_[i] = node_energy(m, c, i, u, q); });
  Energy sum;
  for (std::size_t i = 0; i < n; ++i) sum += node_energy_[i];
  for (Index v : tree_.roots) add_vertex_energy(m, c, v, u, sum);
  for (const TreeRow& row : tree_.rows)
    if (row.kind == TreeRow::Kind::close_joint && row.axis == 0) add_joint_energy(m, row.joint, q, sum);
  if (magnitude) *magnitude = sum.magnitude;
  return sum.value;
}

template <class T>
void EngineOf<T>::make_arrays(const Model&) {
  links_.assign(tree_.nodes.size(), {});
  roots_.assign(tree_.roots.size(), {});
  rows_.assign(tree_.rows.size(), {});
  for (std::size_t i = 0; i < links_.size(); ++i) links_[i].parent = tree_.nodes[i].parent, links_[i].root = tree_.nodes[i].root;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].end[0].node = tree_.rows[i].node;
    rows_[i].end[1].node = tree_.rows[i].other;
    rows_[i].end[1].root = tree_.rows[i].root;
  }
  factor_.plan(links_, static_cast<int>(roots_.size()), rows_);
}

template <class T>
void EngineOf<T>::assemble(const Model& m, const Control& c) {
  for (std::size_t r = 0; r < roots_.size(); ++r) {
    const Index v = tree_.roots[r];
    roots_[r].held = c.vertex_fixed[v] != 0;
    const double weight = vertex_weight(m, c, v);
    roots_[r].stiffness = identity3(static_cast<T>(weight));
    roots_[r].force = cast<T>(vertex_pull(m, c, v) - weight * u_[v]);
  }
  executor_.for_each(links_.size(), [&](std::size_t i) { assemble_link(m, c, i); });
  executor_.for_each(rows_.size(), [&](std::size_t i) { assemble_row(m, c, i); });
}

template <class T>
void EngineOf<T>::assemble_link(const Model& m, const Control& c, std::size_t i) {
  const TreeNode& n = tree_.nodes[i];
  const Index s = n.segment;
  const double length = m.segment_rest_length[s], l2 = length * length;
  const Quatd& q = q_[s];
  const auto k = spring(m, s);
  const Vec3d p = edge(m, u_, s);
  const Vec3d axis = k.rest.x == 0 && k.rest.y == 0 ? k.rest.z * director3(q) : rotate(q, k.rest), off = p - axis;
  const bool isotropic = k.k.x == k.k.y && k.k.y == k.k.z;
  const Vec3d section = isotropic ? k.k.x * off : stretch_shear::section_force(k.k, rotate(conj(q), off), q);
  const Vec3d d = normalized(axis);

  Vec3d force, couple, strain_w;
  Mat3<double> turning = (length * tension_[s]) * (identity3(1.0) + -1.0 * outer(d, d));
  // The part of the exact couple n x p that the model of a straight spring does not have: n x (p - axis). None if isotropic.
  if (!isotropic) couple -= cross(section, off);
  double weight = 0;
  if (n.far_vertex >= 0 && !c.vertex_fixed[n.far_vertex]) {
    weight = vertex_weight(m, c, n.far_vertex);
    force = vertex_pull(m, c, n.far_vertex) - weight * u_[n.far_vertex];
  }
  Link<T>& l = links_[i];
  l.w_compliance = {kLoose<T>, kLoose<T>, kLoose<T>};
  bool world = isotropic;
  Mat3<double> w_axes = identity3(1.0);
  if (n.joint >= 0) {
    const JointModel joint = joint_model(m, n.joint, q_);
    const double side = m.joint_frames[n.joint][1] == s ? 1 : -1;
    world = world && joint.isotropic;
    w_axes = joint.axes;
    l.w_compliance = cast<T>(joint.compliance);
    const auto offset = [&](int a) {
      const double compliance = component(joint.compliance, a);
      const Vec3d direction = column(joint.axes, a);
      if (compliance < kLoose<double>) strain_w += (side * compliance * dot(direction, joint.gradient)) * direction;
    };
    if (joint.isotropic && joint.compliance.x < kLoose<double>) strain_w = (side * joint.compliance.x) * joint.gradient;
    else offset(0), offset(1), offset(2);
  } else {
    // A frame that hangs on positions alone may spin about its axis at no cost, and in a slack cable without mass turn any way.
    // Something must keep it where it is, across the axis a whiff. About it rounding of couples over what holds it is a spin: a
    // cable, which nothing asks to turn, gets all of its stiffness; a frame that other joints hold by way of rows gets the share
    // of theirs that slows convergence to a factor of kShare an iteration. In its own axes the spin is a step of its own.
    world = false;
    w_axes = rotation_matrix(q);
    constexpr double kShare = std::is_same_v<T, float> ? 1e-3 : 1e-6;
    double against_spin = 0;
    for (Index j : m.frame_joints.of(s)) against_spin = std::max(against_spin, kShare * m.joint_stiffness[j / 2].d3);
    if (against_spin == 0 && direction_start_[s] == direction_start_[s + 1]) against_spin = k.k.z;
    turning = turning + identity3(1e-10 * k.k.z) + against_spin * outer(d, d);
  }
  for (Index j = local_start_[i]; j < local_start_[i + 1]; ++j) {
    const JointModel joint = joint_model(m, tree_.local_joints[j].second, q_);
    const auto inverse = [](double x) { return 1 / x; };
    const double side = m.joint_frames[tree_.local_joints[j].second][1] == s ? 1 : -1;
    const Vec3d stiffness{inverse(joint.compliance.x), inverse(joint.compliance.y), inverse(joint.compliance.z)};
    turning = turning + rotated_diagonal(joint.axes, stiffness);
    couple -= side * joint.gradient;
  }
  for (Index t = direction_start_[s]; t < direction_start_[s + 1]; ++t) {
    const DirectionTerm& term = directions_[t];
    const Vec3d a = rotate(q, term.a);
    turning = turning + term.k * (identity3(norm2(a)) + -1.0 * outer(a, a));
    couple -= stretch_shear::gradient_w(term.k, term.y, a);
  }
  if (c.has_torque) couple += torque(c, s);

  l.world_axes = world;
  if (!world) l.x_axes = cast3<T>(rotation_matrix(q)), l.w_axes = cast3<T>(w_axes);
  l.arm = cast<T>((n.sign * length) * axis);
  l.x_compliance = {static_cast<T>(l2 / k.k.x), static_cast<T>(l2 / k.k.y), static_cast<T>(l2 / k.k.z)};
  l.e = {cast<T>((n.sign * length) * off), cast<T>(strain_w)};
  l.load_stiffness.xx = identity3(static_cast<T>(weight));
  l.load_stiffness.ww = cast3<T>(turning);
  l.force = {cast<T>(force), cast<T>(couple)};
}

template <class T>
void EngineOf<T>::assemble_row(const Model& m, const Control& c, std::size_t i) {
  const TreeRow& row = tree_.rows[i];
  Row<T>& r = rows_[i];
  const Index s = tree_.nodes[row.node].segment;
  const auto unit = [&] { return Vec3d{row.axis == 0 ? 1.0 : 0.0, row.axis == 1 ? 1.0 : 0.0, row.axis == 2 ? 1.0 : 0.0}; };
  const auto tie = [&](const Vec3d& x, const Vec3d& w) {
    r.end[0].direction = cast6<T>({x, w});
    r.end[1].direction = cast6<T>({-x, -w});
  };
  switch (row.kind) {
    case TreeRow::Kind::hold_vertex:
    case TreeRow::Kind::close_segment:
      tie(rotate(q_[s], unit()), {});
      break;
    case TreeRow::Kind::hold_frame:
      tie({}, unit());
      break;
    case TreeRow::Kind::hinge_frame:
      // axes 1 and 2 of the row are across the hinge
      tie({}, rotate(rotation_between(Vec3d{1, 0, 0}, c.frame_hinge_axis[s]), unit()));
      break;
    case TreeRow::Kind::close_joint: {
      const JointModel joint = joint_model(m, row.joint, q_);
      const Vec3d axis = column(joint.axes, row.axis);
      const double compliance = component(joint.compliance, row.axis);
      tie({}, axis);
      r.compliance = static_cast<T>(compliance);
      r.e = static_cast<T>(compliance < kLoose<double> ? compliance * dot(axis, joint.gradient) : 0);
      break;
    }
  }
}

template <class T>
void EngineOf<T>::read(const Model& m) {
  for (std::size_t r = 0; r < roots_.size(); ++r) correction_x_[tree_.roots[r]] = cast<double>(factor_.root_displacement()[r]);
  turned_ = 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const TreeNode& n = tree_.nodes[i];
    if (n.far_vertex >= 0 && !built_fixed_[n.far_vertex]) correction_x_[n.far_vertex] = cast<double>(factor_.displacement()[i].x);
    const Vec3d w = cast<double>(factor_.displacement()[i].w);
    const FrameControl held = built_control_[n.segment];
    correction_w_[n.segment] = held == FrameControl::fixed ? Vec3d{} : w;
    turned_ = std::max(turned_, norm(correction_w_[n.segment]));
    tension_[n.segment] = std::max(0.0, dot(cast<double>(factor_.link_force()[i].x), normalized(cast<double>(links_[i].arm))));
  }
  (void)m;
}

/// A share of the corrections, from u, q into u_trial, q_trial. Turns beyond a radian are where a quadratic model means nothing.
void DirectSolver::Engine::move(const Model& m, double share) {
  u_trial_.resize(u_.size()), q_trial_.resize(q_.size());
  share /= std::max(1.0, turned_);
  for (Index v = 0; v < m.vertex_count(); ++v) u_trial_[v] = u_[v] + share * correction_x_[v];
  executor_.for_each(q_.size(), [&](std::size_t f) {
    const Vec3d& w = correction_w_[f];
    q_trial_[f] = norm2(w) > 0 ? normalized(rotation_exp(share * w) * q_[f]) : q_[f];
  });
}

/// Halves the corrections until they do not raise the energy: the direction descends, so this ends. False when rounding leaves
/// nothing.
bool DirectSolver::Engine::descend(const Model& m, const Control& c) {
  double magnitude = 0, work = 0;
  const double before = energy(m, c, u_, q_, &magnitude);
  if (c.has_torque)
    for (Index f = 0; f < m.segment_count(); ++f) work += dot(torque(c, f), correction_w_[f]);
  work /= std::max(1.0, turned_);
  double share = 1;
  for (int cut = 0; cut < 12; ++cut, share *= 0.5) {
    move(m, share);
    if (energy(m, c, u_trial_, q_trial_, nullptr) - share * work <= before + 1e-12 * magnitude) return true;
  }
  return false;
}

/// Largest correction [m]; not a number if one of them is none.
double DirectSolver::Engine::correction_size(const Model& m) const {
  double size = 0, all = 0;
  const auto add = [&](double x) { size = std::max(size, x), all += x; };
  for (Index v = 0; v < m.vertex_count(); ++v) add(norm(correction_x_[v]));
  for (Index f = 0; f < m.segment_count(); ++f) add(m.segment_rest_length[f] * norm(correction_w_[f]));
  return std::isfinite(all) ? size : std::numeric_limits<double>::quiet_NaN();
}

StepReport DirectSolver::Engine::step(const Model& m, const Control& c, State& state, double h) {
  h_ = h;
  build(m, c);
  begin(m, c, state);
  StepReport report;
  const bool by_tolerance = options_.iterations == 0;
  const int limit = by_tolerance ? options_.max_iterations : options_.iterations;
  double before = std::numeric_limits<double>::infinity();
  for (report.iterations = 0; report.iterations < limit;) {
    assemble(m, c);
    solve();
    read(m);
    ++report.iterations;
    const double moved = correction_size(m);
    if (!std::isfinite(moved)) {
      report.non_finite = true;
      for (Index v = 0; v < m.vertex_count() && report.worst_vertex < 0; ++v)
        if (!is_finite(correction_x_[v])) report.worst_vertex = v;
      for (Index f = 0; f < m.segment_count() && report.worst_vertex < 0 && report.worst_segment < 0; ++f)
        if (!is_finite(correction_w_[f])) report.worst_segment = f;
      if (report.worst_vertex < 0 && report.worst_segment < 0) report.worst_vertex = 0;
      break;
    }
    // Small turns and shrinking corrections need no proof. Neither do those of 1e-12 of the rods' reach: they are what rounding
    // makes of positions, and a rod at rest has no other motion.
    const bool rounding = !(moved <= 0.5 * before) && moved <= 1e-12 * extent(m, state);
    const bool ordinary = turned_ <= kSmallTurn && (moved <= 0.5 * before || rounding);
    bool better = true;
    if (ordinary) move(m, 1);
    else better = descend(m, c);
    double motion = 0;
    for (const Vec3d& u : u_trial_) motion = std::max(motion, norm(u));
    const bool settled = moved <= options_.tolerance * motion || moved <= 1e-12 * extent(m, state);
    report.not_converged = by_tolerance && !settled;
    if (better) u_.swap(u_trial_), q_.swap(q_trial_);
    if (by_tolerance && (settled || !better)) break;
    before = moved;
  }
  store(m, c, state, report);
  return report;
}

void DirectSolver::Engine::store(const Model& m, const Control& c, State& state, StepReport& report) {
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    state.vertex_position[v] += u_[v];
    if (c.vertex_fixed[v]) state.vertex_position[v] = c.vertex_target[v];
    state.vertex_velocity[v] = m.vertex_alive[v] ? (1 / h_) * u_[v] : Vec3d{};
    // By the squares: a state whose energy overflows is as lost as a NaN.
    if (!report.non_finite && !std::isfinite(norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v])))
      report.non_finite = true, report.worst_vertex = v;
  }
  for (Index s = 0; s < m.segment_count() && !report.non_finite; ++s)
    if (!is_finite(q_[s])) report.non_finite = true, report.worst_segment = s;
  state.frame_rotation.swap(q_);  // q_ is the start now
  update_frame_velocity(m, c, q_, h_, state);
}

std::size_t DirectSolver::Engine::shared_bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(tree_.nodes) + of(tree_.node_of_segment) + of(tree_.roots) + of(tree_.rows) + of(tree_.local_joints) +
         of(built_fixed_) + of(built_control_) + of(tension_) + of(directions_) + of(direction_start_) + of(local_start_) +
         of(edge_start_) + of(strain_prev_) + of(rotation_prev_) + of(u_) + of(u_trial_) + of(correction_x_) + of(q_) +
         of(q_trial_) + of(correction_w_) + of(node_energy_);
}

DirectSolver::DirectSolver(const Model& model, const Options& options) {
  if (options.precision == Precision::single_precision) engine_ = std::make_unique<EngineOf<float>>(options);
  else engine_ = std::make_unique<EngineOf<double>>(options);
  rebind(model);
}
DirectSolver::~DirectSolver() = default;
void DirectSolver::rebind(const Model& model) {
  engine_->rebind(model);
  statics_.reset();
}
StepReport DirectSolver::step(const Model& m, const Control& c, State& state, double h) { return engine_->step(m, c, state, h); }
StepReport DirectSolver::solve_static(const Model& m, const Control& c, State& state, const StaticOptions& options) {
  if (!statics_) statics_ = make_statics(m, c);
  return statics_->solve_static(m, c, state, options);
}
std::size_t DirectSolver::bytes() const { return engine_->bytes(); }

std::size_t DirectSolver::bytes(const Model& m, const Control& c, Precision precision) {
  const Tree tree = build_tree(m, c);
  const TreePlan plan = tree.plan();
  const auto nv = static_cast<std::size_t>(m.vertex_count()), nf = static_cast<std::size_t>(m.frame_count());
  const auto ns = static_cast<std::size_t>(m.segment_count()), nj = static_cast<std::size_t>(m.joint_count());
  const std::size_t nodes = tree.nodes.size();
  std::size_t loose = 0;
  for (const TreeNode& n : tree.nodes) loose += n.joint < 0 ? 1 : 0;
  const auto recursion = [&]<class T>(T) {
    return TreeFactor<T>::bytes(plan, tree.rows.size(), loose) + nodes * sizeof(Link<T>) + tree.rows.size() * sizeof(Row<T>) +
           tree.roots.size() * sizeof(RootVertex<T>);
  };
  const std::size_t per_vertex = sizeof(std::uint8_t) + 3 * sizeof(Vec3d);
  const std::size_t per_frame = sizeof(FrameControl) + 2 * sizeof(Quatd) + sizeof(Vec3d);
  const std::size_t per_segment = 2 * sizeof(Vec3d) + sizeof(double) + 2 * sizeof(Index);
  const std::size_t inertia = m.has_inertia() ? 3 * sizeof(DirectionTerm) : 0;
  const std::size_t per_node = sizeof(TreeNode) + sizeof(Index) + sizeof(Energy);
  return nv * per_vertex + nf * per_frame + ns * (per_segment + inertia) + nj * sizeof(Quatd) + nodes * per_node +
         tree.rows.size() * sizeof(TreeRow) +
         (precision == Precision::single_precision ? recursion(float{}) : recursion(double{}));
}

}  // namespace osier::direct
