// What formulas may ask of their number type besides arithmetic: comparisons without branches, so that the same template works
// for one number and for a pack of them (exec/pack.hpp), where every lane decides for itself.
#pragma once

#include <cmath>

#include "osier/types.hpp"

namespace osier {

template <class T>
struct NumberTraits {
  using Scalar = T;
  using Mask = bool;
  static constexpr int lanes = 1;
};
template <class T>
using ScalarOf = typename NumberTraits<T>::Scalar;
template <class T>
using MaskOf = typename NumberTraits<T>::Mask;
template <class T>
inline constexpr int lanes_of = NumberTraits<T>::lanes;

// clang-format off
OSIER_FN float select(bool m, float a, float b) { return m ? a : b; }
OSIER_FN double select(bool m, double a, double b) { return m ? a : b; }
OSIER_FN bool any(bool m) { return m; }
OSIER_FN unsigned bits(bool m) { return m ? 1u : 0u; }
/// 1/x and 1/sqrt(x), good to a rounding or two; x = 0 may give infinity or NaN.
OSIER_FN float inverse(float x) { return 1 / x; }
OSIER_FN double inverse(double x) { return 1 / x; }
OSIER_FN float inverse_sqrt(float x) { return 1 / std::sqrt(x); }
OSIER_FN double inverse_sqrt(double x) { return 1 / std::sqrt(x); }
/// The square root likewise, for x >= 0.
OSIER_FN float root(float x) { return std::sqrt(x); }
OSIER_FN double root(double x) { return std::sqrt(x); }
template <class T> OSIER_FN T larger(T a, T b) { return select(a > b, a, b); }
template <class T> OSIER_FN T smaller(T a, T b) { return select(a < b, a, b); }
/// One lane of a number.
OSIER_FN float lane(float x, int) { return x; }
OSIER_FN double lane(double x, int) { return x; }
OSIER_FN void set_lane(float& x, int, float value) { x = value; }
OSIER_FN void set_lane(double& x, int, double value) { x = value; }
OSIER_FN void store_lanes(float a, float* p) { *p = a; }
OSIER_FN void store_lanes(double a, double* p) { *p = a; }
// clang-format on

/// A number from an array of its lanes; store_lanes() is the other way.
template <class P>
OSIER_FN P load_lanes(const ScalarOf<P>* p) {
  if constexpr (lanes_of<P> == 1) return *p;
  else return P::load(p);
}

}  // namespace osier
