// Anderson acceleration of the sweeps: the next iterate combines the last results of the sweep so that their residuals cancel as
// far as they can.
//
//   z      iterate: frames as four numbers each, and positions where frames alone do not settle them
//   G(z)   result of a sweep,   f = G(z) - z
//   theta  = argmin |f - dF theta|,   z <- G - dG theta,   normalised;   dF, dG differences of the last results
//
// Safeguard: where f has become longer and the result of the sweep has more energy than the one before, the iterate goes back to
// that one, and the differences are forgotten. Lanes decide for themselves.
#pragma once

#include "linalg/small_ldl.hpp"
#include "solvers/projective/sweep.hpp"

namespace osier::projective {

template <class P>
class Acceleration {
 public:
  using T = ScalarOf<P>;

  explicit Acceleration(RodSweep<P>& sweep)
      : sweep_(sweep),
        v_(sweep.view()),
        numbers_(4 * v_.segments + 3 * v_.vertices),
        mixed_(v_.isotropic ? 4 * v_.segments : numbers_) {}

  /// Before a sweep.
  void remember() { copy_iterate(v_.before); }
  /// After it: accepts its result or goes back, and moves on to the next iterate.
  void advance(bool last_one);

 private:
  template <class A>
  static A* of(T* a) {
    return RodSweep<P>::template of<A>(a);
  }
  T* frames_now() const { return kSinceStart<P> ? v_.turn : v_.rotation; }
  /// Number i of the iterate, as it stands.
  P* place(Index i) const {
    const Index frames = 4 * v_.segments;
    return i < frames ? of<P>(frames_now()) + i : of<P>(v_.u) + (i - frames);
  }
  P scale(Index i) const {
    const Index frames = 4 * v_.segments;
    return i < frames ? P(4) * of<P>(v_.turn_scale)[i / 4] : of<P>(v_.position_scale)[(i - frames) / 3];
  }
  void copy_iterate(T* to) const {
    for (Index i = 0; i < numbers_; ++i) of<P>(to)[i] = *place(i);
  }
  P* residual_change(int k) const { return of<P>(v_.residual_change) + static_cast<std::ptrdiff_t>(k) * numbers_; }
  P* result_change(int k) const { return of<P>(v_.result_change) + static_cast<std::ptrdiff_t>(k) * numbers_; }
  MaskOf<P> go_back(P size2);
  void add_differences(MaskOf<P> back);
  void mix();

  RodSweep<P>& sweep_;
  const RodView<T>& v_;
  Index numbers_;  ///< that are kept
  Index mixed_;    ///< that are combined; positions follow from frames where stretch is isotropic
  int taken_ = 0;  ///< results so far
  int columns_ = 0, next_ = 0;
  P last_size2_ = P(0);
  P fresh_ = P(1);  ///< lanes whose last result does not precede this one: 1
  P gram_[kMostHistory * (kMostHistory + 1) / 2] = {};
};

/// Lanes in which acceleration has led astray.
template <class P>
MaskOf<P> Acceleration<P>::go_back(P size2) {
  MaskOf<P> astray = (size2 > last_size2_) & (fresh_ < P(T(0.5)));
  if (!any(astray)) return astray;
  const P here = sweep_.energy();
  // The energy of the result before: its numbers take the iterate's place for a moment.
  const auto swap_places = [&] {
    for (Index i = 0; i < numbers_; ++i) {
      P& mine = *place(i);
      const P other = of<P>(v_.last)[i];
      of<P>(v_.last)[i] = mine;
      mine = other;
    }
  };
  swap_places();
  sweep_.settle_frames();
  const P before = sweep_.energy();
  swap_places();
  sweep_.settle_frames();
  const P rounding = P(sizeof(T) == 4 ? T(1e-6) : T(1e-13)) * larger(before, -before);
  return astray & (here > before + rounding);
}

template <class P>
void Acceleration<P>::advance(bool last_one) {
  P size2 = P(0);
  for (Index i = 0; i < mixed_; ++i) {
    const P f = *place(i) - of<P>(v_.before)[i];
    size2 += scale(i) * f * f;
  }
  const MaskOf<P> back = taken_ > 0 ? go_back(size2) : (size2 < P(0));
  if (taken_ > 0) add_differences(back);
  // The result becomes the last one; lanes that go back keep theirs and start from it.
  for (Index i = 0; i < numbers_; ++i) {
    P& result = *place(i);
    P& last = of<P>(v_.last)[i];
    const P f = result - of<P>(v_.before)[i];
    result = select(back, last, result);
    last = result;
    of<P>(v_.last_residual)[i] = select(back, P(0), f);
  }
  last_size2_ = size2;
  fresh_ = select(back, P(1), P(0));
  ++taken_;
  if (!last_one && columns_ > 0) mix();
  if (any(back) || (!last_one && columns_ > 0)) sweep_.settle_frames();
}

template <class P>
void Acceleration<P>::add_differences(MaskOf<P> back) {
  const int k = next_;
  next_ = (next_ + 1) % v_.history;
  columns_ = columns_ < v_.history ? columns_ + 1 : columns_;
  if (any(back))
    for (int c = 0; c < columns_; ++c)
      for (Index i = 0; i < mixed_; ++i) {
        residual_change(c)[i] = select(back, P(0), residual_change(c)[i]);
        result_change(c)[i] = select(back, P(0), result_change(c)[i]);
      }
  if (any(back))
    for (P& g : gram_) g = select(back, P(0), g);
  const MaskOf<P> none = back | (fresh_ > P(T(0.5)));
  for (Index i = 0; i < mixed_; ++i) {
    const P f = *place(i) - of<P>(v_.before)[i];
    residual_change(k)[i] = select(none, P(0), f - of<P>(v_.last_residual)[i]);
    result_change(k)[i] = select(none, P(0), *place(i) - of<P>(v_.last)[i]);
  }
  for (int c = 0; c < columns_; ++c) {
    P sum = P(0);
    for (Index i = 0; i < mixed_; ++i) sum += scale(i) * residual_change(k)[i] * residual_change(c)[i];
    gram_[triangle(k, c)] = sum;
  }
}

template <class P>
void Acceleration<P>::mix() {
  P theta[kMostHistory] = {}, gram[kMostHistory * (kMostHistory + 1) / 2];
  P trace = P(0);
  for (int c = 0; c < columns_; ++c) {
    P sum = P(0);
    for (Index i = 0; i < mixed_; ++i) sum += scale(i) * residual_change(c)[i] * of<P>(v_.last_residual)[i];
    theta[c] = sum;
    trace += gram_[triangle(c, c)];
  }
  // Columns that are not there have a diagonal of one, and those that are nearly dependent are kept apart.
  const P regular = P(sizeof(T) == 4 ? T(1e-6) : T(1e-13)) * trace + P(T(1e-37));
  for (int c = 0; c < kMostHistory; ++c)
    for (int d = 0; d <= c; ++d) gram[triangle(c, d)] = c < columns_ ? gram_[triangle(c, d)] : P(0);
  for (int c = 0; c < kMostHistory; ++c) gram[triangle(c, c)] += c < columns_ ? regular : P(1);
  const Ldl<kMostHistory, P> ldl(gram);
  ldl.forward(theta);
  ldl.backward(theta);
  for (Index i = 0; i < mixed_; ++i) {
    P sum = *place(i);
    for (int c = 0; c < columns_; ++c) sum -= theta[c] * result_change(c)[i];
    *place(i) = sum;
  }
  Quat<P>* q = of<Quat<P>>(frames_now());
  for (Index s = 0; s < v_.segments; ++s) {
    const P size2 = norm2(q[s]);
    q[s] = select(size2 > P(T(0.25)), inverse_sqrt(size2) * q[s], of<Quat<P>>(v_.last)[s]);
  }
}

}  // namespace osier::projective
