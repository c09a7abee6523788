// Text in an HDF5 file, read from the file's own bytes. The HDF5 library follows references into the heap of variable-length
// strings without looking whether they lead anywhere, and crashes on a damaged file; here every step is checked.
//
// Names as in the "HDF5 File Format Specification, version 3.0": global heap III.E, data object header IV.A.1, attribute message
// IV.A.2.m.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace osier {

class Hdf5Text {
 public:
  /// How a variable-length string is stored: its length, the address of its heap collection, its number there.
  static constexpr std::size_t kReferenceBytes = 16;

  explicit Hdf5Text(const std::filesystem::path& file);
  ~Hdf5Text();
  Hdf5Text(const Hdf5Text&) = delete;
  Hdf5Text& operator=(const Hdf5Text&) = delete;

  std::uint64_t file_size() const { return size_; }
  /// Variable-length strings whose references lie one after the other from `offset` on. Nothing when something is damaged.
  std::optional<std::vector<std::string>> variable_strings(std::uint64_t offset, std::uint64_t count);
  /// A text attribute of the object whose header lies at `header`. Nothing when there is none, or none that can be read.
  std::optional<std::string> attribute(std::uint64_t header, std::string_view name);

 private:
  struct Piece {
    std::uint64_t offset, length;
  };
  using Collection = std::map<unsigned, Piece>;  ///< by number

  std::optional<std::string> bytes(std::uint64_t offset, std::uint64_t count) const;
  const Collection* collection(std::uint64_t address);
  std::optional<std::string> referenced(std::string_view reference);
  std::optional<std::string> value_of(std::string_view message, std::string_view name);

  int file_ = -1;
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, Collection> collections_;  ///< by address
  std::uint64_t collected_ = 0;                      ///< bytes of all collections looked at
};

}  // namespace osier
