// The linear system of chains in SIMD lanes: that of ComplianceTree (systems/tree), factored by the recursion of the fused step
// (chain_factor.hpp), for strands and for long chains cut into pieces. Unlike the fused step it keeps the rows of all groups: any
// right-hand side can be solved for, any number of times.
//
// The forces through the links in the last solve are kept from step to step, as ComplianceTree keeps them.
#pragma once

#include <array>

#include "exec/parallel.hpp"
#include "exec/simd.hpp"
#include "solvers/step_hessian.hpp"
#include "solvers/systems/chains/chain_direct.hpp"
#include "solvers/systems/chains/chain_system_kernels.hpp"

namespace osier::systems {

template <class T>
class ChainSystem final : public LinearSystem {
 public:
  explicit ChainSystem(Simd simd = Simd::automatic, int threads = 1) : executor_(threads), simd_(simd) {}
  ChainSystem(const ChainSystem&) = delete;  // rows refer to their groups
  ChainSystem& operator=(const ChainSystem&) = delete;

  /// Whether every segment belongs to a chain that lanes take as it is held. Statics and frames with inertia or motors are left
  /// to other systems.
  static bool suits(const Model& m, const Control& c, const Subset& subset, double h);

  void forget() override;
  void bind(const Model& m, const Control& c, const Subset& subset, double h) override;
  /// Not definite, and without a factor: where the system does not suit; for exact curvature; for couples of the strain where a
  /// segment has axes; with blocks on the two ends of a segment.
  Signature linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) override;
  /// Once after each linearise().
  bool step(const Accuracy& accuracy) override;
  Vec3d displacement(Index v) const override;
  Vec3d turn(Index s) const override;
  bool solve(const Field& r, Field& z) override;
  /// The product with the exact Hessian.
  void product(const Field& p, Field& image) const override { hessian_.product(p, image); }
  void forget_forces() override;
  std::size_t bytes() const override;

 private:
  /// The chains of one law. A group's numbers begin at field[group] of every vector, and its factor at memory[group].
  struct Part {
    std::vector<Chain> chains;
    ChainArrangement<T> arrangement;
    const typename ChainSystemKernel<T>::OfLaw* kernel = nullptr;
    std::vector<std::size_t> field, memory;
    std::vector<std::uint8_t> definite;
  };
  /// Where the numbers of a vertex or a frame lie: at, at + stride, and so on. Without a stride there are none.
  struct Place {
    std::size_t at = 0, stride = 0;
  };

  void arrange();
  void set_places(const Part& part);
  template <class F>
  void each_group(const F& f);
  static Vec3d read(const AlignedArray<T>& numbers, const Place& place);
  static void write(AlignedArray<T>& numbers, const Place& place, const Vec3d& v);
  void add_blocks(std::span<const VertexBlock> blocks);

  Executor executor_;
  Simd simd_;
  const Model* m_ = nullptr;
  const Control* c_ = nullptr;
  const Subset* subset_ = nullptr;
  lanes::StepView view_{};
  std::array<Part, 2> parts_;  ///< by law
  std::vector<Place> vertex_place_, frame_place_;
  AlignedArray<T> load_, moved_, blocks_;  ///< vectors over all nodes
  AlignedArray<std::byte> memory_;         ///< of all groups
  bool suits_ = false, fresh_ = true, ready_ = false;
  mutable LazyHessian hessian_;
};

}  // namespace osier::systems
