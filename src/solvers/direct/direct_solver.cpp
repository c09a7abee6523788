#include "solvers/direct/direct_solver.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "energies/bend_twist.hpp"
#include "energies/stretch_shear.hpp"
#include "osier/error.hpp"
#include "solvers/direct/tree.hpp"
#include "solvers/direct/tree_factor.hpp"
#include "solvers/potential.hpp"

namespace osier::direct {

namespace {

constexpr double kLoose = 1e20;  ///< compliance of an axis without stiffness

/// How far the rods reach from their first vertex [m].
double extent(const Model& m, const State& state) {
  double size = 0;
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (m.vertex_alive[v]) size = std::max(size, norm(state.vertex_position[v] - state.vertex_position[0]));
  return size;
}

/// Gradient of a joint in the turn of its second frame, and the compliances of its Gauss-Newton model.
struct JointModel {
  Vec3d gradient;  ///< world
  Mat3<double> axes;
  Vec3d compliance;
};

}  // namespace

struct DirectSolver::Impl {
  Tree tree;
  std::vector<std::uint8_t> built_for;  ///< vertex_fixed and frame_control the tree was built with
  std::vector<Index> root_of_vertex;
  std::vector<double> tension;  ///< per segment, kept across steps
  IncrementalPotential potential;
  TreeFactor<double> factor;
  std::vector<Link<double>> links;
  std::vector<RootVertex<double>> roots;
  std::vector<DirectionTerm> directions;
  std::vector<Vec3d> u, u_trial, strain_prev, correction_x, correction_w;
  std::vector<Quatd> q, q_trial, rotation_prev;
  double h = 0;

  void build(const Model& m, const Control& c);
  void begin(const Model& m, const Control& c, const State& state);
  JointModel joint_model(const Model& m, Index j) const;
  void assemble(const Model& m, const Control& c, const State& state);
  void close_loops(const Model& m);
  void read_corrections(const Model& m);
  /// A share of the corrections, from u, q into u_trial, q_trial.
  void move(const Model& m, double share);
  double descend(const Model& m, EnergyTerms& energy);
  Vec3d edge(const Model& m, const State& state, const std::vector<Vec3d>& at, Index s) const {
    const auto [a, b] = m.segment_vertices[s];
    return (1 / m.segment_rest_length[s]) * ((state.vertex_position[b] - state.vertex_position[a]) + (at[b] - at[a]));
  }
};

void DirectSolver::Impl::build(const Model& m, const Control& c) {
  std::vector<std::uint8_t> key(c.vertex_fixed);
  for (FrameControl f : c.frame_control) key.push_back(static_cast<std::uint8_t>(f));
  if (key == built_for && !tree.nodes.empty()) return;
  built_for = std::move(key);
  tree = build_tree(m, c);
  root_of_vertex.assign(m.vertex_count(), -1);
  for (std::size_t r = 0; r < tree.roots.size(); ++r) root_of_vertex[tree.roots[r]] = static_cast<Index>(r);
  tension.resize(m.segment_count(), 0);
  links.assign(tree.nodes.size(), {});
  roots.assign(tree.roots.size(), {});
}

void DirectSolver::Impl::begin(const Model& m, const Control& c, const State& state) {
  direction_terms(m, c, state, h, directions);
  strain_prev.resize(m.segment_count());
  u.assign(state.vertex_position.size(), {});
  for (Index s = 0; s < m.segment_count(); ++s)
    strain_prev[s] = stretch_shear::local_strain(edge(m, state, u, s), state.frame_rotation[s]);
  rotation_prev.resize(m.joint_count());
  for (Index j = 0; j < m.joint_count(); ++j)
    rotation_prev[j] = conj(state.frame_rotation[m.joint_frames[j][0]]) * state.frame_rotation[m.joint_frames[j][1]];
  for (Index v = 0; v < m.vertex_count(); ++v)
    u[v] = c.vertex_fixed[v] ? c.vertex_target[v] - state.vertex_position[v] : h * state.vertex_velocity[v];
  q = state.frame_rotation;
  for (Index f = 0; f < m.frame_count(); ++f) {
    if (c.frame_control[f] != FrameControl::fixed) q[f] = guessed_frame(m, c, state, h, f);
    if (c.frame_control[f] == FrameControl::fixed) q[f] = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) {
      const Quatd c0 = c.frame_target[f], c1 = c.frame_hinge_axis[f] * c0;
      q[f] = normalized(dot(q[f], c0) * c0 + dot(q[f], c1) * c1);
    }
  }
}

JointModel DirectSolver::Impl::joint_model(const Model& m, Index j) const {
  const auto [a, b] = m.joint_frames[j];
  const Quatd r = conj(q[a]) * q[b];
  const Vec3d k = cast<double>(m.joint_stiffness[j]), tau = cast<double>(m.joint_tau[j]);
  JointModel model;
  const auto add = [&](const Quatd& K, const Quatd& rest) {
    model.gradient += rotate(q[a], bend_twist::gradient_material(K, r, bend_twist::difference(K, r, rest)));
  };
  add(bend_twist::stiffness4(k), m.joint_rest_rotation[j]);
  if (m.joint_tau[j].any()) add((1 / h) * bend_twist::viscous4(k, tau), rotation_prev[j]);
  model.axes = rotation_matrix(normalized(q[a] * half_rotation(r)));
  const auto soft = [&](double stiffness, double time) {
    const double whole = stiffness * (1 + time / h);
    return whole > 0 ? 4 / whole : kLoose;
  };
  model.compliance = {soft(k.x, tau.x), soft(k.y, tau.y), soft(k.z, tau.z)};
  return model;
}

void DirectSolver::Impl::assemble(const Model& m, const Control& c, const State& state) {
  const auto vertex_load = [&](Index v, Mat3<double>& stiffness, Vec3d& force) {
    const double weight = m.vertex_mass[v] / (h * h) + c.vertex_damping[v] / h;
    stiffness = identity3(weight);
    force = c.vertex_force[v] + (m.vertex_mass[v] / h) * state.vertex_velocity[v] - weight * u[v];
  };
  for (std::size_t r = 0; r < roots.size(); ++r) {
    const Index v = tree.roots[r];
    roots[r].held = c.vertex_fixed[v] != 0;
    roots[r].prescribed = {};
    vertex_load(v, roots[r].stiffness, roots[r].force);
  }
  double stiffest_joint = 0;
  for (Index j = 0; j < m.joint_count(); ++j)
    if (m.joint_alive[j]) stiffest_joint = std::max(stiffest_joint, m.joint_stiffness[j].largest());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const TreeNode& n = tree.nodes[i];
    const Index s = n.segment;
    Link<double>& l = links[i];
    l = {};
    l.parent = n.parent;
    l.root = n.parent < 0 ? root_of_vertex[n.near_vertex] : -1;
    const double length = m.segment_rest_length[s];
    const Vec3d k = cast<double>(m.segment_stiffness[s]), alpha = cast<double>((1 / h) * m.segment_tau[s]);
    const Vec3d stiff{k.x * (1 + alpha.x), k.y * (1 + alpha.y), k.z * (1 + alpha.z)};
    const auto share = [](double x) { return x / (1 + x); };
    const Vec3d rest{share(alpha.x) * strain_prev[s].x, share(alpha.y) * strain_prev[s].y, 1 + share(alpha.z) * strain_prev[s].z};
    const Vec3d p = edge(m, state, u, s), axis = rotate(q[s], rest);
    l.arm = (n.sign * length) * axis;
    l.e.x = (n.sign * length) * (p - axis);
    l.x_axes = rotation_matrix(q[s]);
    const double l2 = length * length;
    l.x_compliance = {l2 / stiff.x, l2 / stiff.y, l2 / stiff.z};
    // The part of the exact couple n x p that the model of a straight spring does not have: n x (p - axis).
    const Vec3d section = stretch_shear::section_force(stiff, stretch_shear::strain(p, q[s], rest), q[s]);
    l.force.w -= cross(section, p - axis);
    const Vec3d d = normalized(axis);
    l.load_stiffness.ww = l.load_stiffness.ww + (length * tension[s]) * (identity3(1.0) + -1.0 * outer(d, d));
    l.w_linked = n.joint >= 0;
    if (n.joint >= 0) {
      const JointModel joint = joint_model(m, n.joint);
      const double side = m.joint_frames[n.joint][1] == s ? 1 : -1;
      l.w_axes = joint.axes;
      l.w_compliance = joint.compliance;
      const auto offset = [&](int a, double compliance) {
        const Vec3d direction = column(joint.axes, a);
        if (compliance < kLoose) l.e.w += (side * compliance * dot(direction, joint.gradient)) * direction;
      };
      offset(0, joint.compliance.x), offset(1, joint.compliance.y), offset(2, joint.compliance.z);
    } else {
      // A frame that hangs on positions alone may spin about its axis at no cost; a whiff of stiffness keeps it where it is.
      l.load_stiffness.ww = l.load_stiffness.ww + identity3(1e-9 * (stiffest_joint + length * tension[s]) + 1e-300);
    }
    if (n.far_vertex >= 0) {
      l.vertex_held = c.vertex_fixed[n.far_vertex] != 0;
      vertex_load(n.far_vertex, l.load_stiffness.xx, l.force.x);
      if (l.vertex_held) l.load_stiffness.xx = {}, l.force.x = {};
    }
    if (c.has_torque) l.force.w += potential.torque(s, q[s]);
    if (c.frame_control[s] == FrameControl::fixed) l.frame_freedom = 0;
    if (c.frame_control[s] == FrameControl::hinged) l.frame_freedom = 1, l.hinge = c.frame_hinge_axis[s];
  }
  for (const auto& [node, j] : tree.local_joints) {
    const JointModel joint = joint_model(m, j);
    Link<double>& l = links[static_cast<std::size_t>(node)];
    const double side = m.joint_frames[j][1] == tree.nodes[static_cast<std::size_t>(node)].segment ? 1 : -1;
    l.load_stiffness.ww = l.load_stiffness.ww + rotated_diagonal(joint.axes, Vec3d{1 / joint.compliance.x, 1 / joint.compliance.y,
                                                                                   1 / joint.compliance.z});
    l.force.w -= side * joint.gradient;
  }
  for (const DirectionTerm& t : directions) {
    const Index node = tree.node_of_segment[t.frame];
    if (node < 0) continue;
    Link<double>& l = links[static_cast<std::size_t>(node)];
    const Vec3d d = rotate(q[t.frame], t.a);
    l.load_stiffness.ww = l.load_stiffness.ww + t.k * (identity3(norm2(d)) + -1.0 * outer(d, d));
    l.force.w -= stretch_shear::gradient_w(t.k, t.y, d);
  }
}

void DirectSolver::Impl::read_corrections(const Model& m) {
  correction_x.assign(m.vertex_count(), {});
  correction_w.assign(m.frame_count(), {});
  for (std::size_t r = 0; r < roots.size(); ++r) correction_x[tree.roots[r]] = factor.root_displacement()[r];
  for (std::size_t i = 0; i < links.size(); ++i) {
    const TreeNode& n = tree.nodes[i];
    if (n.far_vertex >= 0 && !links[i].vertex_held) correction_x[n.far_vertex] = factor.displacement()[i].x;
    correction_w[n.segment] = factor.displacement()[i].w;
  }
}

void DirectSolver::Impl::move(const Model& m, double share) {
  // Turns beyond a radian are where a quadratic model means nothing.
  double longest = 1;
  for (Index f = 0; f < m.segment_count(); ++f) longest = std::max(longest, norm(correction_w[f]));
  share /= longest;
  u_trial = u;
  q_trial = q;
  for (Index v = 0; v < m.vertex_count(); ++v) u_trial[v] += share * correction_x[v];
  for (Index f = 0; f < m.segment_count(); ++f)
    if (norm2(correction_w[f]) > 0) q_trial[f] = normalized(rotation_exp(share * correction_w[f]) * q[f]);
}

/// Constraints J z + e = C lambda on top of the tree, A z = f - J^T lambda: with A^-1 from the recursion, one column of J^T at a
/// time, the multipliers solve the dense (J A^-1 J^T + C) lambda = J z_tree + e.
void DirectSolver::Impl::close_loops(const Model& m) {
  if (tree.is_forest()) return;
  struct Row {
    int node_a = -1, root_a = -1, node_b = -1, root_b = -1;  ///< a - b; root: a root vertex
    Vec3d x, w;                                              ///< direction, positions or rotations
    double e = 0, compliance = 0;
  };
  std::vector<Row> rows;
  std::vector<Index> node_of_vertex(m.vertex_count(), -1);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i)
    if (tree.nodes[i].far_vertex >= 0 && !links[i].vertex_held) node_of_vertex[tree.nodes[i].far_vertex] = static_cast<Index>(i);
  for (const ClosingSegment& closing : tree.closing_segments)
    for (int k = 0; k < 3; ++k) {
      Row row;
      row.node_a = closing.node;
      row.node_b = node_of_vertex[closing.vertex];
      row.root_b = row.node_b < 0 ? root_of_vertex[closing.vertex] : -1;
      row.x = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
      rows.push_back(row);
    }
  for (Index j : tree.closing_joints) {
    const JointModel joint = joint_model(m, j);
    const double compliance[] = {joint.compliance.x, joint.compliance.y, joint.compliance.z};
    for (int k = 0; k < 3; ++k) {
      if (!(compliance[k] < kLoose)) continue;
      Row row;
      row.node_a = tree.node_of_segment[m.joint_frames[j][1]];
      row.node_b = tree.node_of_segment[m.joint_frames[j][0]];
      row.w = column(joint.axes, k);
      row.compliance = compliance[k];
      row.e = compliance[k] * dot(row.w, joint.gradient);
      rows.push_back(row);
    }
  }
  // One pass along the rods for every row: beyond this, sweeps are the better choice.
  constexpr std::size_t kMostRows = 300;
  if (rows.size() > kMostRows)
    throw RunError(
        fmt::format("the direct method closes up to {} loops, three equations each; this graph has {}: use `method` sweep",
                    kMostRows / 3, rows.size() / 3));
  const auto measure = [&](const Row& row) {
    const auto at = [&](int node, int root) {
      if (node >= 0) {
        const Vec6<double>& z = factor.displacement()[static_cast<std::size_t>(node)];
        return dot(row.x, z.x) + dot(row.w, z.w);
      }
      return root >= 0 ? dot(row.x, factor.root_displacement()[static_cast<std::size_t>(root)]) : 0.0;
    };
    return at(row.node_a, row.root_a) - at(row.node_b, row.root_b);
  };
  const auto push = [&](const Row& row, double size) {
    const auto at = [&](int node, int root, double amount) {
      if (node >= 0) {
        links[static_cast<std::size_t>(node)].force =
            links[static_cast<std::size_t>(node)].force + amount * Vec6<double>{row.x, row.w};
      } else if (root >= 0) {
        roots[static_cast<std::size_t>(root)].force += amount * row.x;
      }
    };
    at(row.node_a, row.root_a, size);
    at(row.node_b, row.root_b, -size);
  };
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::VectorXd rhs(count);
  for (Eigen::Index i = 0; i < count; ++i)
    rhs[i] = measure(rows[static_cast<std::size_t>(i)]) + rows[static_cast<std::size_t>(i)].e;
  // Columns of A^-1 J^T: the tree with nothing but one row's force.
  std::vector<Vec6<double>> force(links.size()), e(links.size());
  std::vector<Vec3d> root_force(roots.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    force[i] = links[i].force, e[i] = links[i].e, links[i].force = {}, links[i].e = {};
  for (std::size_t r = 0; r < roots.size(); ++r) root_force[r] = roots[r].force, roots[r].force = {};
  Eigen::MatrixXd schur(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    push(rows[static_cast<std::size_t>(i)], 1);
    factor.solve(links, roots);
    for (Eigen::Index k = 0; k < count; ++k) schur(k, i) = measure(rows[static_cast<std::size_t>(k)]);
    schur(i, i) += rows[static_cast<std::size_t>(i)].compliance;
    push(rows[static_cast<std::size_t>(i)], -1);
  }
  const Eigen::VectorXd lambda = schur.ldlt().solve(rhs);
  for (std::size_t i = 0; i < links.size(); ++i) links[i].force = force[i], links[i].e = e[i];
  for (std::size_t r = 0; r < roots.size(); ++r) roots[r].force = root_force[r];
  for (Eigen::Index i = 0; i < count; ++i) push(rows[static_cast<std::size_t>(i)], -lambda[i]);
  factor.solve(links, roots);
}

/// The largest share of the corrections that does not raise the energy, into u_trial, q_trial; 0 when rounding leaves none. The
/// direction descends, so nearly always it is all of it.
double DirectSolver::Impl::descend(const Model& m, EnergyTerms& energy) {
  const double highest = energy.total() + 1e-12 * energy.magnitude();
  double share = 1;
  for (int cut = 0; cut < 12; ++cut, share *= 0.5) {
    move(m, share);
    const EnergyTerms after = potential.value(u_trial, q_trial);
    if (!(after.total() <= highest)) continue;
    energy = after;
    return share;
  }
  return 0;
}

DirectSolver::DirectSolver(const Model& model, const Options& options) : options_(options), impl_(std::make_unique<Impl>()) {
  rebind(model);
}
DirectSolver::~DirectSolver() = default;

void DirectSolver::rebind(const Model& model) {
  impl_->built_for.clear();
  impl_->tension.assign(model.segment_count(), 0);
}

StepReport DirectSolver::step(const Model& m, const Control& c, State& state, double h) {
  Impl& s = *impl_;
  s.h = h;
  s.build(m, c);
  s.potential.begin(m, c, state, h);
  s.begin(m, c, state);
  // Corrections this small are what rounding makes of positions along the rods; a rod at rest has no other motion.
  const double rounding = 1e-12 * extent(m, state);
  StepReport report;
  const int limit = options_.iterations > 0 ? options_.iterations : options_.max_iterations;
  s.potential.set_torque_point(s.q);
  EnergyTerms energy = s.potential.value(s.u, s.q);
  for (report.iterations = 0; report.iterations < limit;) {
    s.assemble(m, c, state);
    s.factor.factor(s.links, s.roots);
    s.factor.solve(s.links, s.roots);
    s.close_loops(m);
    s.read_corrections(m);
    for (std::size_t i = 0; i < s.links.size(); ++i)
      s.tension[s.tree.nodes[i].segment] = std::max(0.0, dot(s.factor.link_force()[i].x, normalized(s.links[i].arm)));
    ++report.iterations;
    const double share = s.descend(m, energy);
    double moved = 0, motion = 0;
    for (Index v = 0; v < m.vertex_count(); ++v) {
      moved = std::max(moved, norm(s.correction_x[v]));
      motion = std::max(motion, norm(s.u_trial[v]));
    }
    for (Index f = 0; f < m.segment_count(); ++f) moved = std::max(moved, m.segment_rest_length[f] * norm(s.correction_w[f]));
    const bool settled = moved <= std::max(options_.tolerance * motion, rounding);
    report.not_converged = options_.iterations == 0 && !settled;
    if (share == 0) break;
    s.u.swap(s.u_trial);
    s.q.swap(s.q_trial);
    if (!std::isfinite(moved) || (options_.iterations == 0 && settled)) break;
    if (c.has_torque) {
      s.potential.set_torque_point(s.q);
      energy = s.potential.value(s.u, s.q);
    }
  }
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    state.vertex_position[v] += s.u[v];
    if (c.vertex_fixed[v]) state.vertex_position[v] = c.vertex_target[v];
    state.vertex_velocity[v] = m.vertex_alive[v] ? (1 / h) * s.u[v] : Vec3d{};
    if (!report.non_finite && !std::isfinite(norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v])))
      report.non_finite = true, report.worst_vertex = v;
  }
  const std::vector<Quatd> start = state.frame_rotation;
  state.frame_rotation = s.q;
  update_frame_velocity(m, c, start, h, state);
  return report;
}

}  // namespace osier::direct
