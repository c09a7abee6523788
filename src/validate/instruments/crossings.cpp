#include "validate/instruments/crossings.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <limits>
#include <numbers>

#include "osier/error.hpp"

namespace osier::validate {

namespace {

/// Samples between those from which a crossing is found: with many per half-period fast waves of a millionth of the amplitude
/// would otherwise show as slopes, and so as damping.
std::size_t stride_of(const std::vector<double>& samples) {
  constexpr std::size_t kPerHalfPeriod = 100;
  std::size_t first = 0, second = 0;
  for (std::size_t i = 1; i < samples.size() && second == 0; ++i)
    if ((samples[i - 1] < 0) != (samples[i] < 0)) (first == 0 ? first : second) = i;
  return second == 0 ? 1 : std::max<std::size_t>(1, (second - first) / kPerHalfPeriod);
}

}  // namespace

std::vector<Crossing> zero_crossings(const std::vector<double>& samples) {
  std::vector<Crossing> out;
  const std::size_t stride = stride_of(samples);
  for (std::size_t i = stride; i + 2 * stride < samples.size(); ++i) {
    if (!((samples[i] < 0 && samples[i + 1] >= 0) || (samples[i] > 0 && samples[i + 1] <= 0))) continue;
    const double a = samples[i - stride], b = samples[i], c = samples[i + stride], d = samples[i + 2 * stride];
    // b + p t + q t^2 + r t^3 through a, b, c, d at t = -1, 0, 1, 2 strides
    const double r = (d - 3 * c + 3 * b - a) / 6, q = 0.5 * (a + c) - b, p = c - b - q - r;
    const auto value = [&](double t) { return b + t * (p + t * (q + t * r)); };
    double low = 0, high = 1, t = b / (b - c);
    for (int k = 0; k < 60; ++k) {  // Newton, kept inside the bracket
      const double f = value(t), slope = p + t * (2 * q + 3 * t * r);
      ((f < 0) == (b < 0) ? low : high) = t;
      double next = t - f / slope;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - t) < 1e-15) break;
      t = next;
    }
    const double width = static_cast<double>(stride);
    out.push_back({static_cast<double>(i) + width * t, (p + t * (2 * q + 3 * t * r)) / width});
  }
  return out;
}

Oscillation oscillation(const std::vector<Crossing>& crossings, int skip, double h, const TimeIntegrator* integrator) {
  const std::size_t first = static_cast<std::size_t>(skip), count = crossings.size();
  if (count < first + 3)
    throw RunError(fmt::format("the signal passes through zero {} times, {} are needed; run longer", count, first + 3));
  const std::size_t half_periods = (count - 1 - first) / 2 * 2;
  const Crossing &a = crossings[first], &b = crossings[first + half_periods];
  const std::complex<double> turns{std::log(std::abs(b.slope / a.slope)), static_cast<double>(half_periods) * std::numbers::pi};
  const std::complex<double> step = turns / (b.at - a.at);  // ln z
  const std::complex<double> raw = step / h, lambda = integrator ? integrator->rate_of(std::exp(step), h) : raw;
  const double two_pi = 2 * std::numbers::pi;
  return {std::abs(lambda) / two_pi, -lambda.real() / std::abs(lambda), std::abs(raw) / two_pi, -raw.real() / std::abs(raw)};
}

double damping_by_recursion(const std::vector<double>& samples, double frequency, double h) {
  constexpr Eigen::Index kOrder = 8;
  const auto rows = static_cast<Eigen::Index>(samples.size()) - kOrder;
  if (rows < kOrder) return std::numeric_limits<double>::quiet_NaN();
  Eigen::MatrixXd before(rows, kOrder);
  Eigen::VectorXd now(rows);
  for (Eigen::Index k = 0; k < rows; ++k) {
    now[k] = samples[static_cast<std::size_t>(k + kOrder)];
    for (Eigen::Index j = 0; j < kOrder; ++j) before(k, j) = samples[static_cast<std::size_t>(k + kOrder - 1 - j)];
  }
  const Eigen::VectorXd c = before.bdcSvd(Eigen::ComputeThinU | Eigen::ComputeThinV).solve(now);
  Eigen::MatrixXd companion = Eigen::MatrixXd::Zero(kOrder, kOrder);
  companion.row(0) = c.transpose();
  companion.diagonal(-1).setOnes();
  const std::complex<double> wanted = std::polar(1.0, 2 * std::numbers::pi * frequency * h);
  const Eigen::VectorXcd roots = companion.eigenvalues();
  std::complex<double> nearest = roots[0];
  for (const std::complex<double>& z : roots)
    if (std::abs(z - wanted) < std::abs(nearest - wanted)) nearest = z;
  const std::complex<double> lambda = std::log(nearest);
  return -lambda.real() / std::abs(lambda);
}

}  // namespace osier::validate
