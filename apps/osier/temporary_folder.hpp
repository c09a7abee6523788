// A folder of its own that is gone when we are.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>

#include "osier/error.hpp"

namespace osier::cli {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "osier_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw RunError(fmt::format("{}: cannot create a folder there", name));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace osier::cli
