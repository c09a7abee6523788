// Compiled once per instruction set, see exec/simd_target.hpp.
#include "solvers/systems/chains/chain_system_kernels.hpp"

#include <cmath>
#include <new>
#include <type_traits>

#include "exec/simd_target.hpp"
#include "solvers/systems/chains/chain_rows.hpp"

namespace osier::systems {

namespace {

/// Rows at any unknowns of a step, not only at its first guess. The moments of all joints count, however little they are bent.
template <class P, template <class> class Law>
class RowsAtHand : public ChainRows<P, Law> {
 public:
  using Base = ChainRows<P, Law>;
  using typename Base::Group;
  using typename Base::Row;
  using typename Base::T;
  explicit RowsAtHand(const Group& g) : Base(g), chains_(g.chains) {}

  void load_at(const ChainAtHand<T>& at) {
    this->load_step();
    const StepView& view = this->view();
    const auto turn = [&](Index frame) { return cast<T>(turn_between(view.rotation[frame], at.q[frame])); };
    for (int k = 0; k < Base::W; ++k) {
      if (chains_.vertices[k] == 0 || (chains_.cut && k > 0)) continue;
      set_lanes(this->head.u, k, cast<T>(at.u[chains_.first_vertex[k]]));
      if (chains_.head[k] >= 0) set_lanes(this->head.turn, k, turn(chains_.head[k]));
    }
    for (Index i = 0; i < this->count(); ++i) {
      Row& r = this->load(i);
      for (int k = 0; k < Base::W; ++k) {
        if (i >= chains_.segments[k]) continue;
        set_lanes(r.u, k, cast<T>(at.u[chains_.first_vertex[k] + i + 1]));
        set_lanes(r.turn, k, turn(chains_.first_segment[k] + i));
      }
    }
    frames_move_ = at.frames_move;
    if (!frames_move_) hold_frames();
  }
  OSIER_FN void keep_force(Index i, int a, const P& f) const {
    if (frames_move_) Base::keep_force(i, a, f);
  }
  OSIER_FN void set_bent(Index i, bool) { Base::set_bent(i, true); }

 private:
  /// Rigid joints keep all frames as they are.
  void hold_frames() {
    for (int k = 0; k < Base::W; ++k) {
      this->head.tail_held[k][1] = false;
      for (Index i = 0; i < this->count(); ++i) this->load(i).replace_joint(k, T(0));
    }
  }

  const ChainGroup& chains_;
  bool frames_move_ = true;
};

/// Blocks, if there are any.
template <class P>
struct OptionalBlocks {
  VertexBlocks<P> blocks;
  OSIER_FN void add(Index i, P (&S)[21]) const {
    if (blocks.row != nullptr) blocks.add(i, S);
  }
  OSIER_FN void add_head(P (&block)[6]) const {
    if (blocks.row != nullptr) blocks.add_head(block);
  }
};

template <class P, template <class> class Law>
struct ChainSolves {
  using T = ScalarOf<P>;
  using Rows = RowsAtHand<P, Law>;
  using Factor = ChainFactor<Rows>;
  static constexpr int W = lanes_of<P>;
  static_assert(std::is_trivially_destructible_v<Factor>);
  static constexpr std::size_t kFactorBytes = (sizeof(Factor) + 63) / 64 * 64;

  static std::size_t bytes(Index rows) { return kFactorBytes + Rows::scratch_bytes(rows); }
  static Factor& factor_in(void* memory) { return *std::launder(static_cast<Factor*>(memory)); }
  static ChainField<P> field_in(T* numbers) { return {numbers + 6 * W, numbers}; }

  static bool linearise(const ChainGroup& g, const T* constants, bool damped, const StepView& view, T* force,
                        const ChainAtHand<T>& at, void* memory) {
    [[maybe_unused]] const FlushDenormals flush;
    if (at.fresh)
      new (memory) Factor(
          typename Rows::Group{g, nullptr, constants, damped, view, force, static_cast<std::byte*>(memory) + kFactorBytes});
    Factor& factor = factor_in(memory);
    factor.rows.load_at(at);
    OptionalBlocks<P> blocks{{nullptr, nullptr}};
    if (at.blocks != nullptr) blocks = {{at.blocks + 6 * W, at.blocks}};
    const bool columns = factor.needs_columns();
    if (columns && damped) factor.template linearise<true, true>(blocks);
    else if (columns) factor.template linearise<true, false>(blocks);
    else if (damped) factor.template linearise<false, true>(blocks);
    else factor.template linearise<false, false>(blocks);
    for (int k = 0; k < W; ++k) {
      if (factor.rows.segments(k) == 0) continue;
      if (!std::isfinite(lane(factor.totals.energy, k))) return false;
      if constexpr (Law<P>::kOwnAxes)
        if (lane(factor.totals.pole_margin, k) < T(0)) return false;
    }
    return true;
  }

  /// Rows are moved by the correction, read, and moved back: later solves are at the same unknowns.
  template <bool kColumns>
  static void read_step(Factor& factor, const ChainField<P>& moved) {
    Rows& rows = factor.rows;
    factor.template solve_residual<kColumns>();
    const Vec3<P> head = rows.head.u, none{P(0), P(0), P(0)};
    rows.head.u = none;
    for (Index i = 0; i < rows.count(); ++i) {
      auto& r = rows.load(i);
      r.u = none;  // not asked for any more; so that rounding is that of the correction
      moved.store(i, {r.turn.x, r.turn.y, r.turn.z, r.turn.w, P(0), P(0)});
    }
    factor.template advance<kColumns>();
    moved.store_head(rows.head.u);
    rows.head.u = head;
    for (Index i = 0; i < rows.count(); ++i) {
      auto& r = rows.load(i);
      P before[6];
      moved.load(i, before);
      const Quat<P> turn{before[0], before[1], before[2], before[3]}, by = r.turn * conj(turn);
      r.turn = turn;
      const Vec3<P> w = (P(2) * inverse(by.w)) * imag(by);
      moved.store(i, {r.u.x, r.u.y, r.u.z, w.x, w.y, w.z});
    }
  }
  static void step(T* moved, void* memory) {
    [[maybe_unused]] const FlushDenormals flush;
    Factor& factor = factor_in(memory);
    if (factor.needs_columns()) read_step<true>(factor, field_in(moved));
    else read_step<false>(factor, field_in(moved));
  }
  static void solve(T* load, T* moved, void* memory) {
    [[maybe_unused]] const FlushDenormals flush;
    Factor& factor = factor_in(memory);
    if (factor.needs_columns()) factor.template solve<true>(field_in(load), field_in(moved));
    else factor.template solve<false>(field_in(load), field_in(moved));
  }

  static constexpr typename ChainSystemKernel<T>::OfLaw kEntries{&bytes, &linearise, &step, &solve};
};

}  // namespace

template <class P>
constexpr ChainSystemKernel<ScalarOf<P>> kChainSystemKernel{
    {ChainSolves<P, IsotropicLink>::kEntries, ChainSolves<P, AnisotropicLink>::kEntries}};

template <class T, Simd S>
const ChainSystemKernel<T>& chain_system_kernel_for() {
  return kChainSystemKernel<NumberOf<T, S>>;
}
template const ChainSystemKernel<float>& chain_system_kernel_for<float, kSimdTarget>();
template const ChainSystemKernel<double>& chain_system_kernel_for<double, kSimdTarget>();

}  // namespace osier::systems
