// One time step of Algorithm 2 of "Stable Cosserat Rods", with the addendum's changes. The conductor is step(); line numbers
// of the algorithm box stand in the margin.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "exec/parallel.hpp"
#include "model/edge.hpp"
#include "solvers/direct/direct_solver.hpp"
#include "solvers/direction_terms.hpp"
#include "solvers/stable_cosserat/chain_engine.hpp"
#include "solvers/stable_cosserat/general_update.hpp"
#include "solvers/stable_cosserat/orientation_update.hpp"
#include "solvers/stable_cosserat/position_update.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"
#include "solvers/stable_cosserat/workspace.hpp"

namespace osier::stable_cosserat {

namespace {

/// The first number that is not finite.
void locate_trouble(const Model& m, const State& state, StepReport& report) {
  report.non_finite = false;
  for (Index v = 0; v < m.vertex_count() && !report.non_finite; ++v)
    // By the squares: a state whose energy overflows is as lost as a NaN.
    if (!std::isfinite(norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v])))
      report.non_finite = true, report.worst_vertex = v;
  for (Index s = 0; s < m.segment_count() && !report.non_finite; ++s)
    if (!is_finite(state.frame_rotation[s])) report.non_finite = true, report.worst_segment = s;
}

template <class T>
class StableCosserat final : public Solver {
 public:
  StableCosserat(const Settings& settings, const Model& model) : settings_(settings), executor_(settings.thread_count) {
    rebind(model);
  }

  void rebind(const Model& m) override;
  StepReport step(const Model& m, const Control& c, State& state, double h) override;

 private:
  void load(const Model& m, const Control& c, const State& state, double h);
  void initial_guess(const Model& m, const Control& c, const State& state, double h);
  void load_general(const Model& m, const Control& c, const State& state, double h);
  void sweep(const Model& m, const Control& c) {
    if (general_) sweep_general(m, c);
    else if (axial_) sweep_lambda<true>(m, c);
    else sweep_lambda<false>(m, c);
  }
  template <bool kAxial>
  void sweep_lambda(const Model& m, const Control& c) {
    if (settings_.lambda == Lambda::approx) sweep_once<kAxial, Lambda::approx>(m, c);
    if (settings_.lambda == Lambda::exact) sweep_once<kAxial, Lambda::exact>(m, c);
    if (settings_.lambda == Lambda::secular) sweep_once<kAxial, Lambda::secular>(m, c);
  }
  template <bool kAxial, Lambda kLambda>
  void sweep_once(const Model& m, const Control& c);
  template <bool kAxial, Lambda kLambda>
  void settle(const Model& m, const Control& c, Index s, Quat<T> q, Vec3<T> image, bool degenerate, Quat<T>* q_out);
  template <bool kAxial, Lambda kLambda>
  void update_segment(const Model& m, const Control& c, Index s, Quat<T>* q_out);
  template <bool kAxial, Lambda kLambda, class SegmentOf>
  void update_segments(const Model& m, const Control& c, int count, const SegmentOf& segment_of, Quat<T>* q_out);
  void sweep_general(const Model& m, const Control& c);
  Quat<T> general_frame(const Model& m, const Control& c, Index s) const;
  Vec3<T> pull_at(Index s, const Vec3<T>& image) const;
  struct Residual {
    double value = 0, scale = 0;
    Index vertex = -1, segment = -1;
  };
  Residual residual(const Model& m, const Control& c) const;
  Residual residual_general(const Model& m, const Control& c) const;
  double moment_scale(const Model& m, const Control& c) const;
  void store(const Model& m, State& state, double h, StepReport& report) const;
  bool step_chains(const Model& m, const Control& c, State& state, double h, StepReport& report);

  Settings settings_;
  Executor executor_;
  Workspace<T> w_;
  bool axial_ = false;    ///< some segment damps stretch: the material axis is eta
  bool bending_ = false;  ///< some joint damps bending
  bool anisotropic_ = false, inertia_ = false;
  bool general_ = false;  ///< the step at hand needs general_update.hpp
  std::vector<DirectionTerm> directions_;
  std::vector<Quatd> frames_start_;
  ChainEngine<T> chains_;
  bool all_chains_ = false;
};

template <class T>
void StableCosserat<T>::rebind(const Model& m) {
  all_chains_ = false;
  if (settings_.order == Order::red_black && !settings_.tolerance && m.is_isotropic() && !m.has_inertia()) {
    const std::vector<Chain> chains = find_chains(m);
    Index covered = 0, alive = 0;
    for (const Chain& chain : chains) covered += fits_lanes(chain) ? chain.vertices : 0;
    for (std::uint8_t a : m.vertex_alive) alive += a;
    all_chains_ = covered == alive;
    if (all_chains_) chains_.bind(m, chains, settings_.instructions, executor_);
  }
  const auto nv = static_cast<std::size_t>(m.vertex_count()), ns = static_cast<std::size_t>(m.segment_count());
  const auto nf = static_cast<std::size_t>(m.frame_count());
  const auto positive = [](const PerAxis& tau) { return tau.any(); };
  axial_ = std::any_of(m.segment_tau.begin(), m.segment_tau.end(), positive);
  bending_ = std::any_of(m.joint_tau.begin(), m.joint_tau.end(), positive);
  anisotropic_ = !m.is_isotropic();
  inertia_ = m.has_inertia();
  if (anisotropic_ || inertia_) {
    w_.general.segment.resize(ns);
    w_.general.joint.resize(static_cast<std::size_t>(m.joint_count()));
    w_.general.direction_start.resize(ns + 1);
    w_.general.direction.reserve(3 * ns);
    w_.general.weight.resize(nv);
    directions_.reserve(3 * ns);
  }
  w_.vertex.resize(nv);
  w_.u.resize(nv);
  w_.segment.resize(ns);
  w_.pull.resize(ns);
  w_.q.resize(nf);
  w_.gamma.resize(ns);
  w_.torque.resize(nf);
  w_.torque_material.resize(nf);
  if (settings_.order == Order::jacobi) w_.u_next.resize(nv), w_.q_next.resize(nf);
  w_.vertex_side.resize(m.vertex_segments.entry.size());
  for (std::size_t i = 0; i < w_.vertex_side.size(); ++i) {
    const Index seg = m.vertex_segments.entry[i] / 2, side = m.vertex_segments.entry[i] % 2;
    w_.vertex_side[i] = {m.segment_vertices[seg][1 - side], seg, T(0), side == 1 ? T(1) : T(-1)};
  }
  w_.joint_side.resize(m.frame_joints.entry.size());
  for (std::size_t i = 0; i < w_.joint_side.size(); ++i) {
    const Index j = m.frame_joints.entry[i] / 2, side = m.frame_joints.entry[i] % 2;
    const Quatd rest = side == 1 ? m.joint_rest_rotation[j] : conj(m.joint_rest_rotation[j]);
    w_.joint_side[i] = {cast<T>(m.joint_stiffness[j].d3 * rest), T(-1), m.joint_frames[j][1 - side]};
  }
  if (!bending_) return;
  w_.joint_terms.resize(w_.joint_side.size());
  w_.joint_rows.assign(static_cast<std::size_t>(m.joint_count()), {0, 0});
  for (std::size_t i = 0; i < w_.joint_side.size(); ++i)
    w_.joint_rows[static_cast<std::size_t>(m.frame_joints.entry[i] / 2)][static_cast<std::size_t>(m.frame_joints.entry[i] % 2)] =
        static_cast<Index>(i);
}

/// Everything that stays put during the sweeps of one step. Differences of positions are formed in double.
template <class T>
void StableCosserat<T>::load(const Model& m, const Control& c, const State& state, double h) {
  executor_.for_each(w_.q.size(), [&](std::size_t f) {
    w_.q[f] = cast<T>(state.frame_rotation[f]);
    if (c.frame_control[f] == FrameControl::fixed) w_.q[f] = cast<T>(c.frame_target[f]);
    else if (inertia_) w_.q[f] = cast<T>(guessed_frame(m, c, state, h, static_cast<Index>(f)));
    if (c.has_torque) {
      w_.torque[f] = cast<T>(c.frame_torque[f]);
      w_.torque_material[f] = cast<T>(c.frame_torque_material[f]);
    }
  });
  executor_.for_each(w_.segment.size(), [&](std::size_t s) {
    const double l = m.segment_rest_length[s], k = m.segment_stiffness[s].d3;
    const double alpha = m.segment_tau[s].d3 / h;
    const Vec3d p = osier::edge_over_length(m, state.vertex_position, static_cast<Index>(s));
    SegmentData<T>& d = w_.segment[s];
    d.p0 = cast<T>(p);
    d.inverse_length = static_cast<T>(1 / l);
    d.k = static_cast<T>(k);
    d.stiffening = static_cast<T>(1 + alpha);
    d.c = static_cast<T>((1 + alpha) * k / (l * l));
    d.eta = {T(0), T(0), T(1)};
    if (axial_) d.eta = cast<T>(stretch_shear::generalised_axis(alpha, stretch_shear::local_strain(p, state.frame_rotation[s])));
    w_.gamma[s] = static_cast<T>(state.segment_gamma[s]);
    w_.pull[s] = pull_at(static_cast<Index>(s), rotate(w_.q[s], d.eta));
  });
  executor_.for_each(w_.vertex_side.size(),
                     [&](std::size_t i) { w_.vertex_side[i].c = w_.segment[w_.vertex_side[i].segment].c; });
  if (bending_)
    executor_.for_each(w_.joint_rows.size(), [&](std::size_t j) {
      if (!m.joint_alive[j]) return;
      const auto [a, b] = m.joint_frames[j];
      const Quatd rest = m.joint_rest_rotation[j], previous = conj(state.frame_rotation[a]) * state.frame_rotation[b];
      const double k = m.joint_stiffness[j].d3, alpha = m.joint_tau[j].d3 / h;
      Quatd folded;
      double folded_bound = 0;
      fold_joint(k * rest, k, alpha, previous, folded, folded_bound);
      const Quat<T> target = cast<T>(folded);
      const T bound = static_cast<T>(folded_bound);
      const JointTerms<T> terms{cast<T>(k * rest), cast<T>((alpha * k) * previous)};
      const auto [row_a, row_b] = w_.joint_rows[j];  // what b sees; a sees the conjugate
      w_.joint_side[row_b].target = target;
      w_.joint_side[row_a].target = conj(target);
      w_.joint_side[row_b].bound = w_.joint_side[row_a].bound = bound;
      w_.joint_terms[row_b] = terms;
      w_.joint_terms[row_a] = {conj(terms.elastic), conj(terms.viscous)};
    });
  executor_.for_each(w_.vertex.size(), [&](std::size_t v) {
    VertexData<T>& d = w_.vertex[v];
    d.rhs = cast<T>((m.vertex_mass[v] / h) * state.vertex_velocity[v] + c.vertex_force[v]);
    double hessian = m.vertex_mass[v] / (h * h) + c.vertex_damping[v] / h;
    for (Index e : m.vertex_segments.of(static_cast<Index>(v))) {
      const Index s = e / 2;
      const double l = m.segment_rest_length[s];
      hessian += (1 + m.segment_tau[s].d3 / h) * m.segment_stiffness[s].d3 / (l * l);
    }
    d.inverse_hessian = static_cast<T>(1 / hessian);
  });
}

/// x <- x_t + h v_t + h^2 a~ with VBD's adaptive a~ (Chen et al. 2024): the part of the last step's acceleration that points
/// along the loads, no more than the loads themselves. A rod at rest under gravity starts at rest.
template <class T>
void StableCosserat<T>::initial_guess(const Model& m, const Control& c, const State& state, double h) {
  executor_.for_each(w_.u.size(), [&](std::size_t v) {
    if (c.vertex_fixed[v]) {
      w_.u[v] = cast<T>(c.vertex_target[v] - state.vertex_position[v]);
      return;
    }
    w_.u[v] = cast<T>(expected_displacement(state.vertex_velocity[v], state.vertex_velocity_previous[v], c.vertex_force[v],
                                            m.vertex_mass[v] > 0 ? 1 / m.vertex_mass[v] : 0.0, h));
  });
}

/// Force of a segment on its second vertex at u = 0.
template <class T>
inline Vec3<T> StableCosserat<T>::pull_at(Index s, const Vec3<T>& image) const {
  const SegmentData<T>& d = w_.segment[s];
  return segment_pull(d.k, d.inverse_length, d.stiffening, d.p0, image);
}

/// Puts a segment's new frame q, with the image of its axis, in place; or what stands in for it where the frame is held,
/// hinged or undetermined.
template <class T>
template <bool kAxial, Lambda kLambda>
[[gnu::always_inline]] inline void StableCosserat<T>::settle(const Model& m, const Control& c, Index s, Quat<T> q, Vec3<T> image,
                                                             bool degenerate, Quat<T>* q_out) {
  const FrameControl control = c.frame_control[s];
  if (control != FrameControl::free || !m.segment_alive[s] || degenerate) [[unlikely]] {
    const OrientationProblem<T> o = orientation_problem<T, kAxial>(m, w_, s, c.has_torque);
    q = w_.q[s];
    if (control == FrameControl::hinged)
      q = updated_hinge(o, w_.q[s], cast<T>(c.frame_target[s]), cast<T>(c.frame_hinge_axis[s]));
    else if (control == FrameControl::free && m.segment_alive[s]) q = solve_degenerate<T, kLambda>(o, w_.q[s]);
    image = axis_image_of<T, kAxial>(q, o.eta);
  }
  q_out[s] = q;
  w_.pull[s] = pull_at(s, image);
}

/// v, b, lambda, q of Algorithm 2 for one segment.
template <class T>
template <bool kAxial, Lambda kLambda>
void StableCosserat<T>::update_segment(const Model& m, const Control& c, Index s, Quat<T>* q_out) {
  bool degenerate = false;
  const OrientationProblem<T> o = orientation_problem<T, kAxial>(m, w_, s, c.has_torque);
  T gamma = w_.gamma[s];
  const Quat<T> q = solve_orientation<T, kLambda>(o, gamma, degenerate);
  if (kLambda == Lambda::exact && !degenerate) w_.gamma[s] = gamma;  // without bending gamma means nothing
  settle<kAxial, kLambda>(m, c, s, q, axis_image_of<T, kAxial>(q, o.eta), degenerate, q_out);
}

/// The same for up to kSize segments that do not touch each other; segment_of(i) numbers them. Lanes beyond the end repeat the
/// last segment.
template <class T>
template <bool kAxial, Lambda kLambda, class SegmentOf>
void StableCosserat<T>::update_segments(const Model& m, const Control& c, int count, const SegmentOf& segment_of,
                                        Quat<T>* q_out) {
  using Block = ProblemBlock<T>;
  Block block;
  Index segment[Block::kSize], first[Block::kSize], joints[Block::kSize], most = 0;
  for (int i = 0; i < Block::kSize; ++i) {
    const Index s = segment[i] = segment_of(i < count ? i : count - 1);
    first[i] = m.frame_joints.start[s];
    joints[i] = m.frame_joints.start[s + 1] - first[i];
    most = std::max(most, joints[i]);
    Block::put(block.v, i, stretch_pull(m, w_, s));
    Block::put(block.q, i, w_.q[s]);
    Block::put(block.b, i,
               c.has_torque ? torque_pull(w_.torque[s], w_.torque_material[s], w_.q[s]) : Quat<T>{T(0), T(0), T(0), T(0)});
    if constexpr (kAxial) Block::put(block.eta, i, w_.segment[s].eta);
    if constexpr (kLambda == Lambda::exact) block.gamma[i] = w_.gamma[s];
    block.poles_differ[i] = T(0);
  }
  const JointSide<T> none{{T(0), T(0), T(0), T(0)}, T(-1), segment[0]};
  for (Index j = 0; j < most; ++j) {
    for (int i = 0; i < Block::kSize; ++i) {
      const JointSide<T>& side =
          j < joints[i] ? w_.joint_side[static_cast<std::size_t>(first[i]) + static_cast<std::size_t>(j)] : none;
      Block::put(block.other, i, w_.q[side.other]);
      Block::put(block.target, i, side.target);
      block.bound[i] = side.bound;
    }
    block.add_joint();
  }
  if (bending_)
    for (int i = 0; i < count; ++i)
      if (block.poles_differ[i] != T(0))
        Block::put(block.b, i, orientation_problem<T, kAxial>(m, w_, segment[i], c.has_torque).b);
  const bool cables = most == 0 && !c.has_torque;
  if (cables) block.template align<kAxial>();
  else block.template solve<kAxial, kLambda>();
  for (int i = 0; i < count; ++i) {
    const bool degenerate = block.degenerate[i] != T(0);
    if (kLambda == Lambda::exact && !degenerate && !cables) w_.gamma[segment[i]] = block.gamma[i];
    settle<kAxial, kLambda>(m, c, segment[i], Block::quaternion(block.q, i), Block::vector(block.image, i), degenerate, q_out);
  }
}

template <class T>
template <bool kAxial, Lambda kLambda>
void StableCosserat<T>::sweep_once(const Model& m, const Control& c) {
  constexpr int kBlock = ProblemBlock<T>::kSize;
  const auto blocks = [](std::size_t n) { return (n + kBlock - 1) / kBlock; };
  const auto move = [&](Index v, Vec3<T>& out) { out = c.vertex_fixed[v] ? w_.u[v] : updated_position(m, w_, w_.u.data(), v); };
  switch (settings_.order) {
    case Order::gauss_seidel:
      for (Index v = 0; v < m.vertex_count(); ++v)   // foreach vertex i
        if (m.vertex_alive[v]) move(v, w_.u[v]);     //   x <- position update        Eq. 6
      for (Index s = 0; s < m.segment_count(); ++s)  // foreach segment i
        if (m.segment_alive[s])                      //   v, b, lambda, q             Eq. 15-22
          update_segment<kAxial, kLambda>(m, c, s, w_.q.data());
      break;
    case Order::red_black:
      for (Index color = 0; color < m.vertex_colors.count(); ++color) {
        const auto list = m.vertex_colors.of(color);
        executor_.for_each(list.size(), [&](std::size_t i) { move(list[i], w_.u[list[i]]); });
      }
      for (Index color = 0; color < m.segment_colors.count(); ++color) {
        const auto list = m.segment_colors.of(color);
        executor_.for_each(
            blocks(list.size()),
            [&](std::size_t block) {
              const auto part = list.subspan(block * kBlock);
              const int count = static_cast<int>(std::min<std::size_t>(kBlock, part.size()));
              update_segments<kAxial, kLambda>(
                  m, c, count, [part](int i) { return part[static_cast<std::size_t>(i)]; }, w_.q.data());
            },
            kBlock);
      }
      break;
    case Order::jacobi:
      executor_.for_each(w_.u.size(), [&](std::size_t v) {
        if (m.vertex_alive[v]) move(static_cast<Index>(v), w_.u_next[v]);
        else w_.u_next[v] = w_.u[v];
      });
      w_.u.swap(w_.u_next);
      executor_.for_each(
          blocks(w_.segment.size()),
          [&](std::size_t block) {
            const Index first = static_cast<Index>(block) * kBlock;
            const int count = std::min<Index>(kBlock, m.segment_count() - first);
            update_segments<kAxial, kLambda>(
                m, c, count, [first](int i) { return first + i; }, w_.q_next.data());
          },
          kBlock);
      for (std::size_t f = w_.segment.size(); f < w_.q.size(); ++f) w_.q_next[f] = w_.q[f];
      w_.q.swap(w_.q_next);
      break;
  }
}

/// The energy of every axis of its own, and frames with inertia: the same for segments and joints in one double loop.
template <class T>
void StableCosserat<T>::load_general(const Model& m, const Control& c, const State& state, double h) {
  GeneralData<T>& g = w_.general;
  const auto ns = static_cast<std::size_t>(m.segment_count());
  g.segment.resize(ns), g.joint.resize(static_cast<std::size_t>(m.joint_count())), g.weight.resize(w_.u.size());
  g.direction_start.resize(ns + 1);
  executor_.for_each(ns, [&](std::size_t s) {
    const Vec3d p = osier::edge_over_length(m, state.vertex_position, static_cast<Index>(s));
    const stretch_shear::FoldedSpring<double> spring =
        stretch_shear::folded(cast<double>(m.segment_stiffness[s]), cast<double>((1 / h) * m.segment_tau[s]),
                              stretch_shear::local_strain(p, state.frame_rotation[s]));
    g.segment[s].k = cast<T>(spring.k);
    g.segment[s].rest = cast<T>(spring.rest);
    refresh(g.segment[s], w_.q[s]);
  });
  executor_.for_each(g.joint.size(), [&](std::size_t j) {
    const auto [a, b] = m.joint_frames[j];
    GeneralJoint<T>& joint = g.joint[j];
    joint.K = cast<T>(bend_twist::stiffness4(cast<double>(m.joint_stiffness[j])));
    joint.rest = cast<T>(m.joint_rest_rotation[j]);
    joint.K_viscous = cast<T>((1 / h) * bend_twist::viscous4(cast<double>(m.joint_stiffness[j]), cast<double>(m.joint_tau[j])));
    joint.previous = cast<T>(conj(state.frame_rotation[a]) * state.frame_rotation[b]);
  });
  executor_.for_each(g.weight.size(),
                     [&](std::size_t v) { g.weight[v] = static_cast<T>(m.vertex_mass[v] / (h * h) + c.vertex_damping[v] / h); });
  direction_terms(m, c, state, h, directions_);
  g.direction.clear();
  std::size_t next = 0;
  for (std::size_t s = 0; s < ns; ++s) {
    g.direction_start[s] = static_cast<Index>(g.direction.size());
    for (; next < directions_.size() && directions_[next].frame == static_cast<Index>(s); ++next)
      g.direction.push_back({static_cast<T>(directions_[next].k), cast<T>(directions_[next].y), cast<T>(directions_[next].a)});
  }
  g.direction_start[ns] = static_cast<Index>(g.direction.size());
}

template <class T>
Quat<T> StableCosserat<T>::general_frame(const Model& m, const Control& c, Index s) const {
  const FrameControl control = c.frame_control[s];
  if (control == FrameControl::fixed || !m.segment_alive[s]) return w_.q[s];
  const FrameProblem<T> problem(m, w_, s, c.has_torque);
  const Vec3<T> axis = cast<T>(c.frame_hinge_axis[s]);
  return general_orientation(problem, w_.q[s], control == FrameControl::hinged ? &axis : nullptr, cast<T>(c.frame_target[s]));
}

/// One sweep in the order asked for; elements one by one.
template <class T>
void StableCosserat<T>::sweep_general(const Model& m, const Control& c) {
  const auto move = [&](Index v) { return c.vertex_fixed[v] || !m.vertex_alive[v] ? w_.u[v] : general_position(m, w_, v); };
  const auto turn = [&](Index s) {
    w_.q[s] = general_frame(m, c, s);
    refresh(w_.general.segment[s], w_.q[s]);
  };
  switch (settings_.order) {
    case Order::gauss_seidel:
      for (Index v = 0; v < m.vertex_count(); ++v) w_.u[v] = move(v);
      for (Index s = 0; s < m.segment_count(); ++s) turn(s);
      break;
    case Order::red_black:
      for (Index color = 0; color < m.vertex_colors.count(); ++color) {
        const auto list = m.vertex_colors.of(color);
        executor_.for_each(list.size(), [&](std::size_t i) { w_.u[list[i]] = move(list[i]); });
      }
      for (Index color = 0; color < m.segment_colors.count(); ++color) {
        const auto list = m.segment_colors.of(color);
        executor_.for_each(list.size(), [&](std::size_t i) { turn(list[i]); });
      }
      break;
    case Order::jacobi:
      executor_.for_each(w_.u.size(), [&](std::size_t v) { w_.u_next[v] = move(static_cast<Index>(v)); });
      w_.u.swap(w_.u_next);
      executor_.for_each(w_.segment.size(), [&](std::size_t s) { w_.q_next[s] = general_frame(m, c, static_cast<Index>(s)); });
      for (std::size_t f = w_.segment.size(); f < w_.q.size(); ++f) w_.q_next[f] = w_.q[f];
      w_.q.swap(w_.q_next);
      executor_.for_each(w_.segment.size(), [&](std::size_t s) { refresh(w_.general.segment[s], w_.q[s]); });
      break;
  }
}

/// Largest elastic moment or torque, over length: a twisted rod at rest has no other force that a residual could be small
/// against.
template <class T>
double StableCosserat<T>::moment_scale(const Model& m, const Control& c) const {
  double scale = 0;
  for (Index j = 0; j < m.joint_count(); ++j) {
    if (!m.joint_alive[j]) continue;
    const auto [a, b] = m.joint_frames[j];
    const Quat<T> K = bend_twist::stiffness4(cast<T>(m.joint_stiffness[j])), r = conj(w_.q[a]) * w_.q[b];
    const Vec3<T> g = bend_twist::moment(K, r, cast<T>(m.joint_rest_rotation[j]));
    scale = std::max(scale, static_cast<double>(norm(g)) / m.joint_length[j]);
  }
  if (c.has_torque)
    for (Index s = 0; s < m.segment_count(); ++s)
      scale = std::max(scale, static_cast<double>(w_.segment[s].inverse_length * norm(w_.torque[s])));
  return scale;
}

template <class T>
typename StableCosserat<T>::Residual StableCosserat<T>::residual_general(const Model& m, const Control& c) const {
  Residual r;
  r.scale = moment_scale(m, c);
  for (const DirectionTerm& t : directions_) r.scale = std::max(r.scale, t.pull / m.segment_rest_length[t.frame]);
  Mat3<T> hessian;
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v] || c.vertex_fixed[v]) continue;
    const double left = static_cast<double>(norm(vertex_gradient(m, w_, v, hessian)));
    r.scale = std::max(r.scale, static_cast<double>(norm(w_.vertex[v].rhs)));
    if (!(left <= r.value)) r.value = left, r.vertex = v, r.segment = -1;
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const T inverse_length = w_.segment[s].inverse_length;
    const Vec3<T> n = general_force(w_.general.segment[s], edge_over_length(m, w_, s));
    r.scale = std::max(r.scale, static_cast<double>(inverse_length * norm(n)));
    if (c.frame_control[s] == FrameControl::fixed) continue;
    Vec3<T> couple = FrameProblem<T>(m, w_, s, c.has_torque).derivatives(hessian);
    if (c.frame_control[s] == FrameControl::hinged) {
      const Vec3<T> axis = rotate(conj(w_.q[s]), cast<T>(c.frame_hinge_axis[s]));
      couple = dot(couple, axis) * axis;
    }
    const double left = static_cast<double>(inverse_length * norm(couple));
    if (!(left <= r.value)) r.value = left, r.vertex = -1, r.segment = s;
  }
  return r;
}

/// The largest left-over force: what a position update would still move, times its Hessian, and the couple on each frame.
template <class T>
typename StableCosserat<T>::Residual StableCosserat<T>::residual(const Model& m, const Control& c) const {
  Residual r;
  r.scale = moment_scale(m, c);
  for (Index v = 0; v < m.vertex_count(); ++v) {
    if (!m.vertex_alive[v] || c.vertex_fixed[v]) continue;
    const T hessian = T(1) / w_.vertex[v].inverse_hessian;
    const double left = static_cast<double>(hessian * norm(updated_position(m, w_, w_.u.data(), v) - w_.u[v]));
    r.scale = std::max(r.scale, static_cast<double>(norm(w_.vertex[v].rhs)));
    if (!(left <= r.value)) r.value = left, r.vertex = v, r.segment = -1;
  }
  for (Index s = 0; s < m.segment_count(); ++s) {
    if (!m.segment_alive[s]) continue;
    const SegmentData<T>& d = w_.segment[s];
    const Vec3<T> p = edge_over_length(m, w_, s);
    const Vec3<T> image = rotate(w_.q[s], d.eta);
    const double section = static_cast<double>(d.inverse_length * norm(stretch_shear::gradient_p(d.k, d.stiffening, p, image)));
    r.scale = std::max(r.scale, section);
    if (c.frame_control[s] == FrameControl::fixed) continue;
    const OrientationProblem<T> o = orientation_problem<T, true>(m, w_, s, c.has_torque);
    // Half the imaginary part of (S q + b) conj(q) is the couple in the world frame.
    Vec3<T> couple = T(0.5) * imag((o.v * w_.q[s] * o.eta + o.b) * conj(w_.q[s]));
    if (c.frame_control[s] == FrameControl::hinged) {
      const Vec3<T> axis = cast<T>(c.frame_hinge_axis[s]);
      couple = dot(couple, axis) * axis;
    }
    const double left = static_cast<double>(d.inverse_length * norm(couple));
    if (!(left <= r.value)) r.value = left, r.vertex = -1, r.segment = s;
  }
  return r;
}

template <class T>
void StableCosserat<T>::store(const Model& m, State& state, double h, StepReport& report) const {
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  executor_.for_each(w_.u.size(), [&](std::size_t v) {
    if (!m.vertex_alive[v]) {
      state.vertex_velocity[v] = {};
      return;
    }
    const Vec3d u = cast<double>(w_.u[v]);
    state.vertex_position[v] += u;
    state.vertex_velocity[v] = (1 / h) * u;  // v <- (x - x_t)/h
  });
  executor_.for_each(w_.q.size(), [&](std::size_t f) { state.frame_rotation[f] = cast<double>(w_.q[f]); });
  if (settings_.lambda == Lambda::exact)
    for (std::size_t s = 0; s < w_.gamma.size(); ++s) state.segment_gamma[s] = static_cast<double>(w_.gamma[s]);
  locate_trouble(m, state, report);
}

template <class T>
bool StableCosserat<T>::step_chains(const Model& m, const Control& c, State& state, double h, StepReport& report) {
  if (!all_chains_ || c.has_rotary_damping) return false;
  report.non_finite = !chains_.step(view_of(m, c, state, h), settings_.lambda, settings_.iteration_count, executor_);
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  for (Index f = m.segment_count(); f < m.frame_count(); ++f)
    if (c.frame_control[f] == FrameControl::fixed) state.frame_rotation[f] = c.frame_target[f];
  report.iterations = settings_.iteration_count;
  if (report.non_finite) locate_trouble(m, state, report);
  return true;
}

/// Algorithm 2.
template <class T>
StepReport StableCosserat<T>::step(const Model& m, const Control& c, State& state, double h) {
  StepReport report;
  if (step_chains(m, c, state, h, report)) return report;
  load(m, c, state, h);  // VSCR section 8: strains of x_t, q_t
  general_ = anisotropic_ || inertia_ || c.has_rotary_damping;
  if (general_) load_general(m, c, state, h);
  if (inertia_ || c.has_rotary_damping) frames_start_ = state.frame_rotation;
  initial_guess(m, c, state, h);  // x <- x_t + h v_t + h^2 a~
  const int limit = settings_.tolerance ? settings_.max_iterations.value_or(10000) : settings_.iteration_count;
  constexpr int kCheckEvery = 8;                             // a check costs about one sweep
  for (report.iterations = 0; report.iterations < limit;) {  // for n <- 1 to N
    sweep(m, c);
    ++report.iterations;
    if (!settings_.tolerance || (report.iterations % kCheckEvery != 0 && report.iterations < limit)) continue;
    const Residual r = general_ ? residual_general(m, c) : residual(m, c);
    report.residual = r.value;
    report.residual_relative = r.scale > 0 ? r.value / r.scale : 0;
    report.worst_vertex = r.vertex;
    report.worst_segment = r.segment;
    report.not_converged = !(report.residual_relative <= *settings_.tolerance);
    if (!report.not_converged) break;
  }
  store(m, state, h, report);  // v <- (x - x_t)/h
  if (inertia_ || c.has_rotary_damping) update_frame_velocity(m, c, frames_start_, h, state);
  return report;
}

}  // namespace

std::unique_ptr<Solver> Settings::make(const Model& model) const {
  if (method == Method::direct) {
    direct::Options options{.iterations = iterations()};
    if (tolerance) options.tolerance = *tolerance;
    if (max_iterations) options.max_iterations = *max_iterations;
    return std::make_unique<direct::DirectSolver>(model, options);
  }
  if (number == Precision::single_precision) return std::make_unique<StableCosserat<float>>(*this, model);
  return std::make_unique<StableCosserat<double>>(*this, model);
}

void Settings::check(const Model& m, bool driven, Problems& problems) const {
  if (!simd_available(instructions))
    problems.add("/solver/simd", fmt::format("this machine has no {}", simd_name(instructions)), "use `auto`");
  if (lambda != Lambda::secular && (!m.is_isotropic() || m.has_inertia() || driven))
    problems.add(
        "/solver/lambda",
        "is the paper's closed form, for one stiffness per stretch/shear and bend/twist and frames without inertia or motor",
        "use `secular`, or the isotropic law");
}

void Settings::warn(const Model& m, double h, bool driven, std::vector<std::string>& warnings) const {
  if (method != Method::sweep || tolerance) return;
  if (const double R = m.stiffness_ratio(h); R > 10)
    warnings.push_back(fmt::format(
        "stiffness ratio R = {:.3g}: {} sweeps per step are stable but far from converged; use `method` direct, `newton`, a "
        "`tolerance` or a smaller step",
        R, iteration_count));
  if (driven)
    warnings.push_back(fmt::format(
        "a motor's torque travels one segment per sweep: {} of them do not carry it far; use `method` direct, `newton` or a "
        "`tolerance`",
        iteration_count));
}

std::size_t Settings::bytes(const Model& m) const {
  const auto estimate = [&]<class T>(T) {
    const std::size_t v = sizeof(VertexData<T>) + sizeof(Vec3<T>) + 2 * sizeof(VertexSide<T>);
    const std::size_t s = sizeof(SegmentData<T>) + sizeof(Vec3<T>) + sizeof(T) + sizeof(Quat<T>) + 2 * sizeof(Vec3<T>);
    const std::size_t j = 2 * (sizeof(JointSide<T>) + (m.has_damping() ? sizeof(JointTerms<T>) : 0));
    const bool general = !m.is_isotropic() || m.has_inertia();
    const std::size_t gs = general ? sizeof(GeneralSegment<T>) + sizeof(Index) : 0, gj = general ? sizeof(GeneralJoint<T>) : 0;
    const std::size_t gd = m.has_inertia() ? 2 * (sizeof(GeneralDirection<T>) + sizeof(DirectionTerm)) + sizeof(Quatd) : 0;
    return (general ? sizeof(T) : 0) * static_cast<std::size_t>(m.vertex_count()) +
           (gs + gd) * static_cast<std::size_t>(m.segment_count()) + gj * static_cast<std::size_t>(m.joint_count()) +
           v * static_cast<std::size_t>(m.vertex_count()) + s * static_cast<std::size_t>(m.segment_count()) +
           j * static_cast<std::size_t>(m.joint_count());
  };
  return number == Precision::single_precision ? estimate(float{}) : estimate(double{});
}

}  // namespace osier::stable_cosserat
