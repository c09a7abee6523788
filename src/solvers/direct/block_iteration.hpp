// One linear(ised) step of any graph by conjugate gradients on displacements and turns, for graphs with so many loops that
// closing them along a tree is dear. O(n) memory, and little of it.
//
//   minimise over dx, w    sum_v 1/2 m/h^2 dx^2 - f.dx  +  sum_s 1/2 e.(k/l^2) e + 1/2 w.W w - t.w
//                          + sum_j 1/2 (w_b - w_a).S (w_b - w_a) - 1/2 g.(w_a x w_b)
//
//   e = dx_b - dx_a + arm x w,  arm = l R rest      change of a segment's strain
//   W                                               the force through it, which turns with it; rotational inertia
//   S, g                                            curvature and gradient of a joint (bend_twist.hpp)
//
// The force is that of the strain o that the last solve left, n = (k/l^2) o: at the first guess rods are stretched out of all
// proportion. With equal stiffnesses W = (n.arm) 1 - (n arm^T + arm n^T)/2; otherwise the axes of k turn, too, and there are
// terms between w and dx (stretch_shear.hpp, with p = (arm + o)/l).
//
// Preconditioner: one number for each vertex, a block for each frame. A step spreads over some sqrt(R) segments only,
// R = (EA/l)/(m/h^2), however far a spanning tree would carry it, and the number of iterations goes with that. What is held has a
// block of zeros, so that its direction is always zero and nothing else needs to know.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "solvers/direct/engine.hpp"
#include "solvers/direct/link_assembly.hpp"
#include "solvers/potential_hessian.hpp"

namespace osier::direct {

/// Lower triangle of a symmetric 3x3 matrix.
template <class T>
struct Sym3 {
  T xx{}, yx{}, yy{}, zx{}, zy{}, zz{};
};
template <class T>
OSIER_FN Vec3<T> operator*(const Sym3<T>& a, const Vec3<T>& v) {
  return {a.xx * v.x + a.yx * v.y + a.zx * v.z, a.yx * v.x + a.yy * v.y + a.zy * v.z, a.zx * v.x + a.zy * v.y + a.zz * v.z};
}
template <class T>
OSIER_FN Sym3<T> pack3(const Mat3<double>& m) {
  return {static_cast<T>(m.m[0][0]), static_cast<T>(m.m[1][0]), static_cast<T>(m.m[1][1]),
          static_cast<T>(m.m[2][0]), static_cast<T>(m.m[2][1]), static_cast<T>(m.m[2][2])};
}

template <class T>
class BlockIteration {
 public:
  void arrange(const Model& m);
  void forget_strains() { std::fill(strain_.begin(), strain_.end(), Vec3<T>{}); }

  /// Where to stop: an error that is this share of the solution, both measured by the energy; or one that moves no vertex by more
  /// than `gap` [m].
  struct Enough {
    double share = 1e-3, gap = 0;
    int most = 20000;
  };
  /// Linearises at the state at hand and solves; keeps the strains of the segments for the next time. False if the exact
  /// curvature is found not to be positive.
  bool solve(const StepModel& step, Curvature curvature, const Enough& enough, const Executor& executor);
  /// The same for positions while frames stay as they are; no strain is kept.
  void solve_positions(const StepModel& step, const Enough& enough, const Executor& executor);

  const Vec3<T>& displacement(Index v) const { return d_[at(v)]; }
  const Vec3<T>& turn(Index s) const { return d_[vertices_ + at(s)]; }
  int iterations() const { return iterations_; }  ///< of the last solve

  std::size_t bytes() const;
  /// What it will be.
  static std::size_t bytes(const Model& m);

 private:
  /// Springs that are the same along all axes take fewer numbers.
  struct IsotropicJoint {
    Vec3<T> gradient;
    T stiffness;
  };
  struct Joint {
    Vec3<T> gradient;
    Sym3<T> stiffness;
  };
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  static bool is_isotropic(const Model& m);
  std::size_t blocks() const { return (d_.size() + kBlock - 1) / kBlock; }

  void linearise(const StepModel& step, Curvature curvature, bool frames_move, const Executor& executor);
  void linearise_joint(const StepModel& step, Index j);
  void linearise_segment(const StepModel& step, bool frames_move, Index s);
  void linearise_vertex(const StepModel& step, Index v);
  bool iterate(const Model& m, const Enough& enough, const Executor& executor);
  void keep_strains(const StepModel& step, const Executor& executor);

  /// (k/l^2) e
  Vec3<T> force_of(std::size_t s, const Vec3<T>& e) const { return isotropic_ ? stiffness_[s] * e : stiffness_by_axis_[s] * e; }
  /// e
  Vec3<T> change_of_strain(const Model& m, std::size_t s, const std::vector<Vec3<T>>& x) const {
    const auto [a, b] = m.segment_vertices[s];
    return x[at(b)] - x[at(a)] + cross(arm_[s], x[vertices_ + s]);
  }
  /// Whether the axes of stiffnesses turn with their segments.
  bool axes_turn() const { return !isotropic_ && curvature_ == Curvature::exact; }
  /// The force that a segment answers the direction with.
  Vec3<T> of_segment(const Model& m, std::size_t s) const {
    const Vec3<T> e = change_of_strain(m, s, p_);
    if (!axes_turn()) return force_of(s, e);
    const Vec3<T>& w = p_[vertices_ + s];
    return force_of(s, e + cross(strain_[s], w)) - cross(force_of(s, strain_[s]), w);
  }
  Vec3<T> of_vertex(const Model& m, Index v) const;
  Vec3<T> of_frame(const Model& m, Index frame) const;
  Vec3<T> preconditioned(std::size_t i) const {
    return i < vertices_ ? vertex_inverse_[i] * left_[i] : frame_inverse_[i - vertices_] * left_[i];
  }
  /// The sum of f(i) over all unknowns, in double and in an order that does not depend on threads.
  template <class F>
  double sum(const Executor& executor, const F& f);

  static constexpr std::size_t kBlock = 256;
  bool isotropic_ = true;
  Curvature curvature_ = Curvature::positive;
  std::size_t vertices_ = 0, segments_ = 0;
  std::vector<Vec3<T>> arm_, strain_;  ///< per segment; strain: o
  std::vector<T> stiffness_;           ///< k/l^2 per segment, or
  std::vector<Sym3<T>> stiffness_by_axis_;
  std::vector<Sym3<T>> inertia_;  ///< per segment; empty without rotational inertia and motors
  std::vector<IsotropicJoint> isotropic_joint_;
  std::vector<Joint> joint_;
  std::vector<T> weight_, vertex_inverse_;  ///< per vertex
  std::vector<Sym3<T>> frame_inverse_;      ///< per frame, anchors included
  /// Vertices, then frames: the solution, what is left of the right-hand side, the direction and its image.
  std::vector<Vec3<T>> d_, left_, p_, image_;
  std::vector<Vec3<T>> force_;  ///< per segment, of the direction
  struct Hinge {
    std::size_t unknown;
    Vec3<T> axis;
  };
  std::vector<Hinge> hinges_;
  std::vector<double> part_;
  double least_weight_ = 0;  ///< of what is free
  int iterations_ = 0;
};

template <class T>
bool BlockIteration<T>::is_isotropic(const Model& m) {
  for (Index s = 0; s < m.segment_count(); ++s)
    if (!is_isotropic_segment(m, s)) return false;
  for (Index j = 0; j < m.joint_count(); ++j)
    if (!is_isotropic_joint(m, j)) return false;
  return true;
}

template <class T>
void BlockIteration<T>::arrange(const Model& m) {
  isotropic_ = is_isotropic(m);
  vertices_ = at(m.vertex_count()), segments_ = at(m.segment_count());
  const std::size_t n = vertices_ + at(m.frame_count()), joints = at(m.joint_count());
  arm_.assign(segments_, {}), strain_.resize(segments_), force_.assign(segments_, {});
  stiffness_.assign(isotropic_ ? segments_ : 0, T(0)), stiffness_by_axis_.assign(isotropic_ ? 0 : segments_, {});
  isotropic_joint_.assign(isotropic_ ? joints : 0, {}), joint_.assign(isotropic_ ? 0 : joints, {});
  weight_.assign(vertices_, T(0)), vertex_inverse_.assign(vertices_, T(0));
  frame_inverse_.assign(at(m.frame_count()), {});
  d_.assign(n, {}), left_.assign(n, {}), p_.assign(n, {}), image_.assign(n, {});
  part_.assign(blocks(), 0);
}

template <class T>
template <class F>
double BlockIteration<T>::sum(const Executor& executor, const F& f) {
  executor.for_each(
      part_.size(),
      [&](std::size_t block) {
        double part = 0;
        for (std::size_t i = block * kBlock; i < std::min(d_.size(), (block + 1) * kBlock); ++i) part += f(i);
        part_[block] = part;
      },
      kBlock);
  double all = 0;
  for (double part : part_) all += part;
  return all;
}

/// Of a segment as it is: its spring and the force through it.
struct SegmentAtHand {
  stretch_shear::FoldedSpring<double> spring;
  Vec3d edge, axis, section;
};
inline SegmentAtHand segment_at_hand(const StepModel& step, Index s) {
  const Vec3d start = step.edge_at_start(s);
  const Quatd& q = step.q[s];
  SegmentAtHand at{step.spring(s, start), start + step.edge_since(s), {}, {}};
  const Vec3d& k = at.spring.k;
  at.axis = at.spring.rest.x == 0 && at.spring.rest.y == 0 ? at.spring.rest.z * director3(q) : rotate(q, at.spring.rest);
  const Vec3d off = at.edge - at.axis;
  at.section = k.x == k.y && k.y == k.z ? k.x * off : stretch_shear::section_force(k, rotate(conj(q), off), q);
  return at;
}

/// Inverse of a positive matrix, or of as much of it as is positive along the axes.
inline Mat3<double> inverse_of_positive(const Mat3<double>& a) {
  Mat3<double> inverse;
  for (int j = 0; j < 3; ++j) {
    Vec3d x;
    if (!solve_positive(a, {j == 0 ? 1.0 : 0.0, j == 1 ? 1.0 : 0.0, j == 2 ? 1.0 : 0.0}, 1e-14, x)) {
      const auto over = [](double d) { return d > 0 ? 1 / d : 0; };
      return {{{over(a.m[0][0]), 0, 0}, {0, over(a.m[1][1]), 0}, {0, 0, over(a.m[2][2])}}};
    }
    inverse.m[0][j] = x.x, inverse.m[1][j] = x.y, inverse.m[2][j] = x.z;
  }
  return inverse;
}

template <class T>
void BlockIteration<T>::linearise_joint(const StepModel& step, Index j) {
  const Model& m = step.model();
  if (!m.joint_alive[j]) return;
  const auto [a, b] = m.joint_frames[j];
  const JointSpring spring = step.joint_spring(j);
  Mat3<double> stiffness;
  Vec3d gradient;
  if (curvature_ == Curvature::exact) {
    JointHessian h = joint_hessian(bend_twist::stiffness4(spring.k), step.q[a], step.q[b], spring.rest);
    if (spring.damped()) h += joint_hessian(bend_twist::viscous4(spring.k, spring.alpha), step.q[a], step.q[b], spring.previous);
    stiffness = h.same, gradient = h.gradient;
  } else {
    const JointModel model = joint_model(spring, step.q[a], step.q[b]);
    const auto over = [](double c) { return c < kLoose<double> ? 1 / c : 0; };
    stiffness = rotated_diagonal(model.axes, Vec3d{over(model.compliance.x), over(model.compliance.y), over(model.compliance.z)});
    gradient = model.gradient;
  }
  if (isotropic_) isotropic_joint_[at(j)] = {cast<T>(gradient), static_cast<T>(stiffness.m[0][0])};
  else joint_[at(j)] = {cast<T>(gradient), pack3<T>(stiffness)};
}

template <class T>
void BlockIteration<T>::linearise_segment(const StepModel& step, bool frames_move, Index s) {
  const Model& m = step.model();
  const std::size_t i = vertices_ + at(s);
  frame_inverse_[at(s)] = {};
  left_[i] = {};
  if (!m.segment_alive[s]) return;
  const double l = m.segment_rest_length[s];
  const SegmentAtHand here = segment_at_hand(step, s);
  const Vec3d arm = l * here.axis, &k = here.spring.k;
  arm_[at(s)] = cast<T>(arm);
  const bool isotropic = k.x == k.y && k.y == k.z;
  const Mat3<double> C = isotropic ? identity3(k.x / (l * l)) : (1 / (l * l)) * rotated_diagonal(rotation_matrix(step.q[s]), k);
  if (isotropic_) stiffness_[at(s)] = static_cast<T>(C.m[0][0]);
  else stiffness_by_axis_[at(s)] = pack3<T>(C);
  if (!frames_move || step.is_fixed_frame(s)) return;
  // Of the force only what pulls, if the whole must be positive.
  Vec3d strain = cast<double>(strain_[at(s)]);
  if (curvature_ == Curvature::positive) strain = (std::max(0.0, dot(strain, arm)) / norm2(arm)) * arm;
  strain_[at(s)] = cast<T>(strain);
  Vec3d couple = -1.0 * stretch_shear::gradient_w(here.section, here.edge);
  if (step.control().has_torque) couple += step.torque(s);
  Mat3<double> inertia{};
  for (const DirectionTerm& term : step.directions(s)) {
    const Vec3d a = rotate(step.q[s], term.a);
    inertia = inertia + stretch_shear::hessian_ww(term.k, curvature_ == Curvature::exact ? term.y : a, a);
    couple -= stretch_shear::gradient_w(term.k, term.y, a);
  }
  if (!inertia_.empty()) inertia_[at(s)] = pack3<T>(inertia);
  const Mat3<double> A = skew(arm);
  Mat3<double> block = -1.0 * (A * C * A) + inertia;
  const double tension = dot(C * strain, arm);
  if (tension > 0) block = block + stretch_shear::hessian_ww(1.0, (tension / norm2(arm)) * arm, arm);
  const double across = block.m[0][0] + block.m[1][1] + block.m[2][2];
  for (Index e : m.frame_joints.of(s)) {
    const double side = e % 2 == 1 ? 1 : -1;
    if (isotropic_) {
      const IsotropicJoint& joint = isotropic_joint_[at(e / 2)];
      couple -= side * cast<double>(joint.gradient), block = block + identity3(static_cast<double>(joint.stiffness));
    } else {
      const Joint& joint = joint_[at(e / 2)];
      const Sym3<T>& k_joint = joint.stiffness;
      couple -= side * cast<double>(joint.gradient);
      block = block +
              Mat3<double>{{{static_cast<double>(k_joint.xx), static_cast<double>(k_joint.yx), static_cast<double>(k_joint.zx)},
                            {static_cast<double>(k_joint.yx), static_cast<double>(k_joint.yy), static_cast<double>(k_joint.zy)},
                            {static_cast<double>(k_joint.zx), static_cast<double>(k_joint.zy), static_cast<double>(k_joint.zz)}}};
    }
  }
  // Spin of a frame without joints costs nothing, and nothing asks for it but rounding: the less it answers the better.
  if (m.frame_joints.of(s).empty()) block = block + (across / norm2(arm)) * outer(arm, arm);
  left_[i] = cast<T>(couple);
  if (step.control().frame_control[s] == FrameControl::hinged) {
    const Vec3d& axis = step.control().frame_hinge_axis[s];
    left_[i] = cast<T>(dot(axis, couple) * axis);
    const double along = dot(axis, block * axis);
    frame_inverse_[at(s)] = pack3<T>((along > 0 ? 1 / along : 0) * outer(axis, axis));
  } else {
    frame_inverse_[at(s)] = pack3<T>(inverse_of_positive(block));
  }
}

/// Forces are added up in double: in a tight rope their difference is small against each of them.
template <class T>
void BlockIteration<T>::linearise_vertex(const StepModel& step, Index v) {
  const Model& m = step.model();
  const double weight = step.vertex_weight(v);
  weight_[at(v)] = static_cast<T>(weight);
  vertex_inverse_[at(v)] = T(0);
  left_[at(v)] = {};
  if (!step.is_free(v) || !m.vertex_alive[v]) return;
  Vec3d force = step.vertex_pull(v) - weight * step.u[v];
  double block = weight;
  for (Index e : m.vertex_segments.of(v)) {
    const Index s = e / 2;
    const double l = m.segment_rest_length[s];
    const SegmentAtHand here = segment_at_hand(step, s);
    force += (e % 2 == 1 ? -1 / l : 1 / l) * here.section;
    block += (here.spring.k.x + here.spring.k.y + here.spring.k.z) / (3 * l * l);
  }
  left_[at(v)] = cast<T>(force);
  vertex_inverse_[at(v)] = static_cast<T>(block > 0 ? 1 / block : 0);
}

template <class T>
void BlockIteration<T>::linearise(const StepModel& step, Curvature curvature, bool frames_move, const Executor& executor) {
  const Model& m = step.model();
  curvature_ = curvature;
  bool directed = false;
  for (Index s = 0; s < m.segment_count() && !directed; ++s) directed = !step.directions(s).empty();
  if (directed != !inertia_.empty()) inertia_ = std::vector<Sym3<T>>(directed ? segments_ : 0);
  executor.for_each(at(m.joint_count()), [&](std::size_t j) { linearise_joint(step, static_cast<Index>(j)); });
  executor.for_each(d_.size(), [&](std::size_t i) {
    if (i < vertices_) linearise_vertex(step, static_cast<Index>(i));
    else if (i < vertices_ + segments_) linearise_segment(step, frames_move, static_cast<Index>(i - vertices_));
  });
  hinges_.clear();
  for (Index f = 0; f < m.segment_count(); ++f)
    if (step.control().frame_control[f] == FrameControl::hinged)
      hinges_.push_back({vertices_ + at(f), cast<T>(step.control().frame_hinge_axis[f])});
  least_weight_ = std::numeric_limits<double>::infinity();
  for (Index v = 0; v < m.vertex_count(); ++v)
    if (step.is_free(v) && m.vertex_alive[v]) least_weight_ = std::min(least_weight_, step.vertex_weight(v));
}

template <class T>
Vec3<T> BlockIteration<T>::of_vertex(const Model& m, Index v) const {
  Vec3<T> f = weight_[at(v)] * p_[at(v)];
  for (Index e : m.vertex_segments.of(v)) f = e % 2 == 1 ? f + force_[at(e / 2)] : f - force_[at(e / 2)];
  return f;
}

template <class T>
Vec3<T> BlockIteration<T>::of_frame(const Model& m, Index frame) const {
  const std::size_t s = at(frame);
  const Vec3<T>&w = p_[vertices_ + s], &arm = arm_[s];
  const Vec3<T> n = force_of(s, strain_[s]);
  Vec3<T> t;
  if (axes_turn()) {
    const auto [a, b] = m.segment_vertices[s];
    const Vec3<T> edge = arm + strain_[s];
    t = cross(force_[s] + cross(n, w), edge) + cross(n, p_[at(b)] - p_[at(a)]) + T(0.5) * (dot(edge, w) * n + dot(n, w) * edge) -
        dot(n, edge) * w;
  } else {
    t = cross(force_[s], arm) + dot(n, arm) * w - T(0.5) * (dot(arm, w) * n + dot(n, w) * arm);
  }
  if (!inertia_.empty()) t += inertia_[s] * w;
  const T half = curvature_ == Curvature::exact ? T(0.5) : T(0);  // of the moments: not positive by itself
  for (Index e : m.frame_joints.of(frame)) {
    const std::size_t j = at(e / 2);
    const Vec3<T>& other = p_[vertices_ + at(m.joint_frames[j][1 - e % 2])];
    if (isotropic_) t += isotropic_joint_[j].stiffness * (w - other);
    else t += joint_[j].stiffness * (w - other);
    const Vec3<T>& gradient = isotropic_ ? isotropic_joint_[j].gradient : joint_[j].gradient;
    t += (e % 2 == 1 ? -half : half) * cross(gradient, other);
  }
  return t;
}

template <class T>
bool BlockIteration<T>::iterate(const Model& m, const Enough& enough, const Executor& executor) {
  const auto number = [](T x) { return static_cast<double>(x); };
  std::fill(d_.begin(), d_.end(), Vec3<T>{});
  std::fill(p_.begin(), p_.end(), Vec3<T>{});
  double size = sum(executor, [&](std::size_t i) { return number(dot(left_[i], preconditioned(i))); }), before = size;
  // What the latest iterations have gained is what was missing before them: an estimate of the error that lags behind.
  constexpr std::size_t kLag = 4;
  std::array<double, kLag> gains{};
  double gained = 0;
  for (iterations_ = 0; iterations_ < enough.most && size > 0 && std::isfinite(size);) {
    const T again = static_cast<T>(iterations_ > 0 ? size / before : 0);
    executor.for_each(d_.size(), [&](std::size_t i) { p_[i] = preconditioned(i) + again * p_[i]; });
    executor.for_each(segments_, [&](std::size_t s) { force_[s] = of_segment(m, s); });
    const double curved = sum(executor, [&](std::size_t i) {
      if (i >= vertices_ + segments_) return 0.0;
      image_[i] = i < vertices_ ? of_vertex(m, static_cast<Index>(i)) : of_frame(m, static_cast<Index>(i - vertices_));
      return number(dot(p_[i], image_[i]));
    });
    // What a hinge cannot answer must not build up.
    for (const Hinge& h : hinges_) image_[h.unknown] = dot(h.axis, image_[h.unknown]) * h.axis;
    if (!(curved > 0)) return curvature_ == Curvature::positive;
    const double step = size / curved;
    const T by = static_cast<T>(step);
    gains[static_cast<std::size_t>(iterations_) % kLag] = step * size;
    gained += step * size;
    before = size;
    size = sum(executor, [&](std::size_t i) {
      d_[i] += by * p_[i];
      left_[i] -= by * image_[i];
      return number(dot(left_[i], preconditioned(i)));
    });
    ++iterations_;
    double latest = 0;
    for (double g : gains) latest += g;
    if (iterations_ < static_cast<int>(kLag)) continue;
    if (latest <= enough.share * enough.share * gained || latest <= least_weight_ * enough.gap * enough.gap) break;
  }
  return true;
}

template <class T>
void BlockIteration<T>::keep_strains(const StepModel& step, const Executor& executor) {
  const Model& m = step.model();
  executor.for_each(segments_, [&](std::size_t s) {
    if (!m.segment_alive[s]) return;
    const SegmentAtHand here = segment_at_hand(step, static_cast<Index>(s));
    strain_[s] = cast<T>(m.segment_rest_length[s] * (here.edge - here.axis)) + change_of_strain(m, s, d_);
  });
}

template <class T>
bool BlockIteration<T>::solve(const StepModel& step, Curvature curvature, const Enough& enough, const Executor& executor) {
  linearise(step, curvature, true, executor);
  if (!iterate(step.model(), enough, executor)) return false;
  keep_strains(step, executor);
  return true;
}

template <class T>
void BlockIteration<T>::solve_positions(const StepModel& step, const Enough& enough, const Executor& executor) {
  linearise(step, Curvature::positive, false, executor);
  iterate(step.model(), enough, executor);
}

template <class T>
std::size_t BlockIteration<T>::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return of(arm_) + of(strain_) + of(stiffness_) + of(stiffness_by_axis_) + of(inertia_) + of(isotropic_joint_) + of(joint_) +
         of(weight_) + of(vertex_inverse_) + of(frame_inverse_) + of(d_) + of(left_) + of(p_) + of(image_) + of(force_) +
         of(hinges_) + of(part_);
}

template <class T>
std::size_t BlockIteration<T>::bytes(const Model& m) {
  const std::size_t v = at(m.vertex_count()), s = at(m.segment_count()), f = at(m.frame_count()), j = at(m.joint_count());
  const bool isotropic = is_isotropic(m);
  return v * 2 * sizeof(T) + s * (3 * sizeof(Vec3<T>) + (isotropic ? sizeof(T) : sizeof(Sym3<T>))) + f * sizeof(Sym3<T>) +
         (m.has_inertia() ? s * sizeof(Sym3<T>) : 0) + j * (isotropic ? sizeof(IsotropicJoint) : sizeof(Joint)) +
         4 * (v + f) * sizeof(Vec3<T>) + (v + f) / kBlock * sizeof(double);
}

}  // namespace osier::direct
