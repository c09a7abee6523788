// What is measured: scenes by name and by text, each with the solver variants it is run with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "osier/scene.hpp"

namespace osier::bench {

struct Subject {
  std::string name;
  std::string text;                    ///< JSON, or empty: scenes/<file>.json
  std::string file;                    ///< when it differs from the name
  std::vector<std::string> overrides;  ///< as for --set
  Subject with(std::string override) const;
};

/// One way to solve it. Zero iterations: until the tolerance is met.
struct Variant {
  std::string method;  ///< sweep, direct, auto, or newton
  int iterations = 0;
  double tolerance = 1e-3;
  std::string precision = "double";
  int threads = 1;
  std::string simd = "auto";
  std::string lambda = "secular";  ///< of sweeps

  std::string solver_json() const;
};

Variant sweeps(int iterations, const std::string& precision = "double", int threads = 1);
Variant direct(int iterations, const std::string& precision = "double", int threads = 1);
Variant automatic(const std::string& precision = "double", int threads = 1);
/// Until nothing moves any more, within what double holds.
Variant converged();

Scene load(const Subject& subject, const Variant& variant, const std::filesystem::path& folder);

/// METHOD's cantilever: 1 m long, 1 cm thick, 1000 kg/m³, held at one end, let go from the horizontal. The paper's energy: one
/// stiffness for stretch and shear, one for bending and twist.
Subject cantilever(const std::string& name, int segments, double young);
/// One straight chain of this many vertices, pinned at both ends, at R = 1 for a millisecond.
Subject chain(int vertices);
/// Hair of 32 vertices a strand, this many vertices in all.
Subject strands(int vertices);
/// Wavy strands of real hair, given by its moduli: a stiffness for each axis.
Subject strands_anisotropic(int vertices);

}  // namespace osier::bench
