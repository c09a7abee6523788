// Fibres that touch something: the motion of a step through contact.
//
// Without contact a step moves by d* = h w, where w has been found from the force at its start (fibre_step.hpp). With it the
// motion d is the minimum of
//
//   1/2 e.S e/h^2 + E(u) - g.u,   e = d - d*,  S = M + beta h^2 K,  u: displacements of centroids
//
// where E is the energy of barriers and friction and g its gradient at the end of the step before, which is a part of the force
// that has made w. So contact enters implicitly, through the inertia and the stiffness that a step of the double pole has, and
// where nothing moves the forces of springs, loads and contact add up to nothing: d = d* = 0 there, whatever S is. For one mode
// of stiffness lambda and contact of stiffness c, with Y = h^2 lambda and C = h^2 c, the step does
//
//   (1 + C/(1 + beta Y)) w' = E w - (phi/h) (Y + C) y
//
// which is bounded by 2 (1 + E) as it has to be, for every C: phi (1 + beta Y) stays between 1 and b/beta = 1.86.
//
// Iterations are those of Newton's method with the positive part of contact's curvature, by conjugate gradients over a factor of S
// and of contact's blocks. Every motion goes through the guard and has to lower the energy (solvers/newton_contact.cpp).
#pragma once

#include <vector>

#include "contact/contact_step.hpp"
#include "osier/state.hpp"
#include "solvers/deti/fibre_set.hpp"

namespace osier::deti {

class FibreContact {
 public:
  /// The step of `contact` has begun. `vertex`: that of every section. `push_before`: the force of contact at the end of the step
  /// before, by vertex. In the set's view y, free and target are known, and w is the mean velocity without contact.
  FibreContact(FibreSet& set, contact::ContactStep& contact, const std::vector<Index>& vertex,
               const std::vector<Vec3d>& push_before, double h, double tolerance);
  /// w becomes the mean velocity with contact.
  StepReport solve();
  /// Displacements by vertex; 0 for those that are not in the set.
  const std::vector<Vec3d>& displacements() const { return u_; }
  bool has_arrived() const { return contact_.has_arrived(); }

 private:
  struct Iteration;
  struct Descent {
    bool lower = false, whole = false;
  };
  std::size_t numbers() const { return d_.size(); }
  bool is_free(std::size_t i) const { return set_.view().free[i] != 0; }
  Vec3d centroid(const std::vector<double>& x, std::size_t section) const {
    return {x[kUnknowns * section], x[kUnknowns * section + 1], x[kUnknowns * section + 2]};
  }
  void take_centroids();
  void multiply(const std::vector<double>& x, std::vector<double>& out) const;
  double value() const;
  void linearise(double fresh);
  void find_correction();
  Descent descend();

  FibreSet& set_;
  contact::ContactStep& contact_;
  const std::vector<Index>& vertex_;
  const std::vector<Vec3d>& push_before_;
  double h_, tolerance_;
  std::vector<double> d_, wanted_;         ///< d and d*
  std::vector<double> left_, correction_;  ///< - h^2 gradient, and what is left of it; Newton's step
  std::vector<double> scaled_, direction_, image_;
  mutable std::vector<double> off_, work_;
  std::vector<Vec3d> u_, du_;
  mutable std::vector<Vec3d> px_, image_x_;
  std::vector<systems::VertexBlock> touched_;
  std::vector<CentroidBlock> blocks_;
  std::vector<Index> section_of_;  ///< by vertex, or -1
  bool solved_ = true;
  double moved_ = 0;
};

}  // namespace osier::deti
