// Position update of one vertex by vertex block descent  (SCR Eq. 6, 28, 29; VSCR Eq. 33, 34).
//
// With the orientations held, the incremental potential is quadratic in one vertex and its 3x3 Hessian is a multiple of the
// identity, so one division solves the block exactly:
//
//   u_v <- ( m v_t/h + f  +  sum_s ( +-force_s + c_s u_other ) ) / ( m/h^2 + c_drag/h + sum_s c_s )
#pragma once

#include <limits>

#include "energies/stretch_shear.hpp"
#include "linalg/small_ldl.hpp"
#include "math/mat3.hpp"
#include "math/number.hpp"

namespace osier::stable_cosserat {

/// One segment's share of the sum: `force` on its second vertex at u = 0 and c = (1 + alpha) k/l^2. The sign is +1 at its second
/// vertex and -1 at its first.
template <class T>
OSIER_FN void add_segment(Vec3<T>& sum, T sign, const Vec3<T>& force, T c, const Vec3<T>& other) {
  sum += Vec3<T>{sign * force.x + c * other.x, sign * force.y + c * other.y, sign * force.z + c * other.z};
}

/// That force in two parts: the one by the edge, which is constant at u = 0, and the one by the image of the axis.
template <class T>
OSIER_FN Vec3<T> edge_force(T k_over_length, T stiffening, const Vec3<T>& p0) {
  return stretch_shear::gradient_p(-k_over_length, stiffening, p0, Vec3<T>{T(0), T(0), T(0)});
}
template <class T>
OSIER_FN Vec3<T> image_force(T k_over_length, const Vec3<T>& image) {
  return k_over_length * image;
}

/// The update where stiffnesses differ and the Hessian is a matrix: one Newton step from u. It is a sum of positive
/// semidefinite blocks, but where they differ by more than the digits of T a pivot may be lost. Its trace then stands for it,
/// which cannot raise the energy (what is left of a pivot that is nearly lost may); a massless vertex that nothing stretches
/// stays.
template <class T>
OSIER_FN Vec3<T> after_block_step(const Vec3<T>& u, const Vec3<T>& gradient, const Mat3<T>& hessian) {
  constexpr auto kLost = ScalarOf<T>(8) * std::numeric_limits<ScalarOf<T>>::epsilon();
  Vec3<T> step;
  const MaskOf<T> found = solve_positive(hessian, -gradient, T(kLost), step);
  const T trace = hessian.m[0][0] + hessian.m[1][1] + hessian.m[2][2];
  const T gradient_step = select(trace > T(0), inverse(trace), T(0));
  const auto either = [&](T newton, T descent) { return select(found, newton, -gradient_step * descent); };
  return u + Vec3<T>{either(step.x, gradient.x), either(step.y, gradient.y), either(step.z, gradient.z)};
}

/// Where a vertex is expected: as far as it would fly, with the share of the external acceleration that it really felt in the
/// last step (VBD's adaptive initialisation).
template <class T>
OSIER_FN Vec3<T> expected_displacement(const Vec3<T>& velocity, const Vec3<T>& velocity_previous, const Vec3<T>& force,
                                       T inverse_mass, T h) {
  const Vec3<T> a_ext = inverse_mass * force;
  const T size2 = norm2(a_ext);
  const T felt = dot(velocity - velocity_previous, a_ext);  // h a_last . a_ext
  const T share = select(size2 > T(0), smaller(larger(felt / (h * size2), T(0)), T(1)), T(0));
  return h * velocity + (h * h * share) * a_ext;
}

/// A vertex at the start of a step: its first guess, and inertia and loads (energies/inertia.hpp) by the reciprocal of the step,
/// which costs lanes less than divisions.
template <class T>
struct VertexStart {
  Vec3<T> u, rhs;  ///< rhs: m v_t/h + f
  T weight;        ///< m/h^2 + c/h
};
template <class T>
OSIER_FN VertexStart<T> vertex_start(T mass, T drag, const Vec3<T>& velocity, const Vec3<T>& velocity_previous,
                                     const Vec3<T>& force, double step) {
  using S = ScalarOf<T>;
  const T h(static_cast<S>(step)), inverse_h(static_cast<S>(1 / step)), inverse_h2(static_cast<S>(1 / (step * step)));
  const T inverse_mass = select(mass > T(0), inverse(mass), T(0));
  return {expected_displacement(velocity, velocity_previous, force, inverse_mass, h), (mass * inverse_h) * velocity + force,
          mass * inverse_h2 + inverse_h * drag};
}

}  // namespace osier::stable_cosserat
