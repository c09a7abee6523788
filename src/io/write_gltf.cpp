// glTF 2.0: tube meshes. Over time each frame is a morph target of the first, and an animation blends from one to the next;
// the buffer is collected in a file of its own, as its length is not known before the end. `.glb` packs both into one file.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"
#include "io/tubes.hpp"
#include "math/vec3.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

enum : int { kPointsMode = 0, kFloat = 5126, kUnsignedInt = 5125, kArrayBuffer = 34962, kIndexBuffer = 34963 };

/// Of rods whose material has no colour.
constexpr std::array<double, 3> kUsualColor{0.72, 0.55, 0.36};

/// The JSON of a file whose buffer grows as accessors are added.
class Document {
 public:
  Document(OutputFile& buffer, const CurveWriteOptions& options) : buffer_(buffer), options_(options) {}

  std::size_t add(const std::string& bytes, std::size_t count, const char* type, int component, int target = 0) {
    Json view{{"buffer", 0}, {"byteOffset", buffer_.size()}, {"byteLength", bytes.size()}};
    if (target != 0) view["target"] = target;
    views_.push_back(std::move(view));
    buffer_.append(bytes);  // every piece is a multiple of four bytes
    accessors_.push_back(Json{{"bufferView", views_.size() - 1}, {"componentType", component}, {"count", count}, {"type", type}});
    return accessors_.size() - 1;
  }

  std::size_t add_vectors(const std::vector<Vec3d>& vectors, bool bounds, int target = kArrayBuffer) {
    std::string bytes;
    bytes.reserve(12 * vectors.size());
    constexpr float kFar = std::numeric_limits<float>::infinity();
    std::array<float, 3> low{kFar, kFar, kFar}, high{-kFar, -kFar, -kFar};
    for (const Vec3d& x : vectors) {
      const std::array<float, 3> v{static_cast<float>(x.x), static_cast<float>(x.y), static_cast<float>(x.z)};
      for (std::size_t i = 0; i < 3; ++i) low[i] = std::min(low[i], v[i]), high[i] = std::max(high[i], v[i]);
      append_binary(bytes, v);
    }
    const std::size_t accessor = add(bytes, vectors.size(), "VEC3", kFloat, target);
    if (bounds) accessors_.back()["min"] = low, accessors_.back()["max"] = high;
    return accessor;
  }

  std::size_t add_numbers(const std::vector<float>& numbers, bool bounds) {
    std::string bytes;
    append_binary(bytes, numbers);
    const std::size_t accessor = add(bytes, numbers.size(), "SCALAR", kFloat);
    if (bounds)
      accessors_.back()["min"] = Json::array({numbers.front()}), accessors_.back()["max"] = Json::array({numbers.back()});
    return accessor;
  }

  /// What is no rod; normals are left to the reader, who has to make flat ones.
  void add_obstacles(const std::vector<Surface>& obstacles, const std::vector<Vec3d>& points) {
    std::string indices;
    std::size_t count = 0;
    std::uint32_t first = 0;
    for (const Surface& s : obstacles) {
      for (const auto& t : s.triangles)
        for (const Index v : t) append_binary(indices, first + static_cast<std::uint32_t>(v));
      count += 3 * s.triangles.size();
      first += static_cast<std::uint32_t>(s.points.size());
    }
    obstacles_["attributes"]["POSITION"] = add_vectors(points, true);
    obstacles_["indices"] = add(indices, count, "SCALAR", kUnsignedInt, kIndexBuffer);
    obstacles_["material"] = 1;
  }
  void add_obstacle_target(const std::vector<Vec3d>& displacements) {
    obstacles_["targets"].push_back(Json{{"POSITION", add_vectors(displacements, true)}});
  }

  /// What touches in frame `frame`: how many that is changes with the frame, so that each has a mesh and a node of its own.
  void add_contacts(const std::vector<ContactPoint>& contacts, std::size_t frame) {
    if (contacts.empty()) return;
    std::vector<Vec3d> position, normal, friction;
    std::string gap, segments;
    for (const ContactPoint& c : contacts) {
      position.push_back(c.position), normal.push_back(c.normal_force), friction.push_back(c.friction_force);
      append_binary(gap, static_cast<float>(c.gap));
      for (const Index s : {c.a, c.b}) append_binary(segments, static_cast<float>(s));
    }
    Json attributes{{"POSITION", add_vectors(position, true)},
                    {"_NORMAL_FORCE", add_vectors(normal, false)},
                    {"_FRICTION_FORCE", add_vectors(friction, false)},
                    {"_GAP", add(gap, contacts.size(), "SCALAR", kFloat, kArrayBuffer)},
                    {"_SEGMENTS", add(segments, contacts.size(), "VEC2", kFloat, kArrayBuffer)}};
    contacts_.push_back({frame, Json{{"attributes", std::move(attributes)}, {"mode", kPointsMode}}});
  }

  void add_mesh(const TubeMesh& mesh) {
    primitive_["attributes"]["POSITION"] = add_vectors(mesh.positions, true);
    primitive_["attributes"]["NORMAL"] = add_vectors(mesh.normals, false);
    std::string uvs, indices;
    for (const auto& uv : mesh.uvs)
      for (const double value : uv) append_binary(uvs, static_cast<float>(value));
    primitive_["attributes"]["TEXCOORD_0"] = add(uvs, mesh.uvs.size(), "VEC2", kFloat, kArrayBuffer);
    for (const auto& t : mesh.triangles) append_binary(indices, t);
    primitive_["indices"] = add(indices, 3 * mesh.triangles.size(), "SCALAR", kUnsignedInt, kIndexBuffer);
    primitive_["material"] = 0;
  }

  /// A factor on the material's colour, which is white then. Linear, as in all of glTF but textures.
  void add_colors(const TubeMesh& mesh, const CurveSet& curves) {
    if (options_.colors.empty() || curves.ids.empty()) return;
    std::vector<Vec3d> colors;
    for (const std::uint32_t k : mesh.curve) {
      const auto known = options_.colors.find(curves.ids[k]);
      const auto [r, g, b] = known == options_.colors.end() ? kUsualColor : known->second.linear();
      colors.emplace_back(r, g, b);
    }
    primitive_["attributes"]["COLOR_0"] = add_vectors(colors, false);
  }

  /// Displacements from the mesh.
  void add_target(const std::vector<Vec3d>& positions, const std::vector<Vec3d>& normals) {
    const std::size_t p = add_vectors(positions, true);
    primitive_["targets"].push_back(Json{{"POSITION", p}, {"NORMAL", add_vectors(normals, false)}});
  }

  /// Frame i is target i - 1 at full weight. Weights between two frames blend the two.
  void add_animation(const std::vector<double>& times) {
    const std::size_t targets = times.size() - 1;
    std::vector<float> input, weights(times.size() * targets, 0.F);
    for (std::size_t i = 0; i < times.size(); ++i) {
      input.push_back(static_cast<float>(times[i] - times[0]));
      if (i > 0) weights[i * targets + i - 1] = 1.F;
    }
    for (std::size_t i = 1; i < input.size(); ++i)  // must rise, also where frames lie closer than a float can tell
      input[i] = std::max(input[i], std::nextafter(input[i - 1], std::numeric_limits<float>::infinity()));
    const std::size_t in = add_numbers(input, true), out = add_numbers(weights, false);
    const Json sampler{{"input", in}, {"interpolation", "LINEAR"}, {"output", out}};
    Json channels = Json::array();
    const auto add_channel = [&](int node) {
      channels.push_back(Json{{"sampler", 0}, {"target", {{"node", node}, {"path", "weights"}}}});
    };
    if (!primitive_.empty()) add_channel(0);
    if (obstacles_.contains("targets")) add_channel(1);
    Json samplers = Json::array();
    if (!channels.empty()) samplers.push_back(sampler);
    // The contacts of a frame are there from its time to that of the next one, and have no size at other times.
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const std::size_t frame = contacts_[i].frame;
      std::vector<float> keys;
      std::vector<Vec3d> scale;
      if (frame > 0) keys.push_back(input.front()), scale.emplace_back();
      keys.push_back(input[frame]), scale.emplace_back(1, 1, 1);
      if (frame + 1 < input.size()) keys.push_back(input[frame + 1]), scale.emplace_back();
      const std::size_t at = add_numbers(keys, true);
      channels.push_back(Json{{"sampler", samplers.size()}, {"target", {{"node", first_contact_node() + i}, {"path", "scale"}}}});
      samplers.push_back(Json{{"input", at}, {"interpolation", "STEP"}, {"output", add_vectors(scale, false, 0)}});
    }
    animation_ = {{"name", "run"}, {"samplers", samplers}, {"channels", channels}};
  }
  bool has_contacts() const { return !contacts_.empty(); }

  /// `uri` is empty for the buffer inside a .glb. Curves without tubes make a file without a mesh.
  std::string json(const std::string& uri) const {
    Json node{{"name", options_.title}};
    if (!primitive_.empty()) node["mesh"] = 0;
    if (options_.up == 'z') node["rotation"] = {-std::sqrt(0.5), 0, 0, std::sqrt(0.5)};  // glTF is always y-up
    Json out{{"asset", {{"version", "2.0"}, {"generator", "Osier " + options_.version}}},
             {"scene", 0},
             {"scenes", Json::array({Json{{"nodes", Json::array({0})}}})},
             {"nodes", Json::array({node})}};
    if (primitive_.empty() && obstacles_.empty() && contacts_.empty())
      return out.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto material = [](const char* name, std::array<double, 4> color, bool two_sided) {
      Json m{{"name", name},
             {"pbrMetallicRoughness", {{"baseColorFactor", color}, {"metallicFactor", 0.0}, {"roughnessFactor", 0.6}}}};
      if (two_sided) m["doubleSided"] = true;
      return m;
    };
    const bool colored = primitive_.contains("attributes") && primitive_["attributes"].contains("COLOR_0");
    const auto [r, g, b] = colored ? std::array{1.0, 1.0, 1.0} : kUsualColor;
    const std::array<double, 4> rods{r, g, b, 1.0};
    out["meshes"] = Json::array();
    if (!primitive_.empty()) out["meshes"].push_back(Json{{"name", options_.title}, {"primitives", Json::array({primitive_})}});
    out["materials"] = Json::array({material("rods", rods, false)});
    if (!obstacles_.empty()) {
      Json other{{"name", "obstacles"}, {"mesh", out["meshes"].size()}};
      if (options_.up == 'z') other["rotation"] = node["rotation"];
      out["nodes"].push_back(other);
      out["scenes"][0]["nodes"].push_back(1);
      out["meshes"].push_back(Json{{"name", "obstacles"}, {"primitives", Json::array({obstacles_})}});
      out["materials"].push_back(material("obstacles", {0.47, 0.49, 0.52, 1.0}, true));
    }
    for (const ContactMesh& contacts : contacts_) {
      Json points{{"name", fmt::format("contacts {}", contacts.frame)}, {"mesh", out["meshes"].size()}};
      if (options_.up == 'z') points["rotation"] = node["rotation"];
      if (contacts.frame > 0) points["scale"] = {0, 0, 0};  // until its time comes
      out["scenes"][0]["nodes"].push_back(out["nodes"].size());
      out["nodes"].push_back(points);
      out["meshes"].push_back(
          Json{{"name", points["name"]},
               {"primitives", Json::array({contacts.primitive})},
               {"extras",
                {{"force_unit", "N"}, {"force_on", "the first of _SEGMENTS"}, {"gap_unit", "m"}, {"frame", contacts.frame}}}});
    }
    if (!animation_.empty()) out["animations"] = Json::array({animation_});
    Json buffer{{"byteLength", buffer_.size()}};
    if (!uri.empty()) buffer["uri"] = uri;
    out["buffers"] = Json::array({buffer});
    out["bufferViews"] = views_;
    out["accessors"] = accessors_;
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

 private:
  struct ContactMesh {
    std::size_t frame;
    Json primitive;
  };
  std::size_t first_contact_node() const { return obstacles_.empty() ? 1 : 2; }

  OutputFile& buffer_;
  const CurveWriteOptions& options_;
  std::vector<ContactMesh> contacts_;
  Json views_ = Json::array(), accessors_ = Json::array(), primitive_, obstacles_, animation_;
};

/// In a URI everything but letters, digits and -._~ is a percent and two hexadecimal digits.
std::string uri_of(const std::string& name) {
  std::string out;
  for (const char c : name)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
        c == '~')
      out += c;
    else out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

/// One file, of one frame or of many.
class GltfFile final : public CurveWriter {
 public:
  GltfFile(fs::path path, const CurveWriteOptions& options)
      : path_(std::move(path)), options_(options), binary_(path_.extension() == ".glb"), buffer_path_(path_) {
    if (path_.has_parent_path()) make_folder(path_.parent_path());
    if (binary_) buffer_path_ += ".buffer";
    else buffer_path_.replace_extension(".bin");
    buffer_ = std::make_unique<OutputFile>(buffer_path_, OutputFile::Mode::atomic);
    document_ = std::make_unique<Document>(*buffer_, options_);
  }

  void write(const CurveFrame& frame) override {
    if (times_.empty()) {
      curves_ = frame.curves;
      width_ = usual_width(frame.curves);
    } else if (!same_topology(frame.curves, curves_)) {
      throw RunError(fmt::format("{}: frame {} has other curves than the first", path_.string(), frame.index));
    }
    TubeMesh mesh = tube_mesh(frame, options_.sides, width_);
    if (!times_.empty() && !mesh.positions.empty()) {
      for (std::size_t i = 0; i < mesh.positions.size(); ++i) {
        mesh.positions[i] -= first_.positions[i];
        mesh.normals[i] -= first_.normals[i];
      }
      document_->add_target(mesh.positions, mesh.normals);
    }
    if (times_.empty()) {
      first_ = std::move(mesh);
      if (!first_.positions.empty()) document_->add_mesh(first_), document_->add_colors(first_, frame.curves);
    }
    write_obstacles(frame);
    if (options_.contacts) document_->add_contacts(frame.contacts, times_.size());
    times_.push_back(frame.time);
  }

  void end() override {
    if (times_.size() > 1 && (!first_.positions.empty() || obstacles_move_ || document_->has_contacts()))
      document_->add_animation(times_);
    binary_ ? finish_glb() : finish_gltf();
    wrote(path_);
  }

 private:
  void write_obstacles(const CurveFrame& frame) {
    if (options_.obstacles.empty()) return;
    if (times_.empty()) {
      first_obstacles_ = frame.obstacle_points.empty() ? points_of(options_.obstacles) : frame.obstacle_points;
      obstacles_move_ =
          std::any_of(options_.obstacles.begin(), options_.obstacles.end(), [](const Surface& s) { return s.moves; });
      document_->add_obstacles(options_.obstacles, first_obstacles_);
    } else if (obstacles_move_ && frame.obstacle_points.size() == first_obstacles_.size()) {
      std::vector<Vec3d> moved = frame.obstacle_points;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= first_obstacles_[i];
      document_->add_obstacle_target(moved);
    }
  }

  void finish_gltf() {
    const std::string json = document_->json(uri_of(buffer_path_.filename().string()));
    if (buffer_->size() > 0) {
      buffer_->commit();  // first: the file never names a buffer that is not there
      wrote(buffer_path_);
    }
    write_file_atomically(path_, json);
  }

  void finish_glb() {
    std::string json = document_->json("");
    json.append((4 - json.size() % 4) % 4, ' ');
    const std::uint64_t size = buffer_->size(), total = 12 + 8 + json.size() + (size > 0 ? 8 + size : 0);
    if (total > 0xFFFFFFFFULL)
      throw InputError(
          {{path_.string(), fmt::format("would have {:.1f} GB, and a .glb ends at 4.3", 1e-9 * static_cast<double>(total)),
            "write .gltf, fewer --frames, fewer --sides or --per-frame"}});
    OutputFile out(path_, OutputFile::Mode::atomic);
    std::string head = "glTF";
    const auto u32 = [&](std::uint64_t value) { append_binary(head, static_cast<std::uint32_t>(value)); };
    u32(2), u32(total), u32(json.size());
    head += "JSON" + json;
    if (size > 0) {
      u32(size);
      head += std::string("BIN\0", 4);
    }
    out.append(head);
    if (size > 0) out.append_from(buffer_->open_path(), 0, size);
    out.commit();
    buffer_.reset();
  }

  fs::path path_;
  CurveWriteOptions options_;
  bool binary_;
  fs::path buffer_path_;
  std::unique_ptr<OutputFile> buffer_;
  std::unique_ptr<Document> document_;
  CurveSet curves_;
  TubeMesh first_;
  std::vector<Vec3d> first_obstacles_;
  bool obstacles_move_ = false;
  double width_ = 0;
  std::vector<double> times_;
};

class GltfFrames final : public CurveWriter {
 public:
  GltfFrames(const WriteTarget& target, CurveWriteOptions options, const char* extension)
      : target_(target), options_(std::move(options)), extension_(extension) {
    target_.prepare_frames(extension_);
  }
  void write(const CurveFrame& frame) override {
    const fs::path file = target_.frame(frame.index, extension_);
    GltfFile one(file, options_);
    one.write(frame);
    one.end();
    wrote(file);
    if (file.extension() == ".gltf") wrote(fs::path(file).replace_extension(".bin"));
  }

 private:
  WriteTarget target_;
  CurveWriteOptions options_;
  const char* extension_;
};

template <bool binary>
std::unique_ptr<CurveWriter> make_gltf(const WriteTarget& target, const CurveWriteOptions& options) {
  constexpr const char* kExtension = binary ? ".glb" : ".gltf";
  if (options.per_frame || !target.numbered()) return std::make_unique<GltfFrames>(target, options, kExtension);
  return std::make_unique<GltfFile>(target.file(kExtension), options);
}

/// While a run goes on: a file that is animated would be complete only at its end.
std::unique_ptr<CurveWriter> make_frames(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<GltfFrames>(target, options, ".glb");
}

constexpr CurveOutput format(const char* extension, const char* help, CurveOutput::Time time, decltype(CurveOutput::make) maker) {
  return {.extension = extension,
          .help = help,
          .holds_closed = true,
          .holds_names = false,
          .holds_ids = false,
          .holds_widths = true,
          .holds_empty = false,
          .holds_welds = false,
          .single_precision = true,
          .time = time,
          .make = maker};
}

}  // namespace

const CurveOutput kGltfFormat = format(".gltf", "tube mesh, animated by morph targets, with a .bin beside it",
                                       CurveOutput::Time::constant_topology, make_gltf<false>);
const CurveOutput kGlbFormat = format(".glb", "the same in one file", CurveOutput::Time::constant_topology, make_gltf<true>);
const CurveOutput kGlbFramesFormat = format(".glb", "a tube mesh per frame", CurveOutput::Time::no, make_frames);

}  // namespace osier
