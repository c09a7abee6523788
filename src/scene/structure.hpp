// A generator of a whole graph (bridge, tree, net, ...). One file each in generators/, one line in generators/registry.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/fields.hpp"
#include "model/rod_graph.hpp"

namespace osier {

class Structure {
 public:
  virtual ~Structure() = default;
  virtual void check(Problems& problems) const { (void)problems; }
  /// Appends to the graph. Pieces a user may want to name become RodInfos called `<prefix>.<piece>`.
  virtual void build(RodGraph& graph, const std::string& prefix) const = 0;

  std::string name;                      ///< prefix for its pieces
  virtual const char* type() const = 0;  ///< its registry name, the prefix when `name` is empty
  std::string where;                     ///< JSON pointer
};

template <>
std::span<const RegistryEntry<Structure>> registry<Structure>();

}  // namespace osier
