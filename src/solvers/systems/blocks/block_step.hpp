// Conjugate gradients of block_iteration.hpp, for a number type P of any number of lanes. Every function works on a range of
// tiles (block_plan.hpp), which no other range touches; sums are in double. An iteration is
//
//   advance all tiles | forces of the segments | images of the vertices | images of the frames | move all tiles
#pragma once

#include "exec/lanes.hpp"
#include "math/sym3.hpp"
#include "solvers/systems/blocks/block_plan.hpp"

namespace osier::systems {

template <class P, bool kIsotropic>
class BlockStep {
 public:
  using T = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;

  /// r.z of what is left.
  static double size(const BlockView<T>& v, int begin, int end) {
    Sum sum;
    for (int t = begin; t < end; ++t) {
      const Vec3<P> r = vector(v.left + rows(t, 3));
      sum.add(dot(r, preconditioned(v, t, r)));
    }
    return sum.value();
  }
  /// p <- z + again p
  static void advance(const BlockView<T>& v, T again, int begin, int end) {
    for (int t = begin; t < end; ++t) {
      T* own = v.direction + rows(t, 4);
      put_quads(preconditioned(v, t, vector(v.left + rows(t, 3))) + P(again) * own_quads(own), own);
    }
  }
  static void forces(const BlockView<T>& v, int begin, int end) {
    for (int t = begin; t < end; ++t) {
      const int s = t - v.vertex_tiles;
      const Vec3<P> w = own_quads(v.direction + rows(t, 4)), e = edge(v, t) + cross(vector(v.arm + rows(s, 3)), w);
      Vec3<P> f;
      if (axes_turn(v)) {
        const Vec3<P> strain = vector(v.strain + rows(s, 3));
        f = strained(v, s, e + cross(strain, w)) - cross(strained(v, s, strain), w);
      } else {
        f = strained(v, s, e);
      }
      put_quads(f, v.force + rows(s, 4));
    }
  }
  /// p.(H p)
  static double image_vertices(const BlockView<T>& v, int begin, int end) {
    Sum sum;
    for (int t = begin; t < end; ++t) {
      const BlockTile& tile = v.tile[t];
      const Vec3<P> p = own_quads(v.direction + rows(t, 4));
      Vec3<P> f = number(v.weight + rows(t, 1)) * p;
      const Index* index = indices(v, t);
      for (int i = 0; i < tile.in; ++i, index += W) f += quads(v.force, index);
      for (int i = 0; i < tile.out; ++i, index += W) f -= quads(v.force, index);
      put(f, v.image + rows(t, 3));
      sum.add(dot(p, f));
    }
    return sum.value();
  }
  /// Takes the place of the forces, which the vertices have got.
  static double image_frames(const BlockView<T>& v, int begin, int end) {
    Sum sum;
    for (int t = begin; t < end; ++t) {
      const BlockTile& tile = v.tile[t];
      const int s = t - v.vertex_tiles;
      T* own = v.force + rows(s, 4);
      const Vec3<P> w = own_quads(v.direction + rows(t, 4)), force = own_quads(own);
      const Vec3<P> arm = vector(v.arm + rows(s, 3)), strain = vector(v.strain + rows(s, 3)), n = strained(v, s, strain);
      Vec3<P> f;
      if (axes_turn(v)) {
        const Vec3<P> whole = arm + strain;
        f = cross(force + cross(n, w), whole) + cross(n, edge(v, t)) + P(T(0.5)) * (dot(whole, w) * n + dot(n, w) * whole) -
            dot(n, whole) * w;
      } else {
        f = cross(force, arm) + dot(n, arm) * w - P(T(0.5)) * (dot(arm, w) * n + dot(n, w) * arm);
      }
      if (v.inertia) f += triangle(v.inertia + rows(s, kInertiaRows)) * w;
      const P half(v.exact ? T(0.5) : T(0));  // of the moments: not positive by itself
      const Index* index = indices(v, t) + 2 * W;
      const auto add = [&](P share) {
        add_joint(v, index, w, share, f);
        index += 2 * W;
      };
      for (int i = 0; i < tile.in; ++i) add(-half);
      for (int i = 0; i < tile.out; ++i) add(half);
      put_quads(f, own);
      sum.add(dot(w, f));
    }
    return sum.value();
  }
  /// d += by p, r -= by H p; returns r.z. `most2`: the largest square of p, of frames times their arms'.
  static double move(const BlockView<T>& v, T by, int begin, int end, double& most2) {
    Sum sum;
    P most(T(0));
    for (int t = begin; t < end; ++t) {
      const bool of_vertices = t < v.vertex_tiles;
      T *solution = v.solution + rows(t, 3), *left = v.left + rows(t, 3);
      const Vec3<P> p = own_quads(v.direction + rows(t, 4));
      put(vector(solution) + P(by) * p, solution);
      most = larger(most, of_vertices ? norm2(p) : norm2(p) * norm2(vector(v.arm + rows(t - v.vertex_tiles, 3))));
      const Vec3<P> image = of_vertices ? vector(v.image + rows(t, 3)) : own_quads(v.force + rows(t - v.vertex_tiles, 4));
      const Vec3<P> r = vector(left) - P(by) * image;
      put(r, left);
      sum.add(dot(r, preconditioned(v, t, r)));
    }
    for (int k = 0; k < W; ++k) most2 = larger(most2, static_cast<double>(lane(most, k)));
    return sum.value();
  }

 private:
  /// Of all lanes, in double.
  class Sum {
   public:
    OSIER_FN void add(const P& x) {
      typename InDouble<P>::type part[InDouble<P>::parts];
      widen(x, part);
      for (int i = 0; i < InDouble<P>::parts; ++i) sum_[i] = sum_[i] + part[i];
    }
    OSIER_FN double value() const {
      double all = 0;
      for (int i = 0; i < InDouble<P>::parts; ++i)
        for (int k = 0; k < InDouble<P>::lanes; ++k) all += lane(sum_[i], k);
      return all;
    }

   private:
    using D = typename InDouble<P>::type;
    D sum_[2] = {D(0.0), D(0.0)};
  };

  OSIER_FN static std::ptrdiff_t rows(int tile, int count) { return static_cast<std::ptrdiff_t>(tile) * count * W; }
  OSIER_FN static const Index* indices(const BlockView<T>& v, int t) {
    return v.index + static_cast<std::ptrdiff_t>(v.tile[t].indices) * W;
  }
  OSIER_FN static P number(const T* p) { return load_lanes<P>(p); }
  OSIER_FN static Vec3<P> vector(const T* p) { return {number(p), number(p + W), number(p + 2 * W)}; }
  OSIER_FN static void put(const Vec3<P>& a, T* p) { store_lanes(a.x, p), store_lanes(a.y, p + W), store_lanes(a.z, p + 2 * W); }
  OSIER_FN static Sym3<P> triangle(const T* p) {
    return {number(p), number(p + W), number(p + 2 * W), number(p + 3 * W), number(p + 4 * W), number(p + 5 * W)};
  }
  OSIER_FN static Vec3<P> own_quads(const T* p) {
    P c[4];
    load_quads(p, c);
    return {c[0], c[1], c[2]};
  }
  OSIER_FN static void put_quads(const Vec3<P>& a, T* p) {
    const P c[4] = {a.x, a.y, a.z, P(T(0))};
    store_quads(c, p);
  }
  OSIER_FN static Vec3<P> quads(const T* base, const Index* offset) {
    P c[4];
    gather_quads(base, offset, c);
    return {c[0], c[1], c[2]};
  }

  OSIER_FN static Vec3<P> preconditioned(const BlockView<T>& v, int t, const Vec3<P>& r) {
    if (t < v.vertex_tiles) return number(v.vertex_inverse + rows(t, 1)) * r;
    const int s = t - v.vertex_tiles;
    const T* inverse = v.frame_inverse + rows(s, kFrameInverseRows);
    const Vec3<P> arm = vector(v.arm + rows(s, 3));
    return number(inverse) * r + (number(inverse + W) * dot(arm, r)) * arm;
  }
  /// dx_b - dx_a of the directions.
  OSIER_FN static Vec3<P> edge(const BlockView<T>& v, int t) {
    const Index* index = indices(v, t);
    return quads(v.direction, index + W) - quads(v.direction, index);
  }
  OSIER_FN static bool axes_turn(const BlockView<T>& v) { return !kIsotropic && v.exact; }
  OSIER_FN static Vec3<P> strained(const BlockView<T>& v, int s, const Vec3<P>& e) {
    const T* k = v.stiffness + rows(s, stiffness_rows(kIsotropic));
    if constexpr (kIsotropic) return number(k) * e;
    else return triangle(k) * e;
  }
  /// `share` of the moment: positive as the first frame feels it.
  OSIER_FN static void add_joint(const BlockView<T>& v, const Index* index, const Vec3<P>& w, const P& share, Vec3<P>& f) {
    const Vec3<P> other = quads(v.direction, index);
    const auto fours = [&](int first, P(&c)[4]) {
      components_of_rows<P>(
          [&](int i) {
            return Quadruple<P, T>::load(v.joint + joint_numbers(kIsotropic) * static_cast<std::ptrdiff_t>(index[W + i]) + first);
          },
          c);
    };
    P a[4];
    fours(0, a);
    f += share * cross(Vec3<P>{a[0], a[1], a[2]}, other);
    if constexpr (kIsotropic) {
      f += a[3] * (w - other);
    } else {
      P b[4], c[4];
      fours(4, b), fours(5, c);
      f += Sym3<P>{a[3], b[0], b[1], b[2], b[3], c[3]} * (w - other);
    }
  }
};

}  // namespace osier::systems
