// The curve formats, a plain table.
#include "io/curves/registry.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace osier {

static constexpr CurveFormat kCurveFormats[] = {
    {"bcc", ".bcc", "", "binary curve collection: yarns, closed or open, polylines or Catmull-Rom splines", false, read_bcc},
    {"hair", ".hair", "", "strands of hair with thickness", false, read_hair},
    {"obj", ".obj", "", "lines (`l`) and points (`p`) with names from `o` and `g` (Blender, Houdini)", false, read_obj},
    {"poly", ".poly", "", "text: POINTS, POLYS, END", false, read_poly},
    {"usda", ".usda", ".usd .usdc .usdz",
     "USD: BasisCurves, linear or cubic, with widths, transforms, time samples and value clips; binary files by usd-core or "
     "usdcat",
     true, read_usda},
    {"ply", ".ply", "", "vertices and edges, ascii or binary", false, read_ply},
    {"csv", ".csv", ".txt .xyz .dat", "a table of points: x, y, z, and if you like width or radius, curve, closed, time", true,
     read_csv},
};

static std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool CurveFormat::has_extension(std::string_view wanted) const {
  if (wanted.size() < 2) return false;
  const std::string all = std::string(" ") + extension + " " + also + " ";
  return all.find(" " + lower(wanted) + " ") != std::string::npos;
}

std::span<const CurveFormat> curve_formats() { return kCurveFormats; }

const CurveFormat* find_curve_format(std::string_view extension) {
  for (const CurveFormat& format : kCurveFormats)
    if (format.has_extension(extension)) return &format;
  return nullptr;
}

std::string readable_curve_extensions() {
  std::vector<std::string> list;
  for (const CurveFormat& format : kCurveFormats) list.emplace_back(format.extension);
  return join(list, ", ");
}

}  // namespace osier
