// From a file's bytes to curves in metres with y up.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

#include "io/curves/registry.hpp"
#include "io/curves/scan.hpp"
#include "io/curves/turn.hpp"
#include "io/usd_binary.hpp"

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

FileBeside read_beside(const std::filesystem::path& file, const std::string& name) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    throw InputError({{file.string(), fmt::format("names {}, {}", in_quotes(name, 200), what), remedy}});
  };
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path("."), full = folder / name;
  const auto leads_out = [](const fs::path& relative) {
    return relative.empty() || relative.is_absolute() || *relative.begin() == "..";
  };
  constexpr const char* kInside = "put both into one folder and name it from there";
  if (leads_out(fs::path(name).lexically_normal())) refuse("which does not lie in its folder or below", kInside);
  std::error_code error;
  if (!fs::exists(full, error)) refuse("which does not exist", "copy it together with the files that it names");
  if (!fs::is_regular_file(full, error)) refuse("which is not a file", "copy it together with the files that it names");
  if (fs::equivalent(full, file, error)) refuse("which is the file itself", "name another one");
  if (leads_out(fs::canonical(full, error).lexically_relative(fs::canonical(folder, error))))
    refuse("which is a link that leads out of its folder", "copy the file to where the link is");
  return {full.lexically_normal().string(), read_bytes(full)};
}

/// What people try, and the way round.
static constexpr std::pair<const char*, const char*> kNotRead[] = {
    {".abc", "export USD text (.usda) or .obj instead of Alembic"},
    {".json", "if this is a scene, run it and name the folder of the run"},
    {".pc2", "name the .obj that belongs to it, or the run"},
};

static const CurveFormat& format_of(const std::string& file, std::string_view extension) {
  const CurveFormat* format = find_curve_format(extension);
  std::string lower(extension);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [known, remedy] : kNotRead)
    if (lower == known) throw InputError({{file, fmt::format("`{}` is not a curve format that can be read", extension), remedy}});
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

static CurveSet parse(const CurveSource& source, std::string_view extension, const CurveReadOptions& options) {
  const CurveFormat& format = format_of(source.file, extension);
  if (source.text().starts_with("\xFF\xFE") || source.text().starts_with("\xFE\xFF"))
    source.fail_at_byte(0, "is UTF-16 text", "save it as UTF-8");
  check_read_options(source, format, options);
  CurveSet curves = format.read(source, options);
  for (Vec3d& p : curves.points) p = turned_to_y(p, curves.up);
  return curves;
}

CurveSet parse_curves(std::span<const std::byte> bytes, std::string_view extension, const std::string& file,
                      const CurveReadOptions& options) {
  return parse({bytes, file}, extension, options);
}

CurveSet read_curves(const std::filesystem::path& file, const CurveReadOptions& options) {
  if (std::error_code error; !std::filesystem::exists(file, error)) read_bytes(file);  // says so
  format_of(file.string(), file.extension().string());                                 // before a large file is read in vain
  const std::vector<std::byte> bytes = usd_text(file);
  return parse({bytes, file.string(), [&](const std::string& name) { return read_beside(file, name); }},
               file.extension().string(), options);
}

}  // namespace osier
