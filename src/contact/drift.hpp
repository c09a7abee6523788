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
  double least_ratio() const { return ratio_; }
  /// How far a point between two others that are `length` apart is at most from where it would be between these.
  double most_bend(double length) const { return length * length / 8 * second_; }
  void carry(Archive& archive) { archive(nodes_, origin_, cell_, sample_, node_, ratio_, second_); }

 private:
  struct Weights {
    std::size_t first;  ///< node
    std::array<std::array<double, 3>, 3> along;
  };
  struct Sample {
    std::size_t point;
    Weights weights;
    Vec3d displacement;
  };
  Weights weights_at(const Vec3d& x) const;
  template <class F>
  void each_weight(const Weights& w, const F& f) const;
  std::size_t step_along(std::size_t axis) const { return axis == 0 ? 1 : axis == 1 ? nodes_[0] : nodes_[0] * nodes_[1]; }
  template <class F>
  void each_difference(const F& f) const;
  void multiply(const std::vector<Vec3d>& p, std::vector<Vec3d>& image) const;
  void fit_samples();
  void find_bounds();

  std::array<std::size_t, 3> nodes_{};
  Vec3d origin_;
  double cell_ = 1;  ///< [m]
  std::vector<Sample> sample_;
  std::vector<Vec3d> node_, left_, direction_, image_;
  double ratio_ = 1, second_ = 0;
};

}  // namespace osier::contact
