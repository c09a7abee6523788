#include "io/vtk_xml.hpp"

#include <algorithm>

namespace osier {

void append_base64(std::string& text, std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < n ? bytes[i + k] : 0u);
    for (unsigned k = 0; k < 4; ++k) text += k <= n ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
}

std::string vtk_polydata_head(double time, std::size_t points, std::size_t verts, std::size_t lines) {
  return fmt::format(
      "<?xml version=\"1.0\"?>\n"
      R"(<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">)"
      "\n<PolyData>\n"
      R"(<FieldData><DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">{}</DataArray></FieldData>)"
      "\n"
      R"(<Piece NumberOfPoints="{}" NumberOfVerts="{}" NumberOfLines="{}" NumberOfStrips="0" NumberOfPolys="0">)"
      "\n",
      time, points, verts, lines);
}

std::string vtk_collection(std::string_view entries) {
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n{}</Collection>\n</VTKFile>\n",
      entries);
}

}  // namespace osier
