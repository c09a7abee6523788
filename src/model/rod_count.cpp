#include "model/rod_count.hpp"

#include <utility>

namespace osier {

Index rod_count(const Model& model) {
  std::vector<std::uint8_t> taken(model.segment_vertices.size(), 0);
  Index count = 0;
  for (const RodInfo& rod : model.rods) {
    bool own = false;
    for (const Index s : rod.segments) own = std::exchange(taken[static_cast<std::size_t>(s)], std::uint8_t{1}) == 0 || own;
    count += own ? 1 : 0;
  }
  return count;
}

}  // namespace osier
