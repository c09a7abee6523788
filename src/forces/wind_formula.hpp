// The wind's push on a vertex, or on a pack of them; symbols as in wind.hpp.
#pragma once

#include "math/number.hpp"
#include "math/sine.hpp"
#include "math/vec3.hpp"

namespace osier {

/// The wind of one moment.
struct WindMoment {
  Vec3d direction{0, 0, 0};
  double wave_number = 0, travelled = 0;
  double scale = 0, offset = 0;  ///< wind = scale (S + offset) direction
  double strength = 0;           ///< c, or rho Cd/4, times the load factor of a static analysis
  bool physical = false;         ///< the push of air on a cylinder; otherwise the paper's
  double diameter = 0;           ///< d of the physical push; 0: twice the radius of the vertices
};

template <class P>
class WindOnVertex {
 public:
  OSIER_FN WindOnVertex(const WindMoment& wind, const Vec3<P>& place, const Vec3<P>& velocity)
      : wind_(wind), velocity_(velocity) {
    const Vec3<P> d{P(wind.direction.x), P(wind.direction.y), P(wind.direction.z)};
    air_ = speed(P(wind.wave_number) * (dot(d, place) - P(wind.travelled))) * d;
    dv_ = air_ - velocity;
  }
  /// A segment at the vertex: its edge, rest length l and diameter. Lanes without one have l = 0.
  OSIER_FN void add(const Vec3<P>& e, P l, P diameter) {
    const P length2 = norm2(e);
    const P safe = select(length2 > P(0.0), length2, P(1.0));
    if (!wind_.physical) {
      across_ += l * root(norm2(cross(dv_, e)) / safe);
      return;
    }
    const Vec3<P> normal = dv_ - (dot(dv_, e) / safe) * e;
    const P share = P(wind_.strength) * l * diameter * root(norm2(normal));
    K_ += share;
    push_ = push_ + share * normal;
  }
  /// The force is f - K v_new.
  OSIER_FN Vec3<P> force(P mass, P& K) {
    if (!wind_.physical) K_ = P(wind_.strength) * root(mass) * across_;
    K = K_;
    return wind_.physical ? push_ + K_ * velocity_ : K_ * air_;
  }

 private:
  /// scale (S + offset): the speed of the gusts at one phase.
  OSIER_FN P speed(P phase) const {
    P S(0.0);
    double factor = 1;
    for (int k = 0; k < 3; ++k, factor *= 0.7) S += P(factor) * sine(P(factor) * phase);
    return P(wind_.scale) * (S + P(wind_.offset));
  }

  const WindMoment& wind_;
  Vec3<P> velocity_, air_, dv_;
  P across_{0.0};                         ///< of the paper: sum of l |dv x t|
  P K_{0.0};                              ///< of the physical push: sum of K_s
  Vec3<P> push_{P(0.0), P(0.0), P(0.0)};  ///< and of K_s dv_n
};

}  // namespace osier
