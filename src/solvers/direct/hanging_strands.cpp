#include "solvers/direct/hanging_strands.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "solvers/lanes/chain_plan.hpp"
#include "solvers/systems/chains/chain_direct.hpp"

namespace osier::direct {

namespace {

bool is_single_rod(const Model& m, const Chain& c) { return c.segments() >= 3 && c.first_joint >= 0 && systems::is_plain(m, c); }

}  // namespace

void check_strands(const Model& m, Problems& problems) {
  const std::vector<Chain> chains = find_chains(m);
  Index in_rods = 0;
  for (const Chain& c : chains) in_rods += is_single_rod(m, c) ? c.vertices : 0;
  if (in_rods == m.vertex_count()) return;
  problems.add(
      "/solver/name",
      fmt::format("`direct` on a device takes single rods of three segments or more, without inertia: {} of {} vertices are of "
                  "other parts",
                  m.vertex_count() - in_rods, m.vertex_count()),
      "use `stable_cosserat`, or `device` cpu");
}

bool are_hanging(const Model& m) {
  const std::vector<Chain> chains = find_chains(m);
  return std::all_of(chains.begin(), chains.end(),
                     [](const Chain& c) { return c.tail_joint < 0 && c.segments() <= kLongestStrand; });
}

std::string held_otherwise(const Model& m, const Control& c) {
  for (const Chain& chain : find_chains(m)) {
    for (Index i = 1; i < chain.vertices; ++i)
      if (c.vertex_fixed[chain.first_vertex + i])
        return fmt::format("vertex {} is held, which is not the first of its strand", chain.first_vertex + i);
    for (Index i = 0; i < chain.segments(); ++i)
      if (const FrameControl f = c.frame_control[chain.first_segment + i];
          f == FrameControl::hinged || (f == FrameControl::fixed && i > 0))
        return fmt::format("the frame of segment {} is held, which is not the first of its strand", chain.first_segment + i);
  }
  return "";
}

template <class T>
std::vector<StrandGroupPlan<T>> plan_hanging_strands(const Model& m) {
  const Control nothing;
  std::map<std::pair<Index, StiffnessLaw>, std::vector<Chain>> by_kind;
  for (const Chain& c : find_chains(m)) by_kind[{c.segments(), systems::law_of(m, nothing, c)}].push_back(c);
  std::vector<StrandGroupPlan<T>> plans;
  for (const auto& [kind, chains] : by_kind) {
    StrandGroupPlan<T>& plan = plans.emplace_back();
    plan.rows = kind.first, plan.law = kind.second, plan.damped = m.has_damping();
    const std::size_t width = chains.size();
    const int per_row = lanes::constants_per_row(plan.law, plan.damped, lanes::ChainUse::direct);
    plan.constants.assign(systems::size_of_tiles(plan.rows + 1, per_row, width), T(0));
    constexpr std::size_t kAtATime = 1024;
    for (std::size_t first = 0; first < width; first += kAtATime) {
      const auto some = std::span<const Chain>(chains).subspan(first, std::min(kAtATime, width - first));
      // One strand to a group, in their order, since all are of one length.
      const lanes::ChainPlan<T> of_some = lanes::plan_chains<T>(m, some, 1, plan.law, lanes::ChainUse::direct);
      for (std::size_t k = 0; k < some.size(); ++k)
        for (Index row = 0; row <= plan.rows; ++row) {
          T* to = plan.constants.data() + systems::place_in_tiles(plan.rows + 1, row, per_row, static_cast<Index>(first + k));
          const T* from = of_some.constants.data() + of_some.groups[k].constants + static_cast<std::size_t>(row * per_row);
          for (int c = 0; c < per_row; ++c) to[std::ptrdiff_t{c} * systems::kTile] = from[c];
        }
    }
    for (const Chain& c : chains) {
      plan.strands.push_back(systems::piece_of(m, c, 0, c.segments()));
      plan.strands.back().chain = static_cast<Index>(plan.strands.size()) - 1;
    }
  }
  return plans;
}

template std::vector<StrandGroupPlan<float>> plan_hanging_strands(const Model&);
template std::vector<StrandGroupPlan<double>> plan_hanging_strands(const Model&);

}  // namespace osier::direct
