#include "solvers/systems/chains/chain_system.hpp"

#include <algorithm>

namespace osier::systems {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Those of the subset.
std::vector<Chain> chains_of(const Model& m, const Subset& subset) {
  std::vector<Chain> chains = find_chains(m);
  std::erase_if(chains, [&](const Chain& c) { return !subset.has_segment(m, c.first_segment); });
  return chains;
}

bool is_same(const Chain& a, const Chain& b) {
  return a.vertices == b.vertices && a.first_vertex == b.first_vertex && a.first_segment == b.first_segment &&
         a.first_joint == b.first_joint && a.head_joint == b.head_joint && a.tail_joint == b.tail_joint;
}

}  // namespace

template <class T>
bool ChainSystem<T>::suits(const Model& m, const Control& c, const Subset& subset, double h) {
  if (!(h > 0)) return false;
  Index in_chains = 0, all = 0;
  for (const Chain& chain : chains_of(m, subset)) {
    if (!lanes::fits_lanes(chain) || !fits_lanes(chain, c) || !is_plain(m, chain)) return false;
    in_chains += chain.segments();
  }
  for (std::size_t i = 0; i < subset.segments.size(); ++i) all += subset.has_segment(m, subset.segments[i]) ? 1 : 0;
  return in_chains == all;
}

template <class T>
void ChainSystem<T>::forget() {
  for (Part& part : parts_) part = {};
  moved_.clear();
}

template <class T>
void ChainSystem<T>::bind(const Model& m, const Control& c, const Subset& subset, double h) {
  if (m_ != &m) forget();
  m_ = &m;
  c_ = &c;
  subset_ = &subset;
  ready_ = false;
  suits_ = suits(m, c, subset, h);
  if (suits_) arrange();
}

/// Chains that were arranged already keep the forces through their links.
template <class T>
void ChainSystem<T>::arrange() {
  fresh_ = true;
  std::array<std::vector<Chain>, 2> chains;
  for (const Chain& chain : chains_of(*m_, *subset_)) chains[static_cast<std::size_t>(law_of(*m_, *c_, chain))].push_back(chain);
  const auto same = [&](std::size_t law) { return std::ranges::equal(chains[law], parts_[law].chains, is_same); };
  if (!moved_.empty() && same(0) && same(1)) return;
  vertex_place_.assign(at(m_->vertex_count()), {});
  frame_place_.assign(at(m_->frame_count()), {});
  std::size_t numbers = 0, bytes = 0;
  for (std::size_t law = 0; law < 2; ++law) {
    Part& part = parts_[law];
    part = {};
    part.chains = chains[law];
    if (part.chains.empty()) continue;
    ChainArrangement<T>& arrangement = part.arrangement;
    arrangement.bind(*m_, part.chains, static_cast<StiffnessLaw>(law), simd_);
    part.kernel = &chain_system_kernel<T>(arrangement.simd).by_law[law];
    for (const ChainGroup& g : arrangement.plan.groups) {
      part.field.push_back(numbers);
      part.memory.push_back(bytes);
      numbers += fields_of_group(g, arrangement.plan.lanes);
      bytes += (part.kernel->bytes(g.rows) + kCacheLine - 1) / kCacheLine * kCacheLine;
    }
    part.definite.resize(part.field.size());
    set_places(part);
  }
  load_.assign(numbers, T(0));
  moved_.assign(numbers, T(0));
  blocks_.clear();
  memory_.resize(bytes);
}

template <class T>
void ChainSystem<T>::set_places(const Part& part) {
  const auto stride = static_cast<std::size_t>(part.arrangement.plan.lanes);
  for (std::size_t i = 0; i < part.field.size(); ++i) {
    const ChainGroup& g = part.arrangement.plan.groups[i];
    for (std::size_t k = 0; k < stride; ++k) {
      if (g.segments[k] == 0) continue;
      // The first vertex of a piece is the last one of the piece before.
      if (!g.cut || k == 0) vertex_place_[at(g.first_vertex[k])] = {part.field[i] + k, stride};
      for (Index row = 0; row < g.segments[k]; ++row) {
        const std::size_t first = part.field[i] + (at(row) + 1) * 6 * stride + k;
        vertex_place_[at(g.first_vertex[k] + row + 1)] = {first, stride};
        frame_place_[at(g.first_segment[k] + row)] = {first + 3 * stride, stride};
      }
    }
  }
}

template <class T>
template <class F>
void ChainSystem<T>::each_group(const F& f) {
  constexpr std::size_t kGroupWeight = 128;
  for (Part& part : parts_)
    executor_.for_each(
        part.field.size(), [&](std::size_t i) { f(part, i); }, kGroupWeight);
}

template <class T>
Vec3d ChainSystem<T>::read(const AlignedArray<T>& numbers, const Place& p) {
  if (p.stride == 0) return {};
  return cast<double>(Vec3<T>{numbers[p.at], numbers[p.at + p.stride], numbers[p.at + 2 * p.stride]});
}

template <class T>
void ChainSystem<T>::write(AlignedArray<T>& numbers, const Place& p, const Vec3d& v) {
  if (p.stride == 0) return;
  numbers[p.at] = static_cast<T>(v.x);
  numbers[p.at + p.stride] = static_cast<T>(v.y);
  numbers[p.at + 2 * p.stride] = static_cast<T>(v.z);
}

template <class T>
void ChainSystem<T>::add_blocks(std::span<const VertexBlock> blocks) {
  blocks_.assign(blocks.empty() ? 0 : moved_.size(), T(0));
  for (const VertexBlock& block : blocks) {
    const Place& place = vertex_place_[at(block.a)];
    if (place.stride == 0) continue;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b <= a; ++b)
        blocks_[place.at + static_cast<std::size_t>(triangle(a, b)) * place.stride] += static_cast<T>(block.aa.m[a][b]);
  }
}

template <class T>
Signature ChainSystem<T>::linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) {
  hessian_.set(potential, z, how.blocks);
  ready_ = false;
  if (!suits_ || potential.is_static() || potential.has_directions() || how.curvature == Curvature::exact) return {};
  if (how.shift.size != 0) return {};  // shifts are for exact systems
  if (how.couples == Couples::of_strain && how.frames_move && !parts_[1].chains.empty()) return {};
  if (std::any_of(how.blocks.begin(), how.blocks.end(), [](const VertexBlock& b) { return b.segment >= 0; })) return {};
  add_blocks(how.blocks);
  // Kernels of a system only read the state; the view is that of the fused step, which also writes.
  view_ = lanes::view_of(*m_, *c_, const_cast<State&>(potential.start()), potential.h());
  const ChainAtHand<T> shared{z.u.data(), z.q.data(), how.frames_move, fresh_, nullptr};
  each_group([&](Part& part, std::size_t i) {
    ChainArrangement<T>& a = part.arrangement;
    const ChainGroup& g = a.plan.groups[i];
    ChainAtHand<T> here = shared;
    if (!blocks_.empty()) here.blocks = blocks_.data() + part.field[i];
    part.definite[i] =
        part.kernel->linearise(g, a.constants_of(g), a.plan.damped, view_, a.force_of(g), here, memory_.data() + part.memory[i]);
  });
  fresh_ = false;
  ready_ = true;
  for (const Part& part : parts_)
    if (std::find(part.definite.begin(), part.definite.end(), 0) != part.definite.end()) ready_ = false;
  return {.negative = 0, .definite = ready_};
}

template <class T>
bool ChainSystem<T>::step(const Accuracy&) {
  if (!ready_) return false;
  each_group(
      [&](Part& part, std::size_t i) { part.kernel->step(moved_.data() + part.field[i], memory_.data() + part.memory[i]); });
  return true;
}

/// The corrections of vertices and frames that are held are 0 but for rounding.
template <class T>
Vec3d ChainSystem<T>::displacement(Index v) const {
  return c_->vertex_fixed[v] ? Vec3d{} : read(moved_, vertex_place_[at(v)]);
}
template <class T>
Vec3d ChainSystem<T>::turn(Index s) const {
  return c_->frame_control[s] == FrameControl::fixed ? Vec3d{} : read(moved_, frame_place_[at(s)]);
}

template <class T>
bool ChainSystem<T>::solve(const Field& r, Field& z) {
  if (!ready_) return false;
  for (std::size_t v = 0; v < vertex_place_.size(); ++v) write(load_, vertex_place_[v], r.x[v]);
  for (std::size_t s = 0; s < frame_place_.size(); ++s) write(load_, frame_place_[s], r.w[s]);
  each_group([&](Part& part, std::size_t i) {
    part.kernel->solve(load_.data() + part.field[i], moved_.data() + part.field[i], memory_.data() + part.memory[i]);
  });
  return gather(*m_, *subset_, executor_, z);
}

template <class T>
void ChainSystem<T>::forget_forces() {
  fresh_ = true;
  for (Part& part : parts_) std::fill(part.arrangement.force.begin(), part.arrangement.force.end(), T(0));
}

template <class T>
std::size_t ChainSystem<T>::bytes() const {
  const auto of = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  std::size_t sum = of(vertex_place_) + of(frame_place_) + of(load_) + of(moved_) + of(blocks_) + memory_.capacity();
  for (const Part& part : parts_)
    sum += of(part.chains) + part.arrangement.bytes() + of(part.field) + of(part.memory) + of(part.definite);
  return sum;
}

template class ChainSystem<float>;
template class ChainSystem<double>;

}  // namespace osier::systems
