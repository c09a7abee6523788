// Kernels of ChainSystem (chain_system.hpp) by instruction set. The fused step has its own (chain_kernels.hpp): nothing of it is
// compiled together with these.
#pragma once

#include "exec/simd_dispatch.hpp"
#include "solvers/lanes/chain_plan.hpp"
#include "solvers/lanes/step_view.hpp"

namespace osier::systems {

/// The unknowns at which chains are linearised, and how. The memory of a vector over the nodes of a group is six numbers for the
/// first vertices and for each row, [row][number][lane]: see fields_of_group().
template <class T>
struct ChainAtHand {
  const Vec3d* u;    ///< per vertex
  const Quatd* q;    ///< per frame
  bool frames_move;  ///< otherwise positions alone
  bool fresh;        ///< nothing is kept in the memory of the group
  const T* blocks;   ///< lower triangles of extra stiffness on vertices, in the place of positions; or null
};

/// Numbers of a vector over the nodes of a group.
inline std::size_t fields_of_group(const lanes::ChainGroup& g, int lanes) {
  return (static_cast<std::size_t>(g.rows) + 1) * 6 * static_cast<std::size_t>(lanes);
}

template <class T>
struct ChainSystemKernel {
  struct OfLaw {
    /// Memory of a group, which holds its factor from linearise() on.
    std::size_t (*bytes)(Index rows);
    /// False where the energy is not finite, or a pole of a joint would have to change. The references have to last.
    bool (*linearise)(const lanes::ChainGroup& group, const T* constants, bool damped, const lanes::StepView& view, T* force,
                      const ChainAtHand<T>& at, void* memory);
    /// Newton's correction, once after linearise(); keeps the forces through the links.
    void (*step)(T* moved, void* memory);
    void (*solve)(T* load, T* moved, void* memory);
  } by_law[2];
};

/// That of one instruction set.
template <class T, Simd S>
const ChainSystemKernel<T>& chain_system_kernel_for();
/// `simd` must be available on this machine.
template <class T>
const ChainSystemKernel<T>& chain_system_kernel(Simd simd) {
  return with_simd(simd, []<Simd S>() -> const ChainSystemKernel<T>& { return chain_system_kernel_for<T, S>(); });
}

}  // namespace osier::systems
