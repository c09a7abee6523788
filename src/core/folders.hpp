// Where the files that come with the program lie.
#pragma once

#include <filesystem>
#include <string>

namespace osier {

/// `in_source` above the program or above the current folder, or `installed` below the prefix of an installed program. Empty when
/// there is none.
std::filesystem::path find_data_folder(const char* in_source, const char* installed);

/// A file that a scene names: it starts at the scene's folder or, with `$OSIER_DATA/`, at the folder of data that are not part of
/// Osier, which that variable of the environment names. Throws InputError at `where` when it does not.
std::filesystem::path file_of_scene(const std::string& folder, const std::string& name, const std::string& where);

}  // namespace osier
