#include "solvers/generalized_alpha/lane_group.hpp"

#include "solvers/generalized_alpha/elimination.hpp"

namespace osier::generalized_alpha {

bool step_together(const NewtonRule& a, const NewtonRule& b) {
  const auto same_weights = [](const Weights& p, const Weights& q) {
    return p.alpha == q.alpha && p.beta == q.beta && p.gamma == q.gamma;
  };
  return a.cells == b.cells && a.stage.dt == b.stage.dt && same_weights(a.stage.w, b.stage.w) &&
         a.second_by_rate == b.second_by_rate && a.place_held == b.place_held && a.frame_held == b.frame_held &&
         a.guide == b.guide && a.any_load == b.any_load && a.any_couple == b.any_couple;
}

void LaneGroup::reserve(NewtonView<double>& view) {
  const auto width = static_cast<std::size_t>(lanes());
  std::size_t next = 0;
  const auto need = [&](std::size_t numbers) {
    if (next == arrays_.size()) arrays_.emplace_back();
    if (arrays_[next].size() < numbers * width) arrays_[next].resize(numbers * width);
    ++next;
  };
  const auto each = [&]<class S>(const S*, std::size_t count) { need(numbers_of<S>() * count); };
  view.each_input(each), view.each_result(each);
  need(kUnknowns * (view.cells + 1)), need(static_cast<std::size_t>(kBlock) * (kRhs + 1) * view.cells);
  pointers_.resize(next);
  for (std::size_t i = 0; i < next; ++i) pointers_[i] = arrays_[i].data();
}

/// What a step starts from; of results only the unknowns, which hold the first guess.
void LaneGroup::put(NewtonView<double>& view, std::size_t lane) {
  const auto width = static_cast<std::size_t>(lanes());
  std::size_t next = 0;
  const auto put = [&]<class S>(const S* from, std::size_t count) {
    const auto* const numbers = reinterpret_cast<const double*>(from);
    double* const to = pointers_[next++] + lane;
    for (std::size_t i = 0; i < numbers_of<S>() * count; ++i) to[i * width] = numbers[i];
  };
  view.each_input(put);
  put(view.x, view.cells + 1);
}

void LaneGroup::take(NewtonView<double>& view, std::size_t lane) const {
  const auto width = static_cast<std::size_t>(lanes());
  std::size_t next = 0;
  view.each_input([&](const auto*, std::size_t) { ++next; });
  view.each_result([&]<class S>(S* to, std::size_t count) {
    auto* const numbers = reinterpret_cast<double*>(to);
    const double* const from = pointers_[next++] + lane;
    for (std::size_t i = 0; i < numbers_of<S>() * count; ++i) numbers[i] = from[i * width];
  });
}

unsigned LaneGroup::solve(std::span<RodStepper*> rods, const NewtonGoal& goal, std::span<int> iterations) {
  const auto width = static_cast<std::size_t>(lanes());
  reserve(rods[0]->view());
  for (std::size_t k = 0; k < width; ++k) put(rods[k < rods.size() ? k : 0]->view(), k);
  std::vector<int> counts(width, 0);
  const unsigned arrived = kernel_->iterate(rods[0]->view(), pointers_.data(), goal, counts.data());
  for (std::size_t k = 0; k < rods.size(); ++k) {
    iterations[k] = counts[k];
    if (((arrived >> k) & 1u) != 0) take(rods[k]->view(), k);
  }
  return arrived;
}

}  // namespace osier::generalized_alpha
