// The bytes of a curve file, and how errors speak of places in them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace osier {

/// Another file that a curve file names.
struct FileBeside {
  std::string file;  ///< for messages
  std::vector<std::byte> bytes;
};

struct CurveSource {
  std::span<const std::byte> bytes;
  std::string file;
  /// Reads a file by the name it has in this one. Throws InputError where it is missing or not to be read; empty where bytes came
  /// without a folder.
  std::function<FileBeside(const std::string& name)> beside = {};

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

  /// Throw InputError: `yarn.bcc, byte 64: what; remedy`.
  [[noreturn]] void fail_at_byte(std::size_t offset, const std::string& what, const std::string& remedy) const;
  [[noreturn]] void fail_at_line(std::size_t line, const std::string& what, const std::string& remedy) const;
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;
};

}  // namespace osier
