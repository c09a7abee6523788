// How the author of a recorded scene wants it to look: /view and the colours of materials and structures. Read from the scene
// itself, which every recording holds, so that whoever draws a run (viewer, renderer, USD, glTF) draws it alike.
#pragma once

#include <optional>
#include <vector>

#include "core/hex_color.hpp"
#include "osier/io.hpp"

namespace osier {

struct Look {
  std::optional<double> ground;  ///< height along up_direction() [m]
  bool no_ground = false;
  std::vector<std::optional<HexColor>> material;  ///< one for each of RunInfo::materials

  bool has_colors() const;
  /// Of a segment; nothing where its author gave it none.
  std::optional<HexColor> of_segment(const RunInfo& info, std::size_t segment) const;
};

Look look_of(const RunInfo& info);

/// Height of the ground along `up`: what the scene says, or its highest level plane that stands still. Nothing where there is
/// neither, or where the scene wants none.
std::optional<double> ground_of(const Look& look, std::span<const Surface> obstacles, const Vec3d& up);

}  // namespace osier
