// From a file's bytes to curves in metres with y up.
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

#include "io/curves/registry.hpp"
#include "io/curves/turn.hpp"

namespace osier {

std::vector<std::byte> read_bytes(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& what) {
    throw InputError({{file.string(), what, "check the name and that you may read it"}});
  };
  std::error_code error;
  if (!std::filesystem::exists(file, error)) refuse("does not exist");
  if (!std::filesystem::is_regular_file(file, error)) refuse("is not a file");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(fmt::format("cannot be opened ({})", std::strerror(errno)));
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::filesystem::file_size(file, error)));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::size_t>(in.gcount()) != bytes.size()) refuse("cannot be read to its end");
  return bytes;
}

static const CurveFormat& format_of(const std::string& file, std::string_view extension) {
  const CurveFormat* format = find_curve_format(extension);
  if (!format)
    throw InputError({{file,
                       extension.empty() ? "has no extension that tells its format"
                                         : fmt::format("`{}` is not a curve format that can be read", extension),
                       "use " + readable_curve_extensions()}});
  return *format;
}

void check_read_options(const CurveSource& source, const CurveFormat& format, const CurveReadOptions& options) {
  if (options.frame && options.time) source.fail("both `frame` and `time` are asked for", "keep one of them");
  if ((options.frame || options.time) && !format.animated)
    source.fail(fmt::format("a .{} file holds a single moment", format.name), "leave out `frame` and `time`");
  if (options.cubic_samples < 1 || options.cubic_samples > 1000)
    source.fail(fmt::format("{} pieces for a cubic span", options.cubic_samples), "use 1 to 1000 `cubic_samples`");
}

CurveSet parse_curves(std::span<const std::byte> bytes, std::string_view extension, const std::string& file,
                      const CurveReadOptions& options) {
  const CurveFormat& format = format_of(file, extension);
  const CurveSource source{bytes, file};
  check_read_options(source, format, options);
  CurveSet curves = format.read(source, options);
  for (Vec3d& p : curves.points) p = turned_to_y(p, curves.up);
  return curves;
}

CurveSet read_curves(const std::filesystem::path& file, const CurveReadOptions& options) {
  format_of(file.string(), file.extension().string());  // before a large file is read in vain
  return parse_curves(read_bytes(file), file.extension().string(), file.string(), options);
}

}  // namespace osier
