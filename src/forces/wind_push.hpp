// The wind's push on as many vertices at a time as a number has lanes; symbols as in wind.hpp. Every lane is computed by itself,
// so that it does not matter which vertices share a pack.
#pragma once

#include "exec/lanes.hpp"
#include "forces/wind_kernels.hpp"
#include "math/sine.hpp"

namespace osier {

template <class P>
class WindPush {
 public:
  static void apply(const WindView& wind, Index begin, Index end) {
    for (Index v = begin; v < end; v += W) push(wind, v, end - v < W ? static_cast<int>(end - v) : W);
  }

 private:
  static constexpr int W = lanes_of<P>;
  using Row = Quadruple<P, double>;

  /// scale (S + offset): the speed of the gusts at one phase.
  OSIER_FN static P speed(const WindView& wind, P phase) {
    P S(0.0);
    double factor = 1;
    for (int k = 0; k < 3; ++k, factor *= 0.7) S += P(factor) * sine(P(factor) * phase);
    return P(wind.scale) * (S + P(wind.offset));
  }

  /// `count` vertices from `first` on; lanes beyond repeat the last one.
  static void push(const WindView& wind, Index first, int count) {
    const auto vertex = [&](int k) { return first + (k < count ? k : count - 1); };
    const Vec3<P> d{P(wind.direction.x), P(wind.direction.y), P(wind.direction.z)};
    const P along = dot(d, gather<P>(wind.position, vertex));
    const Vec3<P> velocity = speed(wind, P(wind.wave_number) * (along - P(wind.travelled))) * d;
    const Vec3<P> dv = velocity - gather<P>(wind.velocity, vertex);
    Index most = 0;
    for (int k = 0; k < W; ++k)
      if (const Index n = wind.segment_start[vertex(k) + 1] - wind.segment_start[vertex(k)]; n > most) most = n;
    P across(0.0);                         // of the paper: sum of l |dv x t|
    P K(0.0);                              // of the physical push: sum of K_s
    Vec3<P> push{P(0.0), P(0.0), P(0.0)};  // and of K_s dv_n
    for (Index i = 0; i < most; ++i) {
      double length[W], width[W];
      P edge[4];
      components_of_rows<P>(
          [&](int k) {
            const Index at = wind.segment_start[vertex(k)] + i;
            length[k] = width[k] = 0;
            if (at >= wind.segment_start[vertex(k) + 1]) return Row::all(0);
            const Index s = wind.segment[at] / 2;
            const Index a = wind.segment_vertices[2 * s], b = wind.segment_vertices[2 * s + 1];
            length[k] = wind.rest_length[s];
            if (wind.radius) width[k] = wind.diameter > 0 ? wind.diameter : wind.radius[a] + wind.radius[b];
            return row<P>(wind.position[b]) - row<P>(wind.position[a]);
          },
          edge);
      const Vec3<P> e{edge[0], edge[1], edge[2]};
      const P length2 = norm2(e);
      const P safe = select(length2 > P(0.0), length2, P(1.0));
      const P l = per_lane<P>([&](int k) { return length[k]; });
      if (!wind.radius) {
        across += l * root(norm2(cross(dv, e)) / safe);
        continue;
      }
      const Vec3<P> normal = dv - (dot(dv, e) / safe) * e;
      const P share = P(wind.strength) * l * per_lane<P>([&](int k) { return width[k]; }) * root(norm2(normal));
      K += share;
      push = push + share * normal;
    }
    if (!wind.radius) K = P(wind.strength) * root(gather<P>(wind.mass, vertex)) * across;
    const Vec3<P> force = wind.radius ? push + K * gather<P>(wind.velocity, vertex) : K * velocity;
    const P rows[4] = {force.x, force.y, force.z, K};
    rows_of_components(rows, [&](int k, const Row& r) {
      if (k >= count) return;
      const Index v = first + k;
      put_row(row<P>(wind.force[v]) + r, wind.force[v]);
      wind.damping[v] += r.v[3];
    });
  }
};

}  // namespace osier
