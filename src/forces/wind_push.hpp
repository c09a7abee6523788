// The wind's push on as many vertices at a time as a number has lanes; symbols as in wind.hpp. Every lane is computed by itself,
// so that it does not matter which vertices share a pack.
#pragma once

#include "exec/lanes.hpp"
#include "forces/wind_kernels.hpp"

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

  /// `count` vertices from `first` on; lanes beyond repeat the last one.
  static void push(const WindView& wind, Index first, int count) {
    const auto vertex = [&](int k) { return first + (k < count ? k : count - 1); };
    WindOnVertex<P> on(wind.moment, gather<P>(wind.position, vertex), gather<P>(wind.velocity, vertex));
    Index most = 0;
    for (int k = 0; k < W; ++k)
      if (const Index n = wind.segment_start[vertex(k) + 1] - wind.segment_start[vertex(k)]; n > most) most = n;
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
            if (wind.moment.physical)
              width[k] = wind.moment.diameter > 0 ? wind.moment.diameter : wind.radius[a] + wind.radius[b];
            return row<P>(wind.position[b]) - row<P>(wind.position[a]);
          },
          edge);
      on.add({edge[0], edge[1], edge[2]}, per_lane<P>([&](int k) { return length[k]; }),
             per_lane<P>([&](int k) { return width[k]; }));
    }
    P K;
    const Vec3<P> force = on.force(gather<P>(wind.mass, vertex), K);
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
