// How many rods a model has. A RodInfo is also a name for a group, as the border of a net or the roots of hair.
#pragma once

#include "osier/model.hpp"

namespace osier {

/// Without groups: pieces that have no segment of their own, only such as belong to pieces listed before them.
Index rod_count(const Model& model);

}  // namespace osier
