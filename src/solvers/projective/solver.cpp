// One time step of Algorithm 1 of "Cosserat Rods with Projective Dynamics". The conductor is step(); prediction is in
// rod_memory.hpp, the sweeps are in sweep.hpp and paper_sweep.hpp.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "contact/contact_step.hpp"
#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "solvers/projective/kernels.hpp"
#include "solvers/projective/projective.hpp"
#include "solvers/projective/rod_memory.hpp"

namespace osier::projective {

namespace {

constexpr int kMostSweeps = 10000;

/// The largest sum of magnitudes in a row: no eigenvalue is larger.
double bound_of(const Mat3<double>& a) {
  double most = 0;
  for (const auto& row : a.m) most = std::max(most, std::abs(row[0]) + std::abs(row[1]) + std::abs(row[2]));
  return most;
}

/// Residuals of rods, of which a report has the worst.
struct Residuals {
  double residual = 0, relative = 0;
  int iterations = 0;
  void add(double r, double scale) {
    const double share = scale > 0 ? r / scale : 0;
    if (!(share <= relative)) residual = r, relative = share;
  }
};

template <class T>
class Projective final : public Solver {
 public:
  Projective(const Settings& settings, const Model& model)
      : settings_(settings), executor_(settings.execution.threads), contact_(settings.execution.threads) {
    arrange(model);
  }

  void rebind(const Model& m, State& state) override {
    arrange(m);
    contact_.forget();
    if (coupled_) coupled_->rebind(m, state);
  }
  void carry(const Model& m, Archive& archive) override {
    archive(contact_);
    bool has_coupled = coupled_ != nullptr;
    archive(has_coupled);
    if (!has_coupled) return;
    if (!coupled_) coupled_ = settings_.coupled()->make(m);
    coupled_->carry(m, archive);
  }
  StepReport step(const StepInput& input, State& state) override;

 private:
  void arrange(const Model& m);
  void choose(const Model& m, double h);
  StepNeeds needs_of(const Model& m, const Control& c, double h, bool contact);
  RodGoal goal(bool contact) const;
  const RodShape& shape_of(const RodGroup& g) const { return plan_.shapes[static_cast<std::size_t>(g.shape)]; }
  const RodKernel<T>& kernel_of(const RodGroup& g) const { return g.lanes > 1 ? *lanes_ : *single_; }
  RodView<T> view_in(std::size_t group, T* memory) {
    const RodGroup& g = plan_.groups[group];
    return view_of<T>(shape_of(g), g.lanes, needs_, constants_.data() + constants_start_[group], memory);
  }
  void load(const Model& m, const Control& c, const State& state, const RodGroup& g, RodView<T>& view) const {
    for (int k = 0; k < g.lanes; ++k) load_step(m, c, state, needs_, terms_, shape_of(g), g, k, view);
  }
  void store(const Control& c, const RodGroup& g, const RodView<T>& view, State& state,
             const std::vector<Vec3d>* guarded = nullptr) const;
  StepReport step_freely(const Model& m, const Control& c, State& state, double h);
  StepReport step_with_contact(const StepInput& input, State& state);
  StepReport step_coupled(const StepInput& input, State& state);
  void load_contact(const RodGroup& g, RodView<T>& view) const;
  void finish(const Model& m, const Control& c, double h, State& state, StepReport& report) const;
  void report_residual(const Residuals& all, StepReport& report) const;

  Settings settings_;
  Executor executor_;
  RodPlan plan_;
  const RodKernel<T>*lanes_ = nullptr, *single_ = nullptr;
  AlignedArray<T> constants_;
  std::vector<std::size_t> constants_start_;  ///< per group
  bool isotropic_ = false;                    ///< stretch and shear, everywhere

  // The step at hand.
  double chosen_h_ = 0;  ///< the step that the choice was made for
  Iteration iteration_ = Iteration::sweeps, iteration_in_contact_ = Iteration::sweeps;
  int sweeps_ = 0, contact_sweeps_ = 0;  ///< 0: by tolerance
  std::unique_ptr<Solver> coupled_;
  StepNeeds needs_;
  FrameTerms terms_;
  std::vector<Quatd> frames_start_;
  AlignedArray<T> memory_;  ///< of one group per thread, or of all groups with contact
  std::vector<std::size_t> memory_start_;
  std::vector<RodOutcome<T>> outcomes_;  ///< per group

  // Steps with contact.
  contact::ContactStep contact_;
  std::vector<Vec3d> u_, du_;  ///< displacements since the start of the step, and of one sweep, in double
  std::vector<Vec3d> contact_gradient_;
  std::vector<Mat3<double>> contact_block_;
  State before_;
};

template <class T>
void Projective<T>::arrange(const Model& m) {
  single_ = &rod_kernel<T>(Simd::off);
  lanes_ = &rod_kernel<T>(settings_.execution.simd);
  plan_ = plan_rods(m, lanes_->lanes);
  constants_start_.clear();
  std::size_t numbers = 0;
  for (const RodGroup& g : plan_.groups) {
    constants_start_.push_back(numbers);
    constexpr std::size_t kLine = kCacheLine / sizeof(T);
    numbers += (model_numbers<T>(shape_of(g), g.lanes) + kLine - 1) / kLine * kLine;
  }
  constants_.assign(numbers, T(0));
  for (std::size_t i = 0; i < plan_.groups.size(); ++i)
    load_model(m, shape_of(plan_.groups[i]), plan_.groups[i], constants_.data() + constants_start_[i]);
  const auto uniform = [](const PerAxis& k) { return k.uniform(); };
  isotropic_ = std::all_of(m.segment_stiffness.begin(), m.segment_stiffness.end(), uniform) &&
               std::all_of(m.segment_tau.begin(), m.segment_tau.end(), uniform);
  chosen_h_ = 0;
}

/// The rule of Settings for steps of this length.
template <class T>
void Projective<T>::choose(const Model& m, double h) {
  if (chosen_h_ == h) return;
  chosen_h_ = h;
  const double chi = chi_of(m, h);
  iteration_ = settings_.iteration_for(chi);
  sweeps_ = settings_.iterations_for(chi);
  contact_sweeps_ = settings_.iterations_with_contact(chi);
  iteration_in_contact_ = settings_.iteration_with_contact(chi);
}

template <class T>
StepNeeds Projective<T>::needs_of(const Model& m, const Control& c, double h, bool contact) {
  StepNeeds n{.h = h};
  n.paper = settings_.variant == Variant::paper;
  n.damped = m.has_damping();
  n.torques = c.has_torque;
  n.isotropic = isotropic_ || n.paper;
  n.contact = contact;
  n.hinges =
      std::any_of(c.frame_control.begin(), c.frame_control.end(), [](FrameControl f) { return f == FrameControl::hinged; });
  if (!n.paper && (m.has_inertia() || c.has_rotary_damping)) n.terms = terms_.most;
  n.history = iteration_ == Iteration::anderson && !contact ? settings_.history : 0;
  return n;
}

template <class T>
RodGoal Projective<T>::goal(bool contact) const {
  RodGoal goal;
  const int count = contact ? contact_sweeps_ : sweeps_;
  goal.iterations = count > 0 ? count : settings_.max_iterations.value_or(kMostSweeps);
  goal.tolerance = settings_.tolerance.value_or(0);
  goal.accelerated = iteration_ == Iteration::anderson && !contact;
  goal.paper = settings_.variant == Variant::paper;
  goal.jacobi = settings_.order == SweepOrder::jacobi;
  return goal;
}

/// x <- x_t + u, v <- u/h. `guarded`: the displacements that the guard has seen, in double.
template <class T>
void Projective<T>::store(const Control& c, const RodGroup& g, const RodView<T>& view, State& state,
                          const std::vector<Vec3d>* guarded) const {
  const RodShape& shape = shape_of(g);
  for (int k = 0; k < g.rods; ++k) {
    const Lane<T> lane{g.lanes, k};
    for (Index i = 0; i < shape.vertices; ++i) {
      const Index v = g.vertex_in(i, k);
      const bool held = !guarded && c.vertex_fixed[v] != 0;
      Vec3d u = guarded ? (*guarded)[v] : lane.vector(view.u, i);
      if (held) u = c.vertex_target[v] - state.vertex_position[v];
      state.vertex_position[v] = held ? c.vertex_target[v] : state.vertex_position[v] + u;
      state.vertex_velocity_previous[v] = state.vertex_velocity[v];
      state.vertex_velocity[v] = (1 / needs_.h) * u;
    }
    for (Index i = 0; i < shape.segments; ++i) {
      const Index f = g.frame_in(i, k);
      Quatd& q = state.frame_rotation[f];
      if (c.frame_control[f] == FrameControl::fixed) q = c.frame_target[f];
      else if constexpr (sizeof(T) == 4) q = normalized(lane.quaternion(view.turn, i) * q);
      else q = normalized(lane.quaternion(view.rotation, i));
    }
  }
}

template <class T>
StepReport Projective<T>::step(const StepInput& input, State& state) {
  choose(input.model, input.h);
  if (iteration_ == Iteration::coupled) return step_coupled(input, state);
  if (input.contacts.active()) return step_with_contact(input, state);
  return step_freely(input.model, input.end, state, input.h);
}

template <class T>
StepReport Projective<T>::step_coupled(const StepInput& input, State& state) {
  if (!coupled_) coupled_ = settings_.coupled()->make(input.model);
  return coupled_->step(input, state);
}

/// Algorithm 1.
template <class T>
StepReport Projective<T>::step_freely(const Model& m, const Control& c, State& state, double h) {
  const bool spinning = m.has_inertia() || c.has_rotary_damping;
  if (spinning) terms_.find(m, c, state, h);
  needs_ = needs_of(m, c, h, false);
  frames_start_ = state.frame_rotation;
  std::size_t most = 0;
  for (const RodGroup& g : plan_.groups) most = std::max(most, step_numbers<T>(shape_of(g), g.lanes, needs_));
  constexpr std::size_t kLine = kCacheLine / sizeof(T);
  most = (most + kLine - 1) / kLine * kLine;
  if (memory_.size() < most * static_cast<std::size_t>(executor_.threads()))
    memory_.assign(most * static_cast<std::size_t>(executor_.threads()), T(0));
  outcomes_.resize(plan_.groups.size());
  const RodGoal wanted = goal(false);
  executor_.for_each_job(plan_.groups.size(), [&](std::size_t i) {
    const RodGroup& g = plan_.groups[i];
    RodView<T> rod = view_in(i, memory_.data() + static_cast<std::size_t>(executor_.worker()) * most);
    load(m, c, state, g, rod);                     // l. 2-4: s_x, s_u
    kernel_of(g).step(rod, wanted, outcomes_[i]);  // l. 5-9: local and global steps
    store(c, g, rod, state);                       // l. 10-11: x, v, u
  });
  StepReport report;
  Residuals all;
  for (std::size_t i = 0; i < plan_.groups.size(); ++i) {
    report.iterations = std::max(report.iterations, outcomes_[i].iterations);
    for (int k = 0; k < plan_.groups[i].rods && wanted.tolerance > 0; ++k)
      all.add(static_cast<double>(outcomes_[i].residual[k]), static_cast<double>(outcomes_[i].scale[k]));
  }
  report_residual(all, report);
  finish(m, c, h, state, report);  // l. 12: omega
  return report;
}

template <class T>
void Projective<T>::report_residual(const Residuals& all, StepReport& report) const {
  if (!settings_.tolerance) return;
  report.residual = all.residual;
  report.residual_relative = all.relative;
  report.not_converged = !(all.relative <= *settings_.tolerance);
}

/// What belongs to no rod, angular velocities, and the first number that is not finite.
template <class T>
void Projective<T>::finish(const Model& m, const Control& c, double h, State& state, StepReport& report) const {
  for (const Index v : plan_.loose_vertices) {
    state.vertex_velocity_previous[v] = state.vertex_velocity[v];
    state.vertex_velocity[v] = {};
  }
  for (const Index f : plan_.loose_frames)
    if (c.frame_control[f] == FrameControl::fixed) state.frame_rotation[f] = c.frame_target[f];
  if (settings_.variant == Variant::exact) {
    update_frame_velocity(m, c, frames_start_, h, state);
  } else {
    // omega = (2/h) Im(conj(u_t) u), in the axes of the frame, as printed.
    for (Index s = 0; s < m.segment_count(); ++s)
      if (m.segment_inertia[s].any()) {
        const Quatd& u = frames_start_[s];
        Quatd turn = conj(u) * state.frame_rotation[s];
        if (turn.w < 0) turn = -turn;
        state.frame_velocity[s] = rotate(u, (2 / h) * imag(turn));
      }
  }
  for (Index v = 0; v < m.vertex_count() && !report.non_finite; ++v)
    // The test uses squares, because a state whose energy overflows is as useless as NaN.
    if (!std::isfinite(norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v])))
      report.non_finite = true, report.worst_vertex = v;
  for (Index s = 0; s < m.segment_count() && !report.non_finite; ++s)
    if (!is_finite(state.frame_rotation[s])) report.non_finite = true, report.worst_segment = s;
}

/// Contacts at the present displacements, as a rod's vertices meet them.
template <class T>
void Projective<T>::load_contact(const RodGroup& g, RodView<T>& view) const {
  const RodShape& shape = shape_of(g);
  for (int k = 0; k < g.lanes; ++k) {
    const Lane<T> lane{g.lanes, k};
    for (Index i = 0; i < shape.vertices; ++i) {
      const Index v = g.vertex_in(i, k);
      lane.put(view.u, i, u_[v]);
      lane.put(view.contact_weight, i, bound_of(contact_block_[v]));
      lane.put(view.contact_gradient, i, contact_gradient_[v]);
    }
  }
}

/// Where something may touch something, coupled steps, unless the settings ask for sweeps:
/// the same with contacts as terms of single vertices (section 7 of the paper has none): their blocks go onto the diagonal of the
/// positions' system, each sweep has its contacts linearised once, and its motion goes through the guard. Where nothing can touch
/// anything, the step is that without contact.
template <class T>
StepReport Projective<T>::step_with_contact(const StepInput& input, State& state) {
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
  if (iteration_in_contact_ == Iteration::coupled) return step_coupled(input, state);
  if (m.has_inertia() || c.has_rotary_damping) terms_.find(m, c, state, h);
  needs_ = needs_of(m, c, h, true);
  frames_start_ = state.frame_rotation;
  memory_start_.clear();
  std::size_t numbers = 0;
  for (const RodGroup& g : plan_.groups) {
    memory_start_.push_back(numbers);
    constexpr std::size_t kLine = kCacheLine / sizeof(T);
    numbers += (step_numbers<T>(shape_of(g), g.lanes, needs_) + kLine - 1) / kLine * kLine;
  }
  if (memory_.size() < numbers) memory_.assign(numbers, T(0));
  outcomes_.resize(plan_.groups.size());
  const auto n = static_cast<std::size_t>(m.vertex_count());
  u_.assign(n, {}), du_.assign(n, {}), contact_gradient_.resize(n), contact_block_.resize(n);
  const RodGoal wanted = goal(true);
  const auto each_group = [&](const auto& f) {
    executor_.for_each_job(plan_.groups.size(), [&](std::size_t i) {
      RodView<T> rod = view_in(i, memory_.data() + memory_start_[i]);
      f(i, plan_.groups[i], rod);
    });
  };
  const auto take_out = [&](const RodGroup& g, const RodView<T>& rod) {
    for (int k = 0; k < g.rods; ++k)
      for (Index i = 0; i < shape_of(g).vertices; ++i) {
        const Index v = g.vertex_in(i, k);
        du_[v] = Lane<T>{g.lanes, k}.vector(rod.u, i) - u_[v];
      }
  };
  const auto take_motion = [&] {
    contact_.guard(u_, du_);
    for (std::size_t v = 0; v < n; ++v) u_[v] += du_[v];
    contact_.passed(u_);
  };
  each_group([&](std::size_t, const RodGroup& g, RodView<T>& rod) {
    load(m, c, state, g, rod);
    std::fill_n(rod.contact_weight, static_cast<std::size_t>(shape_of(g).vertices * g.lanes), T(0));
    kernel_of(g).begin(rod, wanted);
    take_out(g, rod);
  });
  contact_.begin_path();
  take_motion();
  StepReport report;
  for (report.iterations = 0; report.iterations < wanted.iterations;) {
    contact_.hold(u_);
    contact_.linearise(u_);
    std::fill(contact_gradient_.begin(), contact_gradient_.end(), Vec3d{});
    std::fill(contact_block_.begin(), contact_block_.end(), Mat3<double>{});
    contact_.add_gradient(contact_gradient_);
    contact_.add_diagonal(contact_block_);
    each_group([&](std::size_t i, const RodGroup& g, RodView<T>& rod) {
      load_contact(g, rod);
      kernel_of(g).sweep(rod, wanted, outcomes_[i]);
      take_out(g, rod);
    });
    take_motion();
    ++report.iterations;
    if (!(wanted.tolerance > 0)) continue;
    Residuals all;
    for (std::size_t i = 0; i < plan_.groups.size(); ++i)
      for (int k = 0; k < plan_.groups[i].rods; ++k)
        all.add(static_cast<double>(outcomes_[i].residual[k]), static_cast<double>(outcomes_[i].scale[k]));
    report_residual(all, report);
    if (!report.not_converged && contact_.has_arrived()) break;
  }
  report.held_back = !contact_.has_arrived();
  report.not_converged = report.not_converged || (settings_.tolerance && report.held_back);
  contact_.finish(u_, state);
  if (input.record) contact_.tell(*input.record);
  each_group([&](std::size_t, const RodGroup& g, RodView<T>& rod) { store(c, g, rod, state, &u_); });
  finish(m, c, h, state, report);
  return report;
}

}  // namespace

/// Topology and numbers of the model, and the step's numbers of the largest group for every thread.
template <class T>
static std::size_t bytes_of(const Model& m, int lanes, int threads, StepNeeds needs) {
  const RodPlan plan = plan_rods(m, lanes);
  needs.damped = m.has_damping();
  needs.terms = m.has_inertia() ? 3 : 0;
  std::size_t numbers = 0, most = 0, lists = 0;
  for (const RodGroup& g : plan.groups) {
    const RodShape& shape = plan.shapes[static_cast<std::size_t>(g.shape)];
    numbers += model_numbers<T>(shape, g.lanes);
    most = std::max(most, step_numbers<T>(shape, g.lanes, needs));
    lists += g.vertex.size() + g.frame.size() + g.joint.size();
  }
  std::size_t shapes = plan.groups.size() * (sizeof(RodGroup) + sizeof(RodOutcome<T>));
  for (const RodShape& s : plan.shapes) shapes += s.bytes();
  return sizeof(T) * (numbers + most * static_cast<std::size_t>(threads)) + sizeof(Index) * lists + shapes +
         static_cast<std::size_t>(m.frame_count()) * sizeof(Quatd);
}

std::optional<std::size_t> Settings::bytes(const Model& model, const Control& control, double h) const {
  const Iteration how = iteration_for(chi_of(model, h));
  if (how == Iteration::coupled) return coupled()->bytes(model, control, h);
  StepNeeds needs{.h = h};
  needs.torques = control.has_torque;
  needs.paper = variant == Variant::paper;
  needs.history = how == Iteration::anderson ? history : 0;
  if (execution.in_float()) return bytes_of<float>(model, rod_kernel<float>(execution.simd).lanes, execution.threads, needs);
  return bytes_of<double>(model, rod_kernel<double>(execution.simd).lanes, execution.threads, needs);
}

std::unique_ptr<Solver> Settings::make(const Model& model) const {
  if (execution.in_float()) return std::make_unique<Projective<float>>(*this, model);
  return std::make_unique<Projective<double>>(*this, model);
}

}  // namespace osier::projective
