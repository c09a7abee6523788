// The curve formats that can be read. One file per format in this folder, one line in registry.cpp.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "io/curves/source.hpp"
#include "osier/curves.hpp"

namespace osier {

struct CurveFormat {
  const char* name;       ///< "bcc"
  const char* extension;  ///< ".bcc"
  const char* also;       ///< other extensions, separated by blanks
  const char* help;
  bool animated;  ///< can hold several moments, of which `frame` or `time` chooses one
  /// The curves as the file has them, `up` set but not turned.
  CurveSet (*read)(const CurveSource& source, const CurveReadOptions& options);

  bool has_extension(std::string_view wanted) const;  ///< with its dot, in upper or lower case
};

std::span<const CurveFormat> curve_formats();
const CurveFormat* find_curve_format(std::string_view extension);

/// Throws InputError for options that contradict each other or the format.
void check_read_options(const CurveSource& source, const CurveFormat& format, const CurveReadOptions& options);

/// The whole file. Throws InputError naming it when it cannot be read.
std::vector<std::byte> read_bytes(const std::filesystem::path& file);

/// A file that `file` names, which lies in the same folder or below. Nothing leads out of it: neither `..` nor a link.
FileBeside read_beside(const std::filesystem::path& file, const std::string& name);

/// ".bcc, .hair, ...": of all formats that can be read.
std::string readable_curve_extensions();

CurveSet read_bcc(const CurveSource& source, const CurveReadOptions& options);
CurveSet read_hair(const CurveSource& source, const CurveReadOptions& options);
CurveSet read_obj(const CurveSource& source, const CurveReadOptions& options);
CurveSet read_poly(const CurveSource& source, const CurveReadOptions& options);
CurveSet read_usda(const CurveSource& source, const CurveReadOptions& options);
CurveSet read_ply(const CurveSource& source, const CurveReadOptions& options);
CurveSet read_csv(const CurveSource& source, const CurveReadOptions& options);

}  // namespace osier
