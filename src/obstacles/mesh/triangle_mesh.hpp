// Points and triangles, from a file or from elsewhere, and what can be wrong with them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "osier/types.hpp"

namespace osier {

class Problems;

struct TriangleMesh {
  std::vector<Vec3d> points;
  std::vector<std::array<Index, 3>> triangles;
};

/// .obj or .ply, by its ending; faces with more than three corners are cut into fans. Problems are reported at `where`, all of
/// them; an empty mesh comes back then.
TriangleMesh read_mesh(const std::filesystem::path& path, const std::string& where, Problems& problems);

/// One point list for each sample of a vertex cache (.pc2).
std::vector<std::vector<Vec3d>> read_point_cache(const std::filesystem::path& path, const std::string& where, Problems& problems);

/// Points that are no numbers, triangles without an area, and, unless it may be `open`, holes.
void check_mesh(const TriangleMesh& mesh, const std::string& file, bool open, const std::string& where, Problems& problems);

}  // namespace osier
