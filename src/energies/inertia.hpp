// Inertia of a vertex in one implicit Euler step, with loads and drag:
//
//   m/(2 h^2) |x - x_t - h v_t|^2 + c/(2 h) |x - x_t|^2 - f.x  =  w/2 |u|^2 - b.u + const,   u = x - x_t
//
//   w = m/h^2 + c/h      weight                                     [N/m]
//   b = f + (m/h) v_t    force of loads and inertia at u = 0        [N]
//   c                    drag that is linear in the new velocity    [kg/s]
//
// In statics (h = 0) the weight is 0 and b is the load.
#pragma once

#include "math/vec3.hpp"

namespace osier::inertia {

template <class T>
OSIER_FN T weight(T mass, T drag, T h) {
  return mass / (h * h) + drag / h;
}

template <class T>
OSIER_FN Vec3<T> force(const Vec3<T>& load, T mass, const Vec3<T>& velocity, T h) {
  return load + (mass / h) * velocity;
}

}  // namespace osier::inertia
