// Every shape and structure of the scene language. A new one is a file here and a line below.
#include "core/fields.hpp"
#include "scene/generators/braid.hpp"
#include "scene/generators/bridge.hpp"
#include "scene/generators/curve_shapes.hpp"
#include "scene/generators/curves.hpp"
#include "scene/generators/grass.hpp"
#include "scene/generators/hair.hpp"
#include "scene/generators/knit.hpp"
#include "scene/generators/knot_shape.hpp"
#include "scene/generators/mode_shape.hpp"
#include "scene/generators/net.hpp"
#include "scene/generators/point_shapes.hpp"
#include "scene/generators/slingshot.hpp"
#include "scene/generators/trees.hpp"
#include "scene/generators/weave.hpp"

namespace osier {

template <>
std::span<const RegistryEntry<Shape>> registry<Shape>() {
  static const std::array entries{
      registry_entry<Shape, LineShape>("line", LineShape::help()),
      registry_entry<Shape, ArcShape>("arc", ArcShape::help()),
      registry_entry<Shape, CircleShape>("circle", CircleShape::help()),
      registry_entry<Shape, HelixShape>("helix", HelixShape::help()),
      registry_entry<Shape, PointsShape>("points", PointsShape::help()),
      registry_entry<Shape, PolylineShape>("polyline", PolylineShape::help()),
      registry_entry<Shape, CoilShape>("coil", CoilShape::help()),
      registry_entry<Shape, ModeShape>("mode", ModeShape::help()),
      registry_entry<Shape, KnotShape>("knot", KnotShape::help()),
  };
  return entries;
}

template <>
std::span<const RegistryEntry<Structure>> registry<Structure>() {
  static const std::array entries{
      registry_entry<Structure, Slingshot>("slingshot", Slingshot::help()),
      registry_entry<Structure, Bridge>("bridge", Bridge::help()),
      registry_entry<Structure, Trees>("trees", Trees::help()),
      registry_entry<Structure, Net>("net", Net::help()),
      registry_entry<Structure, Knit>("knit", Knit::help()),
      registry_entry<Structure, Weave>("weave", Weave::help()),
      registry_entry<Structure, Braid>("braid", Braid::help()),
      registry_entry<Structure, Hair>("hair", Hair::help()),
      registry_entry<Structure, Grass>("grass", Grass::help()),
      registry_entry<Structure, Curves>("curves", Curves::help()),
  };
  return entries;
}

}  // namespace osier
