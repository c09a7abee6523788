#include "solvers/lanes/chain_plan.hpp"

#include <algorithm>

#include "math/quat.hpp"

namespace osier::lanes {

namespace {

Index anchor_of(const Model& m, Index joint) {
  if (joint < 0) return -1;
  const auto [a, b] = m.joint_frames[joint];
  return m.is_anchor(a) ? a : b;
}

/// The joint of row i of a lane to the segment before, or -1. `flipped`: the model has its frames in the other order.
struct RowJoint {
  Index joint = -1;
  bool flipped = false;
};
RowJoint row_joint(const Model& m, const Chain& c, Index segment) {
  if (segment == 0 && c.head_joint >= 0) return {c.head_joint, m.is_anchor(m.joint_frames[c.head_joint][1])};
  if (segment == c.segments() && c.tail_joint >= 0) return {c.tail_joint, m.is_anchor(m.joint_frames[c.tail_joint][0])};
  if (segment > 0 && segment < c.segments() && c.first_joint >= 0) return {c.first_joint + segment - 1, false};
  return {};
}

Index rows_of_cut(const Chain& c, Index lanes) {
  const Index rows = (c.vertices + lanes - 1) / lanes;
  return rows + rows % 2;  // neighbours across a cut keep different colours
}

template <class T>
class Planner {
 public:
  Planner(const Model& m, ChainPlan<T>& plan) : m_(m), plan_(plan) {}

  void add_strands(std::span<const Chain> chains) {
    ChainGroup g = empty();
    for (std::size_t k = 0; k < chains.size(); ++k) put_lane(g, k, chains[k], 0, chains[k].vertices);
    for (const Chain& c : chains) g.rows = std::max(g.rows, c.vertices);
    fill(
        g, [&](std::size_t k) { return k < chains.size() ? &chains[k] : nullptr; }, [](std::size_t) { return Index(0); });
  }

  void add_cut(const Chain& c) {
    ChainGroup g = empty();
    g.cut = true;
    const Index lanes = plan_.lanes;
    g.rows = rows_of_cut(c, lanes);
    for (Index k = 0; k < lanes; ++k)
      put_lane(g, static_cast<std::size_t>(k), c, k * g.rows, std::clamp(c.vertices - k * g.rows, Index(0), g.rows));
    fill(
        g, [&](std::size_t) { return &c; }, [&](std::size_t k) { return static_cast<Index>(k) * g.rows; });
  }

 private:
  ChainGroup empty() const {
    ChainGroup g;
    for (int k = 0; k < kMostLanes; ++k) g.head[k] = g.tail[k] = g.head_joint[k] = g.tail_joint[k] = -1;
    return g;
  }
  void put_lane(ChainGroup& g, std::size_t k, const Chain& c, Index from, Index count) const {
    // An empty lane reads the chain's first vertex, so that every lane has something to read.
    const Index start = count > 0 ? from : 0;
    g.first_vertex[k] = c.first_vertex + start;
    g.first_segment[k] = c.first_segment + start;
    g.vertices[k] = count;
    g.segments[k] = std::max(Index(0), std::min(count, c.segments() - start));
    if (count == 0) g.segments[k] = 0;
    g.first_joint[k] = c.first_joint + start - 1;
    g.jointed[k] = c.first_joint >= 0;
    if (count > 0 && start == 0) g.head[k] = anchor_of(m_, c.head_joint), g.head_joint[k] = c.head_joint;
    if (count > 0 && start + count == c.vertices) g.tail[k] = anchor_of(m_, c.tail_joint), g.tail_joint[k] = c.tail_joint;
  }

  template <class ChainOf, class StartOf>
  void fill(ChainGroup& g, const ChainOf& chain_of, const StartOf& start_of) {
    const auto lanes = static_cast<std::size_t>(plan_.lanes);
    const auto per_row = static_cast<std::size_t>(plan_.constants_per_row());
    g.constants = plan_.constants.size();
    plan_.constants.resize(g.constants + static_cast<std::size_t>(g.rows) * per_row * lanes, T(0));
    for (std::size_t k = 0; k < lanes; ++k) {
      const Chain* chain = chain_of(k);
      if (chain == nullptr) {  // a lane without a strand reads the numbers of the first lane
        g.first_vertex[k] = g.first_vertex[0], g.first_segment[k] = g.first_segment[0];
        continue;
      }
      for (Index i = 0; i < g.rows; ++i) {
        T* row = plan_.constants.data() + g.constants + static_cast<std::size_t>(i) * per_row * lanes + k;
        const auto put = [&](int what, double value) { row[static_cast<std::size_t>(what) * lanes] = static_cast<T>(value); };
        const auto put_axes = [&](int what, const PerAxis& v) { put(what, v.d1), put(what + 1, v.d2), put(what + 2, v.d3); };
        const bool axes = plan_.law == StiffnessLaw::anisotropic, direct = plan_.use == ChainUse::direct;
        if (i < g.vertices[k]) put(kMass, m_.vertex_mass[g.first_vertex[k] + i]);
        if (i < g.segments[k]) {
          const Index s = g.first_segment[k] + i;
          const double l = m_.segment_rest_length[s];
          const PerAxis &stiffness = m_.segment_stiffness[s], &tau = m_.segment_tau[s];
          put(axes && !direct ? int(kLengthOfSweep) : int(kInverseLength), axes && !direct ? l : 1 / l);
          if (!axes) put(kStretch, stiffness.d3);
          else if (direct) put_axes(kStretchAxes, stiffness);
          else put_axes(kStretchOfSweep, (1 / (l * l)) * stiffness);
          if (plan_.damped) {
            if (!axes) put(direct ? int(kTauStretchDirect) : int(kTauStretch), tau.d3);
            else put_axes(direct ? int(kTauStretchAxes) : int(kTauStretchOfSweep), tau);
          }
        }
        const RowJoint j = i > g.segments[k] ? RowJoint{} : row_joint(m_, *chain, start_of(k) + i);
        if (j.joint < 0 || (axes && !direct)) continue;
        if (axes) {
          put_axes(kBendAxes, m_.joint_stiffness[j.joint]);
          if (plan_.damped) put_axes(kTauBendAxes, m_.joint_tau[j.joint]);
          continue;
        }
        if (direct) {
          put(kBend, m_.joint_stiffness[j.joint].d3);
          if (plan_.damped) put(kTauBendDirect, m_.joint_tau[j.joint].d3);
          continue;
        }
        Quatd rest = m_.joint_stiffness[j.joint].d3 * m_.joint_rest_rotation[j.joint];
        if (j.flipped) rest = conj(rest);
        put(kTargetX, rest.x), put(kTargetY, rest.y), put(kTargetZ, rest.z), put(kTargetW, rest.w);
        if (plan_.damped) put(kTauBend, m_.joint_tau[j.joint].d3);
      }
    }
    plan_.most_rows = std::max(plan_.most_rows, g.rows);
    plan_.groups.push_back(g);
  }

  const Model& m_;
  ChainPlan<T>& plan_;
};

/// Puts strands of about one length into one group. A long chain without strands of its length is cut.
template <class Strands, class Cut>
void group_chains(std::span<const Chain> chains, int lanes, const Strands& strands, const Cut& cut) {
  std::vector<Chain> sorted(chains.begin(), chains.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Chain& a, const Chain& b) { return a.vertices > b.vertices; });
  const auto width = static_cast<std::size_t>(lanes);
  for (std::size_t i = 0; i < sorted.size();) {
    const bool company = i + width <= sorted.size() && 4 * sorted[i + width - 1].vertices >= 3 * sorted[i].vertices;
    if (lanes > 1 && sorted[i].vertices >= kShortestCut && !company) {
      cut(sorted[i++]);
      continue;
    }
    const std::size_t count = std::min(width, sorted.size() - i);
    strands(std::span<const Chain>(sorted).subspan(i, count));
    i += count;
  }
}

}  // namespace

ChainExtent extent_of_chains(std::span<const Chain> chains, int lanes) {
  ChainExtent e;
  const auto add = [&](Index rows) {
    ++e.groups, e.rows += static_cast<std::size_t>(rows), e.most_rows = std::max(e.most_rows, rows);
  };
  group_chains(
      chains, lanes, [&](std::span<const Chain> strands) { add(strands.front().vertices); },
      [&](const Chain& c) { add(rows_of_cut(c, lanes)); });
  return e;
}

template <class T>
ChainPlan<T> plan_chains(const Model& m, std::span<const Chain> chains, int lanes, StiffnessLaw law, ChainUse use) {
  ChainPlan<T> plan;
  plan.law = law;
  plan.use = use;
  plan.lanes = lanes;
  plan.damped = m.has_damping();
  const ChainExtent extent = extent_of_chains(chains, lanes);
  plan.groups.reserve(extent.groups);
  plan.constants.reserve(extent.rows * static_cast<std::size_t>(plan.constants_per_row() * lanes));
  Planner<T> planner(m, plan);
  group_chains(
      chains, lanes, [&](std::span<const Chain> strands) { planner.add_strands(strands); },
      [&](const Chain& c) { planner.add_cut(c); });
  return plan;
}

template ChainPlan<float> plan_chains(const Model&, std::span<const Chain>, int, StiffnessLaw, ChainUse);
template ChainPlan<double> plan_chains(const Model&, std::span<const Chain>, int, StiffnessLaw, ChainUse);

}  // namespace osier::lanes
