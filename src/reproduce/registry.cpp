#include <array>

#include "core/folders.hpp"
#include "reproduce/deti.hpp"
#include "reproduce/generalized_alpha.hpp"
#include "reproduce/projective.hpp"

namespace osier {

std::span<const Paper> papers() {
  static const std::array<Paper, 3> list{projective_paper(), deti_paper(), generalized_alpha_paper()};
  return list;
}

std::filesystem::path find_paper_scenes() { return find_data_folder("scenes/paper", "share/osier/scenes/paper"); }

}  // namespace osier
