// Steps of a model whose rods are fibres. The conductor is step(); what a fibre does in it is in fibre_step.hpp.
#include <algorithm>
#include <cmath>

#include "exec/simd_dispatch.hpp"
#include "solvers/deti/deti_solver.hpp"
#include "solvers/deti/fibre_statics.hpp"
#include "solvers/deti/fibre_step.hpp"
#include "solvers/deti/krylov.hpp"

namespace osier::deti {

namespace {

/// `simd` must be available on this machine.
const FibreKernel& fibre_kernel(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const FibreKernel& { return fibre_kernel_for<S>(); });
}

}  // namespace

void Deti::arrange(const Model& m) {
  const FibrePlan before = std::move(plan_);
  plan_ = plan_fibres(m, settings_, &before);
  printed_.clear();
  printed_.resize(plan_.chains.size());
  if (!plan_.problems.empty()) throw RunError("`deti`: " + plan_.problems.front().first + "; " + plan_.problems.front().second);
  single_ = &fibre_kernel(Simd::off);
  lanes_ = is_krylov() || is_printed() ? single_ : &fibre_kernel(settings_.execution.simd);
  viscous_ = false;
  for (const Chain& c : plan_.chains)
    for (const Cuboid& cuboid : c.fibre.cuboids) viscous_ = viscous_ || cuboid.tau > 0 || cuboid.tau_c > 0;
  place_.assign(static_cast<std::size_t>(m.vertex_count()), {});
  for (std::size_t i = 0; i < plan_.chains.size(); ++i)
    for (std::size_t k = 0; k < chain(i).vertices.size(); ++k)
      place_[static_cast<std::size_t>(chain(i).vertices[k])] = {static_cast<Index>(i), static_cast<Index>(k)};
  tie_ends_.clear();
  tied_fibres_.clear();
  touching_fibres_.clear();
  part_.resize(plan_.chains.size());
  for (std::size_t i = 0; i < part_.size(); ++i) part_[i] = static_cast<Index>(i);
  group_fibres();
}

/// Fibres of as many sections go into lanes together, in their order; those with springs go by themselves.
void Deti::group_fibres() {
  groups_.clear();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < plan_.chains.size(); ++i)
    if (!std::binary_search(tied_fibres_.begin(), tied_fibres_.end(), i)) order.push_back(i);
  const auto size = [&](std::size_t i) { return plan_.chains[i].fibre.size(); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) < size(b); });
  std::size_t numbers = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && size(order[end]) == size(order[begin]) && end - begin < static_cast<std::size_t>(lanes_->lanes))
      ++end;
    Group g;
    g.sections = size(order[begin]);
    g.fibres = static_cast<int>(end - begin);
    g.lanes = g.fibres > 1 ? lanes_->lanes : 1;
    g.constants = numbers;
    // Lanes without a fibre repeat the last one.
    for (int k = 0; k < g.lanes; ++k) g.chain.push_back(order[std::min(begin + static_cast<std::size_t>(k), end - 1)]);
    numbers += model_numbers(g.sections, g.lanes);
    groups_.push_back(std::move(g));
    begin = end;
  }
  numbers_of_thread_ = 0;
  for (const Group& g : groups_)
    numbers_of_thread_ = std::max(numbers_of_thread_, step_numbers(g.sections, g.lanes, settings_.variant));
  memory_.assign(numbers_of_thread_ * static_cast<std::size_t>(executor_.threads()), 0.0);
  constants_.assign(numbers, 0.0);
  for (const Group& g : groups_) {
    const FibreView view = view_of(g.sections, g.lanes, settings_.variant, constants_.data() + g.constants, nullptr);
    for (int k = 0; k < g.lanes; ++k) load_fibre(chain(g.chain[static_cast<std::size_t>(k)]).fibre, view, k);
  }
}

StepReport Deti::step(const StepInput& input, State& state) {
  Memory memory(input.model, state);
  StepReport report;
  report.iterations = 1;
  held_back_ = false;
  tie_up(input.model, input.end);
  if (is_printed()) origin_ = solver_memory(state, input.model, kOrigin);
  start_fibres(input, state, memory);
  if (input.contacts.active()) meet(input, state, memory, report);
  step_fibres(input, state, memory);
  reactions_.clear(input.model);
  for (const Chain& c : plan_.chains) reactions_.measure(input.model, input.end, c, state, memory, input.h);
  finish(input.model, input.end, state, report);
  return report;
}

/// Which fibres begin to move, and their first mean velocities, by the loads at the start of the step.
void Deti::start_fibres(const StepInput& input, State& state, Memory& memory) {
  const bool same_step = std::abs(memory.step[0] - input.h) <= 1e-12 * input.h;
  starts_.assign(plan_.chains.size(), 0);
  const auto begin = [&](std::size_t own) {
    const bool known = fits(chain(own), state, memory);
    starts_[own] = !known || !same_step;
    if (starts_[own]) begin_to_move(input.model, chain(own), state, memory, known);
  };
  each_group([&](const Group& g, FibreView& view, const FibreKernel& kernel) {
    bool some = false;
    for (int k = 0; k < g.fibres; ++k) {
      const std::size_t own = g.chain[static_cast<std::size_t>(k)];
      begin(own);
      some = some || starts_[own];
    }
    if (!some) return;
    for (int k = 0; k < g.lanes; ++k)
      load(input.model, input.start, state, memory, g.chain[static_cast<std::size_t>(k)], k, input.h, view);
    if (is_printed()) printed(g.chain[0], view).start(view, input.h);
    else if (is_krylov()) by_krylov(view, input.h, true);
    else kernel.start(view, rule(input.h));
    for (int k = 0; k < g.fibres; ++k) keep_first_motion(g.chain[static_cast<std::size_t>(k)], view, k, memory);
  });
  bool some = false;
  for (const std::size_t own : tied_fibres_) {
    begin(own);
    some = some || starts_[own];
  }
  if (some) {
    load_set(input, input.start, state, memory, tied_, tied_fibres_);
    FibreStep<double, FibreSet&>(tied_.view(), tied_).start(rule(input.h));
    for (std::size_t i = 0; i < tied_fibres_.size(); ++i) keep_first_motion(tied_fibres_[i], tied_.part(i), 0, memory);
  }
  memory.step[0] = input.h;
}

/// The printed scheme of a fibre, from where it has begun to move.
const PaperScheme& Deti::printed(std::size_t own, const FibreView& view) {
  const std::vector<Index>& vertices = chain(own).vertices;
  std::vector<double> origin;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    double* const at = &origin_[kUnknowns * static_cast<std::size_t>(vertices[k])];
    if (view.starting[k] != 0) std::copy_n(view.y + kUnknowns * k, kUnknowns, at);
    origin.insert(origin.end(), at, at + kUnknowns);
  }
  std::unique_ptr<PaperScheme>& known = printed_[own];
  if (!known || !known->is_of(view, origin.data()))
    known = std::make_unique<PaperScheme>(view, origin.data(), settings_.alpha0, settings_.alpha1);
  return *known;
}

/// The start, or a step, with Lanczos' method.
void Deti::by_krylov(const FibreView& view, double h, bool starts) const {
  StepRule all = rule(h);
  all.viscous = false;
  KrylovFilter filter(view, all, settings_.krylov_tolerance, plan_.tau());
  const auto apply = [&](bool damps) { filter(damps); };
  FibreStep<double> fibre(view);
  if (starts) {
    fibre.start_with(all, apply);
  } else {
    all.rho = 0;  // the filter knows what is left
    fibre.step_with(all, apply);
  }
}

/// All fibres move by their mean velocities, and find the next ones.
void Deti::step_fibres(const StepInput& input, State& state, Memory& memory) {
  each_group([&](const Group& g, FibreView& view, const FibreKernel& kernel) {
    for (int k = 0; k < g.lanes; ++k)
      load(input.model, input.end, state, memory, g.chain[static_cast<std::size_t>(k)], k, input.h, view);
    if (is_printed()) printed(g.chain[0], view).step(view, input.h);
    else if (is_krylov()) by_krylov(view, input.h, false);
    else kernel.step(view, rule(input.h));
    for (int k = 0; k < g.fibres; ++k) store(chain(g.chain[static_cast<std::size_t>(k)]), k, view, state, memory);
  });
  if (tied_fibres_.empty()) return;
  load_set(input, input.end, state, memory, tied_, tied_fibres_);
  StepRule all = rule(input.h);
  all.viscous = all.viscous || tied_.is_damped();
  FibreStep<double, FibreSet&>(tied_.view(), tied_).step(all);
  for (std::size_t i = 0; i < tied_fibres_.size(); ++i) store(chain(tied_fibres_[i]), 0, tied_.part(i), state, memory);
}

/// What belongs to no fibre, and the first number that is not finite.
void Deti::finish(const Model& m, const Control& c, State& state, StepReport& report) const {
  for (const Index v : plan_.loose_vertices) {
    state.vertex_velocity_previous[v] = state.vertex_velocity[v];
    state.vertex_velocity[v] = {};
  }
  for (Index f = 0; f < m.frame_count(); ++f)
    if ((m.is_anchor(f) || !m.segment_alive[f]) && c.frame_control[f] == FrameControl::fixed)
      state.frame_rotation[f] = c.frame_target[f];
  for (Index v = 0; v < m.vertex_count() && !report.non_finite; ++v)
    if (!std::isfinite(norm2(state.vertex_position[v]) + norm2(state.vertex_velocity[v])))
      report.non_finite = true, report.worst_vertex = v;
  for (Index s = 0; s < m.segment_count() && !report.non_finite; ++s)
    if (!is_finite(state.frame_rotation[s])) report.non_finite = true, report.worst_segment = s;
}

/// Every fibre for itself.
StaticReport Deti::solve_static(const StepInput& input, State& state, const StaticOptions& options) {
  if (options.along_path)
    throw RunError(
        "`deti` goes to stable equilibria and cannot follow a path to or past an instability; use `branch` stable, or `direct`");
  if (!input.end.springs.empty())
    throw RunError(
        "`deti` takes no springs in statics, where it solves every fibre by itself; use dynamics with drag, or `direct`");
  const Model& m = input.model;
  const Control& c = input.end;
  Memory memory(m, state);
  std::vector<StaticReport> reports(plan_.chains.size());
  executor_.for_each_job(plan_.chains.size(), [&](std::size_t i) {
    const Chain& fibre = chain(i);
    if (const bool known = fits(fibre, state, memory); !known) begin_to_move(m, fibre, state, memory, known);
    FibreEquilibrium problem(fibre.fibre, settings_.variant);
    FibreView& view = problem.view();
    for (std::size_t k = 0; k < fibre.vertices.size(); ++k) put_unknowns(fibre, k, state, memory, view.y + kUnknowns * k);
    load_control(m, c, fibre, 0, 0, view);
    std::fill_n(view.w, kUnknowns * fibre.vertices.size(), 0.0);
    std::fill_n(view.velocity, kUnknowns * fibre.vertices.size(), 0.0);
    reports[i] = problem.solve(options, fibre.weakest.EI, fibre.length);
    const Index worst = reports[i].worst_vertex;
    reports[i].worst_vertex = worst >= 0 ? fibre.vertices[static_cast<std::size_t>(worst)] : -1;
    for (std::size_t k = 0; k < fibre.vertices.size(); ++k) {
      const auto v = static_cast<std::size_t>(fibre.vertices[k]);
      state.vertex_position[v] = {view.y[kUnknowns * k], view.y[kUnknowns * k + 1], view.y[kUnknowns * k + 2]};
      for (std::size_t n = 0; n < 9; ++n) memory.sections[9 * v + n] = view.y[kUnknowns * k + 3 + n];
      const Vec3d& w = state.vertex_velocity[v];
      double* own = &memory.velocity[kUnknowns * v];
      std::fill_n(own, kUnknowns, 0.0);
      own[0] = w.x, own[1] = w.y, own[2] = w.z;
    }
    place_frames(fibre, state, memory);
  });
  memory.step[0] = 0;
  std::fill(memory.push.begin(), memory.push.end(), 0.0);
  reactions_.clear(m);
  for (const Chain& own : plan_.chains) reactions_.measure(m, c, own, state, memory, 0);
  StaticReport all;
  all.residual = all.residual_relative = 0;
  all.unstable_modes = 0;
  for (const StaticReport& r : reports) {
    all.iterations = std::max(all.iterations, r.iterations);
    all.not_converged = all.not_converged || r.not_converged;
    all.branches_left += r.branches_left;
    all.modes_left += r.modes_left;
    all.unstable_modes += std::max(r.unstable_modes, 0);
    if (!(r.residual_relative <= all.residual_relative)) {
      all.residual = r.residual;
      all.residual_relative = r.residual_relative;
      all.worst_vertex = r.worst_vertex;
    }
  }
  finish(m, c, state, all);
  return all;
}

std::optional<std::size_t> Settings::bytes(const Model& model, const Control&, double) const {
  const FibrePlan fibres = plan_fibres(model, *this);
  const int lanes = fibre_kernel(execution.simd).lanes;
  std::size_t numbers = 0, most = 0, lists = 0;
  for (const Chain& c : fibres.chains) {
    numbers += model_numbers(c.fibre.size(), 1);
    most = std::max(most, step_numbers(c.fibre.size(), lanes, variant));
    lists += c.vertices.size() * (sizeof(Cuboid) + sizeof(SectionSprings) + sizeof(Vec3d) + sizeof(Quatd) + 4 * sizeof(Index));
  }
  constexpr std::size_t kMemory = 9 + 2 * kUnknowns;
  return sizeof(double) * (numbers + most * static_cast<std::size_t>(execution.threads) +
                           kMemory * static_cast<std::size_t>(model.vertex_count())) +
         lists;
}

std::unique_ptr<Solver> Settings::make(const Model& model) const { return std::make_unique<Deti>(*this, model); }

}  // namespace osier::deti
