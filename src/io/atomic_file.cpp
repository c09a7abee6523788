#include "io/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "osier/error.hpp"

namespace osier {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw RunError(fmt::format("{}: cannot create the folder: {}", folder.string(), error.message()));
}

// No fsync: a killed process cannot lose what the kernel already holds, and waiting for the disk costs milliseconds a frame.
// Only a power cut can leave a renamed but empty file.
void write_file_atomically(const fs::path& path, std::string_view text) {
  const std::string temporary = path.string() + ".tmp";
  const auto fail = [&](const char* what) {
    const int reason = errno;  // before remove() changes it
    std::remove(temporary.c_str());
    throw RunError(fmt::format("{}: cannot {}: {}", path.string(), what, std::strerror(reason)));
  };
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (!file) fail("open for writing");
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) {
    const int reason = errno;
    std::fclose(file);
    errno = reason;
    fail("write");
  }
  if (std::fclose(file) != 0) fail("write");
  if (std::rename(temporary.c_str(), path.string().c_str()) != 0) fail("rename the finished file");
}

void reserve_file_space(const fs::path& path, std::uintmax_t offset, std::uintmax_t bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) throw RunError(fmt::format("{}: cannot open for writing: {}", path.string(), std::strerror(errno)));
  struct stat before = {};
  ::fstat(file, &before);
  const int reason = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  const bool restored = reason == 0 || ::ftruncate(file, before.st_size) == 0;
  ::close(file);
  if (reason == 0) return;
  throw RunError(fmt::format("{}: cannot reserve {} bytes: {}{}", path.string(), bytes, std::strerror(reason),
                             restored ? "" : " (some of them are still taken)"));
}

std::string frame_file_name(int index, std::string_view extension) { return fmt::format("frame_{:05d}{}", index, extension); }

/// `frame_`, digits, extension, perhaps `.tmp` of a killed run: only names we could have written ourselves.
static bool is_frame_file(std::string_view name, std::string_view extension) {
  if (name.ends_with(".tmp")) name.remove_suffix(4);
  if (!name.starts_with("frame_") || !name.ends_with(extension)) return false;
  name.remove_prefix(6);
  if (name.size() < 5 + extension.size()) return false;
  name.remove_suffix(extension.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void prepare_frame_folder(const fs::path& folder, std::string_view extension) {
  make_folder(folder);
  std::vector<fs::path> old;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (is_frame_file(entry.path().filename().string(), extension)) old.push_back(entry.path());
    for (const fs::path& path : old) fs::remove(path);
  } catch (const fs::filesystem_error& e) {
    throw RunError(fmt::format("{}: cannot clear the frames of an earlier run: {}", folder.string(), e.code().message()));
  }
}

}  // namespace osier
