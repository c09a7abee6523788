// The motion that what is near each other has in common: a displacement U of all of space that is fitted to the displacements of
// points. Seen from there a piece that goes somewhere or turns as a whole stays where it is, so that a list of pairs lasts until
// pieces move against each other.
//
//   U      quadratic B-splines of vectors P at the nodes of a coarse grid                                  [m]
//   S      most compression: -D.(grad U) D <= S |D|^2 everywhere, for any D                                 [-]
//
//   |X + U(X) - Y - U(Y)|^2 >= |D|^2 + 2 D.(U(X) - U(Y)) >= (1 - 2 S) |D|^2,   D = X - Y
//
// since U(X) - U(Y) is the mean of (grad U) D along the way. Rotations compress nothing in first order. The gradient is a mean of
// differences of neighbouring P, and so are second derivatives of second differences: all bounds are exact.
#pragma once

#include <array>
#include <vector>

#include "contact/drift_grid.hpp"
#include "core/archive.hpp"
#include "math/vec3.hpp"

namespace osier::contact {

class Drift {
 public:
  /// Lays the grid over the living points. Nothing drifts.
  void lay(const std::vector<Vec3d>& points, const std::vector<std::uint8_t>& alive);
  /// Fits U to the displacement(v) of the points it was laid over, as well as a few iterations can: any U will do.
  template <class F>
  void fit(const F& displacement) {
    for (Sample& s : sample_) s.displacement = displacement(s.point);
    fit_samples();
  }
  /// At one of the points.
  Vec3d at(const Vec3d& x) const;
  /// The least ratio of a distance to what it was: sqrt(1 - 2 S); 0 where there is no bound.
  double least_ratio() const { return grid_.least_ratio(bounds_, 1); }
  /// How far a point between two others that are `length` apart is at most from where it would be between these.
  double most_bend(double length) const { return grid_.most_bend(bounds_, 1, length); }
  void carry(Archive& archive) {
    archive(grid_.nodes, grid_.origin, grid_.cell, sample_, node_, bounds_.compression, bounds_.second);
  }

 private:
  struct Sample {
    std::size_t point;
    DriftGrid::Weights weights;
    Vec3d displacement;
  };
  template <class F>
  void each_difference(const F& f) const;
  void multiply(const std::vector<Vec3d>& p, std::vector<Vec3d>& image) const;
  void fit_samples();
  void find_bounds();

  DriftGrid grid_;
  std::vector<Sample> sample_;
  std::vector<Vec3d> node_, left_, direction_, image_;
  DriftGrid::Bounds bounds_;
};

}  // namespace osier::contact
