#include "core/fields.hpp"
#include "obstacles/obstacle_spec.hpp"
#include "obstacles/shapes/box.hpp"
#include "obstacles/shapes/capsule.hpp"
#include "obstacles/shapes/cylinder.hpp"
#include "obstacles/shapes/mesh.hpp"
#include "obstacles/shapes/plane.hpp"
#include "obstacles/shapes/sphere.hpp"
#include "obstacles/shapes/tube.hpp"

namespace osier {

template <>
std::span<const RegistryEntry<ObstacleSpec>> registry<ObstacleSpec>() {
  static const RegistryEntry<ObstacleSpec> entries[] = {
      registry_entry<ObstacleSpec, PlaneObstacle>("plane", "A floor, a wall, an incline"),
      registry_entry<ObstacleSpec, SphereObstacle>("sphere", "A ball, or the room inside of one"),
      registry_entry<ObstacleSpec, CapsuleObstacle>("capsule", "A round bar with round ends"),
      registry_entry<ObstacleSpec, BoxObstacle>("box", "A box, or the room inside of one"),
      registry_entry<ObstacleSpec, CylinderObstacle>("cylinder", "A cylinder with flat ends, or the bore of one"),
      registry_entry<ObstacleSpec, TubeObstacle>("tube", "A pipe that is open at both ends"),
      registry_entry<ObstacleSpec, MeshObstacle>("mesh", "A surface of triangles from .obj or .ply files"),
  };
  return entries;
}

}  // namespace osier
