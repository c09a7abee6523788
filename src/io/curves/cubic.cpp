#include "io/curves/cubic.hpp"

namespace osier {

namespace {

std::array<double, 4> weights(CubicBasis basis, double t) {
  const double s = 1 - t, t2 = t * t, t3 = t2 * t;
  switch (basis) {
    case CubicBasis::bezier:
      return {s * s * s, 3 * s * s * t, 3 * s * t2, t3};
    case CubicBasis::bspline:
      return {s * s * s / 6, (3 * t3 - 6 * t2 + 4) / 6, (-3 * t3 + 3 * t2 + 3 * t + 1) / 6, t3 / 6};
    case CubicBasis::catmull_rom:
      break;
  }
  return {(-t3 + 2 * t2 - t) / 2, (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + t) / 2, (t3 - t2) / 2};
}

/// A control point beyond an end is folded into the two next to it.
CubicSample folded(std::ptrdiff_t first, const std::array<double, 4>& weight, std::size_t controls, std::size_t span, double t) {
  CubicSample sample{{}, {}, span, t};
  const auto n = static_cast<std::ptrdiff_t>(controls);
  const auto add = [&](std::ptrdiff_t control, double w) {
    const std::ptrdiff_t slot = control - std::max<std::ptrdiff_t>(first, 0);
    sample.control[static_cast<std::size_t>(slot)] = static_cast<std::size_t>(control);
    sample.weight[static_cast<std::size_t>(slot)] += w;
  };
  for (std::ptrdiff_t i = 0; i < 4; ++i) {
    const std::ptrdiff_t control = first + i;
    const double w = weight[static_cast<std::size_t>(i)];
    if (control < 0) add(0, 2 * w), add(1, -w);
    else if (control >= n) add(n - 1, 2 * w), add(n - 2, -w);
    else add(control, w);
  }
  return sample;
}

}  // namespace

std::ptrdiff_t cubic_spans(std::size_t controls, CubicBasis basis, CubicWrap wrap) {
  const auto n = static_cast<std::ptrdiff_t>(controls);
  if (basis == CubicBasis::bezier) {
    if (wrap == CubicWrap::periodic) return n >= 3 && n % 3 == 0 ? n / 3 : -1;
    return n >= 4 && (n - 4) % 3 == 0 ? (n - 4) / 3 + 1 : -1;
  }
  switch (wrap) {
    case CubicWrap::periodic:
      return n >= 3 ? n : -1;
    case CubicWrap::pinned:
      return n >= 2 ? n - 1 : -1;
    case CubicWrap::nonperiodic:
      break;
  }
  return n >= 4 ? n - 3 : -1;
}

std::vector<CubicSample> sample_cubic(std::size_t controls, CubicBasis basis, CubicWrap wrap, int per_span) {
  const auto spans = static_cast<std::size_t>(cubic_spans(controls, basis, wrap));
  const bool bezier = basis == CubicBasis::bezier, periodic = wrap == CubicWrap::periodic;
  const auto at = [&](std::size_t span, double t) {
    const auto weight = weights(basis, t);
    if (!periodic) {
      const auto first = static_cast<std::ptrdiff_t>(bezier ? 3 * span : span);
      return folded(!bezier && wrap == CubicWrap::pinned ? first - 1 : first, weight, controls, span, t);
    }
    // Span k of a periodic curve runs from control point k to k + 1, so that a Catmull-Rom loop starts at its first one.
    const std::size_t first = bezier ? 3 * span : span + controls - 1;
    CubicSample sample{{}, weight, span, t};
    for (std::size_t i = 0; i < 4; ++i) sample.control[i] = (first + i) % controls;
    return sample;
  };
  std::vector<CubicSample> samples;
  samples.reserve(spans * static_cast<std::size_t>(per_span) + 1);
  for (std::size_t span = 0; span < spans; ++span)
    for (int i = 0; i < per_span; ++i) samples.push_back(at(span, static_cast<double>(i) / per_span));
  if (!periodic) samples.push_back(at(spans - 1, 1));
  return samples;
}

}  // namespace osier
