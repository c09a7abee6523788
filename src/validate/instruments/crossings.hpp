// Zero crossings of a signal sampled at equal steps, and what they say about the oscillation behind it.
#pragma once

#include <vector>

#include "integration/integrator.hpp"

namespace osier::validate {

struct Crossing {
  double at;     ///< in steps from the first sample
  double slope;  ///< of the signal there, per step
};

/// By a cubic through the two samples before and the two after, so that the error is of fourth order in the step. A crossing
/// before the second or after the last but one sample is left out.
std::vector<Crossing> zero_crossings(const std::vector<double>& samples);

struct Oscillation {
  double frequency;      ///< natural, undamped [Hz]
  double damping_ratio;  ///< of critical
  double raw_frequency, raw_damping;
};

/// From crossing `skip` to the last one that is a whole number of periods later. A mode x'' = -w^2 x - 2 zeta w x' sampled by a
/// step method goes like z^k, and k steps between n half periods with slopes s0 and sn give
///
///   z = exp((ln|sn/s0| + i n pi)/k)
///
/// raw        lambda = ln(z)/h, what the samples show
/// otherwise  the lambda that the integrator turns into this z, e.g. (1 - 1/z)/h: its own shift and damping are taken out;
///            without an integrator, that of a solver with another method, there is nothing to take out
///
/// then w = |lambda|, zeta = -Re(lambda)/|lambda|. Throws RunError when there are too few crossings.
Oscillation oscillation(const std::vector<Crossing>& crossings, int skip, double h, const TimeIntegrator* integrator);

/// Damping ratio of the mode near `frequency` from the recursion that a sum of modes satisfies, x_k = c_1 x_k-1 + ... + c_n x_k-n
/// [Prony], by least squares with n = 8, which is four modes: other modes and the sampling are no error then, whatever the step.
/// NaN where there are too few samples.
double damping_by_recursion(const std::vector<double>& samples, double frequency, double h);

}  // namespace osier::validate
