// Steps of a model whose rods are fibres. The conductor is step(); what a fibre does in it is in fibre_step.hpp.
//
// Unknowns and mean velocities of sections are solver memory of the vertices. Memory that does not fit the state, because
// somebody else has moved it, is made anew from the state, as at the start.
#include <algorithm>
#include <cmath>

#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "exec/simd_dispatch.hpp"
#include "math/quat.hpp"
#include "osier/error.hpp"
#include "solvers/deti/deti.hpp"
#include "solvers/deti/fibre_contact.hpp"
#include "solvers/deti/fibre_energy.hpp"
#include "solvers/deti/fibre_memory.hpp"
#include "solvers/deti/fibre_plan.hpp"
#include "solvers/deti/fibre_reactions.hpp"
#include "solvers/deti/fibre_set.hpp"
#include "solvers/deti/fibre_statics.hpp"
#include "solvers/deti/fibre_step.hpp"
#include "solvers/deti/kernels.hpp"
#include "solvers/deti/krylov.hpp"
#include "solvers/deti/paper_scheme.hpp"
#include "solvers/solver_memory.hpp"
#include "solvers/step_potential.hpp"

namespace osier::deti {

namespace {

/// `simd` must be available on this machine.
const FibreKernel& fibre_kernel(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const FibreKernel& { return fibre_kernel_for<S>(); });
}

constexpr MemoryDeclaration kOrigin{"deti/origin", ElementKind::vertex, kUnknowns};

/// Equal fibres side by side.
struct Group {
  Index sections = 0;
  int lanes = 1, fibres = 1;
  std::vector<std::size_t> chain;  ///< per lane
  std::size_t constants = 0;       ///< where its numbers of the model begin
};

class Deti final : public Solver {
 public:
  Deti(const Settings& settings, const Model& model)
      : settings_(settings),
        executor_(settings.execution.threads),
        contact_(settings.execution.threads),
        touching_(settings.execution.threads, settings.execution.simd),
        tied_(settings.execution.threads, settings.execution.simd) {
    arrange(model);
  }

  void rebind(const Model& m, State&) override {
    arrange(m);
    contact_.forget();
  }
  void declare_memory(const Model& m, State& state) const override {
    Memory(m, state);
    if (is_printed()) solver_memory(state, m, kOrigin);
  }
  StepReport step(const StepInput& input, State& state) override;
  StaticReport solve_static(const StepInput& input, State& state, const StaticOptions& options) override;
  void tell_reactions(std::vector<Vec3d>& vertex_force, std::vector<Vec3d>& frame_couple) const override {
    vertex_force = reactions_.force;
    frame_couple = reactions_.couple;
  }

 private:
  void arrange(const Model& m);
  const Chain& chain(std::size_t i) const { return plan_.chains[i]; }
  bool fits(const Chain& c, const State& state, const Memory& memory) const;
  void begin_to_move(const Model& m, const Chain& c, const State& state, Memory& memory, bool known) const;
  void load(const Model& m, const Control& c, const State& state, const Memory& memory, std::size_t fibre, int lane, double h,
            const FibreView& view) const;
  void load_control(const Model& m, const Control& c, const Chain& chain, int lane, double h, const FibreView& view) const;
  void store(const Chain& c, int lane, const FibreView& view, State& state, Memory& memory) const;
  void place_frames(const Chain& c, State& state, const Memory& memory) const;
  void finish(const Model& m, const Control& c, State& state, StepReport& report) const;
  void start_fibres(const StepInput& input, State& state, Memory& memory);
  void meet(const StepInput& input, State& state, Memory& memory, StepReport& report);
  void step_fibres(const StepInput& input, State& state, Memory& memory);
  StepRule rule(double h) const { return {h, settings_.rho, settings_.variant, viscous_}; }
  bool is_krylov() const { return settings_.functions == Functions::krylov; }
  bool is_printed() const { return settings_.scheme == Scheme::paper; }
  const PaperScheme& printed(std::size_t fibre, const FibreView& view);
  void by_krylov(const FibreView& view, double h, bool starts) const;
  void group_fibres();
  void tie_up(const Model& m, const Control& c);
  std::vector<Tie> ties_within(const FibreSet& set, const std::vector<std::size_t>& fibres, const Control& c) const;
  void load_set(const StepInput& input, const Control& c, const State& state, const Memory& memory, FibreSet& set,
                const std::vector<std::size_t>& fibres) const;
  bool take_touching(const Model& m);
  void keep_first_motion(std::size_t fibre, const FibreView& view, int lane, Memory& memory) const;
  /// use(group, view, kernel) for every group, with memory of its own for every thread.
  template <class F>
  void each_group(const F& use) {
    executor_.for_each_job(groups_.size(), [&](std::size_t i) {
      const Group& g = groups_[i];
      FibreView view = view_of(g.sections, g.lanes, settings_.variant, constants_.data() + g.constants,
                               memory_.data() + static_cast<std::size_t>(executor_.worker()) * numbers_of_thread_);
      use(g, view, g.lanes > 1 ? *lanes_ : *single_);
    });
  }

  Settings settings_;
  Executor executor_;
  FibrePlan plan_;
  const FibreKernel *lanes_ = nullptr, *single_ = nullptr;
  std::vector<Group> groups_;
  AlignedArray<double> constants_, memory_;
  std::size_t numbers_of_thread_ = 0;
  FibreReactions reactions_;
  std::vector<std::uint8_t> starts_;                   ///< per chain
  std::vector<std::unique_ptr<PaperScheme>> printed_;  ///< per chain, once it has moved
  std::span<double> origin_;                           ///< of the printed scheme, in the state's memory: 12 per vertex
  bool viscous_ = false;

  struct Place {
    Index chain = -1, section = -1;
  };
  std::vector<Place> place_;                    ///< per vertex
  std::vector<std::array<Index, 2>> tie_ends_;  ///< of the springs at hand
  std::vector<Index> part_;                     ///< per chain: the first of those that springs join it to
  std::vector<std::size_t> tied_fibres_;        ///< chains with springs, in their order
  // A step with contact.
  contact::ContactStep contact_;
  FibreSet touching_, tied_;
  std::vector<std::size_t> touching_fibres_;  ///< chains that the set has
  std::vector<std::uint8_t> touches_;         ///< per chain
  std::vector<std::uint8_t> segment_touches_;
  std::vector<Index> touching_vertex_;  ///< per section of the set
  bool held_back_ = false;
};

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

Quatd frame_of(const Chain& c, std::size_t k, const State& state, const Memory& memory) {
  double u[kUnknowns];
  put_unknowns(c, k, state, memory, u);
  return section_frame(u);
}

/// Whether the memory belongs to the state: its sections have the frames of the state's segments, and velocities are as they were
/// left.
bool Deti::fits(const Chain& c, const State& state, const Memory& memory) const {
  constexpr double kSame = 1e-9;
  Quatd first{};
  for (std::size_t k = 0; k < c.vertices.size(); ++k) {
    const auto v = static_cast<std::size_t>(c.vertices[k]);
    double size = 0;
    for (std::size_t i = 0; i < 9; ++i) size += std::abs(memory.sections[9 * v + i]);
    if (!(size > 0)) return false;
    // Sections of another width are no sections of this fibre.
    const double* a = &memory.sections[9 * v];
    constexpr double kWide = 0.3;
    if (!(std::abs(norm(Vec3d{a[0], a[1], a[2]}) - 0.5 * c.fibre.side) < kWide * c.fibre.side)) return false;
    const Quatd second = frame_of(c, k, state, memory);
    if (k > 0) {
      const auto u = static_cast<std::size_t>(c.vertices[k - 1]);
      const Quatd q = segment_frame(state.vertex_position[u], state.vertex_position[v], first, second);
      const Quatd& known = state.frame_rotation[c.segments[k - 1]];
      if (!(std::min(norm(q - known), norm(q + known)) < kSame)) return false;
    }
    const Vec3d& w = state.vertex_velocity[v];
    if (w.x != memory.velocity[kUnknowns * v] || w.y != memory.velocity[kUnknowns * v + 1] ||
        w.z != memory.velocity[kUnknowns * v + 2])
      return false;
    first = second;
  }
  return true;
}

/// Sections from the state's frames, unless they are `known`, and velocities of unknowns into the memory's motion.
void Deti::begin_to_move(const Model& m, const Chain& c, const State& state, Memory& memory, bool known) const {
  if (!known) {
    const std::vector<Quatd> frames = section_frames(m, c, state.frame_rotation);
    for (std::size_t k = 0; k < c.vertices.size(); ++k) {
      double u[kUnknowns];
      put_section({}, frames[k], c.fibre.side, u);
      for (std::size_t i = 0; i < 9; ++i) memory.sections[9 * static_cast<std::size_t>(c.vertices[k]) + i] = u[3 + i];
    }
  }
  for (std::size_t k = 0; k < c.vertices.size(); ++k) {
    const auto v = static_cast<std::size_t>(c.vertices[k]);
    double* w = &memory.motion[kUnknowns * v];
    const Vec3d& own = state.vertex_velocity[v];
    w[0] = own.x, w[1] = own.y, w[2] = own.z;
    if (known) continue;
    // Sections turn with the segments beside them.
    Vec3d spin{};
    int count = 0;
    for (const std::size_t s : {k - 1, k}) {
      if (s >= c.segments.size()) continue;
      const Index a = c.vertices[s], b = c.vertices[s + 1];
      const Vec3d e = state.vertex_position[b] - state.vertex_position[a];
      spin += (1 / norm2(e)) * cross(e, state.vertex_velocity[b] - state.vertex_velocity[a]);
      ++count;
    }
    spin = (1.0 / count) * spin;
    for (std::size_t a = 0; a < 3; ++a) {
      const double* s = &memory.sections[9 * v + 3 * a];
      const Vec3d turn = cross(spin, Vec3d{s[0], s[1], s[2]});
      w[3 + 3 * a] = turn.x, w[4 + 3 * a] = turn.y, w[5 + 3 * a] = turn.z;
    }
  }
}

void Deti::load(const Model& m, const Control& c, const State& state, const Memory& memory, std::size_t own, int lane, double h,
                const FibreView& view) const {
  const Chain& fibre = chain(own);
  const auto at = [&](Index i) { return i * view.lanes + lane; };
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k) {
    double u[kUnknowns];
    put_unknowns(fibre, k, state, memory, u);
    const double* w = &memory.motion[kUnknowns * static_cast<std::size_t>(fibre.vertices[k])];
    for (Index i = 0; i < kUnknowns; ++i) {
      const Index unknown = static_cast<Index>(k) * kUnknowns + i;
      view.y[at(unknown)] = u[i];
      view.w[at(unknown)] = w[i];
      view.velocity[at(unknown)] = w[i];
    }
  }
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k) view.starting[at(static_cast<Index>(k))] = starts_[own] ? 1 : 0;
  load_control(m, c, fibre, lane, h, view);
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i)
      view.load[at(static_cast<Index>(kUnknowns * k + i))] += memory.push[3 * static_cast<std::size_t>(fibre.vertices[k]) + i];
  // The printed scheme knows drag as a force.
  for (std::size_t k = 0; is_printed() && k < fibre.vertices.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      const Index unknown = static_cast<Index>(kUnknowns * k + i);
      view.load[at(unknown)] -= c.vertex_damping[fibre.vertices[k]] * view.w[at(unknown)];
    }
  if (!held_back_ || !touches_[own]) return;
  // What contact has held back does not arrive.
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      const Index unknown = static_cast<Index>(kUnknowns * k + i);
      if (view.free[at(unknown)] == 0) view.target[at(unknown)] = view.y[at(unknown)] + h * view.w[at(unknown)];
    }
}

/// Loads, what is held, and drag.
void Deti::load_control(const Model& m, const Control& c, const Chain& fibre, int lane, double h, const FibreView& view) const {
  const auto at = [&](Index i) { return i * view.lanes + lane; };
  for (std::size_t k = 0; k < fibre.vertices.size(); ++k) {
    const Index section = static_cast<Index>(k), v = fibre.vertices[k], first = section * kUnknowns;
    const Held held = held_unknowns(c, fibre, k);
    for (Index i = 0; i < kUnknowns; ++i) {
      view.free[at(first + i)] = (i < 3 ? held.centre : held.frame) ? 0 : 1;
      view.target[at(first + i)] = held.target[i];
      view.load[at(first + i)] = 0;
    }
    const Vec3d& f = c.vertex_force[v];
    view.load[at(first)] = f.x;
    view.load[at(first + 1)] = f.y;
    view.load[at(first + 2)] = f.z;
    const double x = h * (settings_.alpha0 + c.vertex_damping[v] / m.vertex_mass[v]);
    constexpr double kSeries = 1e-4;
    const double p0 = x > 0 ? -std::expm1(-x) / x : 1;
    view.decay[at(section)] = std::exp(-x);
    view.reach[at(section)] = std::sqrt(p0);
    view.lead[at(section)] = x > kSeries ? (1 - p0) / x : 0.5 - x / 6 + x * x / 24;
  }
}

void Deti::store(const Chain& c, int lane, const FibreView& view, State& state, Memory& memory) const {
  const auto at = [&](Index i) { return i * view.lanes + lane; };
  for (std::size_t k = 0; k < c.vertices.size(); ++k) {
    const auto v = static_cast<std::size_t>(c.vertices[k]);
    const Index first = static_cast<Index>(k) * kUnknowns;
    state.vertex_position[v] = {view.y[at(first)], view.y[at(first + 1)], view.y[at(first + 2)]};
    for (std::size_t i = 0; i < 9; ++i) memory.sections[9 * v + i] = view.y[at(first + 3 + static_cast<Index>(i))];
    for (std::size_t i = 0; i < kUnknowns; ++i) memory.motion[kUnknowns * v + i] = view.w[at(first + static_cast<Index>(i))];
    double* own = &memory.velocity[kUnknowns * v];
    for (std::size_t i = 0; i < kUnknowns; ++i) own[i] = view.velocity[at(first + static_cast<Index>(i))];
    state.vertex_velocity_previous[v] = state.vertex_velocity[v];
    state.vertex_velocity[v] = {own[0], own[1], own[2]};
  }
  place_frames(c, state, memory);
}

void Deti::place_frames(const Chain& c, State& state, const Memory& memory) const {
  Quatd first = frame_of(c, 0, state, memory);
  for (std::size_t k = 0; k < c.segments.size(); ++k) {
    const Quatd second = frame_of(c, k + 1, state, memory);
    const Quatd q = segment_frame(state.vertex_position[c.vertices[k]], state.vertex_position[c.vertices[k + 1]], first, second);
    state.frame_rotation[c.segments[k]] = q;
    first = second;
  }
}

/// The first mean velocity of a fibre into the memory.
void Deti::keep_first_motion(std::size_t own, const FibreView& view, int lane, Memory& memory) const {
  if (!starts_[own]) return;
  const std::vector<Index>& vertices = chain(own).vertices;
  for (std::size_t k = 0; k < vertices.size(); ++k)
    for (std::size_t i = 0; i < kUnknowns; ++i)
      memory.motion[kUnknowns * static_cast<std::size_t>(vertices[k]) + i] =
          view.w[(kUnknowns * k + i) * static_cast<std::size_t>(view.lanes) + static_cast<std::size_t>(lane)];
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

/// Springs join fibres to parts that are stepped together.
void Deti::tie_up(const Model& m, const Control& c) {
  std::vector<std::array<Index, 2>> ends;
  for (const Spring& s : c.springs) ends.push_back({s.a, s.b});
  if (ends == tie_ends_) return;
  tie_ends_ = std::move(ends);
  for (std::size_t i = 0; i < part_.size(); ++i) part_[i] = static_cast<Index>(i);
  const auto find = [&](Index i) {
    while (part_[static_cast<std::size_t>(i)] != i) i = part_[static_cast<std::size_t>(i)];
    return i;
  };
  std::vector<std::uint8_t> has(part_.size(), 0);
  for (const auto& [a, b] : tie_ends_)
    for (const Index v : {a, b}) {
      if (v < 0 || place_[static_cast<std::size_t>(v)].chain < 0) continue;
      has[static_cast<std::size_t>(place_[static_cast<std::size_t>(v)].chain)] = 1;
      const Index one = find(place_[static_cast<std::size_t>(v)].chain);
      if (place_[static_cast<std::size_t>(a)].chain < 0) continue;
      const Index other = find(place_[static_cast<std::size_t>(a)].chain);
      part_[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
    }
  for (std::size_t i = 0; i < part_.size(); ++i) part_[i] = find(static_cast<Index>(i));
  tied_fibres_.clear();
  std::vector<const Fibre*> fibres;
  for (std::size_t i = 0; i < part_.size(); ++i)
    if (has[i]) tied_fibres_.push_back(i), fibres.push_back(&chain(i).fibre);
  tied_.arrange(fibres);
  touching_fibres_.clear();
  group_fibres();
  (void)m;
}

std::vector<Tie> Deti::ties_within(const FibreSet& set, const std::vector<std::size_t>& fibres, const Control& c) const {
  const auto section = [&](Index v) {
    const Place& p = place_[static_cast<std::size_t>(v)];
    const auto found = std::lower_bound(fibres.begin(), fibres.end(), static_cast<std::size_t>(p.chain));
    if (p.chain < 0 || found == fibres.end() || *found != static_cast<std::size_t>(p.chain)) return Index{-1};
    return set.first_section(static_cast<std::size_t>(found - fibres.begin())) + p.section;
  };
  std::vector<Tie> ties;
  for (const Spring& s : c.springs) {
    Tie tie{.a = section(s.a),
            .b = s.b < 0 ? -1 : section(s.b),
            .anchor = s.anchor,
            .anchor_velocity = s.anchor_velocity,
            .terms = {}};
    if (tie.a < 0 || (s.b >= 0 && tie.b < 0)) continue;
    tie.terms = elastic_terms(s);
    tie.terms.damping = s.damping;
    ties.push_back(tie);
  }
  return ties;
}

void Deti::load_set(const StepInput& input, const Control& c, const State& state, const Memory& memory, FibreSet& set,
                    const std::vector<std::size_t>& fibres) const {
  executor_.for_each_job(fibres.size(),
                         [&](std::size_t i) { load(input.model, c, state, memory, fibres[i], 0, input.h, set.part(i)); });
  set.set_ties(ties_within(set, fibres, c));
}

/// Parts that hang together by pairs that may touch, where one of them is about to, step together. Whether there are new ones.
bool Deti::take_touching(const Model& m) {
  std::vector<Index> group = part_;
  const auto find = [&](Index i) {
    while (group[static_cast<std::size_t>(i)] != i)
      i = group[static_cast<std::size_t>(i)] = group[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])];
    return i;
  };
  const auto chain_of = [&](Index segment) { return place_[static_cast<std::size_t>(m.segment_vertices[segment][0])].chain; };
  std::vector<std::uint8_t> touches = touches_;
  contact_.find_active();
  const std::vector<contact::Pair>& pairs = contact_.pairs();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const Index own = chain_of(pairs[p].a);
    if (contact_.is_active(p)) touches[static_cast<std::size_t>(own)] = 1;
    if (pairs[p].with_obstacle()) continue;
    const Index a = find(own), b = find(chain_of(pairs[p].b));
    group[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[i]) touches[static_cast<std::size_t>(find(static_cast<Index>(i)))] = 1;
  for (std::size_t i = 0; i < touches.size(); ++i)
    if (touches[static_cast<std::size_t>(find(static_cast<Index>(i)))]) touches[i] = 1;
  if (touches == touches_) return false;
  touches_ = std::move(touches);
  segment_touches_.assign(static_cast<std::size_t>(m.segment_count()), 0);
  for (std::size_t i = 0; i < touches_.size(); ++i)
    if (touches_[i])
      for (const Index s : chain(i).segments) segment_touches_[static_cast<std::size_t>(s)] = 1;
  return true;
}

/// The mean velocities with which nothing passes through anything, in the place of those that are known. What does not touch
/// keeps its own.
void Deti::meet(const StepInput& input, State& state, Memory& memory, StepReport& report) {
  const Model& m = input.model;
  const Control& c = input.end;
  const double h = input.h;
  contact_.begin(input.contacts, m, c, state, h);
  touches_.assign(plan_.chains.size(), 0);
  segment_touches_.assign(static_cast<std::size_t>(m.segment_count()), 0);
  const std::vector<Vec3d>& x = state.vertex_position;
  std::vector<Vec3d> ahead = x;
  for (std::size_t v = 0; v < x.size(); ++v) {
    const double* w = &memory.motion[kUnknowns * v];
    if (place_[v].chain >= 0) ahead[v] = c.vertex_fixed[v] ? c.vertex_target[v] : x[v] + h * Vec3d{w[0], w[1], w[2]};
  }
  take_touching(m);
  while (!contact_.moves_freely(x, ahead, segment_touches_)) {
    contact_.expect(x, ahead, segment_touches_);
    if (take_touching(m)) continue;
    // Nothing is left out that could be in the way.
    std::fill(touches_.begin(), touches_.end(), std::uint8_t{1});
    std::fill(segment_touches_.begin(), segment_touches_.end(), std::uint8_t{1});
    break;
  }
  if (std::find(touches_.begin(), touches_.end(), 1) == touches_.end()) {
    contact_.finish_untouched(state);
    if (input.record) input.record->clear();
    memory = Memory(m, state);
    std::fill(memory.push.begin(), memory.push.end(), 0.0);
    return;
  }
  std::vector<Vec3d> push(x.size());
  for (std::size_t v = 0; v < push.size(); ++v) push[v] = {memory.push[3 * v], memory.push[3 * v + 1], memory.push[3 * v + 2]};
  for (;;) {
    std::vector<std::size_t> fibres;
    for (std::size_t i = 0; i < touches_.size(); ++i)
      if (touches_[i]) fibres.push_back(i);
    if (fibres != touching_fibres_) {
      touching_fibres_ = fibres;
      std::vector<const Fibre*> list;
      touching_vertex_.clear();
      for (const std::size_t i : fibres) {
        list.push_back(&chain(i).fibre);
        touching_vertex_.insert(touching_vertex_.end(), chain(i).vertices.begin(), chain(i).vertices.end());
      }
      touching_.arrange(list);
    }
    load_set(input, c, state, memory, touching_, touching_fibres_);
    FibreContact together(touching_, contact_, touching_vertex_, push, h, settings_.contact_tolerance);
    const StepReport of_contact = together.solve();
    if (take_touching(m)) {
      // From the start, with obstacles where they were.
      contact_.begin(input.contacts, m, c, state, h);
      take_touching(m);
      continue;
    }
    report.iterations = of_contact.iterations;
    report.not_converged = of_contact.not_converged;
    report.held_back = held_back_ = of_contact.held_back;
    contact_.finish(together.displacements(), state);
    if (input.record) contact_.tell(*input.record);
    break;
  }
  memory = Memory(m, state);
  std::fill(push.begin(), push.end(), Vec3d{});
  contact_.add_gradient(push);
  for (std::size_t v = 0; v < push.size(); ++v)
    memory.push[3 * v] = -push[v].x, memory.push[3 * v + 1] = -push[v].y, memory.push[3 * v + 2] = -push[v].z;
  for (std::size_t i = 0; i < touching_vertex_.size(); ++i)
    std::copy_n(touching_.view().w + kUnknowns * i, kUnknowns,
                &memory.motion[kUnknowns * static_cast<std::size_t>(touching_vertex_[i])]);
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

}  // namespace

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
