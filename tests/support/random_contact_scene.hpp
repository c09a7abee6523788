// Random scenes of rods that hit each other: chains, trees, linked rings, nets and knots of random radii and stiffnesses, at
// random speeds, step lengths and numbers of iterations. Nothing crosses at the start.
#pragma once

#include "certificate/segment_distance.hpp"
#include "obstacles/mesh/mesh_surface.hpp"
#include "support/contact_scene.hpp"
#include "support/obstacles.hpp"
#include "support/random.hpp"

namespace osier::test {

struct StressOptions {
  int rods = 6;          ///< about
  int segments = 12;     ///< of a rod, about
  double fastest = 100;  ///< [m/s]
  double h_least = 1e-4, h_most = 1.0 / 30;
  double young_least = 1, young_most = 1e10;
  int obstacles = 0;  ///< at most; one at least where this is not 0
};

class RandomContactScene {
 public:
  ContactScene scene;
  double h = 0, speed = 0;
  std::string what;  ///< the draw, for messages

  RandomContactScene(std::uint64_t seed, const StressOptions& options) : random_(seed), options_(options) {
    h = random_.log_range(options.h_least, options.h_most);
    speed = random_.log_range(0.1, options.fastest);
    scene.friction = random_.flip() ? random_.range(0, 1) : 0;
    scene.settings.thickness = random_.flip() ? 1 : random_.range(0.5, 1.5);
    scene.gravity = random_.flip() ? Vec3d{0, 0, -9.81} : Vec3d{};
    radius_ = random_.log_range(1e-3, 2e-2);
    young_ = random_.log_range(options.young_least, options.young_most);
    const int rods = 2 + random_.below(options.rods);
    for (int r = 0; r < rods; ++r) add_something();
    scene.build();
    set_motion();
    what = "seed " + std::to_string(seed) + ": " + kinds_ + "h " + std::to_string(h) + " s, speed " + std::to_string(speed) +
           " m/s, radius " + std::to_string(radius_) + " m, E " + std::to_string(young_) + " Pa, friction " +
           std::to_string(scene.friction) + ", iterations ";
    if (random_.flip()) {
      goal_.iterations = 1 + random_.below(8);
      what += std::to_string(*goal_.iterations);
    } else {
      goal_.tolerance = random_.log_range(1e-6, 1e-2);
      goal_.max_iterations = 20;
      what += "by tolerance";
    }
    solver_ = random_.below(4) == 0 ? "stable_cosserat" : "direct";
    in_float_ = random_.below(4) == 0;
    what += ", " + solver_ + (in_float_ ? " in float" : "");
    const int obstacles = options.obstacles > 0 ? 1 + random_.below(options.obstacles) : 0;
    for (int o = 0; o < obstacles; ++o) add_obstacle();
  }
  void begin(int threads) {
    const auto settings = make_settings(solver_);
    settings->set_goal(goal_);
    settings->execution.threads = threads;
    if (in_float_) settings->execution.precision = Precision::single_precision;
    scene.begin(settings->make(scene.model));
  }
  /// What is prescribed goes on.
  void step() {
    for (std::size_t i = 0; i < led_.size(); ++i)
      scene.control.vertex_target[led_[i]] = scene.control.vertex_target[led_[i]] + h * led_velocity_[i];
    scene.step(h);
  }

 private:
  RoundRod rod() {
    RoundRod r;
    r.young = young_ * random_.log_range(0.1, 10);
    r.radius = radius_ * random_.range(0.4, 1.6);
    return r;
  }

  /// Whether new segments keep clear of what is there; most of the time by the thickness, sometimes only by a share of it.
  bool fits(const std::vector<Vec3d>& x, const std::vector<std::array<int, 2>>& segments, double radius) {
    const double share = overlaps_ ? 0.3 : 1.3;
    const auto& v = scene.graph.vertices;
    const double factor = share * scene.settings.thickness;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto [a0, a1] = segments[i];
      for (const GraphSegment& s : scene.graph.segments)
        if (certificate::segment_distance(x[a0], x[a1], v[s.a].position, v[s.b].position) < factor * (radius + s.section.radius))
          return false;
      for (std::size_t j = i + 1; j < segments.size(); ++j) {
        const auto [b0, b1] = segments[j];
        if (a0 == b0 || a0 == b1 || a1 == b0 || a1 == b1) continue;
        if (certificate::segment_distance(x[a0], x[a1], x[b0], x[b1]) < 0.2 * factor * radius) return false;
      }
    }
    return true;
  }

  void add_something() {
    for (int attempt = 0; attempt < 200; ++attempt) {
      overlaps_ = random_.below(8) == 0;
      const int kind = random_.below(6);
      const bool done = kind == 0   ? add_rings()
                        : kind == 1 ? add_tree()
                        : kind == 2 ? add_net()
                        : kind == 3 ? add_knot()
                                    : add_chain();
      if (!done) continue;
      static const char* const names[] = {"rings, ", "tree, ", "net, ", "knot, ", "chain, ", "chain, "};
      kinds_ += names[kind];
      return;
    }
  }
  double box() const { return 25 * radius_ * std::cbrt(static_cast<double>(options_.rods)); }
  Vec3d place() { return box() * random_.in_cube(); }
  int count() { return 2 + random_.below(options_.segments); }
  static std::vector<std::array<int, 2>> chain_of(std::size_t vertices, bool closed) {
    std::vector<std::array<int, 2>> list;
    for (int i = 0; i + 1 < static_cast<int>(vertices); ++i) list.push_back({i, i + 1});
    if (closed) list.push_back({static_cast<int>(vertices) - 1, 0});
    return list;
  }

  bool add_chain() {
    const RoundRod r = rod();
    const double l = r.radius * random_.log_range(1, 12);
    std::vector<Vec3d> x{place()};
    Vec3d d = random_.direction();
    const double bend = random_.range(0, 0.5);
    for (int i = count(); i > 0; --i) {
      x.push_back(x.back() + l * d);
      d = normalized(d + bend * random_.direction());
    }
    if (!fits(x, chain_of(x.size(), false), r.radius)) return false;
    scene.add_rod(x, r);
    return true;
  }

  /// A row of rings, each through the one before, or free.
  bool add_rings() {
    const RoundRod r = rod();
    const int n = 6 + count(), rings = 1 + random_.below(3);
    const double R = r.radius * random_.range(6, 14);
    const Quatd turn = random_.rotation();
    const Vec3d centre = place();
    std::vector<std::vector<Vec3d>> all;
    for (int k = 0; k < rings; ++k) {
      std::vector<Vec3d> x;
      for (int i = 0; i < n; ++i) {
        const double a = 2 * std::numbers::pi * (i + 0.3) / n, c = R * std::cos(a), s = R * std::sin(a);
        x.push_back(centre + rotate(turn, Vec3d{c + 1.2 * R * k, k % 2 ? 0 : s, k % 2 ? s : 0}));
      }
      if (!fits(x, chain_of(x.size(), true), r.radius)) return false;
      for (const auto& other : all)
        for (std::size_t i = 0; i < x.size(); ++i)
          for (std::size_t j = 0; j < other.size(); ++j)
            if (certificate::segment_distance(x[i], x[(i + 1) % x.size()], other[j], other[(j + 1) % other.size()]) <
                2.6 * scene.settings.thickness * r.radius)
              return false;
      all.push_back(x);
    }
    for (const auto& x : all) scene.add_rod(x, r, true);
    return true;
  }

  bool add_knot() {
    const RoundRod r = rod();
    const int n = 20 + 2 * count();
    const double size = r.radius * random_.range(4, 8);
    const Quatd turn = random_.rotation();
    const Vec3d centre = place();
    std::vector<Vec3d> x;
    for (int i = 0; i < n; ++i) {
      const double a = 2 * std::numbers::pi * i / n;
      x.push_back(centre + rotate(turn, size * Vec3d{std::sin(a) + 2 * std::sin(2 * a), std::cos(a) - 2 * std::cos(2 * a),
                                                     -std::sin(3 * a)}));
    }
    if (!fits(x, chain_of(x.size(), true), r.radius)) return false;
    scene.add_rod(x, r, true);
    return true;
  }

  bool add_tree() {
    const RoundRod r = rod();
    const double l = r.radius * random_.log_range(3, 10);
    std::vector<Vec3d> x{place()};
    std::vector<std::array<int, 2>> segments;
    std::vector<Vec3d> direction{random_.direction()};
    for (int i = count(); i > 0; --i) {
      const int parent = random_.below(static_cast<int>(x.size()));
      const Vec3d d = normalized(direction[static_cast<std::size_t>(parent)] + 0.9 * random_.direction());
      segments.push_back({parent, static_cast<int>(x.size())});
      x.push_back(x[static_cast<std::size_t>(parent)] + l * d);
      direction.push_back(d);
    }
    if (!fits(x, segments, r.radius)) return false;
    weld(x, segments, r, random_.flip());
    return true;
  }

  bool add_net() {
    const RoundRod r = rod();
    const int rows = 2 + random_.below(4), columns = 2 + random_.below(4);
    const double l = r.radius * random_.log_range(4, 12);
    const Quatd turn = random_.rotation();
    const Vec3d corner = place();
    std::vector<Vec3d> x;
    std::vector<std::array<int, 2>> segments;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        const int here = i * columns + j;
        x.push_back(corner + rotate(turn, Vec3d{l * i, l * j, 0.2 * l * random_.unit()}));
        if (i > 0) segments.push_back({here - columns, here});
        if (j > 0) segments.push_back({here - 1, here});
      }
    if (!fits(x, segments, r.radius)) return false;
    weld(x, segments, r, random_.flip());
    return true;
  }

  /// Segments with or without joints where they meet.
  void weld(const std::vector<Vec3d>& x, const std::vector<std::array<int, 2>>& segments, const RoundRod& r, bool bends) {
    RodGraph& g = scene.graph;
    const Section section = section_of(r);
    std::vector<Index> vertex, first(x.size(), -1);
    for (const Vec3d& p : x) vertex.push_back(g.add_vertex(p));
    RodInfo info{.name = "graph" + std::to_string(g.rods.size()), .vertices = vertex, .segments = {}, .joints = {}};
    for (const auto& [a, b] : segments) {
      const Index s = g.add_segment(vertex[static_cast<std::size_t>(a)], vertex[static_cast<std::size_t>(b)], section);
      info.segments.push_back(s);
      for (const int end : {a, b}) {
        Index& before = first[static_cast<std::size_t>(end)];
        if (before >= 0 && bends) info.joints.push_back(g.add_joint(before, s));
        if (before < 0) before = s;
      }
    }
    g.rods.push_back(info);
  }

  /// Keeps clear of all rods at the start, as rods do of each other.
  bool fits(const contact::Obstacle& obstacle) const {
    const auto& x = scene.state.vertex_position;
    const double factor = (overlaps_ ? 0.3 : 1.3) * scene.settings.thickness;
    for (Index s = 0; s < scene.model.segment_count(); ++s) {
      const auto [a, b] = scene.model.segment_vertices[s];
      const double radius = std::max(scene.model.vertex_radius[a], scene.model.vertex_radius[b]), far = 2 * radius;
      contact::Box box;
      box.low = {std::min(x[a].x, x[b].x) - far, std::min(x[a].y, x[b].y) - far, std::min(x[a].z, x[b].z) - far};
      box.high = {std::max(x[a].x, x[b].x) + far, std::max(x[a].y, x[b].y) + far, std::max(x[a].z, x[b].z) + far};
      std::vector<Index> features;
      obstacle.features_near(box, features);
      for (const Index f : features)
        if (contact::distance_of(obstacle, f, x[a], x[b], 0) < factor * radius) return false;
    }
    return true;
  }

  /// Half of them stand still; the others fly about, and may turn.
  Motion motion_of_obstacle(const Vec3d& center, bool may_turn) {
    Motion motion;
    if (random_.flip()) motion = moving((random_.log_range(0.01, std::min(speed, 30.0))) * random_.direction());
    if (may_turn && random_.below(3) == 0) {
      motion.rotate.emplace();
      motion.rotate->axis = random_.direction(), motion.rotate->center = center;
      motion.rotate->speed = Track<double>(random_.log_range(0.1, 20));
    }
    return motion;
  }

  /// Two pyramids on a common square, rigid or with points that go to and fro.
  std::shared_ptr<contact::Obstacle> mesh(const Vec3d& center, double size) {
    auto frames = std::make_shared<MeshFrames>();
    frames->triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {1, 0, 5}, {2, 1, 5}, {3, 2, 5}, {0, 3, 5}};
    const Quatd turn = random_.rotation();
    std::vector<Vec3d> points;
    for (const Vec3d& p : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{-1, 0, 0}, Vec3d{0, -1, 0}, Vec3d{0, 0, 1}, Vec3d{0, 0, -1}})
      points.push_back(center + rotate(turn, (size * random_.range(0.7, 1.3)) * p));
    frames->center = center;
    frames->points = {points};
    for (int f = random_.flip() ? 3 : 0; f > 0; --f) {
      frames->points.push_back(points);
      for (Vec3d& p : frames->points.back()) p += 0.3 * size * random_.in_cube();
    }
    frames->fps = random_.log_range(1, 30);
    return std::make_shared<MeshSurface>(frames, motion_of_obstacle(center, true));
  }

  std::shared_ptr<contact::Obstacle> obstacle_of_kind(int kind) {
    const Vec3d center = 1.3 * place(), along = random_.direction();
    const double size = radius_ * random_.log_range(1, 15), room = 6 * box();
    switch (kind) {
      case 0: {
        const Vec3d normal = random_.direction();
        return made(plane_of((-random_.range(0.5, 3) * box()) * normal, normal), motion_of_obstacle({}, false));
      }
      case 1:
        return made(sphere_of(center, size), motion_of_obstacle(center, false));
      case 2:
        return made(capsule_of(center, center + 2 * size * along, 0.5 * size), motion_of_obstacle(center, true));
      case 3:
        return made(box_of(center, size * Vec3d{random_.range(0.5, 3), random_.range(0.5, 3), 1}, random_.rotation()),
                    motion_of_obstacle(center, true));
      case 4:
        return made(cylinder_of(center, center + 3 * size * along, size), motion_of_obstacle(center, true));
      case 5:  // a room around everything
        return random_.flip()
                   ? made(sphere_of({}, room, true), motion_of_obstacle({}, false))
                   : made(box_of({}, 2.0 * Vec3d{room, room, room}, random_.rotation(), true), motion_of_obstacle({}, true));
      default:
        return mesh(center, size);
    }
  }

  void add_obstacle() {
    for (int attempt = 0; attempt < 100; ++attempt) {
      overlaps_ = random_.below(8) == 0;
      const int kind = random_.below(8);
      auto obstacle = obstacle_of_kind(kind);
      obstacle->set_step(0, h);
      if (!fits(*obstacle)) continue;
      static const char* const names[] = {"plane", "sphere", "capsule", "box", "cylinder", "room", "mesh", "mesh"};
      what += std::string(", ") + names[kind] + (obstacle->is_moving() ? " that moves" : "");
      scene.obstacles.push_back(std::move(obstacle));
      return;
    }
  }

  /// Every rod flies at the others, some of it at random; a few vertices are held or led.
  void set_motion() {
    for (const RodInfo& rod : scene.model.rods) {
      Vec3d centre;
      for (const Index v : rod.vertices)
        centre += (1 / static_cast<double>(rod.vertices.size())) * scene.state.vertex_position[v];
      const Vec3d velocity = (-speed * random_.range(0, 1)) * normalized(centre + 0.3 * place());
      const double wild = random_.flip() ? 0 : speed * random_.unit();
      for (const Index v : rod.vertices) scene.state.vertex_velocity[v] = velocity + wild * random_.in_cube();
    }
    const int held = random_.below(4);
    for (int i = 0; i < held; ++i) {
      const Index v = static_cast<Index>(random_.below(scene.model.vertex_count()));
      if (scene.control.vertex_fixed[v]) continue;
      scene.hold(v);
      if (random_.flip()) continue;
      led_.push_back(v);
      led_velocity_.push_back(random_.log_range(0.01, std::min(speed, 10.0)) * random_.direction());
    }
    scene.state.vertex_velocity_previous = scene.state.vertex_velocity;
  }

  Random random_;
  StressOptions options_;
  double radius_ = 0, young_ = 0;
  bool overlaps_ = false;
  std::string kinds_;
  StepGoal goal_;
  std::string solver_;
  bool in_float_ = false;
  std::vector<Index> led_;
  std::vector<Vec3d> led_velocity_;
};

}  // namespace osier::test
