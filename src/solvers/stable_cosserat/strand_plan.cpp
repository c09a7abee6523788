#include "solvers/stable_cosserat/strand_plan.hpp"

#include <algorithm>

#include "solvers/lanes/chain_plan.hpp"

namespace osier::stable_cosserat {

namespace {

void take(const Model& m, const Chain& c, StrandCover& cover) {
  const auto mark = [](std::vector<std::uint8_t>& list, Index first, Index count) {
    std::fill_n(list.begin() + first, count, std::uint8_t{1});
  };
  mark(cover.vertices, c.first_vertex, c.vertices);
  mark(cover.segments, c.first_segment, c.segments());
  mark(cover.frames, c.first_segment, c.segments());
  mark(cover.joints, c.first_joint, c.segments() - 1);
  if (c.head_joint < 0) return;
  mark(cover.joints, c.head_joint, 1);
  const auto [a, b] = m.joint_frames[c.head_joint];
  mark(cover.frames, m.is_anchor(a) ? a : b, 1);
}

}  // namespace

template <class T>
StrandPlan<T> plan_strands(const Model& m, const DeviceSweepOptions& options, Index most_rows) {
  StrandPlan<T> plan;
  const auto none = [](Index n) { return std::vector<std::uint8_t>(static_cast<std::size_t>(n), 0); };
  plan.cover = {none(m.vertex_count()), none(m.segment_count()), none(m.frame_count()), none(m.joint_count())};
  plan.damped = m.has_damping();
  if (options.order != Order::red_black || options.lambda == Lambda::exact || !m.is_isotropic()) return plan;
  std::vector<Chain> chains = find_chains(m);
  std::erase_if(chains, [&](const Chain& c) { return c.vertices > most_rows || c.first_joint < 0 || c.tail_joint >= 0; });
  if (chains.empty()) return plan;
  for (const Chain& c : chains) take(m, c, plan.cover), plan.rows = std::max(plan.rows, c.vertices);
  // One strand to a group, so that constants are those of rows.
  const auto per_row = static_cast<std::size_t>(lanes::constants_per_row(StiffnessLaw::isotropic, plan.damped));
  const auto rows = static_cast<std::size_t>(plan.rows);
  plan.strands.reserve(chains.size());
  plan.constants.assign(chains.size() * per_row * rows, T(0));
  constexpr std::size_t kAtATime = 1024;
  for (std::size_t first = 0; first < chains.size(); first += kAtATime) {
    const std::size_t count = std::min(kAtATime, chains.size() - first);
    const lanes::ChainPlan<T> of_some = lanes::plan_chains<T>(m, std::span<const Chain>(chains).subspan(first, count), 1);
    for (const lanes::ChainGroup& g : of_some.groups) {
      T* to = plan.constants.data() + plan.strands.size() * per_row * rows;
      for (std::size_t i = 0; i < static_cast<std::size_t>(g.vertices[0]); ++i)
        for (std::size_t c = 0; c < per_row; ++c) to[c * rows + i] = of_some.constants[g.constants + i * per_row + c];
      plan.strands.push_back({g.first_vertex[0], g.vertices[0], g.first_segment[0], g.head[0]});
    }
  }
  return plan;
}

template StrandPlan<float> plan_strands(const Model&, const DeviceSweepOptions&, Index);
template StrandPlan<double> plan_strands(const Model&, const DeviceSweepOptions&, Index);

bool suits_strands(const Control& c) {
  return !c.has_torque &&
         std::find(c.frame_control.begin(), c.frame_control.end(), FrameControl::hinged) == c.frame_control.end();
}

}  // namespace osier::stable_cosserat
