#include "core/folders.hpp"

#include <cstdlib>
#include <string_view>

#include "osier/error.hpp"

namespace osier {

namespace fs = std::filesystem;

static fs::path above(fs::path folder, const char* wanted) {
  std::error_code error;
  for (;; folder = folder.parent_path()) {
    if (fs::is_directory(folder / wanted, error)) return folder / wanted;
    if (folder == folder.parent_path()) return {};
  }
}

fs::path find_data_folder(const char* in_source, const char* installed) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    fs::path shared = program.parent_path().parent_path() / installed;
    if (fs::is_directory(shared, error)) return shared;
    if (fs::path found = above(program.parent_path(), in_source); !found.empty()) return found;
  }
  const fs::path here = fs::current_path(error);
  return error ? fs::path{} : above(here, in_source);
}

std::filesystem::path file_of_scene(const std::string& folder, const std::string& name, const std::string& where) {
  constexpr std::string_view kOutside = "$OSIER_DATA/";
  if (!name.starts_with(kOutside)) return std::filesystem::path(folder) / name;
  const char* outside = std::getenv("OSIER_DATA");
  if (!outside || !*outside)
    throw InputError({{where, "needs data that are not part of Osier", "set OSIER_DATA to the folder that holds them"}});
  return std::filesystem::path(outside) / name.substr(kOutside.size());
}

}  // namespace osier
