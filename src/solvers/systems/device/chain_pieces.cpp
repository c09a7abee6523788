#include "solvers/systems/device/chain_pieces.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "solvers/lanes/chain_plan.hpp"
#include "solvers/systems/chains/chain_direct.hpp"

namespace osier::systems {

namespace {

bool is_held(const Control& c, Index frame) { return c.frame_control[frame] == FrameControl::fixed; }

/// The numbers of segments before which a chain is cut, with 0 and the number of all segments.
std::vector<Index> cuts_of(const Chain& chain, const Control& c, Index most_rows) {
  const Index n = chain.segments();
  std::vector<Index> cuts{0};
  const auto cut_at = [&](Index end) {
    const Index from = cuts.back(), count = (end - from + most_rows - 1) / most_rows;
    for (Index i = 1; i <= count; ++i) cuts.push_back(from + static_cast<Index>(std::int64_t{end - from} * i / count));
  };
  for (Index i = 0; i + 1 < n; ++i)
    if (c.vertex_fixed[chain.first_vertex + i + 1] || (i > 0 && is_held(c, chain.first_segment + i))) cut_at(i + 1);
  cut_at(n);
  return cuts;
}

/// What is held of the node at the end of segment i. The first frame of a chain is held by a rigid joint.
void set_held(const Chain& chain, const Control& c, Index i, bool (&held)[2]) {
  held[0] = c.vertex_fixed[chain.first_vertex + i + 1] != 0;
  held[1] = i > 0 && is_held(c, chain.first_segment + i);
}

/// A node of a tree that is being made, and what is held at its end.
struct Growing {
  Index node;
  bool held[2];
};

class Planner {
 public:
  Planner(const Model& m, const Control& c, Index most_rows) : m_(m), c_(c), most_rows_(most_rows) {}

  PiecePlan plan(StiffnessLaw law, const std::vector<Chain>& chains) {
    PiecePlan plan;
    plan.law = law;
    plan.damped = m_.has_damping();
    std::vector<std::vector<Growing>> trees;
    for (const Chain& chain : chains) trees.push_back(cut(chain, plan));
    for (const PieceOfChain& p : plan.pieces) plan.rows = std::max(plan.rows, p.segments);
    join(trees, plan);
    Index first = 0;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      plan.roots.push_back({trees[i].front().node, first});
      first += count_[i];
    }
    fill_constants(chains, plan);
    return plan;
  }

 private:
  std::vector<Growing> cut(const Chain& chain, PiecePlan& plan) {
    const std::vector<Index> cuts = cuts_of(chain, c_, most_rows_);
    std::vector<Growing> nodes;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      plan.pieces.push_back(piece_of(m_, chain, cuts[i], cuts[i + 1]));
      plan.pieces.back().chain = static_cast<Index>(count_.size());
      Growing& node = nodes.emplace_back();
      node.node = static_cast<Index>(plan.pieces.size());
      set_held(chain, c_, cuts[i + 1] - 1, node.held);
    }
    count_.push_back(static_cast<Index>(nodes.size()));
    if (nodes.back().held[0] || nodes.back().held[1]) nodes.push_back({0, {false, false}});
    return nodes;
  }

  static void join(std::vector<std::vector<Growing>>& trees, PiecePlan& plan) {
    const auto unfinished = [](const std::vector<Growing>& tree) { return tree.size() > 1; };
    plan.levels = {0};
    while (std::any_of(trees.begin(), trees.end(), unfinished)) {
      for (std::vector<Growing>& tree : trees) {
        std::vector<Growing> above;
        for (std::size_t i = 0; i < tree.size(); i += 2) {
          if (i + 1 == tree.size()) {
            above.push_back(tree[i]);
            continue;
          }
          plan.joins.push_back({tree[i].node, tree[i + 1].node, {tree[i].held[0], tree[i].held[1]}});
          above.push_back(
              {static_cast<Index>(plan.pieces.size() + plan.joins.size()), {tree[i + 1].held[0], tree[i + 1].held[1]}});
        }
        tree = above;
      }
      plan.levels.push_back(static_cast<Index>(plan.joins.size()));
    }
  }

  void fill_constants(const std::vector<Chain>& chains, PiecePlan& plan) const {
    const int per_row = lanes::constants_per_row(plan.law, plan.damped, lanes::ChainUse::direct);
    plan.constants.assign(size_of_tiles(plan.rows + 1, per_row, plan.pieces.size()), 0);
    std::size_t piece = 0;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      const lanes::ChainPlan<double> of_chain =
          lanes::plan_chains<double>(m_, std::span<const Chain>(&chains[i], 1), 1, plan.law, lanes::ChainUse::direct);
      for (Index n = 0; n < count_[i]; ++n, ++piece) {
        const PieceOfChain& p = plan.pieces[piece];
        const Index first = p.strand.first_segment - chains[i].first_segment;
        for (Index row = 0; row <= p.segments; ++row) {
          double* to = plan.constants.data() + place_in_tiles(plan.rows + 1, row, per_row, static_cast<Index>(piece));
          for (int c = 0; c < per_row; ++c)
            to[std::ptrdiff_t{c} * kTile] = of_chain.constants[static_cast<std::size_t>((first + row) * per_row + c)];
        }
      }
    }
  }

  const Model& m_;
  const Control& c_;
  const Index most_rows_;
  std::vector<Index> count_;  ///< of pieces, for each chain
};

}  // namespace

PieceOfChain piece_of(const Model& m, const Chain& chain, Index first, Index end) {
  PieceOfChain p{.strand = {chain.first_vertex + first, chain.first_segment + first, chain.first_joint + first, -1, -1, false},
                 .segments = end - first};
  if (first > 0) {
    p.strand.head = chain.first_segment + first - 1;
    p.strand.head_joint = chain.first_joint + first - 1;
    p.strand.continues = true;
  } else if (chain.head_joint >= 0) {
    const auto [a, b] = m.joint_frames[chain.head_joint];
    p.strand.head = m.is_anchor(a) ? a : b;
    p.strand.head_joint = chain.head_joint;
    p.strand.head_flipped = b != chain.first_segment;
  }
  if (end == chain.segments() && chain.tail_joint >= 0) {
    const auto [a, b] = m.joint_frames[chain.tail_joint];
    p.tail_frame = m.is_anchor(a) ? a : b;
    p.tail_joint = chain.tail_joint;
    p.tail_flipped = m.is_anchor(a);
  }
  return p;
}

std::string why_no_pieces(const Model& m, const Control& c) {
  Index in_chains = 0;
  for (const Chain& chain : find_chains(m)) {
    if (chain.segments() < 3 || chain.first_joint < 0 || !is_plain(m, chain)) continue;
    in_chains += chain.vertices;
  }
  if (in_chains != m.vertex_count())
    return fmt::format("{} of {} vertices are not of single rods of three segments or more with joints and without inertia",
                       m.vertex_count() - in_chains, m.vertex_count());
  for (std::size_t f = 0; f < c.frame_control.size(); ++f)
    if (c.frame_control[f] == FrameControl::hinged) return fmt::format("the frame of segment {} turns on a hinge", f);
  if (c.has_torque) return "torques act on frames";
  return "";
}

std::vector<PiecePlan> plan_pieces(const Model& m, const Control& c, Index most_rows) {
  std::vector<Chain> by_law[2];
  for (const Chain& chain : find_chains(m)) by_law[static_cast<std::size_t>(law_of(m, c, chain))].push_back(chain);
  std::vector<PiecePlan> plans;
  for (const std::vector<Chain>& chains : by_law)
    if (!chains.empty()) plans.push_back(Planner(m, c, most_rows).plan(law_of(m, c, chains.front()), chains));
  return plans;
}

}  // namespace osier::systems
