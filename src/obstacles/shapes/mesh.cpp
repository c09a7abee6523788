#include "obstacles/shapes/mesh.hpp"

#include <fmt/format.h>

#include "core/folders.hpp"
#include "core/text.hpp"
#include "osier/error.hpp"

namespace osier {

void MeshObstacle::prepare(const std::string& folder, Problems& problems) {
  check_motion(problems);
  auto frames = std::make_shared<MeshFrames>();
  frames->fps = fps;
  if (files.empty() && !file) {
    problems.add(where + "/files", "is empty", "name at least one file");
    return;
  }
  const std::size_t before = problems.size();
  for (std::size_t i = 0; i < (file ? 1 : files.size()); ++i) {
    const std::string& mesh_file = file ? *file : files[i];
    const std::string at = file ? where + "/file" : fmt::format("{}/files/{}", where, i);
    TriangleMesh mesh;
    try {
      mesh = read_mesh(file_of_scene(folder, mesh_file, at), at, problems);
    } catch (const InputError& e) {
      for (const Problem& p : e.problems()) problems.add(p.where, p.what, p.remedy);
    }
    if (mesh.triangles.empty()) continue;
    check_mesh(mesh, shorten(mesh_file), open, at, problems);
    if (frames->points.empty()) frames->triangles = mesh.triangles;
    else if (mesh.triangles != frames->triangles || mesh.points.size() != frames->points.front().size())
      problems.add(
          at,
          fmt::format("{} has {} points and {} triangles, which are not those of the first file, {} and {}", shorten(mesh_file),
                      mesh.points.size(), mesh.triangles.size(), frames->points.front().size(), frames->triangles.size()),
          "export all of them from one mesh");
    frames->points.push_back(std::move(mesh.points));
  }
  if (cache) {
    auto samples = read_point_cache(std::filesystem::path(folder) / *cache, where + "/cache", problems);
    if (!samples.empty() && !frames->points.empty() && samples.front().size() != frames->points.front().size())
      problems.add(where + "/cache",
                   fmt::format("{} has {} points, and the mesh has {}", shorten(*cache), samples.front().size(),
                               frames->points.front().size()),
                   "export both from one mesh");
    if (!samples.empty()) frames->points = std::move(samples);
  }
  if (problems.size() > before) return;
  for (auto& points : frames->points)
    for (Vec3d& p : points) {
      p = scale * p + move;
      if (!is_finite(p)) {
        problems.add(where, "a point of the cache is not a finite number", "export it anew");
        return;
      }
    }
  Vec3d sum;
  for (const Vec3d& p : frames->points.front()) sum += p;
  frames->center = (1 / static_cast<double>(frames->points.front().size())) * sum;
  frames_ = std::move(frames);
}

Surface MeshObstacle::surface() const { return {.name = {}, .points = frames_->points.front(), .triangles = frames_->triangles}; }

}  // namespace osier
