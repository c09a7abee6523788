// The sweeps' kernels by instruction set.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/lanes/step_view.hpp"
#include "solvers/stable_cosserat/graph_view.hpp"
#include "solvers/stable_cosserat/lambda.hpp"

namespace osier::stable_cosserat {

using lanes::ChainGroup, lanes::StepView;

/// The functions of ChainSweep.
template <class T>
struct ChainKernel {
  std::size_t (*scratch_bytes)(Index rows, bool damped);
  bool (*step)(const ChainGroup& group, const ChainGroup* next, const T* constants, bool damped, const StepView& view,
               Lambda lambda, int iterations, void* scratch);
};

/// The functions of GraphPack and GraphSweep.
template <class T>
struct GraphKernel {
  using Range = void (*)(const GraphView<T>& graph, const StepView& view, Index begin, Index end);
  using Store = bool (*)(const GraphView<T>& graph, const StepView& view, Index begin, Index end);
  Range load_frames, load_segments, load_margins, load_vertices, hold_frames, move_vertices;
  void (*turn_segments)(const GraphView<T>& graph, const StepView& view, Lambda lambda, Index begin, Index end);
  Store store_vertices, store_segments;
};

template <class T>
struct GraphKernels {
  GraphKernel<T> by_index[2];  ///< kernels for indices of 32 and of 16 bits
};

template <class T>
struct Kernels {
  int lanes;
  ChainKernel<T> chain[2];   ///< by StiffnessLaw
  GraphKernels<T> graph[2];  ///< by StiffnessLaw
};

/// The kernels of one instruction set.
template <class T, Simd S>
const Kernels<T>& kernels_for();
/// `simd` must be available on this machine.
template <class T>
const Kernels<T>& kernels(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const Kernels<T>& { return kernels_for<T, S>(); });
}

}  // namespace osier::stable_cosserat
