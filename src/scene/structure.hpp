// A generator of a whole graph (bridge, tree, net, ...). One file each in generators/, one line in generators/registry.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/describe.hpp"
#include "core/hex_color.hpp"
#include "model/rod_graph.hpp"
#include "osier/error.hpp"

namespace osier {

struct MaterialRef;

/// What a structure may look up in the scene around it.
struct StructureContext {
  std::string folder;                                                              ///< where relative file names start
  std::function<Section(const MaterialRef&)> section;                              ///< adds a problem for a wrong one
  std::function<void(const MaterialRef&, const Section&, double scale)> note_use;  ///< once per segment, for `osier info`
};

/// What something adds to a graph, at most.
struct GraphSize {
  double segments = 0, joints = 0, rods = 0;
};

class Structure {
 public:
  virtual ~Structure() = default;
  /// Reads files and looks materials up. Called before check(), when the fields were read without a problem.
  virtual void prepare(const StructureContext& context, Problems& problems) { (void)context, (void)problems; }
  virtual void check(Problems& problems) const { (void)problems; }
  /// Known before it is built, and refused when it is more than the machine can hold.
  virtual GraphSize size() const { return {}; }
  /// Appends to the graph. Throws InputError where only building tells that it would be too much. Pieces a user may want to name
  /// become RodInfos called `<prefix>.<piece>`.
  virtual void build(RodGraph& graph, const std::string& prefix) const = 0;

  std::string name;                      ///< prefix for its pieces
  std::optional<HexColor> color;         ///< of those that have no material, and so no colour of one
  virtual const char* type() const = 0;  ///< its registry name, the prefix when `name` is empty
  std::string where;                     ///< JSON pointer
};

template <>
std::span<const RegistryEntry<Structure>> registry<Structure>();

}  // namespace osier
