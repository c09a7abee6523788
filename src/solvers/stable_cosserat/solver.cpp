// One time step of Algorithm 2 of "Stable Cosserat Rods", with the addendum's changes. The conductor is step(); the
// sweeps themselves are in chain_sweep.hpp, graph_sweep.hpp and element_sweep.hpp.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "contact/contact_step.hpp"
#include "exec/parallel.hpp"
#include "solvers/solver_memory.hpp"
#include "solvers/stable_cosserat/chain_engine.hpp"
#include "solvers/stable_cosserat/device_solver.hpp"
#include "solvers/stable_cosserat/element_sweep.hpp"
#include "solvers/stable_cosserat/graph_engine.hpp"
#include "solvers/stable_cosserat/stable_cosserat.hpp"

namespace osier::stable_cosserat {

namespace {

/// The first number that is not finite.
void locate_trouble(const Model& m, const State& state, StepReport& report) {
  report.non_finite = false;
  for (Index v = 0; v < m.vertex_count() && !report.non_finite; ++v)
    // The test uses squares, because a state whose energy overflows is as useless as NaN.
    if (!std::isfinite(norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v])))
      report.non_finite = true, report.worst_vertex = v;
  for (Index s = 0; s < m.segment_count() && !report.non_finite; ++s)
    if (!is_finite(state.frame_rotation[s])) report.non_finite = true, report.worst_segment = s;
}

/// Coloured sweeps run in lanes, unless frames have inertia; everything else element by element.
bool sweeps_in_lanes(const Settings& s, const Model& m) { return s.order == Order::red_black && !m.has_inertia(); }

/// Strands and chains that are swept by themselves, all iterations at once. With a tolerance there are none, because the residual
/// has to be measured between sweeps.
std::vector<Chain> chains_in_lanes(const Settings& s, const Model& m) {
  if (s.tolerance) return {};
  std::vector<Chain> chains = find_chains(m);
  std::erase_if(chains, [](const Chain& c) { return !lanes::fits_lanes(c); });
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
  StableCosserat(const Settings& settings, const Model& model)
      : settings_(settings), executor_(settings.execution.threads), contact_(settings.execution.threads) {
    arrange_sweeps(model);
  }

  void rebind(const Model& m, State& state) override {
    arrange_sweeps(m);
    contact_.forget();
    gamma_of(state, m);
  }
  void declare_memory(const Model& m, State& state) const override { gamma_of(state, m); }
  void carry(const Model&, Archive& archive) override { archive(contact_); }
  StepReport step(const StepInput& input, State& state) override;

 private:
  void arrange_sweeps(const Model& m);
  /// lambda = |v||eta| + gamma |b| carried by the paper's Algorithm 1, per segment; empty for other ways to find lambda.
  std::span<double> gamma_of(State& state, const Model& m) const {
    if (settings_.lambda != Lambda::exact) return {};
    return solver_memory(state, m, {.name = "stable_cosserat/gamma", .kind = ElementKind::segment, .initial = 1});
  }
  lanes::StepView view_of_step(const Model& m, const Control& c, State& state, double h) const {
    lanes::StepView view = lanes::view_of(m, c, state, h);
    view.gamma = gamma_of(state, m).data();
    return view;
  }
  void bind_elements(const Model& m) {
    elements_.bind(m, settings_.order);
    bound_ = true;
  }
  template <class Sweep, class Left>
  void iterate(StepReport& report, const Sweep& sweep_once, const Left& left) const;
  void step_in_lanes(const Model& m, const Control& c, State& state, double h, StepReport& report);
  StepReport step_freely(const Model& m, const Control& c, State& state, double h);
  StepReport step_with_contact(const StepInput& input, State& state);
  void linearise_contact();

  Settings settings_;
  Executor executor_;
  bool inertia_ = false;  ///< some frames have rotational inertia

  // Sweeps in lanes: the chains, all other elements, and elements without sweeps.
  bool in_lanes_ = false;
  ChainEngine<T> chains_;
  GraphEngine<T> graph_;
  std::vector<Index> dead_vertices_, loose_frames_;

  // Sweeps element by element, which also measure residuals.
  bool bound_ = false;
  ElementSweep<T> elements_;
  std::vector<Quatd> frames_start_;

  // Steps with contact.
  contact::ContactStep contact_;
  std::vector<Vec3d> u_, du_;  ///< displacements since the start of the step, and of one sweep, in double
  std::vector<Vec3d> contact_gradient_;
  std::vector<Mat3<double>> contact_block_;
  std::vector<VertexContact<T>> vertex_contact_;
  State before_;
};

template <class T>
void StableCosserat<T>::arrange_sweeps(const Model& m) {
  inertia_ = m.has_inertia();
  in_lanes_ = sweeps_in_lanes(settings_, m);
  bound_ = false;
  if (in_lanes_) {
    const std::vector<Chain> chains = chains_in_lanes(settings_, m);
    chains_.bind(m, chains, settings_.execution.simd, executor_);
    graph_.bind(m, vertices_of(m, chains), settings_.execution.simd, settings_.lambda == Lambda::exact);
    dead_vertices_.clear();
    loose_frames_.clear();
    for (Index v = 0; v < m.vertex_count(); ++v)
      if (!m.vertex_alive[v]) dead_vertices_.push_back(v);
    for (Index f = 0; f < m.frame_count(); ++f)
      if (m.is_anchor(f) || !m.segment_alive[f]) loose_frames_.push_back(f);
  }
  if (!in_lanes_ || settings_.tolerance) bind_elements(m);
}

/// Does a fixed number of sweeps, or sweeps until the residual by `left` is small.
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
void StableCosserat<T>::step_in_lanes(const Model& m, const Control& c, State& state, double h, StepReport& report) {
  const StepView view = view_of_step(m, c, state, h);
  if (settings_.tolerance) elements_.load(m, c, state, view, executor_);
  graph_.load(m, view, executor_);
  const auto sweep_once = [&] { graph_.sweep(view, settings_.lambda, 1, executor_); };
  if (settings_.tolerance) {
    iterate(report, sweep_once, [&] {
      graph_.copy_out(elements_.displacements(), elements_.frames());
      elements_.refresh(executor_);
      return elements_.residual();
    });
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

template <class T>
StepReport StableCosserat<T>::step(const StepInput& input, State& state) {
  if (input.contacts.active()) return step_with_contact(input, state);
  return step_freely(input.model, input.end, state, input.h);
}

/// Contacts at the present displacements, as single vertices meet them.
template <class T>
void StableCosserat<T>::linearise_contact() {
  contact_.linearise(u_);
  std::fill(contact_gradient_.begin(), contact_gradient_.end(), Vec3d{});
  std::fill(contact_block_.begin(), contact_block_.end(), Mat3<double>{});
  contact_.add_gradient(contact_gradient_);
  contact_.add_diagonal(contact_block_);
  for (VertexContact<T>& v : vertex_contact_) v.touches = false;
  for (const contact::Contact& contact : contact_.contacts())
    for (const Index v : contact.vertex) {
      if (v < 0) continue;
      const auto i = static_cast<std::size_t>(v);
      const auto& b = contact_block_[i].m;
      const auto entry = [&](int row, int column) { return static_cast<T>(b[row][column]); };
      vertex_contact_[i] = {cast<T>(contact_gradient_[i]),
                            cast<T>(u_[i]),
                            {entry(0, 0), entry(1, 0), entry(1, 1), entry(2, 0), entry(2, 1), entry(2, 2)},
                            true};
    }
}

/// Algorithm 2 with the contacts of SCR section 4.4: element by element, each sweep with its contacts linearised once, and its
/// motion through the guard. Where nothing can touch anything, the step is that without contact.
template <class T>
StepReport StableCosserat<T>::step_with_contact(const StepInput& input, State& state) {
  const Model& m = input.model;
  const Control& c = input.end;
  const double h = input.h;
  contact_.begin(input.contacts, m, c, state, h);
  if (!contact_.any_active()) {
    before_ = state;
    const StepReport report = step_freely(m, c, state, h);
    if (report.non_finite || contact_.moves_freely(before_.vertex_position, state.vertex_position, {})) {
      if (input.record) input.record->clear();
      contact_.finish_untouched(state);
      return report;
    }
    state = before_;
  }
  if (!bound_) bind_elements(m);
  const bool spinning = inertia_ || c.has_rotary_damping;
  frames_start_ = state.frame_rotation;
  elements_.load(m, c, state, view_of_step(m, c, state, h), executor_);
  const auto n = static_cast<std::size_t>(m.vertex_count());
  u_.assign(n, {}), du_.resize(n), contact_gradient_.resize(n), contact_block_.resize(n), vertex_contact_.resize(n);
  const auto take_motion = [&] {
    for (std::size_t v = 0; v < n; ++v) du_[v] = cast<double>(elements_.displacements()[v]) - u_[v];
    contact_.guard(u_, du_);
    for (std::size_t v = 0; v < n; ++v) {
      u_[v] += du_[v];
      elements_.displacements()[v] = cast<T>(u_[v]);
    }
    contact_.passed(u_);
  };
  contact_.begin_path();
  take_motion();
  StepReport report;
  const auto sweep_once = [&] {
    contact_.hold(u_);
    for (std::size_t v = 0; v < n; ++v) elements_.displacements()[v] = cast<T>(u_[v]);
    linearise_contact();
    elements_.set_contact(&vertex_contact_);
    elements_.sweep(settings_.order, settings_.lambda, executor_);
    take_motion();
  };
  iterate(report, sweep_once, [&] {
    linearise_contact();
    return elements_.residual();
  });
  report.held_back = !contact_.has_arrived();
  report.not_converged = report.not_converged || (settings_.tolerance && report.held_back);
  contact_.finish(u_, state);
  if (input.record) contact_.tell(*input.record);
  // The guard has seen displacements in double.
  before_.vertex_position = state.vertex_position;
  elements_.store(state, executor_);
  for (std::size_t v = 0; v < n; ++v) {
    if (!m.vertex_alive[v]) continue;
    state.vertex_position[v] = before_.vertex_position[v] + u_[v];
    state.vertex_velocity[v] = (1 / h) * u_[v];
  }
  locate_trouble(m, state, report);
  if (spinning) update_frame_velocity(m, c, frames_start_, h, state);
  return report;
}

/// Algorithm 2.
template <class T>
StepReport StableCosserat<T>::step_freely(const Model& m, const Control& c, State& state, double h) {
  StepReport report;
  const bool spinning = inertia_ || c.has_rotary_damping;
  if (in_lanes_ && !spinning) {
    step_in_lanes(m, c, state, h, report);
    return report;
  }
  if (!bound_) bind_elements(m);
  if (spinning) frames_start_ = state.frame_rotation;
  elements_.load(m, c, state, view_of_step(m, c, state, h), executor_);  // VSCR section 8: strains of x_t, q_t
  iterate(
      report, [&] { elements_.sweep(settings_.order, settings_.lambda, executor_); }, [&] { return elements_.residual(); });
  elements_.store(state, executor_);  // v <- (x - x_t)/h
  locate_trouble(m, state, report);
  if (spinning) update_frame_velocity(m, c, frames_start_, h, state);
  return report;
}

/// The memory that a StableCosserat<T> allocates.
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
  sum += ElementSweep<T>::bytes(m, s.order);
  if (m.has_inertia()) sum += static_cast<std::size_t>(m.frame_count()) * sizeof(Quatd);
  return sum;
}

}  // namespace

Simd Settings::simd_on(const Model& model) const {
  return !execution.elsewhere() && sweeps_in_lanes(*this, model) ? execution.simd : Simd::off;
}

std::unique_ptr<Solver> Settings::make(const Model& model) const {
  if (execution.elsewhere()) return make_on_device(*this, model);
  if (execution.in_float()) return std::make_unique<StableCosserat<float>>(*this, model);
  return std::make_unique<StableCosserat<double>>(*this, model);
}

SolverPlan Settings::plan(const Model& model, const Control&, double) const {
  const std::string sweeps = tolerance ? fmt::format("sweeps to a tolerance of {:g}", *tolerance)
                                       : fmt::format("{} sweep{} a step", iteration_count, iteration_count == 1 ? "" : "s");
  if (execution.elsewhere()) return {name(), sweeps + ", by kernels of " + execution.device_name()};
  return {name(), sweeps + (sweeps_in_lanes(*this, model) ? ", in SIMD lanes" : ", element by element")};
}

void Settings::check(const Model& m, bool driven, Problems& problems) const {
  if (execution.elsewhere() && order == Order::gauss_seidel)
    problems.add("/solver/order", "updates one element after the other, which a device cannot do in parallel",
                 "use red_black or jacobi");
  if (execution.elsewhere() && tolerance)
    problems.add("/solver/tolerance", "is not looked at on a device, where the number of sweeps is fixed", "use `iterations`");
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
