// The `obstacles` of a scene: what rods can touch that is no rod. A shape is one file of obstacles/shapes and one line of the
// registry.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "contact/obstacle.hpp"
#include "core/describe.hpp"
#include "forces/attachment.hpp"
#include "osier/surface.hpp"

namespace osier {

class ObstacleSpec {
 public:
  virtual ~ObstacleSpec() = default;
  virtual const char* type() const = 0;  ///< its registry name
  /// Reads files, named from a folder, and looks at everything; adds a problem for each thing that is wrong.
  virtual void prepare(const std::string& folder, Problems& problems) = 0;
  /// After prepare() without problems.
  virtual std::shared_ptr<contact::Obstacle> make() const = 0;
  /// The surface as it is drawn, where it is before any motion.
  virtual Surface surface() const = 0;
  /// Whether its surface may be elsewhere at some time.
  virtual bool moves() const { return motion.moves_places() || motion.orientation.given(); }
  /// The point about which it turns and about which moments are taken, before any motion [m].
  virtual Vec3d center() const = 0;

  std::string name, material;
  std::optional<double> friction;
  Motion motion;
  std::string where;

 protected:
  template <class F>
  void common_fields(F& f) {
    f.where(where);
    f("name", name,
      "Name for probes, constraints and pictures; its type and its place in the list, as in `plane0`, when left out");
    f("material", material, "Material, for its friction");
    f("friction", friction, "Coefficient of friction with every rod, instead of that of materials", {.min = 0});
    f("motion", motion, "Prescribed motion; `orientation` turns it about its own centre");
  }
  void check_motion(Problems& problems) const;
  /// For what has no end along an axis: it may only turn about that.
  void check_tilt(const Vec3d& axis, const char* what, const char* remedy, Problems& problems) const;
};

template <>
std::span<const RegistryEntry<ObstacleSpec>> registry<ObstacleSpec>();

}  // namespace osier
