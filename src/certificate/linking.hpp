// The Gauss linking number of closed curves.
//
//   Lk = 1/(4 pi) sum over segments i of A and j of B of Omega_ij
//
// Omega_ij is the solid angle of the spherical quadrilateral that the directions from the points of segment i to those of segment
// j sweep out: two triangles with the corners r00, r01, r11, r10, r_kl = b_l - a_k, each by
//
//   tan(Omega/2) = p.(q x r)/(|p||q||r| + (p.q)|r| + (q.r)|p| + (r.p)|q|)      [van Oosterom and Strackee 1983]
//
// For polygons that do not touch the sum is an integer but for rounding [Gauss 1833; Klenin and Langowski 2000, method 1a;
// Bertolazzi, Ghiloni and Specogna 2019]. It does not change while curves move without passing through each other.
#pragma once

#include <utility>
#include <vector>

#include "osier/model.hpp"

namespace osier::certificate {

/// Corners in order; the last one is joined to the first.
using ClosedCurve = std::vector<Vec3d>;

/// Not rounded: how far it is from an integer shows how near to each other the curves are, and whether they are closed.
double linking_number(const ClosedCurve& a, const ClosedCurve& b);

/// The linking numbers of the curves of a model.
class Linking {
 public:
  struct Options {
    /// Closes open rods, too, from their ends to a point far away. Means something only while no other rod passes through these
    /// two lines, as where both ends are held.
    bool close_open_rods = false;
  };
  Linking() = default;
  Linking(const Model& model, const std::vector<Vec3d>& positions, const Options& options);

  std::size_t curve_count() const { return curves_.size(); }
  /// The rods of a pair.
  struct Pair {
    std::size_t first, second;
    long number = 0;
  };
  /// All pairs with their present numbers.
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// Counts again. Returns the places of the pairs whose numbers differ from those before, with the new numbers in pairs().
  std::vector<std::size_t> update(const Model& model, const std::vector<Vec3d>& positions);

 private:
  struct Curve {
    std::size_t rod;
    bool closed;
    Vec3d far;  ///< the point through which it is closed otherwise
  };
  ClosedCurve corners(const Model& model, const std::vector<Vec3d>& positions, const Curve& curve) const;
  std::vector<long> count(const Model& model, const std::vector<Vec3d>& positions) const;

  std::vector<Curve> curves_;
  std::vector<Pair> pairs_;
  std::vector<std::pair<std::size_t, std::size_t>> curve_pairs_;  ///< the same in curves
};

}  // namespace osier::certificate
