// Every operation of a pack against the same on one number. pack_checks.cpp is compiled once per instruction set and may contain
// nothing but templates over its pack type (exec/simd.hpp): mistakes are handed back in plain arrays.
#pragma once

#include "exec/lanes.hpp"
#include "exec/simd.hpp"
#include "math/sine.hpp"

namespace osier::test {

struct PackMistake {
  const char* operation;
  int lane;
  double got, expected;
};
struct PackReport {
  static constexpr int kRoom = 16;
  int mistakes = 0, checks = 0;
  PackMistake first[kRoom];
};

template <Simd S>
void check_packs(PackReport& report);

template <class P>
class PackChecks {
 public:
  using S = ScalarOf<P>;
  static constexpr int W = lanes_of<P>;

  static void run(PackReport& report) {
    PackChecks checks(report);
    for (int round = 0; round < 20; ++round) {
      checks.arithmetic();
      checks.comparisons();
      checks.moves();
      checks.rows();
      if constexpr (sizeof(S) == 8) checks.sines();
    }
  }

 private:
  explicit PackChecks(PackReport& report) : report_(report) {}

  S number() {  // between -4 and 4, never near 0
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const S x = static_cast<S>(static_cast<double>(state_ >> 40) / 16777216.0);
    return (state_ >> 20 & 1u) != 0 ? S(0.1) + S(3.9) * x : S(-0.1) - S(3.9) * x;
  }
  void fill(S* p, int n) {
    for (int i = 0; i < n; ++i) p[i] = number();
  }
  void expect(const char* operation, int lane, S got, S expected, S tolerance = S(0)) {
    ++report_.checks;
    const S off = got > expected ? got - expected : expected - got;
    if (off <= tolerance * (expected < S(0) ? -expected : expected)) return;
    if (report_.mistakes < PackReport::kRoom)
      report_.first[report_.mistakes] = {operation, lane, static_cast<double>(got), static_cast<double>(expected)};
    ++report_.mistakes;
  }
  template <class F>
  void each(const char* operation, const P& got, const F& expected, S tolerance = S(0)) {
    for (int i = 0; i < W; ++i) expect(operation, i, lane(got, i), expected(i), tolerance);
  }
  template <class F>
  void each_bit(const char* operation, PackMask<S, W> got, const F& expected) {
    const unsigned b = bits(got);
    for (int i = 0; i < W; ++i) expect(operation, i, static_cast<S>(b >> i & 1u), expected(i) ? S(1) : S(0));
    expect(operation, W, any(got) ? S(1) : S(0), b != 0 ? S(1) : S(0));
    expect(operation, W, static_cast<S>(b >> (W - 1) >> 1), S(0));
  }

  void sines() {  // math/sine.hpp; shifted by 2, so that the tolerance is one of the argument's period
    S a[W];
    fill(a, W);
    for (S size = 1; size < S(1e9); size = size * S(31)) {  // the last ones beyond what the series is for
      S x[W];
      for (int i = 0; i < W; ++i) x[i] = i % 2 == 0 ? size * a[i] : a[i];
      each(
          "sine", P(2) + sine(P::load(x)), [&](int i) { return 2 + std::sin(x[i]); }, S(4.5e-16));
    }
  }

  void arithmetic() {
    S a[W], b[W];
    fill(a, W), fill(b, W);
    const P x = P::load(a), y = P::load(b), size = P::load(a) * P::load(a);
    each("+", x + y, [&](int i) { return a[i] + b[i]; });
    each("-", x - y, [&](int i) { return a[i] - b[i]; });
    each("*", x * y, [&](int i) { return a[i] * b[i]; });
    each("/", x / y, [&](int i) { return a[i] / b[i]; });
    each("negative", -x, [&](int i) { return -a[i]; });
    P z = x;
    z += y;
    each("+=", z, [&](int i) { return a[i] + b[i]; });
    z = x;
    z -= y;
    each("-=", z, [&](int i) { return a[i] - b[i]; });
    each("abs", abs(x), [&](int i) { return a[i] < S(0) ? -a[i] : a[i]; });
    each("all the same", P(S(2.5)), [&](int) { return S(2.5); });
    const S few = S(4) * std::numeric_limits<S>::epsilon();
    each(
        "sqrt", sqrt(size), [&](int i) { return std::sqrt(a[i] * a[i]); }, few);
    each(
        "root", root(size), [&](int i) { return std::sqrt(a[i] * a[i]); }, few);
    each("root of 0", root(P(0)), [&](int) { return S(0); });
    each(
        "inverse", inverse(x), [&](int i) { return S(1) / a[i]; }, few);
    each(
        "inverse_sqrt", inverse_sqrt(size), [&](int i) { return S(1) / std::sqrt(a[i] * a[i]); }, few);
  }

  void comparisons() {
    S a[W], b[W];
    fill(a, W), fill(b, W);
    b[W / 2] = a[W / 2];
    const P x = P::load(a), y = P::load(b);
    each_bit("<", x < y, [&](int i) { return a[i] < b[i]; });
    each_bit(">", x > y, [&](int i) { return a[i] > b[i]; });
    each_bit("<=", x <= y, [&](int i) { return a[i] <= b[i]; });
    each_bit(">=", x >= y, [&](int i) { return a[i] >= b[i]; });
    each_bit("==", x == y, [&](int i) { return a[i] == b[i]; });
    each_bit("and", (x < y) & (x < P(0)), [&](int i) { return a[i] < b[i] && a[i] < S(0); });
    each_bit("or", (x < y) | (x < P(0)), [&](int i) { return a[i] < b[i] || a[i] < S(0); });
    each_bit("not", !(x < y), [&](int i) { return !(a[i] < b[i]); });
    PackMask<S, W> m = x < y;
    m |= x == y;
    each_bit("|=", m, [&](int i) { return a[i] <= b[i]; });
    each("select", select(x < y, x, y), [&](int i) { return a[i] < b[i] ? a[i] : b[i]; });
    each("larger", larger(x, y), [&](int i) { return a[i] > b[i] ? a[i] : b[i]; });
    each("smaller", smaller(x, y), [&](int i) { return a[i] < b[i] ? a[i] : b[i]; });
    const auto pattern = static_cast<std::uint32_t>(state_ >> 30) & all_lanes<P>;
    each_bit("mask_of_bits", mask_of_bits<P>(pattern), [&](int i) { return (pattern >> i & 1u) != 0; });
  }

  void moves() {
    S a[W], b[W];
    fill(a, W);
    const P x = load_lanes<P>(a);
    store_lanes(x, b);
    each("store", x, [&](int i) { return b[i]; });
    P y = x;
    set_lane(y, W - 1, S(7));
    each("set_lane", y, [&](int i) { return i == W - 1 ? S(7) : a[i]; });
    each("shifted_up", shifted_up(x), [&](int i) { return a[i > 0 ? i - 1 : 0]; });
    each("shifted_down", shifted_down(x), [&](int i) { return a[i < W - 1 ? i + 1 : i]; });
    each("per_lane", per_lane<P>([&](int i) { return a[i]; }), [&](int i) { return a[i]; });
  }

  void rows() {
    constexpr int n = 3 * W;
    S quads[4 * n], own[4 * W];
    fill(quads, 4 * n);
    Index index[W], offset[W], from[W];
    for (int i = 0; i < W; ++i) index[i] = (7 * i + 3) % n, offset[i] = 4 * index[i], from[i] = (5 * i + 1) % n;
    P c[4];
    gather_quads(quads, offset, c);
    for (int k = 0; k < 4; ++k) each("gather_quads", c[k], [&](int i) { return quads[offset[i] + k]; });
    store_quads(c, own);
    for (int i = 0; i < W; ++i)
      for (int k = 0; k < 4; ++k) expect("store_quads", i, own[4 * place_of_lane(W, i) + k], quads[offset[i] + k]);
    P again[4];
    load_quads(own, again);
    for (int k = 0; k < 4; ++k) each("load_quads", again[k], [&](int i) { return quads[offset[i] + k]; });
    rows_of_components(c, [&](int i, const Quadruple<P, S>& r) {
      for (int k = 0; k < 4; ++k) expect("rows_of_components", i, r.v[k], quads[offset[i] + k]);
    });

    Vec3d points[n];
    Quatd frames[n];
    double plain[n];
    for (int i = 0; i < n; ++i) {
      points[i] = {double(number()), double(number()), double(number())};
      frames[i] = {double(number()), double(number()), double(number()), double(number())};
      plain[i] = double(number());
    }
    const auto cast_to = [](double x) { return static_cast<S>(x); };
    const auto at = [&](int i) { return index[i]; };
    const Vec3<P> v = gather<P>(points, at);
    each("gather x", v.x, [&](int i) { return cast_to(points[index[i]].x); });
    each("gather y", v.y, [&](int i) { return cast_to(points[index[i]].y); });
    each("gather z", v.z, [&](int i) { return cast_to(points[index[i]].z); });
    const Vec3<P> d = gather_difference<P>(points, at, [&](int i) { return from[i]; });
    each("difference x", d.x, [&](int i) { return cast_to(points[index[i]].x - points[from[i]].x); });
    each("difference z", d.z, [&](int i) { return cast_to(points[index[i]].z - points[from[i]].z); });
    const Quat<P> q = gather<P>(frames, at);
    each("gather q.x", q.x, [&](int i) { return cast_to(frames[index[i]].x); });
    each("gather q.w", q.w, [&](int i) { return cast_to(frames[index[i]].w); });
    each("gather numbers", gather<P>(plain, at), [&](int i) { return cast_to(plain[index[i]]); });

    Vec3d pair[2] = {{1, 2, 3}, {4, 5, 6}};
    put_row(row<P>(points[0]) + row<P>(points[1]), pair[0]);
    expect("put_row", 0, cast_to(pair[0].z), cast_to(points[0].z + points[1].z));
    expect("put_row leaves its neighbour alone", 0, cast_to(pair[1].x), S(4));
  }

  PackReport& report_;
  std::uint64_t state_ = 88172645463325252u;
};

}  // namespace osier::test
