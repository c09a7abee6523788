#include "reproduce/elastica.hpp"

#include <cmath>

namespace osier::reproduction {

namespace {

/// theta, theta', x, y.
using Row = std::array<double, 4>;

Row slope(const Cantilever& c, double s, const Row& r) {
  const double load = c.w * (c.L - s);
  return {r[1], -load * std::cos(r[0]) / c.EI, std::cos(r[0]), -std::sin(r[0]) - load / c.EA};
}

Row step(const Cantilever& c, double s, double h, const Row& r) {
  const auto moved = [&](const Row& k, double by) {
    Row out = r;
    for (std::size_t i = 0; i < 4; ++i) out[i] += by * k[i];
    return out;
  };
  const Row a = slope(c, s, r), b = slope(c, s + h / 2, moved(a, h / 2)), d = slope(c, s + h / 2, moved(b, h / 2)),
            e = slope(c, s + h, moved(d, h));
  Row out = r;
  for (std::size_t i = 0; i < 4; ++i) out[i] += h / 6 * (a[i] + 2 * b[i] + 2 * d[i] + e[i]);
  return out;
}

}  // namespace

/// By shooting from the clamp: the curvature there is the one that leaves none at the tip.
std::vector<std::pair<double, double>> Cantilever::shape(int points) const {
  const int steps = 40 * (points - 1);
  const double h = L / steps;
  std::vector<std::pair<double, double>> out;
  const auto left_over = [&](double curvature) {
    Row r{0, curvature, 0, 0};
    out.assign(1, {0, 0});
    for (int i = 0; i < steps; ++i) {
      r = step(*this, i * h, h, r);
      if ((i + 1) % 40 == 0) out.emplace_back(r[2] / L, r[3] / L);
      if (std::abs(r[0]) > 3) return r[0];  // it has overshot
    }
    return r[1];
  };
  double low = 0, high = w * L * L / EI;  // the moment at the clamp is at most w L^2/2
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (left_over(middle) > 0 ? high : low) = middle;
  }
  left_over(0.5 * (low + high));
  return out;
}

}  // namespace osier::reproduction
