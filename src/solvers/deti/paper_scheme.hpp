// The two-step scheme as it is printed (section 3.3 of the paper), for the record. With x the displacements from where the fibre
// began, K_0 the stiffness there, and Lambda(x) = -(f(x) + K_0 x) all that is not linear (the paper does not say how it splits
// them):
//
//   x'' = 2 e^(-h D^) cos(h K^) x' - e^(-2 h D^) x - h^2 sinc^2(h K^) M^-1 Lambda(sinc(h K^) x')
//
//   D^ = (alpha_0 + alpha_1 M^-1 K_0)/2,   K^ = root of M^-1 K_0 - D^2, imaginary where a mode is overdamped
//
// Functions of matrices are applied mode by mode, after one decomposition of K_0.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

class PaperScheme {
 public:
  /// The fibre begins at `origin`; y of the view is left as it is. What is held has to stay held.
  PaperScheme(const FibreView& fibre, const double* origin, double alpha0, double alpha1);
  /// The first mean velocity, from that at the start.
  void start(const FibreView& fibre, double h) const;
  /// A step: the move, and the mean velocity of the next one.
  void step(const FibreView& fibre, double h) const;
  /// Whether it is of this place and of what is held at hand.
  bool is_of(const FibreView& fibre, const double* origin) const;

 private:
  struct Mode {
    double decay, cosine, sinc;  ///< e^(-h delta), cos(h K^), sinc(h K^)
  };
  Mode mode(Eigen::Index i, double h) const;
  Eigen::VectorXd to_modes(const FibreView& fibre, const double* x) const;
  /// sinc^2 M^-1 Lambda(sinc x), in modes, for the modes z of x.
  Eigen::VectorXd rest(const FibreView& fibre, const Eigen::VectorXd& z, double h) const;

  std::vector<double> origin_;
  std::vector<Index> free_;  ///< unknowns
  Eigen::VectorXd root_;     ///< of masses
  Eigen::MatrixXd modes_;    ///< of M^-1/2 K_0 M^-1/2
  Eigen::VectorXd lambda_;
  double alpha0_, alpha1_;
};

}  // namespace osier::deti
