// Fibres that hang together: by springs between their sections, or for the time that they may touch. Their arrays lie one after
// the other, so that one view has the sections of all of them, and their forces, stiffness and linear algebra are those of one
// network, as OneFibre is for a fibre alone.
//
//   S = M + K + B      K with the springs between sections; B: blocks over centroids, as contact has them
//
// Without springs between sections S falls into chains of blocks; with them it is factored as a sparse matrix
// of blocks (block_fronts.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "energies/vertex_spring.hpp"
#include "exec/aligned.hpp"
#include "exec/parallel.hpp"
#include "math/mat3.hpp"
#include "solvers/deti/block_fronts.hpp"
#include "solvers/deti/fibre.hpp"
#include "solvers/deti/fibre_springs.hpp"
#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

/// A spring and a damper between the centroids of two sections of a set, or of one and a place.
struct Tie {
  Index a = -1, b = -1;  ///< sections; b negative: a place
  Vec3d anchor, anchor_velocity;
  vertex_spring::Terms<double> terms;  ///< with a damper constant c [N s/m] in the place of c/h
};

/// A positive block on the centroid of section a.
struct CentroidBlock {
  Index a = -1;
  Mat3<double> aa;
};

/// What the length of a spring sees of a change of d: its stiffness is k times this, without the geometric term.
inline Mat3<double> sight(const vertex_spring::Terms<double>& s, const Vec3d& d) {
  using vertex_spring::Law;
  if (s.law == Law::one_direction) return outer(s.axis, s.axis);
  if (s.law == Law::all_directions || !(norm2(d) > 0)) return identity3(1.0);
  return outer(normalized(d), normalized(d));
}

class FibreSet {
 public:
  explicit FibreSet(int threads, Simd simd = Simd::off) : executor_(threads), fronts_(threads, simd) {}
  /// The fibres have to last. Springs are forgotten.
  void arrange(std::vector<const Fibre*> fibres);
  void set_ties(std::vector<Tie> ties);

  /// Whether some spring has a damper.
  bool is_damped() const;
  std::size_t fibre_count() const { return part_.size(); }
  Index first_section(std::size_t fibre) const { return first_[fibre]; }
  const FibreView& part(std::size_t fibre) const { return part_[fibre]; }
  /// Of all fibres, one after the other.
  FibreView& view() { return all_; }
  Index sections() const { return all_.sections; }

  // As of one fibre (fibre_step.hpp).
  static double at(const double* array, Index i) { return array[i]; }
  static void put(double* array, Index i, double x) { array[i] = x; }
  void forces() const;
  template <Stiffness S>
  void product(double scale, const double* x, double* out) const;
  template <Stiffness S>
  void assemble(double scale);
  void factor() { factor({}); }
  template <int Count>
  void solve(double* const (&x)[Count]) const {
    if (!sparse_) return solve_chains<Count>(x);
    for (double* one : x) fronts_.solve(one);
  }
  /// Adds blocks to the matrix that was assembled last. They may be others each time.
  void factor(std::span<const CentroidBlock> blocks);

 private:
  /// Force on section a of a tie, at the unknowns y; and what moves it has at velocities v.
  Vec3d reach(const Tie& tie, const double* y, bool is_velocity) const;
  template <int Count>
  void solve_chains(double* const (&x)[Count]) const;
  void find_order();
  void factor_sparse(std::span<const CentroidBlock> blocks);
  template <Stiffness S>
  Mat3<double> tie_stiffness(const Tie& tie) const;

  Executor executor_;
  std::vector<const Fibre*> fibre_;
  AlignedArray<double> model_, step_, factor_diagonal_, factor_above_;
  FibreView all_;
  std::vector<FibreView> part_;
  std::vector<Index> first_;
  std::vector<Tie> ties_;
  std::vector<Mat3<double>> tie_block_;  ///< of what was assembled last
  bool coupled_ = false;                 ///< some tie joins two sections

  bool sparse_ = false;  ///< the factor at hand
  struct Link {
    Index section = -1;  ///< the first of two neighbours; -1: a tie
    std::size_t tie = 0;
  };
  std::vector<Link> links_;           ///< what has a block off the diagonal
  std::vector<Mat3<double>> centre_;  ///< what ties and `blocks` add to the diagonal
  bool order_known_ = false;
  BlockFronts fronts_;
};

}  // namespace osier::deti
