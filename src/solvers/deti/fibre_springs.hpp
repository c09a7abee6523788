// Energy, forces and stiffness of a fibre's springs. Spring between p and q: d = q - p, l = |d|, n = d/l.
//
//   energy 1/2 k (l - l0)^2      force on p: k (l - l0) n      stiffness k n n^T, and exactly k [n n^T + (1 - l0/l)(I - n n^T)]
//
// Without its geometric term the stiffness is that of Gauss and Newton: never negative, and 0 for rigid turns.
#pragma once

#include <cstdint>

#include "math/number.hpp"
#include "math/vec3.hpp"
#include "solvers/deti/fibre.hpp"
#include "solvers/deti/fibre_view.hpp"

namespace osier::deti {

/// Which second derivative.
enum class Stiffness : std::uint8_t {
  gauss_newton,
  exact,
  viscous,  ///< damping over velocity: tau k n n^T
};

template <class P>
struct Sym6 {  ///< xx, xy, xz, yy, yz, zz
  P e[6];
};
template <class P>
OSIER_FN P& entry(Sym6<P>& s, int r, int c) {
  constexpr int kPlace[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  return s.e[kPlace[r][c]];
}
template <class P>
OSIER_FN void add(Sym6<P>& to, const Sym6<P>& s) {
  for (int i = 0; i < 6; ++i) to.e[i] += s.e[i];
}

/// A 12x12 block.
template <class Q>
struct Block {
  Q a[kUnknowns][kUnknowns];
};

template <class P>
struct Springs {
  static constexpr int W = lanes_of<P>;
  const FibreView& f;

  OSIER_FN P at(const double* array, Index i) const { return load_lanes<P>(array + i * W); }
  OSIER_FN Vec3<P> vector(const double* array, Index i) const { return {at(array, i), at(array, i + 1), at(array, i + 2)}; }
  OSIER_FN void put(double* array, Index i, const P& x) const { store_lanes(x, array + i * W); }

  /// Corners of section k relative to the centroid of section `base`: differences of particles keep their digits.
  OSIER_FN void corners(Index k, Index base, Vec3<P> (&p)[kCorners]) const { corners(f.y, k, base, p); }
  OSIER_FN void corners(const double* y, Index k, Index base, Vec3<P> (&p)[kCorners]) const {
    const Index o = k * kUnknowns;
    const Vec3<P> a1 = vector(y, o + 3), a2 = vector(y, o + 6), a3 = vector(y, o + 9);
    Vec3<P> c{P(0), P(0), P(0)};
    if (k != base) c = vector(y, o) - vector(y, base * kUnknowns);
    p[0] = c + a1 + a2 + a3;
    p[1] = c - a1 + a2 - a3;
    p[2] = c - a1 - a2 + a3;
    p[3] = c + a1 - a2 - a3;
  }
  OSIER_FN static int kind(int i, int j) {
    constexpr int kKind[kCorners] = {kOfK1, kOfKf, kOfKd, kOfKf};
    return kKind[(j - i + kCorners) % kCorners];
  }
  OSIER_FN P cuboid(Index k, int number) const { return at(f.cuboid, k * kCuboidNumbers + number); }
  OSIER_FN P section(Index k, int number) const { return at(f.section, k * kSectionNumbers + number); }

  /// Calls of every spring between sections k and k + 1: use(i, j, stiffness, rest length, d), of the spring between centroids
  /// with i = j = -1.
  template <class F>
  OSIER_FN void each_between(Index k, const F& use) const {
    Vec3<P> p[kCorners], q[kCorners];
    corners(k, k, p);
    corners(k + 1, k, q);
    for (int i = 0; i < kCorners; ++i)
      for (int j = 0; j < kCorners; ++j) use(i, j, cuboid(k, kind(i, j)), cuboid(k, kOfRest + kCorners * i + j), q[j] - p[i]);
    const Vec3<P> d = vector(f.y, (k + 1) * kUnknowns) - vector(f.y, k * kUnknowns);
    use(-1, -1, cuboid(k, kOfKc), cuboid(k, kOfRest + kCuboidSprings - 1), d);
  }
  /// And of every spring within section k: use(spring, ...).
  template <class F>
  OSIER_FN void each_within(Index k, const F& use) const {
    Vec3<P> p[kCorners];
    corners(k, k, p);
    for (int e = 0; e < kSectionSprings; ++e)
      use(e, section(k, e < 4 ? kOfK2 : kOfKx), section(k, kOfSectionRest + e), p[kSectionEnds[e][1]] - p[kSectionEnds[e][0]]);
  }

  OSIER_FN static P energy_of(const P& k, const P& rest, const Vec3<P>& d) {
    const P e = root(norm2(d)) - rest;
    return P(0.5) * k * e * e;
  }
  P energy() const {
    P sum(0);
    for (Index k = 0; k < f.sections; ++k) {
      each_within(k, [&](int, const P& s, const P& l0, const Vec3<P>& d) { sum += energy_of(s, l0, d); });
      if (k + 1 < f.sections)
        each_between(k, [&](int, int, const P& s, const P& l0, const Vec3<P>& d) { sum += energy_of(s, l0, d); });
    }
    return sum;
  }

  /// Force on the first end.
  OSIER_FN static Vec3<P> pull(const P& k, const P& rest, const Vec3<P>& d) {
    const P l2 = norm2(d);
    const P s = k * (P(1) - rest * inverse_sqrt(l2));
    return s * d;
  }
  /// Sums the forces that springs exert on particles into unknowns: within(e, k, l0, d, spring's section), between(...) tell the
  /// force on a spring's first end, and use(unknown, force) takes the sums.
  template <class Within, class Between, class Use>
  OSIER_FN void gather(const Within& within, const Between& between, const Use& use) const {
    const Vec3<P> none{P(0), P(0), P(0)};
    Vec3<P> before[kCorners] = {none, none, none, none};  // from the cuboid before this section
    Vec3<P> before_c = none;
    for (Index k = 0; k < f.sections; ++k) {
      Vec3<P> on[kCorners] = {before[0], before[1], before[2], before[3]};
      Vec3<P> on_c = before_c;
      within(k, [&](int e, const Vec3<P>& t) {
        on[kSectionEnds[e][0]] += t;
        on[kSectionEnds[e][1]] -= t;
      });
      if (k + 1 < f.sections) {
        for (auto& v : before) v = none;
        between(k, [&](int i, int j, const Vec3<P>& t) {
          if (i < 0) {
            on_c += t;
            before_c = -t;
          } else {
            on[i] += t;
            before[j] -= t;
          }
        });
      }
      const Vec3<P> mode[kModes] = {on[0] + on[1] + on[2] + on[3] + on_c, on[0] - on[1] - on[2] + on[3],
                                    on[0] + on[1] - on[2] - on[3], on[0] - on[1] + on[2] - on[3]};
      for (int m = 0; m < kModes; ++m) {
        use(k * kUnknowns + 3 * m, mode[m].x);
        use(k * kUnknowns + 3 * m + 1, mode[m].y);
        use(k * kUnknowns + 3 * m + 2, mode[m].z);
      }
    }
  }
  /// Elastic forces plus loads; 0 where unknowns are held.
  void forces() const {
    gather(
        [&](Index k, const auto& add_force) __attribute__((always_inline)) {
          each_within(k, [&](int e, const P& s, const P& l0, const Vec3<P>& d) { add_force(e, pull(s, l0, d)); });
        },
        [&](Index k, const auto& add_force) __attribute__((always_inline)) {
          each_between(k, [&](int i, int j, const P& s, const P& l0, const Vec3<P>& d) { add_force(i, j, pull(s, l0, d)); });
        },
        [&](Index i, const P& sum) { put(f.force, i, at(f.free, i) * (sum + at(f.load, i))); });
  }
  /// out = K x, of Gauss and Newton's K times `scale`, or of the viscous one. What is held moves, too, but its rows are 0.
  template <Stiffness S>
  void product(const P& scale, const double* x, double* out) const {
    static_assert(S != Stiffness::exact);
    const auto along = [&](const P& s, const P& tau, const Vec3<P>& d, const Vec3<P>& dx) {
      P k = scale * s / norm2(d) * dot(d, dx);
      if constexpr (S == Stiffness::viscous) k = k * tau;
      return -(k * d);  // K x is the opposite of the force on the first end, k n n^T (x_q - x_p)
    };
    gather(
        [&](Index k, const auto& add_force) __attribute__((always_inline)) {
          Vec3<P> v[kCorners];
          corners(x, k, k, v);
          const P tau = section(k, kOfSectionTau);
          each_within(k, [&](int e, const P& s, const P&, const Vec3<P>& d) {
            add_force(e, along(s, tau, d, v[kSectionEnds[e][1]] - v[kSectionEnds[e][0]]));
          });
        },
        [&](Index k, const auto& add_force) __attribute__((always_inline)) {
          Vec3<P> v[kCorners], u[kCorners];
          corners(x, k, k, v);
          corners(x, k + 1, k, u);
          const Vec3<P> c = vector(x, (k + 1) * kUnknowns) - vector(x, k * kUnknowns);
          const P tau = cuboid(k, kOfTau), tau_c = cuboid(k, kOfTauC);
          each_between(k, [&](int i, int j, const P& s, const P&, const Vec3<P>& d) {
            if (i < 0) add_force(i, j, along(s, tau_c, d, c));
            else add_force(i, j, along(s, tau, d, u[j] - v[i]));
          });
        },
        [&](Index i, const P& sum) { put(out, i, at(f.free, i) * sum); });
  }

  template <Stiffness S>
  OSIER_FN static Sym6<P> stiffness_of(const P& k, const P& rest, const P& tau, const Vec3<P>& d) {
    const P l2 = norm2(d);
    P along = k / l2;
    if constexpr (S == Stiffness::viscous) along = along * tau;
    P all(0);
    if constexpr (S == Stiffness::exact) {
      all = k * (P(1) - rest * inverse_sqrt(l2));
      along = along * rest * inverse_sqrt(l2);
    }
    const Vec3<P> t = along * d;
    return {{t.x * d.x + all, t.x * d.y, t.x * d.z, t.y * d.y + all, t.y * d.z, t.z * d.z + all}};
  }

  /// The upper triangle of K_kk in `diagonal` and K_k,k+1 in `above`, times `scale`; rows and columns of held unknowns are 0.
  template <Stiffness S>
  void assemble(const P& scale) const {
    Sym6<P> before[kModes] = {}, before_c = {};
    for (auto& s : before) s = zero();
    before_c = zero();
    for (Index k = 0; k < f.sections; ++k) {
      // AA_ii and BB_jj of a cuboid are diagonal in the corners, hence sum_q = sum_i sign(i, q) AA_ii is all that modes see of
      // them.
      Sym6<P> sum[kModes], centre = before_c, AB[kModes][kModes];
      for (int q = 0; q < kModes; ++q) sum[q] = before[q];
      Block<P> within;
      for (auto& r : within.a)
        for (P& x : r) x = P(0);
      const P tau_section = section(k, kOfSectionTau);
      each_within(k, [&](int e, const P& s, const P& l0, const Vec3<P>& d) {
        Sym6<P> g = stiffness_of<S>(scale * s, l0, tau_section, d);
        for (int m = 1; m < kModes; ++m)
          for (int m2 = m; m2 < kModes; ++m2) {
            const int sign = (kSign[kSectionEnds[e][1]][m] - kSign[kSectionEnds[e][0]][m]) *
                             (kSign[kSectionEnds[e][1]][m2] - kSign[kSectionEnds[e][0]][m2]);
            if (sign == 0) continue;
            for (int r = 0; r < 3; ++r)
              for (int c = 0; c < 3; ++c) within.a[3 * m + r][3 * m2 + c] += P(sign) * entry(g, r, c);
          }
      });
      if (k + 1 < f.sections) {
        Sym6<P> pair[kCorners][kCorners], Ai[kCorners], Bj[kCorners];
        for (int i = 0; i < kCorners; ++i) Ai[i] = zero(), Bj[i] = zero();
        const P tau = cuboid(k, kOfTau), tau_c = cuboid(k, kOfTauC);
        each_between(k, [&](int i, int j, const P& s, const P& l0, const Vec3<P>& d) {
          const Sym6<P> g = stiffness_of<S>(scale * s, l0, i < 0 ? tau_c : tau, d);
          if (i < 0) {
            add(centre, g);
            before_c = g;
          } else {
            pair[i][j] = g;
            add(Ai[i], g);
            add(Bj[j], g);
          }
        });
        transform(Ai);
        transform(Bj);
        for (int q = 0; q < kModes; ++q) {
          add(sum[q], Ai[q]);
          before[q] = Bj[q];
        }
        for (auto& row : pair) transform(row);
        for (int m2 = 0; m2 < kModes; ++m2) {
          Sym6<P> column[kCorners] = {pair[0][m2], pair[1][m2], pair[2][m2], pair[3][m2]};
          transform(column);
          for (int m = 0; m < kModes; ++m) AB[m][m2] = column[m];
        }
        add(AB[0][0], before_c);
      }
      const Index o = k * kUnknowns;
      for (int m = 0; m < kModes; ++m)
        for (int m2 = m; m2 < kModes; ++m2)
          for (int r = 0; r < 3; ++r)
            for (int c = m == m2 ? r : 0; c < 3; ++c) {
              const int row = 3 * m + r, column = 3 * m2 + c;
              P x = within.a[row][column] + entry(sum[m ^ m2], r, c);
              if (m == 0 && m2 == 0) x += entry(centre, r, c);
              put(f.diagonal, (o + row) * kUnknowns + column, at(f.free, o + row) * at(f.free, o + column) * x);
            }
      if (k + 1 == f.sections) break;
      for (int m = 0; m < kModes; ++m)
        for (int m2 = 0; m2 < kModes; ++m2)
          for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) {
              const int row = 3 * m + r, column = 3 * m2 + c;
              put(f.above, (o + row) * kUnknowns + column,
                  -(at(f.free, o + row) * at(f.free, o + kUnknowns + column) * entry(AB[m][m2], r, c)));
            }
    }
  }

 private:
  OSIER_FN static Sym6<P> zero() { return {{P(0), P(0), P(0), P(0), P(0), P(0)}}; }
  /// From corners to modes.
  OSIER_FN static void transform(Sym6<P> (&s)[kCorners]) {
    for (int i = 0; i < 6; ++i) {
      const P a = s[0].e[i] + s[1].e[i], b = s[0].e[i] - s[1].e[i], c = s[2].e[i] + s[3].e[i], d = s[2].e[i] - s[3].e[i];
      // signs of modes over corners 0..3: ++++, +--+, ++--, +-+-
      s[0].e[i] = a + c;
      s[1].e[i] = b - d;
      s[2].e[i] = a - c;
      s[3].e[i] = b + d;
    }
  }
};

}  // namespace osier::deti
