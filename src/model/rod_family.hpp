// Rods whose names differ in numbers alone are of one family: hair0, hair1, ... of a structure; they look alike in pictures.
#pragma once

#include <string>
#include <vector>

#include "osier/model.hpp"

namespace osier {

struct RodFamilies {
  std::vector<std::string> names;  ///< in order of appearance, without the numbers
  std::vector<unsigned> of_rod;    ///< per rod; of those that have no segment of their own, 0
  std::vector<unsigned> place;     ///< per rod: its number within the family, from 0
};

/// `rod_of_segment`: as from rod_of_segments(). A rod that no segment names, such as a structure's roots, founds no family.
RodFamilies rod_families(const Model& model, const std::vector<Index>& rod_of_segment);

}  // namespace osier
