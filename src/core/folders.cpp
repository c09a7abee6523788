#include "core/folders.hpp"

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

}  // namespace osier
