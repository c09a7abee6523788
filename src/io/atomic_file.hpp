// Files that are either complete or absent, and the numbered frames made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace osier {

/// Creates the folder and its parents. Throws RunError naming it when that fails.
void make_folder(const std::filesystem::path& folder);

/// Writes a temporary neighbour and renames it, so that a reader (or a killed run) never sees half a file. Symbolic links are
/// followed and stay; devices and pipes are not replaced, they get the bytes once these are complete. Throws RunError with the
/// path and the system's reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// What it would replace: the file that the path leads to, there or not yet. Nothing where that is a device, a pipe or an open
/// file of this process (`/dev/stdout`).
std::optional<std::filesystem::path> file_to_replace(const std::filesystem::path& path);

/// The two halves of it, for files that are written in other ways. The first names a neighbour of that file, or one in the
/// system's folder for temporary files where there is none; the second gives the finished file its name, or copies and removes
/// it. Where it throws the temporary is left to the caller.
std::filesystem::path temporary_for(const std::filesystem::path& path, std::string_view suffix = ".tmp");
void put_in_place(const std::filesystem::path& temporary, const std::filesystem::path& path);

/// Takes `bytes` of disk from `offset` on, creating the file if need be, before a library that cannot survive a full disk
/// writes there. Throws RunError with the path and the system's reason, and leaves the file as it was.
void reserve_file_space(const std::filesystem::path& path, std::uintmax_t offset, std::uintmax_t bytes);

/// `frame_00012.obj`
std::string frame_file_name(int index, std::string_view extension, std::string_view prefix = "frame_");

/// Prefix, digits, extension, perhaps `.tmp` of a killed run: only names we could have written ourselves.
bool is_frame_file(std::string_view name, std::string_view extension, std::string_view prefix = "frame_");

/// Makes the folder and removes the frames an earlier, perhaps longer, run left in it: a player that takes every file of the
/// folder must not continue into another simulation.
void prepare_frame_folder(const std::filesystem::path& folder, std::string_view extension, std::string_view prefix = "frame_");

/// A file that is written piece by piece. Throws RunError with the path and the system's reason; a piece that does not fit on
/// the disk leaves the pieces before it as they were.
class OutputFile {
 public:
  enum class Mode {
    atomic,   ///< a temporary file that takes its place in commit(), and is gone without it
    growing,  ///< the file itself: every append leaves it readable
  };
  OutputFile(std::filesystem::path path, Mode mode);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void append(std::string_view bytes);
  /// Over what is there already.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  /// `length` bytes of another file from `offset` on.
  void append_from(const std::filesystem::path& other, std::uint64_t offset, std::uint64_t length);
  std::uint64_t size() const { return size_; }
  /// What it is called until it is committed.
  const std::filesystem::path& open_path() const { return open_path_; }
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::filesystem::path path_, open_path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  bool atomic_;
};

}  // namespace osier
