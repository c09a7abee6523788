// Scenes put together by a program: rods from arrays of points, and the few things that most scenes need. Everything else of the
// scene language can be set by its JSON pointer. What is built goes through the same checks as a scene file, and problems have
// the same pointers: the third rod is /rods/2.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "osier/scene.hpp"

namespace osier {

/// A rod through points: each is a vertex.
struct RodArrays {
  std::string name = {};               ///< `rod0`, `rod1`, ... when empty
  std::string material = {};           ///< its name
  std::span<const Vec3d> points = {};  ///< rest shape [m]; a closed rod does not repeat its first point
  std::span<const Vec3d> pose = {};    ///< initial positions, as many; empty: those of the rest shape
  std::span<const double> scale = {};  ///< of each segment, the section's linear size as a multiple of the material's; empty: 1
  bool closed = false;
  std::optional<Vec3d> up = {};        ///< direction near which d1 of the first segment points
  std::optional<Vec3d> velocity = {};  ///< initial velocity of all of it [m/s]
};

/// What a rod is made of; what is not given is left out, as in the scene language (docs/materials.md).
struct RodMaterial {
  std::optional<double> young = {}, poisson = {}, shear_modulus = {}, density = {},
                        radius = {};                                             ///< [Pa], [-], [Pa], [kg/m^3], [m]
  std::optional<double> stretch_shear = {}, bend_twist = {}, line_density = {};  ///< [N], [N m^2], [kg/m]
  std::optional<double> stretch = {}, shear = {}, bend = {}, twist = {};         ///< EA, GA [N], EI, GJ [N m^2]
  std::optional<double> tau_stretch = {}, tau_shear = {}, tau_bend = {}, tau_twist = {}, friction = {};  ///< [s], [-]
};

class ModelBuilder {
 public:
  /// `scene`: the text of a scene to which things are added; may be empty.
  explicit ModelBuilder(const std::string& scene = {});
  ~ModelBuilder();
  ModelBuilder(ModelBuilder&&) noexcept;
  ModelBuilder& operator=(ModelBuilder&&) noexcept;

  ModelBuilder& material(const std::string& name, const RodMaterial& material);
  /// Throws InputError where arrays do not fit together.
  ModelBuilder& rod(const RodArrays& rod);
  /// Selections as in scenes: "cable:start", "cable:3..7".
  ModelBuilder& pin(const std::string& vertices, const std::string& name = {});
  ModelBuilder& clamp(const std::string& vertices, const std::string& name = {});
  ModelBuilder& weld(const std::string& a, const std::string& b);
  ModelBuilder& gravity(const Vec3d& acceleration);
  /// Dynamics with this longest step and duration [s].
  ModelBuilder& dynamics(double step, double duration);
  /// Equilibrium in so many load steps.
  ModelBuilder& statics(int load_steps);
  /// Rods that touch.
  ModelBuilder& contact(double friction);
  /// To one of the lists of a scene: "forces", R"({"type": "drag", "rate": 1})".
  ModelBuilder& add(const std::string& list, const std::string& json);
  /// Anything else: "/solver/name", "\"newton\"".
  ModelBuilder& set(const std::string& pointer, const std::string& json);

  std::string json() const;
  /// Throws InputError with every problem found.
  Scene build(const std::string& name = "scene", const LoadOptions& options = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace osier
