// One time step of Algorithm 2 of "Stable Cosserat Rods", with the addendum's changes. The conductor is step().
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "exec/parallel.hpp"
#include "model/edge.hpp"
#include "solvers/direction_terms.hpp"
#include "solvers/solver_memory.hpp"
#include "solvers/stable_cosserat/chain_engine.hpp"
#include "solvers/stable_cosserat/element_sweep.hpp"
#include "solvers/stable_cosserat/general_sweep.hpp"
#include "solvers/stable_cosserat/graph_engine.hpp"
#include "solvers/stable_cosserat/residual.hpp"
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

/// Coloured sweeps run in lanes, unless frames have inertia; everything else element by element.
bool sweeps_in_lanes(const Settings& s, const Model& m) { return s.order == Order::red_black && !m.has_inertia(); }

WorkspaceNeeds workspace_needs(const Settings& s, const Model& m) {
  WorkspaceNeeds needs;
  needs.general = !m.is_isotropic() || m.has_inertia();
  needs.jacobi = s.order == Order::jacobi;
  needs.bending = std::any_of(m.joint_tau.begin(), m.joint_tau.end(), [](const PerAxis& tau) { return tau.any(); });
  return needs;
}

/// Strands and chains that are swept by themselves, all iterations in one go. Where the sweeps must find out when to stop there
/// are none: somebody has to look in between.
std::vector<Chain> chains_in_lanes(const Settings& s, const Model& m) {
  if (s.tolerance) return {};
  std::vector<Chain> chains = find_chains(m);
  std::erase_if(chains, [](const Chain& c) { return !fits_lanes(c); });
  return chains;
}
std::vector<std::uint8_t> vertices_of(const Model& m, std::span<const Chain> chains) {
  std::vector<std::uint8_t> taken(static_cast<std::size_t>(m.vertex_count()), 0);
  for (const Chain& c : chains) std::fill_n(taken.begin() + c.first_vertex, c.vertices, std::uint8_t{1});
  return taken;
}

template <class T>
class StableCosserat final : public Solver {
 public:
  StableCosserat(const Settings& settings, const Model& model) : settings_(settings), executor_(settings.execution.threads) {
    arrange_sweeps(model);
  }

  void rebind(const Model& m, State& state) override {
    arrange_sweeps(m);
    gamma_of(state, m);
  }
  void declare_memory(const Model& m, State& state) const override { gamma_of(state, m); }
  StepReport step(const StepInput& input, State& state) override;

 private:
  void arrange_sweeps(const Model& m);
  /// lambda = |v||eta| + gamma |b| carried by the paper's Algorithm 1, per segment; empty for other ways to find lambda.
  std::span<double> gamma_of(State& state, const Model& m) const {
    if (settings_.lambda != Lambda::exact) return {};
    return solver_memory(state, m, {.name = "stable_cosserat/gamma", .kind = ElementKind::segment, .initial = 1});
  }
  void arrange(const Model& m);
  void load(const Model& m, const Control& c, State& state, double h);
  void initial_guess(const Model& m, const Control& c, const State& state, double h);
  void load_general(const Model& m, const Control& c, const State& state, double h);
  void sweep(const Model& m, const Control& c) {
    if (general_) sweep_general(m, c, settings_.order, executor_, w_);
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
  void sweep_once(const Model& m, const Control& c) {
    ElementSweep<T, kAxial, kLambda> elements(m, c, w_);
    if (settings_.order == Order::jacobi) elements.jacobi(executor_);
    else elements.gauss_seidel();
  }
  template <class Sweep, class Left>
  void iterate(StepReport& report, const Sweep& sweep_once, const Left& left) const;
  void store(const Model& m, State& state, double h, StepReport& report) const;
  void step_in_lanes(const Model& m, const Control& c, State& state, double h, StepReport& report);
  Residual residual_in_lanes(const Model& m, const Control& c);

  Settings settings_;
  Executor executor_;
  bool axial_ = false;    ///< some segment damps stretch: the material axis is eta
  bool bending_ = false;  ///< some joint damps bending
  bool anisotropic_ = false, inertia_ = false;
  bool general_ = false;     ///< the step at hand has more than the closed form
  bool by_element_ = false;  ///< and goes through the workspace

  // In lanes: the chains, all else, and what nothing sweeps over.
  bool in_lanes_ = false;
  ChainEngine<T> chains_;
  GraphEngine<T> graph_;
  std::vector<Index> dead_vertices_, loose_frames_;

  // Element by element, and for residuals.
  bool arranged_ = false;
  Workspace<T> w_;
  std::vector<DirectionTerm> directions_;
  std::vector<Quatd> frames_start_;
};

template <class T>
void StableCosserat<T>::arrange_sweeps(const Model& m) {
  const auto positive = [](const PerAxis& tau) { return tau.any(); };
  axial_ = std::any_of(m.segment_tau.begin(), m.segment_tau.end(), positive);
  bending_ = std::any_of(m.joint_tau.begin(), m.joint_tau.end(), positive);
  anisotropic_ = !m.is_isotropic();
  inertia_ = m.has_inertia();
  in_lanes_ = sweeps_in_lanes(settings_, m);
  arranged_ = false;
  if (in_lanes_) {
    const std::vector<Chain> chains = chains_in_lanes(settings_, m);
    chains_.bind(m, chains, settings_.execution.simd, executor_);
    graph_.bind(m, vertices_of(m, chains), settings_.execution.simd, settings_.lambda == Lambda::exact);
    dead_vertices_.clear(), loose_frames_.clear();
    for (Index v = 0; v < m.vertex_count(); ++v)
      if (!m.vertex_alive[v]) dead_vertices_.push_back(v);
    for (Index f = 0; f < m.frame_count(); ++f)
      if (m.is_anchor(f) || !m.segment_alive[f]) loose_frames_.push_back(f);
  }
  if (!in_lanes_ || settings_.tolerance) arrange(m);
}

/// Makes the workspace ready for the model.
template <class T>
void StableCosserat<T>::arrange(const Model& m) {
  arranged_ = true;
  const WorkspaceNeeds needs = workspace_needs(settings_, m);
  w_.each_array(m, needs, [](auto& array, std::size_t size) { array.resize(size); });
  if (needs.general) {
    w_.general.direction.reserve(3 * w_.segment.size());
    directions_.reserve(3 * w_.segment.size());
  }
  for (std::size_t i = 0; i < w_.vertex_side.size(); ++i) {
    const Index seg = m.vertex_segments.entry[i] / 2, side = m.vertex_segments.entry[i] % 2;
    w_.vertex_side[i] = {m.segment_vertices[seg][1 - side], seg, T(0), side == 1 ? T(1) : T(-1)};
  }
  for (std::size_t i = 0; i < w_.joint_side.size(); ++i) {
    const Index j = m.frame_joints.entry[i] / 2, side = m.frame_joints.entry[i] % 2;
    const Quatd rest = side == 1 ? m.joint_rest_rotation[j] : conj(m.joint_rest_rotation[j]);
    w_.joint_side[i] = {cast<T>(m.joint_stiffness[j].d3 * rest), T(-1), m.joint_frames[j][1 - side]};
    if (bending_) w_.joint_rows[static_cast<std::size_t>(j)][static_cast<std::size_t>(side)] = static_cast<Index>(i);
  }
}

/// Everything that stays put during the sweeps of one step. Differences of positions are formed in double.
template <class T>
void StableCosserat<T>::load(const Model& m, const Control& c, State& state, double h) {
  const std::span<const double> gamma = gamma_of(state, m);
  executor_.for_each(w_.q.size(), [&](std::size_t f) {
    Quatd q = state.frame_rotation[f];
    if (inertia_) q = guessed_frame(m, c, state, h, static_cast<Index>(f));
    if (c.frame_control[f] == FrameControl::fixed) q = c.frame_target[f];
    if (c.frame_control[f] == FrameControl::hinged) q = nearest_on_hinge(q, c.frame_target[f], c.frame_hinge_axis[f]);
    w_.q[f] = cast<T>(q);
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
    if (!gamma.empty()) w_.gamma[s] = static_cast<T>(gamma[s]);
    w_.pull[s] = pull_at(w_, static_cast<Index>(s), rotate(w_.q[s], d.eta));
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
    const double l = m.segment_rest_length[s];
    g.segment[s].k = cast<T>((1 / (l * l)) * spring.k);
    g.segment[s].rest = cast<T>(l * spring.rest);
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
  const std::span<double> gamma = gamma_of(state, m);
  for (std::size_t s = 0; s < gamma.size(); ++s) gamma[s] = static_cast<double>(w_.gamma[s]);
  locate_trouble(m, state, report);
}

/// A fixed number of sweeps, or until `left` finds little left.
template <class T>
template <class Sweep, class Left>
void StableCosserat<T>::iterate(StepReport& report, const Sweep& sweep_once, const Left& left) const {
  const int limit = settings_.tolerance ? settings_.max_iterations.value_or(10000) : settings_.iteration_count;
  constexpr int kCheckEvery = 8;                             // a check costs about one sweep
  for (report.iterations = 0; report.iterations < limit;) {  // for n <- 1 to N
    sweep_once();
    ++report.iterations;
    if (!settings_.tolerance || (report.iterations % kCheckEvery != 0 && report.iterations < limit)) continue;
    const Residual r = left();
    report.residual = r.value;
    report.residual_relative = r.scale > 0 ? r.value / r.scale : 0;
    report.worst_vertex = r.vertex;
    report.worst_segment = r.segment;
    report.not_converged = !(report.residual_relative <= *settings_.tolerance);
    if (!report.not_converged) break;
  }
}

template <class T>
Residual StableCosserat<T>::residual_in_lanes(const Model& m, const Control& c) {
  graph_.copy_out(w_.u, w_.q);
  if (general_) {
    executor_.for_each(w_.segment.size(), [&](std::size_t s) { refresh(w_.general.segment[s], w_.q[s]); });
    return residual_general(m, c, w_, directions_);
  }
  executor_.for_each(w_.segment.size(),
                     [&](std::size_t s) { w_.pull[s] = pull_at(w_, static_cast<Index>(s), rotate(w_.q[s], w_.segment[s].eta)); });
  return residual(m, c, w_);
}

template <class T>
void StableCosserat<T>::step_in_lanes(const Model& m, const Control& c, State& state, double h, StepReport& report) {
  StepView view = lanes::view_of(m, c, state, h);
  view.gamma = gamma_of(state, m).data();
  if (settings_.tolerance) load(m, c, state, h);
  if (settings_.tolerance && general_) load_general(m, c, state, h);
  graph_.load(m, view, executor_);
  const auto sweep_once = [&] { graph_.sweep(view, settings_.lambda, 1, executor_); };
  if (settings_.tolerance) {
    iterate(report, sweep_once, [&] { return residual_in_lanes(m, c); });
  } else {
    report.iterations = settings_.iteration_count;
    graph_.sweep(view, settings_.lambda, report.iterations, executor_);
  }
  const bool graph_finite = graph_.store(view, executor_);
  const bool chains_finite = chains_.step(view, settings_.lambda, settings_.iteration_count, executor_);
  state.vertex_velocity.swap(state.vertex_velocity_previous);
  for (Index v : dead_vertices_) state.vertex_velocity[v] = {};
  for (Index f : loose_frames_)
    if (c.frame_control[f] == FrameControl::fixed) state.frame_rotation[f] = c.frame_target[f];
  if (!graph_finite || !chains_finite) locate_trouble(m, state, report);
}

/// Algorithm 2.
template <class T>
StepReport StableCosserat<T>::step(const StepInput& input, State& state) {
  const Model& m = input.model;
  const Control& c = input.end;
  const double h = input.h;
  StepReport report;
  general_ = anisotropic_ || inertia_ || c.has_rotary_damping;
  by_element_ = !in_lanes_ || inertia_ || c.has_rotary_damping;
  if (!by_element_) {
    step_in_lanes(m, c, state, h, report);
    return report;
  }
  if (!arranged_) arrange(m);
  load(m, c, state, h);  // VSCR section 8: strains of x_t, q_t
  if (general_) load_general(m, c, state, h);
  if (inertia_ || c.has_rotary_damping) frames_start_ = state.frame_rotation;
  initial_guess(m, c, state, h);  // x <- x_t + h v_t + h^2 a~
  iterate(
      report, [&] { sweep(m, c); }, [&] { return general_ ? residual_general(m, c, w_, directions_) : residual(m, c, w_); });
  store(m, state, h, report);  // v <- (x - x_t)/h
  if (inertia_ || c.has_rotary_damping) update_frame_velocity(m, c, frames_start_, h, state);
  return report;
}

/// What a StableCosserat<T> allocates.
template <class T>
std::size_t bytes_of_sweeps(const Settings& s, const Model& m) {
  std::size_t sum = 0;
  if (sweeps_in_lanes(s, m)) {
    const std::vector<Chain> chains = chains_in_lanes(s, m);
    const Simd simd = s.execution.simd;
    sum += ChainEngine<T>::bytes(m, chains, simd, s.execution.threads);
    sum += lay_out_graph(m, vertices_of(m, chains), kernels<T>(simd).lanes, sizeof(T), s.lambda == Lambda::exact).bytes();
    if (!s.tolerance) return sum;
  }
  Workspace<T> w;
  const WorkspaceNeeds needs = workspace_needs(s, m);
  w.each_array(m, needs, [&](const auto& array, std::size_t size) { sum += size * sizeof(array[0]); });
  const auto ns = static_cast<std::size_t>(m.segment_count());
  if (needs.general) sum += 3 * ns * (sizeof(GeneralDirection<T>) + sizeof(DirectionTerm));
  if (m.has_inertia()) sum += static_cast<std::size_t>(m.frame_count()) * sizeof(Quatd);
  return sum;
}

}  // namespace

Simd Settings::simd_on(const Model& model) const { return sweeps_in_lanes(*this, model) ? execution.simd : Simd::off; }

std::unique_ptr<Solver> Settings::make(const Model& model) const {
  if (execution.in_float()) return std::make_unique<StableCosserat<float>>(*this, model);
  return std::make_unique<StableCosserat<double>>(*this, model);
}

SolverPlan Settings::plan(const Model& model, const Control&, double) const {
  const std::string sweeps = tolerance ? fmt::format("sweeps to a tolerance of {:g}", *tolerance)
                                       : fmt::format("{} sweep{} a step", iteration_count, iteration_count == 1 ? "" : "s");
  return {name(), sweeps + (sweeps_in_lanes(*this, model) ? ", in SIMD lanes" : ", element by element")};
}

void Settings::check(const Model& m, bool driven, Problems& problems) const {
  if (order == Order::gauss_seidel && execution.threads > 1)
    problems.add("/execution/threads", "`threads` with sequential sweeps", "use `order` red_black or jacobi");
  if (lambda != Lambda::secular && (!m.is_isotropic() || m.has_inertia() || driven))
    problems.add(
        "/solver/lambda",
        "is the paper's closed form, for one stiffness per stretch/shear and bend/twist and frames without inertia or motor",
        "use `secular`, or the isotropic law");
}

void Settings::warn(const Model& m, double h, bool driven, std::vector<std::string>& warnings) const {
  if (tolerance) return;
  if (const double R = m.stiffness_ratio(h); R > 10)
    warnings.push_back(fmt::format(
        "stiffness ratio R = {:.3g}: {} sweeps per step are stable but far from converged; use the solver `direct`, `newton`, a "
        "`tolerance` or a smaller step",
        R, iteration_count));
  if (driven)
    warnings.push_back(fmt::format(
        "a motor's torque travels one segment per sweep: {} of them do not carry it far; use the solver `direct`, `newton` or a "
        "`tolerance`",
        iteration_count));
}

std::size_t Settings::sweep_bytes(const Model& m) const {
  return execution.in_float() ? bytes_of_sweeps<float>(*this, m) : bytes_of_sweeps<double>(*this, m);
}

}  // namespace osier::stable_cosserat
