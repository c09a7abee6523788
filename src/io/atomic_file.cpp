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
#include <utility>
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

std::string frame_file_name(int index, std::string_view extension, std::string_view prefix) {
  return fmt::format("{}{:05d}{}", prefix, index, extension);
}

/// Prefix, digits, extension, perhaps `.tmp` of a killed run: only names we could have written ourselves.
static bool is_frame_file(std::string_view name, std::string_view extension, std::string_view prefix) {
  if (name.ends_with(".tmp")) name.remove_suffix(4);
  if (!name.starts_with(prefix) || !name.ends_with(extension)) return false;
  name.remove_prefix(prefix.size());
  if (name.size() < 5 + extension.size()) return false;
  name.remove_suffix(extension.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void prepare_frame_folder(const fs::path& folder, std::string_view extension, std::string_view prefix) {
  make_folder(folder);
  std::vector<fs::path> old;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (is_frame_file(entry.path().filename().string(), extension, prefix)) old.push_back(entry.path());
    for (const fs::path& path : old) fs::remove(path);
  } catch (const fs::filesystem_error& e) {
    throw RunError(fmt::format("{}: cannot clear the frames of an earlier run: {}", folder.string(), e.code().message()));
  }
}

OutputFile::OutputFile(fs::path path, Mode mode) : path_(std::move(path)), open_path_(path_), atomic_(mode == Mode::atomic) {
  if (atomic_) open_path_ += ".tmp";
  file_ = ::open(open_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail("open for writing");
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  ::close(file_);
  if (atomic_) std::remove(open_path_.c_str());
}

void OutputFile::fail(const char* what) const {
  throw RunError(fmt::format("{}: cannot {}: {}", path_.string(), what, std::strerror(errno)));
}

void OutputFile::append(std::string_view bytes) {
  std::uint64_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
    if (n > 0) done += static_cast<std::uint64_t>(n);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    const int reason = n == 0 ? ENOSPC : errno;
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0) {
    }  // the tail behind the last whole piece stays; the reason below matters more
    errno = reason;
    fail("write");
  }
  size_ += bytes.size();
}

void OutputFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  if (::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes.size()))
    fail("write");
}

void OutputFile::append_from(const fs::path& other, std::uint64_t offset, std::uint64_t length) {
  const int in = ::open(other.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) throw RunError(fmt::format("{}: cannot be read again: {}", other.string(), std::strerror(errno)));
  std::vector<char> block(std::min<std::uint64_t>(length, 1 << 20));
  while (length > 0) {
    const ssize_t n = ::pread(in, block.data(), std::min<std::uint64_t>(length, block.size()), static_cast<off_t>(offset));
    if (n <= 0) {
      ::close(in);
      throw RunError(
          fmt::format("{}: cannot be read again: {}", other.string(), n < 0 ? std::strerror(errno) : "it is too short"));
    }
    try {
      append({block.data(), static_cast<std::size_t>(n)});
    } catch (...) {
      ::close(in);
      throw;
    }
    offset += static_cast<std::uint64_t>(n), length -= static_cast<std::uint64_t>(n);
  }
  ::close(in);
}

void OutputFile::commit() {
  if (!atomic_) return;
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) fail("write");
  if (std::rename(open_path_.c_str(), path_.c_str()) != 0) fail("rename the finished file");
}

}  // namespace osier
