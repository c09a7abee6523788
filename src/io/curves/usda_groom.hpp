// A USD file of curves as something to write back to: which prim each curve comes from, and how that prim's own points make it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/curves/cubic.hpp"
#include "io/curves/usda_xform.hpp"
#include "osier/curves.hpp"

namespace osier {

struct GroomPrim {
  std::vector<std::string> path;  ///< names, from the root
  std::size_t number = 0;         ///< in the stage
  bool linear = true;
  CubicBasis basis = CubicBasis::bezier;
  CubicWrap wrap = CubicWrap::nonperiodic;
  std::vector<std::size_t> counts;             ///< control points of each curve
  std::size_t first_curve = 0;                 ///< place of its first curve among those that read_curves() returns
  bool has_velocities = false, moves = false;  ///< `moves`: a transform around it changes with time
  double largest_width = 0;                    ///< in the prim's own unit, at the time that was read
};

class UsdaGroom {
 public:
  /// Throws InputError where read_curves() would.
  UsdaGroom(const std::filesystem::path& file, const CurveReadOptions& reading);
  ~UsdaGroom();
  UsdaGroom(const UsdaGroom&) = delete;
  UsdaGroom& operator=(const UsdaGroom&) = delete;

  double meters_per_unit() const;
  double time_codes_per_second() const;
  UpAxis up() const;
  const std::vector<GroomPrim>& prims() const { return prims_; }

  /// At a time code: from a prim's own space to that of the file, and its control points there.
  Affine to_file(const GroomPrim& prim, double time_code);
  std::vector<Vec3d> controls(const GroomPrim& prim, double time_code);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<GroomPrim> prims_;
};

}  // namespace osier
