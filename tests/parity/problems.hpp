// What the kernels of tests/parity are run on: made up at random, the same numbers on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/buffer.hpp"
#include "parity/kernels.hpp"

namespace osier::parity {

/// Numbers between -1 and 1 that do not depend on a library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2862933555777941757ull + 3037000493ull) {}
  double number() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(static_cast<std::int64_t>(state_)) / 9223372036854775808.0;
  }
  double between(double a, double b) { return a + (b - a) * 0.5 * (number() + 1); }
  Vec3d vector(double size) {
    const double x = size * number(), y = size * number(), z = size * number();
    return {x, y, z};
  }
  Vec3d positive(double a, double b) {
    const double x = between(a, b), y = between(a, b), z = between(a, b);
    return {x, y, z};
  }
  Quatd rotation() {
    const double x = number(), y = number(), z = number(), w = number();
    return normalized(Quatd{x, y, z, w + 0.1});
  }
  Quatd small_rotation(double angle) { return rotation_exp(vector(angle)); }

 private:
  std::uint64_t state_;
};

template <class T>
std::vector<T> energy_inputs(Index count) {
  constexpr int kNumbers = numbers_in<EnergyInput<T>, T>;
  std::vector<T> memory(static_cast<std::size_t>(kNumbers * count));
  Random random(1);
  for (Index i = 0; i < count; ++i) {
    EnergyInput<T> in;
    in.qa = cast<T>(random.rotation());
    in.p = cast<T>(cast<double>(director3(in.qa)) + random.vector(0.1));
    in.k = cast<T>(random.positive(0.5, 2));
    in.alpha = cast<T>(random.positive(0.1, 1));
    in.q0 = cast<T>(random.small_rotation(0.5));
    in.qb = cast<T>(normalized(cast<double>(in.qa * in.q0) * random.small_rotation(0.3)));
    in.turn_a = cast<T>(random.small_rotation(0.05));
    in.turn_b = cast<T>(random.small_rotation(0.05));
    in.u_far = cast<T>(random.vector(0.05));
    in.u_near = cast<T>(random.vector(0.05));
    store_numbers<T>(in, memory.data() + i, count);
  }
  return memory;
}

/// Strands side by side; every other one hangs on a held vertex and a clamped frame, the rest on nothing.
template <class T, template <class> class Law>
struct StrandProblem {
  using Link = Law<T>;
  using Row = systems::ChainLinkRow<T, Law>;
  using Head = systems::StrandHead<T>;

  Index rows, width;
  bool damped;
  std::vector<T> row, head, constants, force, load, head_load, moved, head_moved, block, head_block, summary, product,
      head_product;
  std::vector<std::uint8_t> bent;

  /// `bend`: how far joints are bent [rad]; `soft_root`: the first frame has a joint as well.
  StrandProblem(Index rows_, Index width_, bool damped_, double bend, bool soft_root = false)
      : rows(rows_), width(width_), damped(damped_) {
    const int per_row = lanes::constants_per_row(Link::kLaw, damped, lanes::ChainUse::direct);
    const auto resize = [&](std::vector<T>& v, int numbers, bool per_row_too) {
      v.assign(static_cast<std::size_t>(numbers * width * (per_row_too ? rows : 1)), T(0));
    };
    const auto tiles = [&](std::vector<T>& v, int numbers, Index count) {
      v.assign(systems::size_of_tiles(count, numbers, static_cast<std::size_t>(width)), T(0));
    };
    tiles(row, numbers_in<Row, T>, rows);
    resize(head, numbers_in<Head, T>, false);
    tiles(constants, per_row, rows + 1);
    tiles(force, Link::kForces, rows);
    resize(load, 6, true);
    resize(head_load, 3, false);
    resize(moved, 6, true);
    resize(head_moved, 3, false);
    resize(block, 6, true);
    resize(head_block, 6, false);
    resize(summary, 2, false);
    resize(product, 6, true);
    resize(head_product, 3, false);
    bent.assign(systems::size_of_tiles(rows, 1, static_cast<std::size_t>(width)), 0);
    for (Index k = 0; k < width; ++k) fill_strand(k, per_row, bend, soft_root);
  }

  systems::StrandGroup<T> group() {
    return {rows, width, row.data(), head.data(), bent.data(), constants.data(), force.data(), T(1 / kStep), damped};
  }
  template <class P>
  FactorStrands<P, Law> kernel() {
    return {group(),      load.data(),       head_load.data(), moved.data(),   head_moved.data(),
            block.data(), head_block.data(), summary.data(),   product.data(), head_product.data()};
  }
  /// Number c of row i of strand k, in tiles.
  std::size_t tile_at(Index count, Index i, int numbers, int c, Index k) const {
    return static_cast<std::size_t>(systems::place_in_tiles(count, i, numbers, k) + std::ptrdiff_t{c} * systems::kTile);
  }
  /// Number c of row i of strand k in a field.
  std::size_t at(Index i, int numbers, int c, Index k) const { return static_cast<std::size_t>((i * numbers + c) * width + k); }

 private:
  static constexpr double kStep = 1e-2, kLength = 0.1;

  void fill_strand(Index k, int per_row, double bend, bool soft_root) {
    Random random(static_cast<std::uint64_t>(k) + 10);
    const bool held = k % 2 == 0;
    Quatd near = random.rotation();
    Head h{};
    h.turn = cast<T>(random.small_rotation(held ? 0.0 : 0.5 * bend));
    h.frame0 = cast<T>(near);
    h.held = T(held ? 1 : 0);
    h.weight = T(random.between(5, 10));
    h.u = cast<T>(random.vector(0.01));
    h.rhs = cast<T>(random.vector(0.1));
    h.free_spin = T(held || soft_root ? 0 : 1);
    h.spin_stiffness = T(held || soft_root ? 0 : 1e-3);
    store_numbers<T>(h, head.data() + k, width);
    for (Index i = 0; i < rows; ++i) {
      for (int c = 0; c < per_row; ++c) constants[tile_at(rows + 1, i, per_row, c, k)] = T(constant(c, random));
      fill_row(i, k, per_row, bend, soft_root, near, random);
      for (int a = 0; a < 6; ++a) load[at(i, 6, a, k)] = T(random.number());
      for (int a = 0; a < Link::kForces; ++a) force[tile_at(rows, i, Link::kForces, a, k)] = T(random.between(0, 0.2));
      fill_block(&block[at(i, 6, 0, k)], random);
    }
    for (int a = 0; a < 3; ++a) head_load[static_cast<std::size_t>(a * width + k)] = T(random.number());
    fill_block(&head_block[static_cast<std::size_t>(k)], random);
  }

  static double constant(int c, Random& random) {
    if (c == lanes::kMass) return random.between(0.5e-3, 1e-3);
    if (c == lanes::kInverseLength) return 1 / kLength;
    const bool isotropic = Link::kLaw == StiffnessLaw::isotropic;
    const bool stretch = isotropic ? c == lanes::kStretch : c >= lanes::kStretchAxes && c < lanes::kStretchAxes + 3;
    const bool joint = isotropic ? c == lanes::kBend : c >= lanes::kBendAxes && c < lanes::kBendAxes + 3;
    return stretch ? random.between(5, 10) : joint ? random.between(0.5, 1) : random.between(1e-3, 5e-3);
  }

  void fill_row(Index i, Index k, int per_row, double bend, bool soft_root, Quatd& near, Random& random) {
    const auto number = [&](int what) { return constants[tile_at(rows + 1, i, per_row, what, k)]; };
    const T inverse_h(1 / kStep);
    Row r{};
    const auto springs = Link::springs(number, inverse_h, damped);
    r.load_segment(number, T(kLength), Link::stretch_damping(number, inverse_h, damped));
    r.load_joint(number, springs);
    if (i == 0 && !soft_root) r.replace_joint(0, k % 2 == 0 ? T(0) : systems::kLoose<T>);
    const Vec3d axis = random.vector(1);
    const Quatd rest = random.small_rotation(0.2), bending = rotation_exp((bend / norm(axis)) * axis);
    const Quatd q = normalized(near * rest * bending);
    r.arm0 = cast<T>(kLength * director3(q));
    r.stretch0 = cast<T>(random.vector(1e-3));
    r.rhs = cast<T>(random.vector(0.1));
    r.weight = T(random.between(5, 10));
    r.u = cast<T>(random.vector(1e-3));
    r.turn = cast<T>(random.small_rotation(0.1 * bend));
    if constexpr (Link::kOwnAxes) {
      r.frame0 = cast<T>(q);
      r.difference0 = cast<T>(bend_twist::difference(cast<double>(springs.K), conj(near) * q, rest));
    } else {
      r.bend0 = cast<T>(q * conj(near * rest));
    }
    store_numbers<T>(r, row.data() + tile_at(rows, i, numbers_in<Row, T>, 0, k), systems::kTile);
    near = q;
  }

  /// Stiffness against two directions.
  void fill_block(T* lower, Random& random) {
    const Vec3d a = random.vector(2), b = random.vector(2);
    const Mat3<double> m = outer(a, a) + outer(b, b);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) lower[static_cast<std::ptrdiff_t>(triangle(i, j)) * width] = T(m.m[i][j]);
  }
};

}  // namespace osier::parity
