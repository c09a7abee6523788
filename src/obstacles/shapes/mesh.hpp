// A surface of triangles from a file.
#pragma once

#include "obstacles/mesh/mesh_surface.hpp"
#include "obstacles/obstacle_spec.hpp"

namespace osier {

class MeshObstacle final : public ObstacleSpec {
 public:
  std::optional<std::string> file, cache;
  std::vector<std::string> files;
  double fps = 30, scale = 1;
  Vec3d move{0, 0, 0};
  bool open = false;
  static const char* kind() { return "mesh"; }
  static const char* help() {
    return "A surface of triangles, .obj or .ply, which rods touch on both of its sides and never cross: whatever begins inside "
           "of a "
           "closed one stays inside. It stands still, moves as a whole by `motion`, or deforms from one of `files` to the next, "
           "or as a `cache` says.";
  }
  template <class F>
  void fields(F& f) {
    f("file", file, "The mesh; file names are relative to the folder of the scene");
    f("files", files, "Meshes of the same triangles, one after the other, points going straight from one to the next");
    f("cache", cache, "With `file`: a vertex cache (.pc2) with its points over time");
    f("fps", fps, "How many of `files` or samples of `cache` pass in a second, from time 0",
      {.unit = "1/s", .min = 0, .above_min = true});
    f("scale", scale, "Size, as a multiple of the file's", {.min = 0, .above_min = true});
    f("move", move, "Shift, after scaling", {.unit = "m"});
    f("open", open, "Whether it may have holes: a sheet");
    common_fields(f);
    f.exactly_one({"file", "files"});
    if (f.has("cache") && f.has("files")) f.problem("`cache` has no effect beside `files`", "keep one of them");
    if (f.has("fps") && !f.has("cache") && !f.has("files")) f.problem("`fps` has no effect on a single mesh", "leave it out");
  }
  const char* type() const override { return kind(); }
  void prepare(const std::string& folder, Problems& problems) override;
  std::shared_ptr<contact::Obstacle> make() const override { return std::make_shared<MeshSurface>(frames_, motion); }
  Surface surface() const override;
  bool moves() const override { return ObstacleSpec::moves() || (frames_ && frames_->points.size() > 1); }
  Vec3d center() const override { return frames_ ? frames_->center : Vec3d{}; }

 private:
  std::shared_ptr<const MeshFrames> frames_;
};

}  // namespace osier
