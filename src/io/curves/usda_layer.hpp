// The prims of a USD text layer, with the few attributes that curves need. Values stay in the text until somebody asks: of an
// animation of gigabytes only the chosen samples are turned into numbers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/curves/source.hpp"
#include "osier/curves.hpp"

namespace osier {

/// Where a value stands; values between two samples of a clip have two places.
struct UsdaValue {
  const CurveSource* source = nullptr;
  std::size_t at = 0, next = 0;
  double t = 0;  ///< (1 - t) of the first + t of the second
};

struct UsdaAttribute {
  const CurveSource* source = nullptr;
  std::size_t at = 0;              ///< where it stands, for messages
  std::optional<UsdaValue> value;  ///< outside time
  std::vector<double> times;       ///< ascending
  std::vector<UsdaValue> samples;  ///< at these times
  std::string interpolation;

  bool has_value() const { return value || !times.empty(); }
};

/// Values of a prim and of those below it that lie in other files, each for a stretch of time.
struct UsdaClips {
  std::size_t at = 0;
  std::vector<std::string> files;
  std::vector<std::pair<double, std::size_t>> active;  ///< from a time on, which of the files; ascending
  std::vector<std::array<double, 2>> times;            ///< of the stage, and in the file; ascending. The same without
  std::string manifest, prim_path;
};

struct UsdaPrim {
  std::string name, type;
  const CurveSource* source = nullptr;
  std::size_t at = 0;
  std::optional<std::size_t> parent;
  bool defined = false;     ///< by `def`; `over` only adds to a prim of another file
  bool hidden = false;      ///< inactive or a class
  std::string composed_by;  ///< references, variantSet, ...: part of it is not in this file
  std::optional<UsdaClips> clips;
  std::map<std::string, UsdaAttribute, std::less<>> attributes;

  const UsdaAttribute* find(std::string_view attribute) const {
    const auto it = attributes.find(attribute);
    return it == attributes.end() ? nullptr : &it->second;
  }
};

struct UsdaLayer {
  double meters_per_unit = 0.01;  ///< what USD says when a layer says nothing
  double time_codes_per_second = 24;
  UpAxis up = UpAxis::y;
  std::vector<std::string> sublayers;
  std::vector<UsdaPrim> prims;  ///< parents before children

  /// Keeps pointers to `source`.
  static UsdaLayer parse(const CurveSource& source);

  /// The numbers at a time; between samples on the straight way where both have the same count, otherwise the earlier one.
  static std::vector<double> numbers(const UsdaAttribute& attribute, std::size_t arity, double time);
  /// Text does not blend: that of the earlier sample.
  static std::vector<std::string> strings(const UsdaAttribute& attribute, double time);
};

}  // namespace osier
