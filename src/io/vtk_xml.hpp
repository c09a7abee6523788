// Pieces of VTK's XML files. Arrays are inline base64 (an 8-byte length, then the values). Appended raw data would be a quarter
// smaller, but is not XML: every reader other than VTK's own trips over it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace osier {

static_assert(std::endian::native == std::endian::little, "the files say byte_order=\"LittleEndian\"");

void append_base64(std::string& text, std::span<const unsigned char> bytes);

template <class T>
void append_vtk_array(std::string& text, std::string_view name, int components, const std::vector<T>& values) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>);
  const std::string_view type = std::is_same_v<T, float> ? "Float32" : std::is_same_v<T, double> ? "Float64" : "Int32";
  const std::uint64_t size = values.size() * sizeof(T);
  std::vector<unsigned char> bytes(sizeof(size) + size);
  std::memcpy(bytes.data(), &size, sizeof(size));
  if (size > 0) std::memcpy(bytes.data() + sizeof(size), values.data(), size);
  text += fmt::format(R"(<DataArray type="{}" Name="{}" NumberOfComponents="{}" format="binary">)", type, name, components);
  append_base64(text, bytes);
  text += "</DataArray>\n";
}

/// What stands before the arrays of a file with points and lines.
std::string vtk_polydata_head(double time, std::size_t points, std::size_t verts, std::size_t lines);
/// The .pvd around its <DataSet/> lines.
std::string vtk_collection(std::string_view entries);

}  // namespace osier
