// Rods from the curves of a file.
#pragma once

#include "io/curves/settings.hpp"
#include "scene/material_ref.hpp"
#include "scene/structure.hpp"

namespace osier {

enum class RadiusSource : std::uint8_t { material, from_file };
template <>
struct Choices<RadiusSource> {
  static constexpr std::array<const char*, 2> names{"material", "from_file"};
};

class Curves : public Structure {
 public:
  std::string file;
  CurveReadOptions reading;
  CurveEdits edits;
  Vec3d move;
  MaterialRef material;
  RadiusSource radius = RadiusSource::material;
  bool knots = true;

  static const char* kind() { return "structure_curves"; }
  static const char* help() {
    return "One rod for each curve of a file (docs/formats.md tells which files), after the edits `select`, `up`, `scale`, "
           "`split_closed`, `segment_length` or `segments`, `weld` and `move`, made in this order. Without resampling each point "
           "is a vertex. Curves that share a point, by `weld` or because the file says so, share a vertex. Pieces: `.` and the "
           "curve's name, with `_0`, `_1`, ... where several have the same; without names its id or its place in the file. "
           "Groups: `.starts` and `.ends`, first and last vertices and segments of open curves.";
  }
  template <class F>
  void fields(F& f) {
    f.where(where);
    f("name", name, "Prefix of the pieces' names; the type when empty");
    f("file", file, "The file; its extension tells the format, a relative name starts at the folder of the scene",
      {.required = true});
    reading.fields(f);
    edits.fields(f);
    f("move", move, "Added to all points at the end", {.unit = "m"});
    f("material", material, "Material", {.required = true});
    f("radius", radius,
      "Whose radius: the material's, or half the width that the file has at a segment's ends, on average. In the second case the "
      "section is scaled from the material's radius, like a rod's `taper`");
    f("knots", knots, "Whether curves that share a vertex keep their angles there; otherwise they are hinged freely");
  }
  void prepare(const StructureContext& context, Problems& problems) override;
  GraphSize size() const override;
  void build(RodGraph& graph, const std::string& prefix) const override;
  const char* type() const override { return "curves"; }

 private:
  void check_curves(const Section& section, Problems& problems) const;
  void make_sections(const StructureContext& context, const Section& section);
  std::vector<std::string> piece_names() const;
  std::size_t segment_count(std::size_t curve) const;

  CurveSet set_;
  std::vector<Section> sections_;  ///< of all segments, curve after curve
};

}  // namespace osier
