// Runs a scene given as text and compares families of resolutions with a reference.
#pragma once

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "math/quat.hpp"
#include "osier/osier.hpp"

namespace osier::test {

/// Rod S of the validation catalogue: E = 1 MPa, rho = 1000 kg/m^3, r = 1 cm, L = 1 m.
struct RodS {
  static constexpr double young = 1e6, density = 1000, radius = 0.01, length = 1;
  static constexpr double pi = 3.14159265358979323846;
  static constexpr double EA = young * pi * radius * radius;
  static constexpr double EI = EA * radius * radius / 4;
  static constexpr double mu = density * pi * radius * radius;
  static std::string material() { return R"({"young": 1e6, "density": 1000, "radius": 0.01})"; }
};

/// The equilibrium of a static scene.
inline Simulation settle(const std::string& text) {
  Simulation simulation(Scene::parse(text));
  for (int i = 0; i < simulation.frame_count(); ++i) {
    const StepReport report = simulation.step();
    EXPECT_FALSE(report.not_converged);
    EXPECT_TRUE(report.residual_relative <= 1.0001e-8 || report.residual < 1e-12)
        << report.residual_relative;  // unloaded: nothing to be relative to
  }
  return simulation;
}

/// Errors at several resolutions, judged by the rule of the catalogue: at most 1.5 times the error of the exact minimiser of
/// the discrete energy, and an observed order of at least 1.8 between the second and the last.
class Convergence {
 public:
  void add(int n, double error) { errors_[n] = std::abs(error), signed_[n] = error; }

  void expect_within(const std::map<int, double>& table, const std::string& what) const {
    for (const auto& [n, allowed] : table) {
      ASSERT_TRUE(errors_.count(n)) << what;
      EXPECT_LE(errors_.at(n), 1.5 * allowed) << what << " at N = " << n;
    }
  }
  double order(int coarse, int fine) const {
    return std::log(errors_.at(coarse) / errors_.at(fine)) / std::log(static_cast<double>(fine) / coarse);
  }
  void expect_second_order(const std::string& what, int coarse = 50, int fine = 200) const {
    EXPECT_GE(order(coarse, fine), 1.8) << what << ": " << text();
  }
  /// Richardson's estimate of the error in the limit of refinement, for a second-order method.
  double extrapolated(int coarse, int fine) const {
    const double ratio = static_cast<double>(fine) / coarse;
    return (ratio * ratio * signed_.at(fine) - signed_.at(coarse)) / (ratio * ratio - 1);
  }
  std::string text() const {
    std::string out;
    for (const auto& [n, e] : errors_) out += fmt::format(" N={}: {:.3g}", n, e);
    return out;
  }

 private:
  std::map<int, double> errors_, signed_;
};

}  // namespace osier::test
