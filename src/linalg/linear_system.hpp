// The linear algebra of one Newton or Gauss-Newton iteration: H, the second derivative of the step's potential over all unknowns,
// or the positive part of it. One interface for the recursion along trees (systems/tree), conjugate gradients
// (systems/blocks), the general sparse factor (systems/sparse) and chains in SIMD lanes (systems/chains).
//
//   bind       the holds decide which unknowns there are and where their numbers are stored
//   linearise  H at the unknowns at hand, factored where there is a factor
//   step       H d = -g at those unknowns, in the form that rounds least
//   solve      H z = r for any r, any number of times
//   product    H p
#pragma once

#include <span>
#include <vector>

#include "exec/parallel.hpp"
#include "math/mat3.hpp"
#include "model/subset.hpp"
#include "osier/state.hpp"

namespace osier {
class Archive;
class StepPotential;
struct Unknowns;
}  // namespace osier

namespace osier::systems {

/// The part of the potential's curvature that an iteration uses (docs/theory/direct.md).
enum class Curvature : std::uint8_t {
  positive,  ///< the terms that are positive by construction
  exact,     ///< with compression and the couples of shear forces, which may make the whole indefinite
};

/// The force n that couples are formed with. The axes of an anisotropic segment turn with its frame, which gives a couple
/// n x (p - axis). At the first guess of a step the force of the strain is far too large in stiff segments, while that of the
/// last solve is near the solution and equal to it after convergence. Far from equilibrium, where a line search lowers the
/// energy, the couple has to be that of the gradient itself.
enum class Couples : std::uint8_t { of_last_force, of_strain };

/// Added to the diagonal of H: size F l for rotations, size F/l for positions where those are to be shifted as well. Or, for
/// rotations alone, size times a number for each segment.
struct Shift {
  double size = 0;
  double force = 0;  ///< F [N]
  bool positions = false;
  std::span<const double> frames = {};  ///< [N m]
  double of_frame(const Model& m, Index s) const {
    return size * (frames.empty() ? force * m.segment_rest_length[s] : frames[static_cast<std::size_t>(s)]);
  }
  double of_vertex(const Model& m, Index v) const {
    return positions ? size * force / m.segment_rest_length[m.vertex_segments.of(v).front() / 2] : 0;
  }
};

/// Signs of the pivots. By Sylvester's law of inertia as many are negative as there are directions in which the energy falls.
struct Signature {
  int negative = 0;
  bool definite = false;  ///< all pivots are positive, and none is 0 but for rounding
};

/// A vector over the unknowns: per vertex and per frame.
struct Field {
  std::vector<Vec3d> x, w;
};

/// A symmetric positive semidefinite block over the displacements of a vertex a, or of the two ends a, b of a segment, as contact
/// adds it to H.
struct VertexBlock {
  Index segment = -1;  ///< -1: of vertex a alone
  Index a = -1;        ///< the vertex, or the first end of the segment
  Mat3<double> aa, ab, bb;
};

struct Linearisation {
  Curvature curvature = Curvature::positive;
  Couples couples = Couples::of_last_force;
  bool frames_move = true;  ///< otherwise positions alone
  Shift shift = {};
  std::span<const VertexBlock> blocks = {};
};

/// The accuracy of an iterative solve.
struct Accuracy {
  double share = 1e-2;  ///< of the largest displacement that may be left
  double gap = 0;       ///< or this far [m]
};

class LinearSystem {
 public:
  virtual ~LinearSystem() = default;
  /// Forgets the topology, which has changed.
  virtual void forget() = 0;
  /// The references have to last until the next call. h is the step, 0 for statics.
  virtual void bind(const Model& m, const Control& c, const Subset& subset, double h) = 0;
  virtual bool empty() const { return false; }

  /// Systems without a factor call every H definite. What a system cannot do (a shift, positions alone, blocks on segment ends)
  /// it answers with Signature{}, which is not definite; step() and solve() may not be called then.
  virtual Signature linearise(const StepPotential& potential, const Unknowns& z, const Linearisation& how) = 0;
  /// Another shift of the H that was linearised last. Systems without a factor find none definite.
  virtual Signature factorise(const Shift&) { return {}; }
  /// Finds Newton's correction, which displacement() and turn() return. False where H turned out not to be positive.
  virtual bool step(const Accuracy& accuracy) = 0;
  virtual Vec3d displacement(Index v) const = 0;  ///< 0 for vertices that are held
  virtual Vec3d turn(Index s) const = 0;
  /// Whether the last step() reached its accuracy.
  virtual bool was_solved() const { return true; }

  /// False when the solution is not finite.
  virtual bool solve(const Field& r, Field& z) = 0;
  virtual void product(const Field& p, Field& image) const = 0;
  /// (H + [turn]x) z = r with a skew block for every frame: the Jacobian of a residual that has no potential. False when it is
  /// singular, or where a system does not offer it.
  virtual bool solve_skew(const Field& r, const std::vector<Vec3d>& turn, Field& z) {
    (void)r;
    (void)turn;
    (void)z;
    return false;
  }

  /// Whether Linearisation::couples makes a difference.
  virtual bool has_couples() const { return false; }
  /// Forgets the forces of the last solve, on which the curvature of the next one is based.
  virtual void forget_forces() {}
  /// Whatever a solve leaves behind for the next one, for checkpoints. After bind().
  virtual void carry(Archive& archive) { (void)archive; }
  virtual std::size_t bytes() const { return 0; }

 protected:
  /// Fills z with displacement() and turn() of a subset, 0 elsewhere. False where one of them is not finite.
  bool gather(const Model& m, const Subset& subset, const Executor& executor, Field& z) const;
};

}  // namespace osier::systems
