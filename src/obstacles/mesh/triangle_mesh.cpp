#include "obstacles/mesh/triangle_mesh.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "core/text.hpp"
#include "io/curves/scan.hpp"
#include "math/vec3.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

constexpr std::size_t kMostNamed = 5;  ///< problems of one kind that are told one by one

std::optional<std::string> text_of(const std::filesystem::path& path, const std::string& where, Problems& problems) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    problems.add(where, fmt::format("there is no file {}", shorten(path.string(), 200)),
                 "file names are relative to the folder of the scene");
    return {};
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    problems.add(where, fmt::format("{} cannot be read", shorten(path.string(), 200)), "look at its permissions");
    return {};
  }
  return std::move(text).str();
}

/// Collects what is wrong in a file and tells the first few of it.
class Complaints {
 public:
  Complaints(const std::string& file, const std::string& where, Problems& problems)
      : file_(file), where_(where), problems_(problems) {}
  void add(const std::string& place, const std::string& what, const std::string& remedy) {
    if (count_++ < kMostNamed) problems_.add(where_, fmt::format("{}, {}: {}", file_, place, what), remedy);
  }
  void finish() {
    if (count_ > kMostNamed) problems_.add(where_, fmt::format("{}: {} more of these", file_, count_ - kMostNamed));
  }
  bool any() const { return count_ > 0; }

 private:
  std::string file_, where_;
  Problems& problems_;
  std::size_t count_ = 0;
};

void add_fan(const std::vector<Index>& corners, TriangleMesh& mesh) {
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) mesh.triangles.push_back({corners[0], corners[i], corners[i + 1]});
}

TriangleMesh read_obj(std::string_view text, Complaints& complaints) {
  TriangleMesh mesh;
  LineScanner lines(text);
  std::vector<Index> corners;
  for (std::string_view line; lines.next(line);) {
    const std::string_view word = next_word(line);
    const auto complain = [&](const std::string& what, const std::string& remedy) {
      complaints.add(fmt::format("line {}", lines.number()), what, remedy);
    };
    if (word == "v") {
      std::array<double, 3> x{};
      for (double& value : x) {
        const std::string_view number = next_word(line);
        if (const auto read = number_of(number)) value = *read;
        else complain(in_quotes(number) + " is not a number", "give three coordinates");
      }
      mesh.points.push_back({x[0], x[1], x[2]});
    } else if (word == "f") {
      corners.clear();
      bool good = true;
      for (std::string_view corner = next_word(line); !corner.empty(); corner = next_word(line)) {
        const auto number = whole_number_of(corner.substr(0, corner.find('/')));
        const auto count = static_cast<std::int64_t>(mesh.points.size());
        const std::int64_t index = !number ? -1 : *number > 0 ? *number - 1 : *number < 0 ? count + *number : -1;
        if (index < 0 || index >= count) {
          complain("a face names vertex " + in_quotes(corner) + fmt::format(", of {} so far", count), "export it anew");
          good = false;
        }
        corners.push_back(static_cast<Index>(index));
      }
      if (corners.size() < 3) complain(fmt::format("a face of {} corners", corners.size()), "give at least three");
      else if (good) add_fan(corners, mesh);
    }
  }
  return mesh;
}

class PlyMesh {
 public:
  PlyMesh(std::string_view text, Complaints& complaints) : text_(text), complaints_(complaints) {}

  TriangleMesh run() {
    TriangleMesh mesh;
    if (!read_header()) return mesh;
    for (const Element& e : elements_) {
      for (std::uint64_t i = 0; i < e.count; ++i) {
        if (at_ >= text_.size() && !e.properties.empty()) {
          complaints_.add("its end", fmt::format("{} {} of {} are missing", e.count - i, e.name, e.count),
                          "it is cut off: copy it again");
          return mesh;
        }
        Vec3d x;
        std::vector<Index> corners;
        for (const Property& p : e.properties) {
          const auto count = p.list ? static_cast<std::size_t>(std::max(0.0, number(p.count))) : 1;
          if (count > text_.size()) {
            complaints_.add(fmt::format("{} {}", e.name, i), "a list that is longer than the file", "is the format right?");
            return mesh;
          }
          for (std::size_t k = 0; k < count; ++k) {
            const double value = number(p.type);
            if (e.name == "vertex" && !p.list) {
              if (p.name == "x") x.x = value;
              if (p.name == "y") x.y = value;
              if (p.name == "z") x.z = value;
            }
            if (e.name == "face" && p.list && (p.name == "vertex_indices" || p.name == "vertex_index"))
              corners.push_back(static_cast<Index>(value));
          }
        }
        if (failed_) {
          complaints_.add(fmt::format("{} {}", e.name, i), "a value that is not a number, or none at all", "export it anew");
          return mesh;
        }
        if (e.name == "vertex") mesh.points.push_back(x);
        if (e.name != "face") continue;
        const auto outside = [&](Index c) { return c < 0 || static_cast<std::size_t>(c) >= mesh.points.size(); };
        if (std::any_of(corners.begin(), corners.end(), outside))
          complaints_.add(fmt::format("face {}", i), fmt::format("names a vertex outside of 0 to {}", mesh.points.size() - 1),
                          "export it anew");
        else add_fan(corners, mesh);
      }
    }
    return mesh;
  }

 private:
  enum class Type : std::uint8_t { i8, u8, i16, u16, i32, u32, f32, f64, unknown };
  struct Property {
    std::string name;
    Type type = Type::f32, count = Type::u8;
    bool list = false;
  };
  struct Element {
    std::string name;
    std::uint64_t count = 0;
    std::vector<Property> properties;
  };

  static Type type_of(std::string_view word) {
    static const std::map<std::string_view, Type> types{
        {"char", Type::i8},   {"int8", Type::i8},     {"uchar", Type::u8},   {"uint8", Type::u8},
        {"short", Type::i16}, {"int16", Type::i16},   {"ushort", Type::u16}, {"uint16", Type::u16},
        {"int", Type::i32},   {"int32", Type::i32},   {"uint", Type::u32},   {"uint32", Type::u32},
        {"float", Type::f32}, {"float32", Type::f32}, {"double", Type::f64}, {"float64", Type::f64}};
    const auto found = types.find(word);
    return found == types.end() ? Type::unknown : found->second;
  }

  bool read_header() {
    LineScanner lines(text_);
    std::string_view line;
    const auto fail = [&](const std::string& what, const std::string& remedy) {
      complaints_.add(fmt::format("line {}", std::max<std::size_t>(1, lines.number())), what, remedy);
      return false;
    };
    if (!lines.next(line) || line != "ply") return fail("does not begin with `ply`", "is this a .ply file?");
    for (;;) {
      if (!lines.next(line)) return fail("the header has no end_header", "it is cut off: copy it again");
      std::string_view rest = line;
      const std::string_view word = next_word(rest);
      if (word == "end_header") break;
      if (word == "format") {
        const std::string_view format = next_word(rest);
        ascii_ = format == "ascii", big_ = format == "binary_big_endian";
        if (!ascii_ && !big_ && format != "binary_little_endian")
          return fail(in_quotes(format) + " is not a format", "write ascii, binary_little_endian or binary_big_endian");
      } else if (word == "element") {
        const std::string_view name = next_word(rest);
        const auto count = whole_number_of(next_word(rest));
        if (!count || *count < 0) return fail("an element without a number", "write element vertex 12");
        elements_.push_back({std::string(name), static_cast<std::uint64_t>(*count), {}});
      } else if (word == "property") {
        if (elements_.empty()) return fail("a property before the first element", "begin with an element");
        Property p;
        std::string_view type = next_word(rest);
        if (type == "list") p.list = true, p.count = type_of(next_word(rest)), type = next_word(rest);
        p.type = type_of(type);
        if (p.type == Type::unknown || p.count == Type::unknown)
          return fail(in_quotes(line) + " has an unknown type of number",
                      "use char, uchar, short, ushort, int, uint, float, double");
        p.name = std::string(next_word(rest));
        elements_.back().properties.push_back(p);
      }
    }
    const auto end = static_cast<std::size_t>(line.data() - text_.data()) + line.size();
    at_ = std::min(text_.size(), end + (end < text_.size() && text_[end] == '\r' ? 2 : 1));
    return true;
  }

  double number(Type type) {
    if (ascii_) {
      while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
      const std::size_t begin = at_;
      while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n') ++at_;
      const auto read = number_of(text_.substr(begin, at_ - begin));
      failed_ = failed_ || !read;
      return read.value_or(0);
    }
    switch (type) {
      case Type::i8:
        return bytes<std::int8_t>();
      case Type::u8:
        return bytes<std::uint8_t>();
      case Type::i16:
        return bytes<std::int16_t>();
      case Type::u16:
        return bytes<std::uint16_t>();
      case Type::i32:
        return bytes<std::int32_t>();
      case Type::u32:
        return bytes<std::uint32_t>();
      case Type::f32:
        return static_cast<double>(bytes<float>());
      default:
        return bytes<double>();
    }
  }
  template <class T>
  T bytes() {
    std::array<char, sizeof(T)> raw{};
    if (at_ + sizeof(T) > text_.size()) {
      failed_ = true;
      at_ = text_.size();
      return {};
    }
    std::copy_n(text_.data() + at_, sizeof(T), raw.begin());
    at_ += sizeof(T);
    if (big_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
  }

  std::string_view text_;
  Complaints& complaints_;
  std::vector<Element> elements_;
  std::size_t at_ = 0;
  bool ascii_ = true, big_ = false, failed_ = false;
};

}  // namespace

TriangleMesh read_mesh(const std::filesystem::path& path, const std::string& where, Problems& problems) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending != ".obj" && ending != ".ply") {
    problems.add(where, fmt::format("{} is neither .obj nor .ply", shorten(path.filename().string())), "convert it");
    return {};
  }
  const auto text = text_of(path, where, problems);
  if (!text) return {};
  const std::string file = shorten(path.filename().string());
  Complaints complaints(file, where, problems);
  TriangleMesh mesh = ending == ".obj" ? read_obj(*text, complaints) : PlyMesh(*text, complaints).run();
  complaints.finish();
  if (complaints.any()) return {};
  if (mesh.triangles.empty()) {
    problems.add(where, fmt::format("{} has {} vertices but no faces", file, mesh.points.size()), "export a surface");
    return {};
  }
  return mesh;
}

std::vector<std::vector<Vec3d>> read_point_cache(const std::filesystem::path& path, const std::string& where,
                                                 Problems& problems) {
  const auto text = text_of(path, where, problems);
  if (!text) return {};
  const std::string file = shorten(path.filename().string());
  constexpr std::size_t kHeader = 32;
  const auto whole = [&](std::size_t at) {
    std::int32_t value = 0;
    std::memcpy(&value, text->data() + at, sizeof value);
    return value;
  };
  if (text->size() < kHeader || text->compare(0, 11, "POINTCACHE2") != 0) {
    problems.add(where, file + " does not begin with POINTCACHE2", "is this a .pc2 file?");
    return {};
  }
  const std::int64_t points = whole(16), samples = whole(28);
  if (points <= 0 || samples <= 0 ||
      static_cast<double>(points) * static_cast<double>(samples) * 12 > static_cast<double>(text->size() - kHeader)) {
    problems.add(where, fmt::format("{} says it has {} samples of {} points, which it has not", file, samples, points),
                 "it is cut off: copy it again");
    return {};
  }
  std::vector<std::vector<Vec3d>> list(static_cast<std::size_t>(samples));
  std::size_t at = kHeader;
  for (auto& sample : list) {
    sample.resize(static_cast<std::size_t>(points));
    for (Vec3d& x : sample) {
      std::array<float, 3> value{};
      std::memcpy(value.data(), text->data() + at, sizeof value);
      at += sizeof value;
      x = {static_cast<double>(value[0]), static_cast<double>(value[1]), static_cast<double>(value[2])};
    }
  }
  return list;
}

void check_mesh(const TriangleMesh& mesh, const std::string& file, bool open, const std::string& where, Problems& problems) {
  constexpr double kFlat = 1e-9;  // height of a triangle over its longest edge
  std::size_t bad = 0, first_bad = 0, flat = 0, first_flat = 0;
  for (std::size_t i = 0; i < mesh.points.size(); ++i)
    if (!is_finite(mesh.points[i]) && bad++ == 0) first_bad = i;
  if (bad > 0)
    problems.add(
        where,
        fmt::format("{}: {} of {} vertices are not finite numbers, first vertex {}", file, bad, mesh.points.size(), first_bad),
        "repair the mesh");
  // Faces of one surface may have vertices of their own at the same place.
  std::map<std::array<double, 3>, Index> places;
  std::vector<Index> place(mesh.points.size());
  for (std::size_t i = 0; i < mesh.points.size(); ++i) {
    const Vec3d& p = mesh.points[i];
    place[i] = is_finite(p) ? places.try_emplace({p.x, p.y, p.z}, static_cast<Index>(i)).first->second : static_cast<Index>(i);
  }
  std::map<std::pair<Index, Index>, int> edges;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [a, b, c] = mesh.triangles[t];
    const Vec3d u = mesh.points[b] - mesh.points[a], v = mesh.points[c] - mesh.points[a], w = v - u;
    const double longest2 = std::max({norm2(u), norm2(v), norm2(w)});
    const bool finite = is_finite(mesh.points[a]) && is_finite(mesh.points[b]) && is_finite(mesh.points[c]);
    if (finite && !(norm(cross(u, v)) > kFlat * longest2) && flat++ == 0) first_flat = t;
    for (const auto& [p, q] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) ++edges[std::minmax(place[p], place[q])];
  }
  if (flat > 0)
    problems.add(
        where,
        fmt::format("{}: {} of {} triangles have no area, first triangle {}", file, flat, mesh.triangles.size(), first_flat),
        "remove them: dissolve degenerate faces where the mesh was made");
  if (open) return;
  const auto holes = std::count_if(edges.begin(), edges.end(), [](const auto& e) { return e.second == 1; });
  if (holes > 0)
    problems.add(where,
                 fmt::format("{}: {} of {} edges belong to one triangle only: the surface has holes", file, holes, edges.size()),
                 "close them, or set `open` to true if it is meant to be a sheet");
}

}  // namespace osier
