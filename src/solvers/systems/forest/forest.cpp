#include "solvers/systems/forest/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace osier::systems {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

template <class T>
void Forest<T>::bind(const Model& m, const Control& c, const Tree& tree, const std::vector<std::uint8_t>& wanted,
                     StiffnessLaw law, Simd simd) {
  law_ = law;
  kernel_ = &forest_kernel<T>(simd, law);
  plan_ = plan_forest(m, c, tree, wanted, kernel_->lanes);
  const std::size_t rows = plan_.rows.size();
  rows_.resize(rows * kernel_->row_bytes);
  ties_.resize(at(tie_rows()) * kernel_->tie_bytes);
  record_.assign(at(plan_.slot_count()) * SlotRecord::numbers, T(0));
  record_[at(plan_.above_nothing()) * SlotRecord::numbers + SlotRecord::turn + 3] = T(1);  // the real part of a turn
  column_.assign(at(plan_.columns) * ColumnRecord::numbers, T(0));
  tie_record_.assign((plan_.ties.size() + 1) * TieRecord::numbers, T(0));
  for (std::size_t a : {0, 2, 5}) tie_record_[plan_.ties.size() * TieRecord::numbers + a] = T(1);  // a matrix that has an inverse
  bent_.assign(rows, 0);
  totals_.resize(std::max(plan_.branches.size(), tie_jobs()));
  outlook_.forget();
  view_ = {.rows = plan_.rows.data(),
           .slots = plan_.slots.data(),
           .ties = plan_.ties.data(),
           .tie_count = static_cast<int>(plan_.ties.size()),
           .wide = plan_.wide.data(),
           .wide_child = plan_.wide_child.data(),
           .no_column = plan_.columns - 1,
           .below_nothing = plan_.below_nothing(),
           .record = record_.data(),
           .column = column_.data(),
           .tie_record = tie_record_.data(),
           .row = rows_.data(),
           .ties_of_rows = ties_.data(),
           .bent = bent_.data(),
           .damped = m.has_damping()};
}

template <class T>
std::size_t Forest<T>::bytes() const {
  const auto of = [](const auto& v) { return v.size() * sizeof(v[0]); };
  return plan_.bytes() + of(rows_) + of(ties_) + of(record_) + of(column_) + of(tie_record_) + of(bent_) + of(totals_);
}

template <class T>
template <class F>
void Forest<T>::each_branch(const Executor& executor, const F& f) const {
  if (plan_.branches.empty()) return;
  executor.for_each_job(plan_.branches.size(), [&](std::size_t i) { f(plan_.branches[i], i); });
}

template <class T>
void Forest<T>::load_heads(const StepView& view) {
  for (std::size_t h = 0; h < plan_.heads.size(); ++h) {
    const ForestHead& head = plan_.heads[h];
    T* record = record_.data() + at(plan_.head_slot(h)) * SlotRecord::numbers;
    const bool turns = !head.fixed && view.frame_control[head.frame] == FrameControl::fixed;
    const Quat<T> turn = cast<T>(turns ? turn_between(view.rotation[head.frame], view.frame_target[head.frame]) : Quatd{});
    const Vec3<T> u = cast<T>(view.vertex_target[head.vertex] - view.position[head.vertex]);
    const T of_turn[4] = {turn.x, turn.y, turn.z, turn.w}, of_vertex[3] = {u.x, u.y, u.z};
    std::copy_n(of_turn, 4, record + SlotRecord::turn);
    std::copy_n(of_vertex, 3, record + SlotRecord::displacement);
  }
}

template <class T>
void Forest<T>::load(const StepView& view, const Executor& executor) {
  load_heads(view);
  each_branch(executor, [&](const ForestJob& job, std::size_t) { kernel_->load(view_, view, job.first_row, job.last_row); });
  kernel_->load(view_, view, plan_.trunk.first_row, plan_.trunk.last_row);
  executor.for_each_range(
      at(tie_rows()),
      [&](std::size_t begin, std::size_t end) {
        kernel_->load_ties(view_, view, static_cast<int>(begin), static_cast<int>(end));
      },
      at(plan_.lanes));
}

template <class T>
ForestTotals Forest<T>::up(const StepView& view, const Executor& executor) {
  ForestTotals sum;
  executor.for_each(
      tie_jobs(),
      [&](std::size_t i) {
        const int first = static_cast<int>(i) * kTieRowsOfJob;
        totals_[i] = {};
        kernel_->bend_ties(view_, view, first, std::min(first + kTieRowsOfJob, tie_rows()), totals_[i]);
      },
      at(kTieRowsOfJob * plan_.lanes));
  for (std::size_t i = 0; i < tie_jobs(); ++i) sum += totals_[i];
  each_branch(executor, [&](const ForestJob& job, std::size_t i) {
    totals_[i] = {};
    kernel_->up(view_, view, job.first_row, job.last_row, totals_[i]);
  });
  for (std::size_t i = 0; i < plan_.branches.size(); ++i) sum += totals_[i];
  kernel_->up(view_, view, plan_.trunk.first_row, plan_.trunk.last_row, sum);
  return sum;
}

template <class T>
ForestTotals Forest<T>::down(const StepView& view, const Executor& executor) {
  ForestTotals sum;
  kernel_->down(view_, view, plan_.trunk.first_row, plan_.trunk.last_row, sum);
  each_branch(executor, [&](const ForestJob& job, std::size_t i) {
    totals_[i] = {};
    kernel_->down(view_, view, job.first_row, job.last_row, totals_[i]);
  });
  for (std::size_t i = 0; i < plan_.branches.size(); ++i) sum += totals_[i];
  return sum;
}

template <class T>
void Forest<T>::store(const StepView& view, const Executor& executor) {
  each_branch(executor, [&](const ForestJob& job, std::size_t) { kernel_->store(view_, view, job.first_row, job.last_row); });
  kernel_->store(view_, view, plan_.trunk.first_row, plan_.trunk.last_row);
  // Several may have the same vertex.
  for (const ForestHead& head : plan_.heads)
    view.velocity_previous[head.vertex] = (1 / view.h) * (view.vertex_target[head.vertex] - view.position[head.vertex]);
  for (const ForestHead& head : plan_.heads) view.position[head.vertex] = view.vertex_target[head.vertex];
}

template <class T>
bool Forest<T>::is_settled(const ForestTotals& moved, const ChainOptions& options) {
  const Progress now{std::sqrt(moved.move2), before_, std::sqrt(moved.motion2)};
  if (outlook_.is_enough(now, moved.turn2 <= 0.01, options.tolerance)) return true;
  if (now.moved <= options.tolerance * now.motion) return true;
  double free2 = kernel_->free_motion2(view_, plan_.trunk.first_row, plan_.trunk.last_row);
  for (const ForestJob& job : plan_.branches) free2 = std::max(free2, kernel_->free_motion2(view_, job.first_row, job.last_row));
  return is_at_floor(now, std::sqrt(free2), plan_.reach, sizeof(T) == 4);
}

template <class T>
ChainOutcome Forest<T>::step(const StepView& view, const ChainOptions& options, const Executor& executor) {
  ChainOutcome out;
  const int limit = options.iterations > 0 ? options.iterations : options.max_iterations;
  const double noise = sizeof(T) == 4 ? 1e-5 : 1e-11;
  outlook_.begin(view.h);
  before_ = std::numeric_limits<double>::infinity();
  load(view, executor);
  bool settled = false, solved = false, ordinary = false;
  double last = 0, work = 0;
  for (;;) {
    // The energy of the state this iteration starts from.
    const ForestTotals here = up(view, executor);
    const bool rose = out.iterations > 0 && !ordinary && !(here.energy - work <= last + noise * here.size);
    if (here.pole_changes || rose || !std::isfinite(here.energy)) out.energy_rose = 1;
    last = here.energy;
    solved = false;
    if (out.iterations == limit || out.energy_rose != 0) break;
    const ForestTotals moved = down(view, executor);
    work = moved.work;
    solved = true;
    ++out.iterations;
    if (!(moved.turn2 <= 1 && moved.move2 < std::numeric_limits<double>::infinity())) {
      out.energy_rose = 1;
      break;
    }
    ordinary = is_ordinary({std::sqrt(moved.move2), before_, 0}, std::sqrt(moved.turn2));
    if (options.iterations == 0 && (settled = is_settled(moved, options))) break;
    before_ = std::sqrt(moved.move2);
    if (options.iterations > 0 && out.iterations == limit) break;
  }
  out.unsettled = options.iterations == 0 && !settled && out.energy_rose == 0 ? 1 : 0;
  if (out.energy_rose == 0) store(view, executor);
  // Forces and turns of a step that went nowhere are no guess, and those of one that ended on its way up are not there.
  if (out.energy_rose != 0 || !solved) std::fill(rows_.begin(), rows_.end(), std::byte{0});
  return out;
}

template class Forest<float>;
template class Forest<double>;

}  // namespace osier::systems
