// GMRES with a preconditioner on the right: the least residual r - A M^-1 y over a Krylov space, by Givens rotations.
//
// `Space` defines the vectors:
//
//   Vector                              movable
//   double dot(a, b)
//   void add(a, t, b)                   a += t b
//   Vector zero()
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace osier {

/// Adds the solution of A x = r to x. apply(v, z, image): z = M^-1 v, image = A z. Stops when the residual is below
/// `tolerance` |r|; false if that takes more than `most` iterations or breaks down.
template <class Space, class Apply>
bool gmres(const Space& space, const typename Space::Vector& r, typename Space::Vector& x, int most, double tolerance,
           const Apply& apply) {
  using Vector = typename Space::Vector;
  const auto scaled = [&](double t, const Vector& v) {
    Vector out = space.zero();
    space.add(out, t, v);
    return out;
  };
  const auto size = [&](const Vector& v) { return std::sqrt(space.dot(v, v)); };
  const double whole = size(r);
  if (whole == 0) return true;
  std::vector<Vector> basis, preconditioned;
  std::vector<std::vector<double>> columns;  // of the triangular factor
  std::vector<double> cosine, sine, rhs{whole};
  basis.push_back(scaled(1 / whole, r));
  bool done = false;
  for (int k = 0; k < most && !done; ++k) {
    Vector z = space.zero(), next = space.zero();
    apply(basis.back(), z, next);
    if (!std::isfinite(size(next))) break;
    preconditioned.push_back(std::move(z));
    std::vector<double> h;
    for (const Vector& v : basis) {
      h.push_back(space.dot(v, next));
      space.add(next, -h.back(), v);
    }
    const double length = size(next);
    for (std::size_t i = 0; i < cosine.size(); ++i) {
      const double upper = cosine[i] * h[i] + sine[i] * h[i + 1];
      h[i + 1] = cosine[i] * h[i + 1] - sine[i] * h[i];
      h[i] = upper;
    }
    const double radius = std::hypot(h.back(), length);
    if (!(radius > 0)) break;
    cosine.push_back(h.back() / radius);
    sine.push_back(length / radius);
    h.back() = radius;
    columns.push_back(std::move(h));
    rhs.push_back(-sine.back() * rhs.back());
    rhs[rhs.size() - 2] *= cosine.back();
    done = std::abs(rhs.back()) <= tolerance * whole;
    if (!done) basis.push_back(scaled(1 / length, next));
  }
  if (!done) return false;
  for (std::size_t i = columns.size(); i-- > 0;) {
    double t = rhs[i];
    for (std::size_t k = i + 1; k < columns.size(); ++k) t -= columns[k][i] * rhs[k];
    rhs[i] = t / columns[i][i];
    space.add(x, rhs[i], preconditioned[i]);
  }
  return std::isfinite(size(x));
}

}  // namespace osier
