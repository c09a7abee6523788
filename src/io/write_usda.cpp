// USD, in its text form: BasisCurves with time samples. A prim has one wrap mode and one material, so closed curves have a prim
// of their own, and so have the curves of each material where materials are told.
//
// Samples are collected in chunks. As long as there is one chunk, the file is written anew after each frame (options.live). A
// second one turns it into value clips: NAME.usda then lists NAME_clips/clip_00000.usda and so on, beside a layer with the
// topology and a manifest. The end joins the clips to one file again, unless that would be larger than options.split_bytes. So
// the files are whole after every frame, and no frame costs more than one chunk.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "io/atomic_file.hpp"
#include "io/curve_writer.hpp"
#include "io/tubes.hpp"
#include "io/usd_binary.hpp"
#include "io/usda_text.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

namespace fs = std::filesystem;
using usda::list;
using usda::print_vector;
using usda::usd_string;

/// A prim of the file: BasisCurves, or Points for contacts.
struct Slot {
  std::string name;
  bool closed;
  std::size_t material;
  bool contacts = false;
};

/// An attribute of a prim, and how it is declared.
struct Attribute {
  const char* declaration;  ///< "point3f[] points"
  const char* metadata;     ///< what follows the value in parentheses, or nothing
};
enum : std::size_t {
  kCounts,
  kExtent,
  kPoints,
  kNormals,
  kWidths,
  kVelocities,
  kNames,
  kIds,
  kColors,
  kNormalForce,
  kFrictionForce,
  kGap,
  kSegments,
  kAttributes
};
constexpr Attribute kAttribute[kAttributes] = {
    {"int[] curveVertexCounts", ""},
    {"float3[] extent", ""},
    {"point3f[] points", ""},
    {"normal3f[] normals", "interpolation = \"vertex\""},
    {"float[] widths", "interpolation = \"vertex\""},
    {"vector3f[] velocities", ""},
    {"string[] primvars:osier:name", "interpolation = \"uniform\""},
    {"int64[] primvars:osier:id", "interpolation = \"uniform\""},
    {"color3f[] primvars:displayColor", "interpolation = \"uniform\""},
    {"vector3f[] primvars:osier:normal_force", "interpolation = \"vertex\""},
    {"vector3f[] primvars:osier:friction_force", "interpolation = \"vertex\""},
    {"float[] primvars:osier:gap", "interpolation = \"vertex\""},
    {"int2[] primvars:osier:segments", "interpolation = \"vertex\""},
};

/// A value in time: text of its own, or a place in a clip that is written already.
struct Sample {
  double time;
  std::string text;
  fs::path file = {};
  std::uint64_t offset = 0, length = 0;
  std::size_t key = std::hash<std::string>()(text);  ///< of the text, which does not stay
};
using Samples = std::vector<Sample>;

struct PrimSamples {
  std::array<Samples, kAttributes> attribute;
};
using Chunk = std::vector<PrimSamples>;  ///< per slot

/// A word that USD takes as the name of a prim.
std::string identifier(const std::string& name) {
  std::string word;
  for (const char c : name) word += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  word.erase(0, std::min(word.find_first_not_of('_'), word.size()));
  return word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) ? "material" + word : word;
}

/// Of rods whose material has no colour, among others that have one.
constexpr std::array<double, 3> kNoColor{0.5, 0.5, 0.5};

/// The values of one prim, which has these curves, at one time; empty text for what they do not have.
std::array<std::string, kAttributes> values_of(const CurveFrame& frame, const std::vector<std::size_t>& curves,
                                               const std::map<std::int64_t, HexColor>& colors) {
  const CurveSet& c = frame.curves;
  const auto of_points = [&](const auto& values, auto print) {
    std::vector<std::decay_t<decltype(values[0])>> kept;
    for (const std::size_t k : curves)
      kept.insert(kept.end(), values.begin() + static_cast<std::ptrdiff_t>(c.start[k]),
                  values.begin() + static_cast<std::ptrdiff_t>(c.start[k + 1]));
    return list(kept, print);
  };
  std::array<std::string, kAttributes> text;
  text[kCounts] = list(curves, [&](auto out, std::size_t k) { fmt::format_to(out, "{}", c.curve(k).size()); });
  text[kPoints] = of_points(c.points, print_vector);
  if (!c.widths.empty())
    text[kWidths] = of_points(c.widths, [](auto out, double w) { fmt::format_to(out, "{}", static_cast<float>(w)); });
  if (!frame.normals.empty()) text[kNormals] = of_points(frame.normals, print_vector);
  if (!frame.velocities.empty()) text[kVelocities] = of_points(frame.velocities, print_vector);
  if (!c.names.empty())
    text[kNames] = list(curves, [&](auto out, std::size_t k) { fmt::format_to(out, "{}", usd_string(c.names[k])); });
  text[kIds] = list(curves, [&](auto out, std::size_t k) {
    fmt::format_to(out, "{}", c.ids.empty() ? static_cast<std::int64_t>(k) : c.ids[k]);  // so that a reader finds the order again
  });
  if (!colors.empty() && !c.ids.empty())
    text[kColors] = list(curves, [&](auto out, std::size_t k) {
      const auto known = colors.find(c.ids[k]);
      const std::array<double, 3> light = known == colors.end() ? kNoColor : known->second.linear();
      print_vector(out, {light[0], light[1], light[2]});
    });
  Vec3d low{}, high{};
  bool any = false;
  for (const std::size_t k : curves)
    for (std::size_t p = c.start[k]; p < c.start[k + 1]; ++p) {
      const Vec3d& x = c.points[p];
      const double r = c.widths.empty() ? 0 : c.widths[p] / 2;
      const Vec3d a{x.x - r, x.y - r, x.z - r}, b{x.x + r, x.y + r, x.z + r};
      low = any ? Vec3d{std::min(low.x, a.x), std::min(low.y, a.y), std::min(low.z, a.z)} : a;
      high = any ? Vec3d{std::max(high.x, b.x), std::max(high.y, b.y), std::max(high.z, b.z)} : b;
      any = true;
    }
  text[kExtent] = list(std::array{low, high}, print_vector);
  return text;
}

/// The values of the prim of contacts.
std::array<std::string, kAttributes> values_of_contacts(const CurveFrame& frame) {
  const std::vector<ContactPoint>& contacts = frame.contacts;
  const double width = 0.5 * usual_width(frame.curves);
  const auto vectors = [&](Vec3d ContactPoint::*member) {
    return list(contacts, [&](auto out, const ContactPoint& c) { print_vector(out, c.*member); });
  };
  std::array<std::string, kAttributes> text;
  text[kPoints] = vectors(&ContactPoint::position);
  text[kNormalForce] = vectors(&ContactPoint::normal_force);
  text[kFrictionForce] = vectors(&ContactPoint::friction_force);
  text[kGap] = list(contacts, [](auto out, const ContactPoint& c) { fmt::format_to(out, "{}", static_cast<float>(c.gap)); });
  text[kSegments] = list(contacts, [](auto out, const ContactPoint& c) { fmt::format_to(out, "({}, {})", c.a, c.b); });
  text[kWidths] = list(contacts, [&](auto out, const ContactPoint&) { fmt::format_to(out, "{}", static_cast<float>(width)); });
  if (contacts.empty()) return text;
  Vec3d low = contacts.front().position, high = low;
  for (const ContactPoint& c : contacts) {
    const Vec3d& x = c.position;
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  const Vec3d radius{width / 2, width / 2, width / 2};
  text[kExtent] = list(std::array{low - radius, high + radius}, print_vector);
  return text;
}

class UsdaWriter final : public CurveWriter {
 public:
  UsdaWriter(fs::path path, CurveWriteOptions options)
      : path_(std::move(path)), clips_(path_.parent_path() / (path_.stem().string() + "_clips")), options_(std::move(options)) {
    if (path_.has_parent_path()) make_folder(path_.parent_path());
    std::error_code error;
    if (fs::is_directory(path_, error))
      throw RunError(fmt::format("{}: cannot open for writing: Is a directory", path_.string()));
    wrote(path_);
    std::set<std::string> used;
    for (const CurveMaterial& m : options_.materials.list) {
      const std::string word = identifier(m.name);
      std::string unique = word;
      for (int n = 2; !used.insert(unique).second; ++n) unique = fmt::format("{}_{}", word, n);
      material_name_.push_back(unique);
    }
    for (std::size_t m = 0; m < std::max<std::size_t>(1, material_name_.size()); ++m)
      for (const bool closed : {false, true})
        slots_.push_back(
            {std::string(closed ? "closed" : "open") + (material_name_.size() > 1 ? "_" + material_name_[m] : ""), closed, m});
    if (options_.contacts) slots_.push_back({.name = "contacts", .closed = false, .material = 0, .contacts = true});
    chunk_.resize(slots_.size()), done_.resize(slots_.size());
    held_until_.resize(slots_.size()), had_curves_.resize(slots_.size(), 0);
  }

  void write(const CurveFrame& frame) override {
    if (frames_ == 1 && frame.time > first_time_) codes_per_second_ = nice(1 / (frame.time - first_time_));
    if (frames_ == 0) first_time_ = frame.time;
    if (current_bytes_ > chunk_limit()) {
      finish_chunk();
      clip_start_.push_back(frame.time);
    }
    last_time_ = frame.time;
    add(frame);
    add_obstacles(frame);
    ++frames_;
    if (frames_ == 1) first_bytes_ = current_bytes_;
    if (options_.live) publish();
  }

  void end() override {
    if (!options_.live) publish();
    if (clip_start_.empty() || written_bytes_ + current_bytes_ > options_.split_bytes) return;
    OutputFile out(path_, OutputFile::Mode::atomic);
    write_joined(out);
    out.commit();
    std::error_code ignored;  // the file no longer names them
    fs::remove_all(clips_, ignored);
  }

 private:
  /// A chunk is written anew with each of its frames, so it is no longer than a handful of them; but very small ones would make
  /// too many files.
  std::uint64_t chunk_limit() const {
    if (!options_.live) return options_.chunk_bytes;
    return std::min(options_.chunk_bytes, std::max<std::uint64_t>(256'000, 8 * first_bytes_));
  }
  void publish() {
    if (clip_start_.empty()) write_file_atomically(path_, whole_file());
    else write_clip();
  }

  /// A rate that was meant to be a whole number is one.
  static double nice(double rate) { return std::abs(rate - std::round(rate)) < 1e-6 * rate ? std::round(rate) : rate; }
  std::string code(double time) const {
    const double c = time * codes_per_second_, whole = std::round(c);
    return fmt::format("{}", std::abs(c - whole) < 1e-6 ? whole : c);
  }

  std::size_t slot_of(const CurveSet& curves, std::size_t k) const {
    std::size_t material = 0;
    if (!curves.ids.empty())
      if (const auto known = options_.materials.of_curve.find(curves.ids[k]); known != options_.materials.of_curve.end())
        material = known->second;
    return 2 * material + (curves.closed[k] ? 1 : 0);
  }

  void add(const CurveFrame& frame) {
    std::vector<std::vector<std::size_t>> curves(slots_.size());
    for (std::size_t k = 0; k < frame.curves.size(); ++k) curves[slot_of(frame.curves, k)].push_back(k);
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      const bool contacts = slots_[slot].contacts;
      auto values = contacts ? values_of_contacts(frame) : values_of(frame, curves[slot], options_.colors);
      had_curves_[slot] = had_curves_[slot] || !(contacts ? frame.contacts.empty() : curves[slot].empty());
      for (std::size_t a = 0; a < kAttributes; ++a) {
        Samples& samples = chunk_[slot].attribute[a];
        if (values[a].empty() || (!samples.empty() && samples.back().text == values[a])) continue;
        // What stays the same needs one sample; what did until now needs its last time too, or it would be blended over.
        current_bytes_ += values[a].size();
        if (!samples.empty() && held_until_[slot][a] > samples.back().time)
          samples.push_back({held_until_[slot][a], samples.back().text});
        samples.push_back({frame.time, std::move(values[a])});
      }
      for (double& t : held_until_[slot]) t = frame.time;
    }
  }

  /// The samples as they stand in a file, `place(sample)` putting in their values.
  template <class Prim, class Append, class Place>
  void emit(Prim& prim, Append append, Place place, bool in_clip) const {
    constexpr const char* indent = "        ";
    for (std::size_t a = 0; a < kAttributes; ++a) {
      auto& samples = prim.attribute[a];
      if (samples.empty()) continue;
      const std::string metadata =
          *kAttribute[a].metadata && !in_clip ? fmt::format(" (\n{0}    {1}\n{0})", indent, kAttribute[a].metadata) : "";
      if (samples.size() == 1 && !in_clip) {
        append(fmt::format("{}{} = ", indent, kAttribute[a].declaration));
        place(samples[0]);
        append(metadata + "\n");
        continue;
      }
      if (!metadata.empty()) append(fmt::format("{}{}{}\n", indent, kAttribute[a].declaration, metadata));
      append(fmt::format("{}{}.timeSamples = {{\n", indent, kAttribute[a].declaration));
      for (auto& s : samples) {
        append(fmt::format("{}    {}: ", indent, code(s.time)));
        place(s);
        append(",\n");
      }
      append(fmt::format("{}}}\n", indent));
    }
  }

  /// A prim without a curve in any frame is left out, unless nothing would be left.
  bool is_wanted(std::size_t slot) const {
    return had_curves_[slot] || (slot == 0 && std::count(had_curves_.begin(), had_curves_.end(), 0) == std::ssize(had_curves_));
  }

  std::string stage_metadata(const std::string& more = {}) const {
    return fmt::format(
        "#usda 1.0\n(\n    customLayerData = {{\n        string creator = {}\n    }}\n    defaultPrim = \"Rods\"\n    doc = {}\n "
        "   "
        "endTimeCode = {}\n    metersPerUnit = 1\n    startTimeCode = {}\n{}    timeCodesPerSecond = {}\n    upAxis = "
        "\"{}\"\n)\n\n",
        usd_string("Osier " + options_.version), usd_string(options_.title), code(last_time_), code(first_time_), more,
        codes_per_second_, options_.up == 'z' ? "Z" : "Y");
  }

  std::string prim_start(std::size_t slot) const {
    if (slots_[slot].contacts) return fmt::format("    def Points \"{}\"\n    {{\n", slots_[slot].name);
    std::string text = fmt::format("    def BasisCurves \"{}\"", slots_[slot].name);
    if (!material_name_.empty()) text += " (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )";
    text += fmt::format("\n    {{\n        uniform token type = \"linear\"\n        uniform token wrap = \"{}\"\n",
                        slots_[slot].closed ? "periodic" : "nonperiodic");
    if (!material_name_.empty())
      text += fmt::format("        rel material:binding:physics = </Rods/materials/{}>\n", material_name_[slots_[slot].material]);
    return text;
  }

  /// Attributes of the AOUSD deformable-curve proposal; names may still change there.
  std::string materials() const {
    if (material_name_.empty()) return {};
    std::string text = "    def Scope \"materials\"\n    {\n";
    for (std::size_t i = 0; i < material_name_.size(); ++i) {
      const CurveMaterial& m = options_.materials.list[i];
      text += fmt::format(
          "        def Material \"{}\" (\n            displayName = {}\n            prepend apiSchemas = "
          "[\"PhysicsCurvesDeformableMaterialAPI\"]\n        )\n        {{\n",
          material_name_[i], usd_string(m.name));
      for (const auto& [name, value] : {std::pair{"curvesThickness", m.thickness},
                                        {"density", m.density},
                                        {"curvesStretchStiffness", m.stretch},
                                        {"curvesShearStiffness", m.shear},
                                        {"curvesBendStiffness", m.bend},
                                        {"curvesTwistStiffness", m.twist}})
        text += fmt::format("            float physics:{} = {}\n", name, static_cast<float>(value));
      text += "        }\n\n";
    }
    return text + "    }\n\n";
  }

  /// Meshes; points over time where they move.
  std::string obstacles() const {
    if (options_.obstacles.empty() || obstacle_points_.empty()) return {};
    std::string text = "    def Scope \"obstacles\"\n    {\n";
    std::set<std::string> used;
    for (std::size_t o = 0; o < options_.obstacles.size(); ++o) {
      const Surface& s = options_.obstacles[o];
      const std::string word = identifier(s.name);
      std::string unique = word;
      for (int n = 2; !used.insert(unique).second; ++n) unique = fmt::format("{}_{}", word, n);
      text += fmt::format("        def Mesh \"{}\" (\n            displayName = {}\n        )\n        {{\n", unique,
                          usd_string(s.name));
      text += "            uniform bool doubleSided = 1\n            uniform token subdivisionScheme = \"none\"\n";
      text += "            color3f[] primvars:displayColor = [(0.47, 0.49, 0.52)]\n            int[] faceVertexCounts = [";
      for (std::size_t t = 0; t < s.triangles.size(); ++t) text += t == 0 ? "3" : ", 3";
      text += "]\n            int[] faceVertexIndices = " +
              list(s.triangles, [](auto out, const auto& t) { fmt::format_to(out, "{}, {}, {}", t[0], t[1], t[2]); }) + "\n";
      if (!s.moves) {
        text += "            point3f[] points = " + obstacle_points_[o].front().second + "\n";
      } else {
        text += "            point3f[] points.timeSamples = {\n";
        for (const auto& [time, points] : obstacle_points_[o])
          text += fmt::format("                {}: {},\n", code(time), points);
        text += "            }\n";
      }
      text += "        }\n\n";
    }
    return text + "    }\n\n";
  }

  /// Of this frame, where they move or are new.
  void add_obstacles(const CurveFrame& frame) {
    std::size_t first = 0;
    const std::vector<Vec3d> all = frame.obstacle_points.empty() ? points_of(options_.obstacles) : frame.obstacle_points;
    for (std::size_t o = 0; o < options_.obstacles.size(); ++o) {
      const std::size_t count = options_.obstacles[o].points.size();
      if (first + count > all.size()) return;
      if (o == obstacle_points_.size()) obstacle_points_.emplace_back();
      auto& samples = obstacle_points_[o];
      if (samples.empty() || options_.obstacles[o].moves)
        samples.emplace_back(frame.time, list(std::span(all).subspan(first, count), print_vector));
      first += count;
    }
  }

  std::string whole_file() const {
    std::string text = stage_metadata() + "def Xform \"Rods\"\n{\n" + materials() + obstacles();
    const auto append = [&](std::string_view piece) { text += piece; };
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (!is_wanted(slot)) continue;
      text += prim_start(slot);
      emit(
          chunk_[slot], append, [&](const Sample& s) { text += s.text; }, false);
      text += "    }\n\n";
    }
    return text + "}\n";
  }

  fs::path clip_path(std::size_t i) const { return clips_ / frame_file_name(static_cast<int>(i), ".usda", "clip_"); }

  /// Writes the current chunk, and the stage that lists it. Remembers where each sample lies.
  void write_clip() {
    const std::size_t clip = clip_start_.size() - 1;
    std::string text = "#usda 1.0\n(\n    defaultPrim = \"Rods\"\n)\n\nover \"Rods\"\n{\n";
    const auto append = [&](std::string_view piece) { text += piece; };
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      text += fmt::format("    over \"{}\"\n    {{\n", slots_[slot].name);
      for (Samples& samples : chunk_[slot].attribute)
        for (Sample& s : samples) s.file = clip_path(clip), s.length = s.text.size();
      const auto place = [&](Sample& s) {
        s.offset = text.size();
        text += s.text;
      };
      emit(chunk_[slot], append, place, true);
      text += "    }\n\n";
    }
    write_file_atomically(clip_path(clip), text + "}\n");
    write_file_atomically(path_, clip_stage());
  }

  std::string clip_stage() const {
    const std::string folder = clips_.filename().string();
    std::string active, assets;
    for (std::size_t i = 0; i < clip_start_.size(); ++i) {
      active += fmt::format("{}({}, {})", i ? ", " : "", code(clip_start_[i]), i);
      assets += fmt::format("{}@./{}/{}@", i ? ", " : "", folder, clip_path(i).filename().string());
    }
    return stage_metadata(fmt::format("    subLayers = [\n        @./{}/topology.usda@\n    ]\n", folder)) +
           fmt::format(
               "over \"Rods\" (\n    clips = {{\n        dictionary default = {{\n            double2[] active = [{}]\n          "
               "  "
               "asset[] assetPaths = [{}]\n            asset manifestAssetPath = @./{}/manifest.usda@\n            string "
               "primPath = "
               "\"/Rods\"\n            double2[] times = [({}, {}), ({}, {})]\n        }}\n    }}\n)\n{{\n}}\n",
               active, assets, folder, code(first_time_), code(first_time_), code(last_time_), code(last_time_));
  }

  /// The first full chunk becomes the first clip; from then on every chunk is one.
  void finish_chunk() {
    if (clip_start_.empty()) {
      make_folder(clips_);
      wrote(clips_);
      clip_start_.push_back(first_time_);
      std::string topology = "#usda 1.0\n(\n    defaultPrim = \"Rods\"\n)\n\ndef Xform \"Rods\"\n{\n" + materials();
      std::string manifest = "#usda 1.0\n(\n    defaultPrim = \"Rods\"\n)\n\nover \"Rods\"\n{\n";
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        topology += prim_start(slot);
        manifest += fmt::format("    over \"{}\"\n    {{\n", slots_[slot].name);
        for (std::size_t a = 0; a < kAttributes; ++a) {
          if (chunk_[slot].attribute[a].empty()) continue;
          const std::string metadata =
              *kAttribute[a].metadata ? fmt::format(" (\n            {}\n        )", kAttribute[a].metadata) : "";
          topology += fmt::format("        {}{}\n", kAttribute[a].declaration, metadata);
          manifest += fmt::format("        {}\n", kAttribute[a].declaration);
        }
        topology += "    }\n\n", manifest += "    }\n\n";
      }
      write_file_atomically(clips_ / "topology.usda", topology + "}\n");
      write_file_atomically(clips_ / "manifest.usda", manifest + "}\n");
      write_clip();
    } else if (!options_.live) {
      write_clip();
    }
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
      for (std::size_t a = 0; a < kAttributes; ++a) {
        Samples& done = done_[slot].attribute[a];
        for (Sample& s : chunk_[slot].attribute[a]) {
          s.text = {};
          done.push_back(std::move(s));
        }
        if (done.empty() || done.back().time >= held_until_[slot][a]) continue;
        done.push_back(Sample(done.back()));  // held until the end of the chunk
        done.back().time = held_until_[slot][a];
      }
    written_bytes_ += current_bytes_;
    chunk_.assign(slots_.size(), {}), current_bytes_ = 0;
  }

  /// Without samples that say the same as those before and after them.
  static Samples without_repeats(const Samples& samples) {
    Samples kept;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto same = [&](std::size_t j) { return samples[i].key == samples[j].key && samples[i].length == samples[j].length; };
      if (i > 0 && same(i - 1) && (i + 1 == samples.size() || same(i + 1))) continue;
      kept.push_back(samples[i]);
    }
    return kept;
  }

  void write_joined(OutputFile& out) {
    const auto append = [&](std::string_view piece) { out.append(piece); };
    append(stage_metadata() + "def Xform \"Rods\"\n{\n" + materials() + obstacles());
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (!is_wanted(slot)) continue;
      PrimSamples all = done_[slot];
      for (std::size_t a = 0; a < kAttributes; ++a) {
        Samples& samples = all.attribute[a];
        samples.insert(samples.end(), chunk_[slot].attribute[a].begin(), chunk_[slot].attribute[a].end());
        samples = without_repeats(samples);
      }
      append(prim_start(slot));
      emit(
          all, append, [&](const Sample& s) { out.append_from(s.file, s.offset, s.length); }, false);
      append("    }\n\n");
    }
    append("}\n");
  }

  fs::path path_, clips_;
  CurveWriteOptions options_;
  std::vector<Slot> slots_;
  std::vector<std::string> material_name_;  ///< of the prims
  Chunk chunk_, done_;                      ///< of the clips that are finished, `done_` knows only places
  std::uint64_t current_bytes_ = 0, written_bytes_ = 0, first_bytes_ = 0;
  std::vector<double> clip_start_;
  std::vector<std::array<double, kAttributes>> held_until_;                   ///< per slot
  std::vector<std::uint8_t> had_curves_;                                      ///< likewise
  std::vector<std::vector<std::pair<double, std::string>>> obstacle_points_;  ///< per obstacle: times and points
  double first_time_ = 0, last_time_ = 0, codes_per_second_ = 24;
  int frames_ = 0;
};

/// Each frame as a stage of its own.
class UsdaFrames final : public CurveWriter {
 public:
  UsdaFrames(const WriteTarget& target, CurveWriteOptions options) : target_(target), options_(std::move(options)) {
    target_.prepare_frames(".usda");
    options_.live = true;
  }
  void write(const CurveFrame& frame) override {
    const fs::path file = target_.frame(frame.index, ".usda");
    UsdaWriter(file, options_).write(frame);
    wrote(file);
  }

 private:
  WriteTarget target_;
  CurveWriteOptions options_;
};

std::unique_ptr<CurveWriter> make_usda(const WriteTarget& target, const CurveWriteOptions& options) {
  if (options.per_frame || !target.numbered()) return std::make_unique<UsdaFrames>(target, options);
  return std::make_unique<UsdaWriter>(target.file(".usda"), options);
}

/// The same in binary form, which is made of the text at the end.
class UsdBinaryWriter final : public CurveWriter {
 public:
  UsdBinaryWriter(const WriteTarget& target, CurveWriteOptions options, const char* extension)
      : target_(target), options_(std::move(options)), extension_(extension), each_(options_.per_frame || !target.numbered()) {
    require_usd_tool(target_.file(extension_));
    options_.live = false, options_.split_bytes = std::numeric_limits<std::uint64_t>::max();
    if (each_) target_.prepare_frames(extension_);
    else begin(target_.file(extension_));
  }
  ~UsdBinaryWriter() override { drop(); }

  void write(const CurveFrame& frame) override {
    if (each_) begin(target_.frame(frame.index, extension_));
    text_writer_->write(frame);
    if (each_) finish();
  }
  void end() override {
    if (!each_) finish();
  }

 private:
  void begin(const fs::path& out) {
    out_ = out, text_ = temporary_for(out, ".tmp.usda");
    text_writer_ = std::make_unique<UsdaWriter>(text_, options_);
  }
  void finish() {
    text_writer_->end();
    write_usd_binary(text_, out_);
    wrote(out_);
    drop();
  }
  void drop() {
    if (text_writer_) text_writer_->discard();
    text_writer_.reset();
  }

  WriteTarget target_;
  CurveWriteOptions options_;
  const char* extension_;
  bool each_;  ///< frame has a file of its own
  fs::path out_, text_;
  std::unique_ptr<UsdaWriter> text_writer_;
};

std::unique_ptr<CurveWriter> make_usdc(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<UsdBinaryWriter>(target, options, ".usdc");
}
std::unique_ptr<CurveWriter> make_usd(const WriteTarget& target, const CurveWriteOptions& options) {
  return std::make_unique<UsdBinaryWriter>(target, options, ".usd");
}

constexpr CurveOutput usd_format(const char* extension, const char* help,
                                 std::unique_ptr<CurveWriter> (*make)(const WriteTarget&, const CurveWriteOptions&)) {
  return {.extension = extension,
          .help = help,
          .holds_closed = true,
          .holds_names = true,
          .holds_ids = true,
          .holds_widths = true,
          .holds_empty = true,
          .holds_welds = false,
          .single_precision = true,
          .time = CurveOutput::Time::any_topology,
          .make = make};
}

}  // namespace

const CurveOutput kUsdaFormat = usd_format(".usda", "USD curves with time samples, widths, normals, names and ids", make_usda);
const CurveOutput kUsdcFormat = usd_format(".usdc", "the same in binary form; needs usd-core or usdcat", make_usdc);
const CurveOutput kUsdFormat = usd_format(".usd", "the same in binary form; needs usd-core or usdcat", make_usd);

}  // namespace osier
