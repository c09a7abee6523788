// Writes down the way of a step as contact tells it (contact/motion_observer.hpp), and completes it: what contact has left out
// becomes a straight motion of its own, so that a path always leads from the state at the start to the state at the end.
#pragma once

#include <algorithm>

#include "certificate/motion_check.hpp"
#include "contact/motion_observer.hpp"

namespace osier::certificate {

class PathRecorder : public contact::MotionObserver {
 public:
  /// Before a step.
  void begin(const std::vector<Vec3d>& x, std::size_t obstacles) {
    kept_ = 1;
    path_ = {};
    path_.position.push_back(x);
    path_.obstacle_share.emplace_back(obstacles, 0);
    start_ = x;
  }
  /// The displacements that follow are from here: an integrator may begin the step elsewhere.
  void set_reference(const std::vector<Vec3d>& x) {
    start_ = x;
    add(x, path_.obstacle_share.back());
    kept_ = path_.position.size();
  }
  /// After it.
  const Path& complete(const std::vector<Vec3d>& x) {
    add(x, path_.obstacle_share.back());
    return path_;
  }

  const std::vector<double>& last_share() const { return path_.obstacle_share.back(); }

  void begin_path() override {
    path_.position.resize(kept_);
    path_.obstacle_share.resize(kept_);
  }
  void move(const std::vector<Vec3d>& u, const std::vector<double>& obstacle_share) override {
    std::vector<Vec3d> x = start_;
    for (std::size_t v = 0; v < u.size(); ++v) x[v] += u[v];
    add(std::move(x), obstacle_share);
  }
  void end_path(const contact::ContactStep&, const std::vector<Vec3d>&) override {}

 private:
  static bool same(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Vec3d& p, const Vec3d& q) { return p.x == q.x && p.y == q.y && p.z == q.z; });
  }
  void add(std::vector<Vec3d> x, const std::vector<double>& share) {
    if (same(x, path_.position.back()) && share == path_.obstacle_share.back()) return;
    path_.position.push_back(std::move(x));
    path_.obstacle_share.push_back(share);
  }

  std::size_t kept_ = 1;  ///< points before the path of contact
  std::vector<Vec3d> start_;
  Path path_;
};

}  // namespace osier::certificate
