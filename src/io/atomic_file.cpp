#include "io/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
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

namespace {

/// Where a path leads. What is there and is no file (a device, a pipe) cannot be replaced by one, only written to.
struct Target {
  fs::path file;  ///< behind symbolic links: they stay, and what they lead to is replaced
  bool replaceable = true;
  int descriptor = -1;  ///< an open one of ours that the path names, as /dev/stdout does
};

Target target_of(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at cannot be opened either, and that is reported
  const fs::file_status status = fs::status(path, ignored);
  Target target{.file = path, .replaceable = !fs::exists(status) || fs::is_regular_file(status)};
  // Link by link, since the last one may lead to a file that is not there yet; no more of them than Linux follows.
  for (int links = 0; links < 40 && fs::is_symlink(target.file, ignored); ++links) {
    // A log that standard output is appended to is a file, but not ours to replace.
    if (fs::equivalent(target.file.parent_path(), "/proc/self/fd", ignored)) {
      target.descriptor = std::stoi(target.file.filename().string());
      target.replaceable = false;
      break;
    }
    const fs::path next = fs::read_symlink(target.file, ignored);
    if (next.empty()) break;
    target.file = target.file.parent_path() / next;
  }
  return target;
}

[[noreturn]] void fail_at(const fs::path& path, const char* what) {
  throw RunError(fmt::format("{}: cannot {}: {}", path.string(), what, std::strerror(errno)));
}

/// Closed at the latest when it goes.
class Descriptor {
 public:
  Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

/// The same in the place that `name` names; reads from where `in` stands.
void copy_into(const Target& target, int in, const fs::path& name) {
  if (target.descriptor == STDOUT_FILENO)
    std::fflush(stdout);  // what was printed before comes before; main() sees whether it did
  Descriptor out(target.descriptor >= 0 ? ::dup(target.descriptor) : ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (out < 0) fail_at(name, "open for writing");
  std::vector<char> block(1 << 16);
  for (;;) {
    const ssize_t bytes = ::read(in, block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail_at(name, "read back what is to be written");
    if (bytes == 0) break;
    for (ssize_t done = 0; done < bytes;) {
      const ssize_t n = ::write(out, block.data() + done, static_cast<std::size_t>(bytes - done));
      if (n < 0 && errno != EINTR) fail_at(name, "write");
      done += std::max<ssize_t>(n, 0);
    }
  }
  if (!out.close()) fail_at(name, "write");
}

}  // namespace

std::optional<fs::path> file_to_replace(const fs::path& path) {
  const Target target = target_of(path);
  return target.replaceable ? std::optional(target.file) : std::nullopt;
}

fs::path temporary_for(const fs::path& path, std::string_view suffix) {
  if (const auto file = file_to_replace(path)) return fs::path(*file) += suffix;
  // Not beside a device: /dev is no place for files, and few may write there.
  std::error_code ignored;  // then in the current folder
  std::string name = (fs::temp_directory_path(ignored) / "osier_XXXXXX").string() + std::string(suffix);
  const int file = ::mkstemps(name.data(), static_cast<int>(suffix.size()));
  if (file < 0) fail_at(path, "make a temporary file first");
  ::close(file);
  return name;
}

void put_in_place(const fs::path& temporary, const fs::path& path) {
  const Target target = target_of(path);
  if (target.replaceable) {
    if (std::rename(temporary.c_str(), target.file.c_str()) != 0) fail_at(path, "rename the finished file");
    return;
  }
  const Descriptor in(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
  if (in < 0) fail_at(path, "read back what is to be written");
  std::remove(temporary.c_str());  // not after the copy: a reader that leaves early ends us by a signal
  copy_into(target, in, path);
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  OutputFile file(path, OutputFile::Mode::atomic);
  file.append(text);
  file.commit();
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

bool is_frame_file(std::string_view name, std::string_view extension, std::string_view prefix) {
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

OutputFile::OutputFile(fs::path path, Mode mode)
    : path_(std::move(path)), open_path_(mode == Mode::atomic ? temporary_for(path_) : path_), atomic_(mode == Mode::atomic) {
  file_ = ::open(open_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail("open for writing");
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (atomic_) std::remove(open_path_.c_str());
}

void OutputFile::fail(const char* what) const { fail_at(path_, what); }

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

// No fsync: a killed process cannot lose what the kernel already holds, and waiting for the disk costs milliseconds a frame.
// Only a power cut can leave a renamed but empty file.
void OutputFile::commit() {
  if (!atomic_) return;
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) fail("write");
  put_in_place(open_path_, path_);
  atomic_ = false;  // nothing is left to be removed
}

}  // namespace osier
