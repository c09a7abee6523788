// A surface of triangles that rods touch, on both of its sides. Its points go straight from where they are at the start of a step
// to where they are at its end, whether it is rigid or deforms.
#pragma once

#include <memory>
#include <vector>

#include "contact/obstacle.hpp"
#include "forces/attachment.hpp"
#include "obstacles/mesh/triangle_mesh.hpp"

namespace osier {

/// The shape of a mesh over time.
struct MeshFrames {
  std::vector<std::array<Index, 3>> triangles;
  std::vector<std::vector<Vec3d>> points;  ///< of one frame, or of several
  double fps = 30;
  Vec3d center;
  /// Without the motion of the whole.
  void at(double time, std::vector<Vec3d>& out) const;
};

class MeshSurface final : public contact::Obstacle {
 public:
  MeshSurface(std::shared_ptr<const MeshFrames> frames, Motion motion);

  Kind kind() const override { return Kind::convex; }
  std::shared_ptr<Obstacle> clone() const override { return std::make_shared<MeshSurface>(*this); }
  void set_step(double start, double end) override;
  void save_place(double share, std::vector<double>& place) const override;
  void start_from(std::span<const double> place) override;
  bool is_moving() const override { return moving_; }
  void features_near(const contact::Box& box, std::vector<Index>& features) const override;
  contact::ObstaclePoint nearest(Index feature, const Vec3d& a, const Vec3d& b, double share, double regular) const override;
  double reach(Index feature, double from, double to) const override;
  double support(Index feature, const Vec3d& n, double share) const override;
  Vec3d moved(Index feature, const Vec3d& point, double share) const override;
  void place_points(const std::vector<Vec3d>& rest, double share, std::vector<Vec3d>& points) const override;
  Motion* motion() override { return &motion_; }
  Vec3d center(double share) const override { return center_from_ + share * (center_to_ - center_from_); }

 private:
  struct Node {
    contact::Box box;
    Index first = 0, count = 0;  ///< of order_; count 0: two children, the next node and `other`
    Index other = 0;
  };
  void place(double time, std::vector<Vec3d>& points, Vec3d& center) const;
  void settle();
  void build(Index first, Index count);
  void fit();
  std::array<Vec3d, 3> corners(Index triangle, double share) const;

  std::shared_ptr<const MeshFrames> frames_;
  Motion motion_;
  std::vector<Vec3d> from_, to_;  ///< to_ is empty while it stands still
  Vec3d center_from_, center_to_;
  bool moving_ = false;
  double start_ = 0, end_ = 0;
  std::vector<Index> order_;
  std::vector<Node> nodes_;
};

}  // namespace osier
