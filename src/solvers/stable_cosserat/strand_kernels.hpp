// The sweeps of strand_sweep.hpp as kernels: a group of threads for each strand on a device, one strand after the other on the
// host.
#pragma once

#include "solvers/stable_cosserat/strand_plan.hpp"
#include "solvers/stable_cosserat/strand_sweep.hpp"
#include "solvers/systems/device/device_state.hpp"
#if !defined(__CUDACC__)
#include "exec/pack.hpp"
#endif

namespace osier::stable_cosserat {
inline namespace OSIER_BACKEND_NAMESPACE {

#if defined(__CUDACC__)
/// A lane is a thread; `width` of them, a power of two, share a strand.
struct ThreadLanes {
  int place, width;
  OSIER_FN int first(int) const { return place; }
  template <class T>
  __device__ T up(T x) const {
    return __shfl_up_sync(kAll, x, 1, width);
  }
  template <class T>
  __device__ T down(T x) const {
    return __shfl_down_sync(kAll, x, 1, width);
  }
  template <class P>
  __device__ Wide<P> down(const Wide<P>& x) const {
    return {{__shfl_down_sync(kAll, x.e[0], 1, width)}};
  }
  __device__ void meet() const { __syncwarp(); }
  static constexpr unsigned kAll = 0xffffffffu;
};
template <class T>
using StrandNumber = T;
inline constexpr int kStrandRows = 2, kMostStrandLanes = 32;
#else
/// A lane is one of a pack.
template <class P>
struct PackLanes {
  OSIER_FN int first(int k) const { return k; }
  OSIER_FN P up(P x) const { return shifted_up(x); }
  OSIER_FN P down(P x) const { return shifted_down(x); }
  OSIER_FN Wide<P> down(Wide<P> x) const {
    for (int k = 0; k + 1 < lanes_of<P>; ++k) x.e[k] = x.e[k + 1];
    return x;
  }
  OSIER_FN void meet() const {}
};
template <class T>
using StrandNumber = Pack<T, 16 / static_cast<int>(sizeof(T))>;
inline constexpr int kStrandRows = 4, kMostStrandLanes = lanes_of<StrandNumber<double> >;
#endif

/// One thread of a device, or on the host one strand.
template <class T, bool kDamped, Lambda kLambda>
struct SweepStrand {
  StrandGroupView<T> group;
  int width;  ///< threads that share a strand
#if defined(__CUDACC__)
  /// Of float: 128 registers, with which what lives between steps alone is spilled, and twice as many threads hide each other's
  /// latency (docs/gpu.md).
  static constexpr int kBlocks = sizeof(T) == 4 ? 4 : 1;
  __host__ __device__ void operator()([[maybe_unused]] Index i) const {
#if defined(__CUDA_ARCH__)
    const Index strand = i / width;
    const bool is_there = strand < group.count;  // the threads beyond take part in shuffles
    StrandSweep<T, kStrandRows, ThreadLanes, kDamped, kLambda> sweep(group, is_there ? strand : 0, {i % width, width});
    sweep.run(is_there);
#endif
  }
#else
  void operator()(Index strand) const {
    using P = StrandNumber<T>;
    StrandSweep<P, kStrandRows, PackLanes<P>, kDamped, kLambda>(group, strand, {}).run(true);
  }
#endif
};

using systems::DeviceState;
using systems::Mirror;

/// The strands of a model.
template <class T>
class StrandKernels {
 public:
  explicit StrandKernels(Backend where) : where_(where) {}

  /// Returns what strands take.
  StrandCover bind(const Model& m, const DeviceSweepOptions& options) {
    StrandPlan<T> plan = plan_strands<T>(m, options, kStrandRows * kMostStrandLanes);
    lambda_ = options.lambda;
    iterations_ = options.iterations;
    damped_ = plan.damped;
    rows_ = plan.rows;
    for (width_ = 1; width_ * kStrandRows < rows_; width_ *= 2) {
    }
    strands_.put(plan.strands), constants_.put(plan.constants);
    return std::move(plan.cover);
  }

  /// One step by the control of the state.
  void step(const DeviceState& state, double h, std::int32_t* trouble) const {
    if (strands_.size() == 0) return;
    StrandGroupView<T> group = view(systems::OrdersOfScript::of_control(state, h), trouble);
    group.velocity_out = state.velocity_previous();  // which the state takes for the new ones
    group.velocity_previous_out = state.velocity();
    group.steps = 1;
    launch_sweeps(group);
  }
  /// All steps of a script without wind, by its orders. The state swaps its velocities once for each of them.
  void run(const DeviceState& state, const systems::StepOrders& orders, int steps, std::int32_t* trouble) const {
    if (strands_.size() == 0) return;
    StrandGroupView<T> group = view(orders, trouble);
    const bool swapped = steps % 2 == 1;
    group.velocity_out = swapped ? state.velocity_previous() : state.velocity();
    group.velocity_previous_out = swapped ? state.velocity() : state.velocity_previous();
    group.steps = steps;
    launch_sweeps(group);
  }

 private:
  StrandGroupView<T> view(const systems::StepOrders& orders, std::int32_t* trouble) const {
    StrandGroupView<T> group{};
    group.orders = orders;
    group.count = static_cast<Index>(strands_.size());
    group.rows = rows_;
    group.strand = strands_.data();
    group.constants = constants_.data();
    group.iterations = iterations_;
    group.trouble = trouble;
    return group;
  }
  void launch_sweeps(const StrandGroupView<T>& group) const {
    if (damped_) launch_by_lambda<true>(group);
    else launch_by_lambda<false>(group);
  }
  template <bool kDamped>
  void launch_by_lambda(const StrandGroupView<T>& group) const {
    constexpr Index kWarp = 32;
    const Index threads = where_ == Backend::host ? group.count : (group.count * width_ + kWarp - 1) / kWarp * kWarp;
    if (lambda_ == Lambda::approx) launch(where_, threads, SweepStrand<T, kDamped, Lambda::approx>{group, width_});
    else launch(where_, threads, SweepStrand<T, kDamped, Lambda::secular>{group, width_});
  }

  Backend where_;
  Lambda lambda_ = Lambda::secular;
  int iterations_ = 0, width_ = 1;
  bool damped_ = false;
  Index rows_ = 0;
  Mirror<Strand> strands_{where_};
  Mirror<T> constants_{where_};
};

}  // namespace OSIER_BACKEND_NAMESPACE
}  // namespace osier::stable_cosserat
