// What is measured: scenes by name and by text, each with the solver variants it is run with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "osier/scene.hpp"
#include "solvers/solver.hpp"

namespace osier::bench {

struct Subject {
  std::string name;
  std::string text;                    ///< JSON, or empty: scenes/<file>.json
  std::string file;                    ///< when it differs from the name
  std::vector<std::string> overrides;  ///< as for --set
  Subject with(std::string override) const;
};

/// What tables call the solver of a role.
const char* method_name(SolverRole role);

/// One way to solve it, by the registered solver of a role, or by one that is named. Zero iterations: until the tolerance is met.
struct Variant {
  SolverRole role = SolverRole::automatic;
  const char* solver = "";  ///< with the role `other`: which
  int iterations = 0;
  double tolerance = 1e-3;
  Precision precision = Precision::double_precision;
  int threads = 1;
  Simd simd = Simd::automatic;
  Device device = Device::cpu;
  std::string lambda = "secular";  ///< of sweeps

  /// What tables call it.
  const char* name() const { return *solver ? solver : method_name(role); }
  Json solver_json() const;
  Execution execution() const;
};

Variant sweeps(int iterations, Precision precision = Precision::double_precision, int threads = 1);
Variant direct(int iterations, Precision precision = Precision::double_precision, int threads = 1);
/// Sweeps of projective dynamics.
Variant projective(int iterations, Precision precision = Precision::double_precision, int threads = 1);
/// Whole rods as boundary-value problems.
Variant boundary_values();
Variant automatic(Precision precision = Precision::double_precision, int threads = 1);
/// Until nothing moves any more, within what double holds.
Variant converged();
/// By the exact and slow solver.
Variant reference(double tolerance);

Scene load(const Subject& subject, const Variant& variant, const std::filesystem::path& folder);

/// METHOD's cantilever: 1 m long, 1 cm thick, 1000 kg/m³, held at one end, let go from the horizontal. The paper's energy: one
/// stiffness for stretch and shear, one for bending and twist.
Subject cantilever(const std::string& name, int segments, double young);
/// One straight chain of this many vertices, pinned at both ends, at R = 1 for a millisecond.
Subject chain(int vertices);
/// Hair of 32 vertices a strand, this many vertices in all.
Subject strands(int vertices);
/// Clamped curls of hair of a hundred segments each.
Subject curls(int count);
/// Wavy strands of real hair, given by its moduli: a stiffness for each axis.
Subject strands_anisotropic(int vertices);

}  // namespace osier::bench
