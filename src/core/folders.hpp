// Where the files that come with the program lie.
#pragma once

#include <filesystem>

namespace osier {

/// `in_source` above the program or above the current folder, or `installed` below the prefix of an installed program. Empty when
/// there is none.
std::filesystem::path find_data_folder(const char* in_source, const char* installed);

}  // namespace osier
