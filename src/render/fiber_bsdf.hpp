// How a hair scatters light: the model of Chiang, Bitterli, Tappan, Burley, "A Practical and Controllable Hair and Fur Model for
// Production Path Tracing" (Computer Graphics Forum 35(2), 2016), which refines Marschner et al. (2003) and d'Eon et al. (2011).
//
//   theta   angle of a direction to the plane across the fibre, sin theta = direction . tangent; both directions point outwards
//   phi     angle around the fibre from the direction to the eye
//   h       where the ray meets the fibre, -1 to 1 across its width; sin gamma_o = h
//   p       path: 0 mirrored at the surface (R), 1 through (TT), 2 mirrored once inside (TRT), 3 all longer ones together
//
// f(wo, wi) |cos theta_i| = sum over p of M_p(theta_o, theta_i) A_p(wo) N_p(phi), where M and N integrate to one and the A_p sum
// to one for a fibre that absorbs nothing: such a fibre gives back exactly the light it gets.
#pragma once

#include <array>

#include "render/color.hpp"
#include "render/sampling.hpp"

namespace osier::render {

struct FiberLook {
  float roughness_along = 0.3F;   ///< beta_m, 0 to 1
  float roughness_across = 0.3F;  ///< beta_n, 0 to 1
  float tilt = 2;                 ///< alpha, of the scales on the surface [degrees]
  float index = 1.55F;            ///< of refraction
};

/// One of the papers: the absorption per radius that makes a full head of hair look like `color` (their equation 9).
Rgb absorption_of(const Rgb& color, float roughness_across);

class FiberBsdf {
 public:
  /// `tangent` and `to_eye` are unit; `absorption`: per radius.
  FiberBsdf(const Vec3f& tangent, const Vec3f& to_eye, float h, const Rgb& absorption, const FiberLook& look = {});

  /// f |cos theta_i|: of light from that direction the part that goes to the eye, per solid angle [1/sr].
  Rgb value(const Vec3f& to_light) const;
  /// Density of sample(), per solid angle.
  float density(const Vec3f& to_light) const;
  /// A direction in which light may come, and value/density there.
  struct Sampled {
    Vec3f direction;
    Rgb weight;
  };
  Sampled sample(Point2 path_and_phi, Point2 theta) const;

 private:
  static constexpr int kPaths = 4;  ///< the last stands for all longer ones
  struct Tilted {
    float sin, cos;
  };
  struct Angles {
    float sin_theta, cos_theta, phi;
  };
  Angles angles_of(const Vec3f& direction) const;
  float lobe(int p, const Angles& in) const;  ///< M_p N_p
  float deflection(int p) const;              ///< Phi(p), where the ray of geometrical optics leaves

  Vec3f tangent_, across_, aside_;   ///< phi = 0 and phi = 90 degrees
  float gamma_o_, gamma_t_, scale_;  ///< scale s of the logistic distribution
  std::array<Tilted, kPaths> out_;   ///< theta_o, tilted as each path's lobe is
  std::array<float, kPaths> variance_;
  std::array<Rgb, kPaths> share_;          ///< A_p
  std::array<float, kPaths> probability_;  ///< of choosing a path
};

}  // namespace osier::render
