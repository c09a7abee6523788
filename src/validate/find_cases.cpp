#include "core/folders.hpp"
#include "osier/validate.hpp"

namespace osier {

std::filesystem::path find_validation_cases() { return find_data_folder("scenes/validation", "share/osier/validation"); }

}  // namespace osier
