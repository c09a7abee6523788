// Places to write to, checked before anything runs: a typing mistake must not cost minutes.
#pragma once

#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <unistd.h>

#include "io/atomic_file.hpp"
#include "osier/error.hpp"

namespace osier::cli {

inline void check_folder(const char* option, const std::filesystem::path& folder, Problems& problems,
                         const std::string& file = {}) {
  if (!std::filesystem::is_directory(folder) || ::access(folder.c_str(), W_OK) != 0)
    problems.add(option,
                 (file.empty() ? "" : file + ": ") + fmt::format("{} is not a folder that can be written to", folder.string()),
                 "choose another one");
}

/// A file that is to be written, or nothing.
inline void check_output_file(const char* option, const std::string& file, Problems& problems) {
  if (file.empty()) return;
  // Devices and pipes are written to where they are; their folder is not touched.
  if (const auto replaced = file_to_replace(file)) {
    const std::filesystem::path parent = replaced->parent_path();
    check_folder(option, parent.empty() ? std::filesystem::path(".") : parent, problems, file);
  }
  if (std::filesystem::is_directory(file)) problems.add(option, fmt::format("{} is a folder", file), "name a file");
  else if (std::filesystem::exists(file) && ::access(file.c_str(), W_OK) != 0)
    problems.add(option, fmt::format("{} cannot be written", file), "choose another one");
}

/// A folder that is made when it is not there, or nothing.
inline void check_output_folder(const char* option, const std::string& folder, Problems& problems) {
  if (folder.empty()) return;
  std::error_code ignored;  // the check tells
  std::filesystem::create_directories(folder, ignored);
  check_folder(option, folder, problems);
}

/// The same without making it yet: what is there of its path must be a folder that can be written to.
inline void check_future_folder(const char* option, const std::string& folder, Problems& problems) {
  if (folder.empty()) return;
  std::filesystem::path there = std::filesystem::absolute(folder);
  std::error_code ignored;  // a path that cannot be looked at is not there
  while (!std::filesystem::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  check_folder(option, there, problems);
}

}  // namespace osier::cli
