// One linear(ised) step of any graph by conjugate gradients on displacements and turns, for graphs with so many loops that
// closing them along a tree is expensive. The memory is O(n) and small.
//
//   minimise over dx, w    sum_v 1/2 m/h^2 dx^2 - f.dx  +  sum_s 1/2 e.(k/l^2) e + 1/2 w.W w - t.w
//                          + sum_j 1/2 (w_b - w_a).S (w_b - w_a) - 1/2 g.(w_a x w_b)
//
//   e = dx_b - dx_a + arm x w,  arm = l R rest      change of a segment's strain
//   W                                               curvature of the force that turns with the segment; rotational inertia
//   S, g                                            curvature and gradient of a joint (bend_twist.hpp)
//
// The force is n = (k/l^2) o with the strain o after the last solve, because the first guess of a step stretches stiff rods far
// too much. With equal stiffnesses W = (n.arm) 1 - (n arm^T + arm n^T)/2; otherwise the axes of k turn, too, and there are
// terms between w and dx (stretch_shear.hpp, with p = (arm + o)/l).
//
// Preconditioner: one number for each vertex; for each frame one along its arm and one across. A step spreads over some sqrt(R)
// segments only, R = (EA/l)/(m/h^2), however far a spanning tree would carry it, and the number of iterations goes with that.
// For vertices and frames that are held the preconditioner is 0, so that their direction is always 0.
#pragma once

#include <array>

#include "core/archive.hpp"
#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "exec/simd.hpp"
#include "math/sym3.hpp"
#include "solvers/step_hessian.hpp"
#include "solvers/systems/blocks/block_kernels.hpp"

namespace osier::systems {

template <class T>
class BlockSystem final : public LinearSystem {
 public:
  BlockSystem(Simd simd, int threads) : simd_(simd), executor_(threads) {}
  void forget() override { subset_ = nullptr; }
  /// The layout does not depend on the holds.
  void bind(const Model& m, const Control& c, const Subset& subset, double h) override;
  Signature linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) override;
  /// Stops when the errors of all vertices are within `accuracy`, and those of turns times lengths as well.
  bool step(const Accuracy& accuracy) override;
  bool was_solved() const override { return solved_; }
  Vec3d displacement(Index v) const override { return cast<double>(vector(solution_, layout_.vertex_place[at(v)])); }
  Vec3d turn(Index s) const override {
    const Index place = layout_.segment_place[at(s)];
    return place < 0 ? Vec3d{} : cast<double>(vector(solution_, first_segment() + place));
  }
  bool solve(const Field& r, Field& z) override;
  /// The product with the exact Hessian.
  void product(const Field& p, Field& image) const override { hessian_.product(p, image); }
  void forget_forces() override { std::fill(strain_.begin(), strain_.end(), T(0)); }
  void carry(Archive& archive) override { archive(strain_); }
  int iterations() const { return iterations_; }  ///< number of iterations of the last solve

  std::size_t bytes() const override;
  /// The memory that the system will have.
  static std::size_t bytes(const Model& m, const Subset& subset, Simd simd);

 private:
  using Numbers = AlignedArray<T>;
  /// The progress of the iterations: the energy gained so far, and the sums of their largest moves and turns [m].
  struct Check {
    int iterations = 0;
    double gained = 0, moved = 0, turned = 0;
  };
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Index first_segment() const { return static_cast<Index>(layout_.vertex_places()); }
  /// The offset of a place's lane in row r of the `count` rows of its tile.
  std::size_t row(Index place, int r, int count) const {
    const Index w = layout_.lanes;
    return at((place / w * count + r) * w + place % w);
  }
  Vec3<T> vector(const Numbers& a, Index place) const {
    if (place < 0) return {};
    return {a[row(place, 0, 3)], a[row(place, 1, 3)], a[row(place, 2, 3)]};
  }
  void put(Numbers& a, Index place, const Vec3<T>& x) const {
    a[row(place, 0, 3)] = x.x, a[row(place, 1, 3)] = x.y, a[row(place, 2, 3)] = x.z;
  }
  void put(Numbers& a, Index place, const Sym3<T>& x) const {
    const T numbers[6] = {x.xx, x.yx, x.yy, x.zx, x.zy, x.zz};
    for (int i = 0; i < 6; ++i) a[row(place, i, 6)] = numbers[i];
  }
  /// The first three numbers of a quadruple.
  Vec3<T>& quad(Numbers& a, Index place) const { return reinterpret_cast<Vec3<T>&>(a[at(layout_.quad(place))]); }

  /// Calls visit(array, size) for every array.
  template <class Visit>
  void each_array(std::size_t joints, const Visit& visit);
  BlockView<T> view();
  void linearise_joint(Index j);
  void linearise_segment(bool frames_move, Index s);
  void linearise_vertex(Index v);
  /// One solve by conjugate gradients, as pcg() wants it.
  class Iterations;
  bool iterate(const Accuracy& accuracy);
  void mark_invalid_solution();
  bool is_enough(const Accuracy& accuracy, const Check& now);
  void keep_strains();
  /// The sum of f(begin, end) over all tiles from first to last, in an order that does not depend on threads.
  template <class F>
  double sum(std::size_t first, std::size_t last, const F& f);
  /// The largest f(i) of a list, 0 if none is positive.
  template <class F>
  double largest(const IndexList& list, const F& f);

  static constexpr int kMostIterations = 20000;
  Simd simd_;
  Executor executor_;
  const Subset* subset_ = nullptr;
  const StepPotential* potential_ = nullptr;
  const Unknowns* z_ = nullptr;
  mutable LazyHessian hessian_;
  const BlockKernel<T>* kernel_ = nullptr;
  bool isotropic_ = true, frames_move_ = true;
  Curvature curvature_ = Curvature::positive;
  BlockLayout layout_;
  // The arrays of BlockView.
  Numbers direction_, force_, joint_, solution_, left_, image_, weight_, vertex_inverse_, frame_inverse_, arm_, strain_,
      stiffness_, inertia_;
  /// Frames on hinges, which kernels treat as held.
  struct Hinge {
    Index place;  ///< place among segments
    Vec3<T> axis;
    T inverse;
  };
  std::vector<Hinge> hinges_;
  std::vector<double> part_, part_most_;
  std::array<Check, 10> checks_{};  ///< the latest ones
  std::size_t checked_ = 0;
  int next_check_ = 0;
  double least_weight_ = 0;  ///< smallest weight of a free vertex
  int iterations_ = 0;
  bool solved_ = true;
};

}  // namespace osier::systems
