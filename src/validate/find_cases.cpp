#include "osier/validate.hpp"

namespace osier {

namespace fs = std::filesystem;

static fs::path above(fs::path folder) {
  std::error_code error;
  for (;; folder = folder.parent_path()) {
    if (fs::is_directory(folder / "scenes/validation", error)) return folder / "scenes/validation";
    if (folder == folder.parent_path()) return {};
  }
}

fs::path find_validation_cases() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = program.parent_path().parent_path() / "share/osier/validation";
    if (fs::is_directory(installed, error)) return installed;
    if (const fs::path found = above(program.parent_path()); !found.empty()) return found;
  }
  const fs::path here = fs::current_path(error);
  return error ? fs::path{} : above(here);
}

}  // namespace osier
