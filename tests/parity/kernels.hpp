// The kernels whose results are compared between the host, its twin of the device, and the device.
#pragma once

#include "energies/bend_twist.hpp"
#include "energies/strain_since_start.hpp"
#include "energies/stretch_shear.hpp"
#include "exec/launch.hpp"
#include "exec/strided.hpp"
#include "solvers/systems/chains/strand_rows.hpp"

namespace osier::parity {

/// One segment and one joint.
template <class T>
struct EnergyInput {
  Vec3<T> p, k, alpha;     ///< edge over rest length; stiffness and Kelvin-Voigt time over the step, axis by axis
  Quat<T> qa, qb, q0;      ///< frames and rest rotation
  Quat<T> turn_a, turn_b;  ///< what the frames turn by within the step
  Vec3<T> u_far, u_near;   ///< displacements of the ends within the step
};

/// Value, gradient and Hessian of the energies, for the law of one stiffness and for that of three.
template <class T>
struct EnergyOutput {
  T stretch, stretch3, bend, bend3;
  Vec3<T> stretch_dp, stretch_dw, stretch3_dp, stretch3_dw, bend_dw;
  Mat3<T> stretch_ww, stretch_pw, stretch3_ww, stretch3_pw, bend_ww;
  Vec3<T> since_segment, since_couple, since_moment;  ///< strains since the start of the step
  T since_energy, since_energy3, pole_margin;
};

template <class T>
OSIER_FN EnergyOutput<T> evaluate(const EnergyInput<T>& in) {
  EnergyOutput<T> out;
  const T k = in.k.x;
  const Vec3<T> d = director3(in.qa);
  out.stretch = stretch_shear::value(k, in.p, d);
  out.stretch_dp = stretch_shear::gradient_p(k, T(1), in.p, d);
  out.stretch_dw = stretch_shear::gradient_w(k, in.p, d);
  out.stretch_ww = stretch_shear::hessian_ww(k, in.p, d);
  out.stretch_pw = stretch_shear::hessian_pw(k, d);

  const Vec3<T> strain = stretch_shear::local_strain(in.p, in.qa);
  const Mat3<T> C = rotated_diagonal(rotation_matrix(in.qa), in.k);
  out.stretch3 = stretch_shear::value(in.k, strain);
  out.stretch3_dp = stretch_shear::section_force(in.k, strain, in.qa);
  out.stretch3_dw = stretch_shear::gradient_w(out.stretch3_dp, in.p);
  out.stretch3_ww = stretch_shear::hessian_ww(C, in.p, out.stretch3_dp);
  out.stretch3_pw = stretch_shear::hessian_pw(C, in.p, out.stretch3_dp);

  const Quat<T> r = conj(in.qa) * in.qb, K = bend_twist::stiffness4(in.k), D = bend_twist::difference(K, r, in.q0);
  out.bend3 = bend_twist::value4(K, D);
  out.bend_dw = bend_twist::moment(K, r, in.q0);
  out.bend_ww = bend_twist::hessian_material(K, r, D);

  const auto start = strain_since_start::segment_start(in.qa, in.p, T(1), in.alpha);
  const Vec3<T> change = strain_since_start::change_by(in.turn_a, start.arm);
  out.since_segment = strain_since_start::segment_strain(start.stretch, change, in.u_far, in.u_near);
  const Quat<T> bend0 = in.qb * conj(in.qa * in.q0);
  const auto one = strain_since_start::isotropic_bend<true>(bend0, in.alpha.x, in.turn_b, in.turn_a);
  out.bend = k * one.energy;
  out.since_couple = one.couple;
  out.since_energy = one.energy;
  const auto three =
      strain_since_start::anisotropic_bend<true>(K, bend_twist::viscous4(in.k, in.alpha), D, in.turn_b, in.turn_a, in.qa, in.qb);
  out.since_moment = rotate(strain_since_start::half_turn_of(three.r), bend_twist::gradient_of_weighted(three.gradient, three.r));
  out.since_energy3 = three.energy;
  out.pole_margin = three.pole_margin;
  return out;
}

/// Inputs and outputs component by component, `count` items side by side.
template <class T>
struct EvaluateEnergies {
  const T* in;
  T* out;
  Index count;
  OSIER_FN void operator()(Index i) const {
    store_numbers<T>(evaluate(load_numbers<EnergyInput<T>, T>(in + i, count)), out + i, count);
  }
};

/// Factors a strand, or a pack of strands, solves for some forces, and makes one step of Newton's method. `load`, `moved`,
/// `block`: forces, displacements and extra stiffness on vertices, for rows and (head_) first vertices; `summary`: the energy
/// and the largest motion, [number][strand].
template <class P, template <class> class Law>
struct FactorStrands {
  using T = ScalarOf<P>;
  using Factor = systems::ChainFactor<systems::StrandRows<P, Law>>;
  systems::StrandGroup<T> group;
  T *load, *head_load, *moved, *head_moved;
  T *block, *head_block;
  T* summary;
  T *product, *head_product;  ///< H times the displacements

  template <bool kColumns>
  OSIER_FN void run(Index item) const {
    const Index first = item * lanes_of<P>, width = group.width;
    Factor factor(group, first);
    const systems::VertexBlocks<P> blocks{block + first, head_block + first, width};
    if (group.damped) factor.template linearise<kColumns, true>(blocks);
    else factor.template linearise<kColumns, false>(blocks);
    factor.template solve<kColumns>({load + first, head_load + first, width}, {moved + first, head_moved + first, width});
    factor.product({moved + first, head_moved + first, width}, {product + first, head_product + first, width}, blocks);
    factor.template solve_residual<kColumns>();
    factor.template advance<kColumns>();
    factor.rows.store_head();
    store_lanes(factor.totals.energy, summary + first);
    store_lanes(factor.motion.move2, summary + width + first);
  }
  /// Strands whose tails are free.
  OSIER_FN void operator()(Index item) const { run<false>(item); }
};

}  // namespace osier::parity
