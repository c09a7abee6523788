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

struct UsdaAttribute {
  std::size_t at = 0;                ///< where it stands, for messages
  std::optional<std::size_t> value;  ///< place of its value outside time
  std::vector<double> times;         ///< ascending
  std::vector<std::size_t> samples;  ///< places of the values at these times
  std::string interpolation;
};

struct UsdaPrim {
  std::string name, type;
  std::size_t at = 0;
  std::optional<std::size_t> parent;
  bool hidden = false;      ///< inactive or a class, or below one
  std::string composed_by;  ///< references, variantSet, ...: part of it is not in this file
  std::map<std::string, UsdaAttribute, std::less<>> attributes;

  const UsdaAttribute* find(std::string_view attribute) const {
    const auto it = attributes.find(attribute);
    return it == attributes.end() ? nullptr : &it->second;
  }
};

struct UsdaLayer {
  double meters_per_unit = 0.01;  ///< what USD says when a layer says nothing
  UpAxis up = UpAxis::y;
  bool has_sublayers = false;
  std::vector<UsdaPrim> prims;  ///< parents before children

  static UsdaLayer parse(const CurveSource& source);

  /// The numbers at a time; between samples on the straight way where both have the same count, otherwise the earlier one.
  static std::vector<double> numbers(const CurveSource& source, const UsdaAttribute& attribute, std::size_t arity, double time);
  static std::vector<std::string> strings(const CurveSource& source, const UsdaAttribute& attribute);
};

}  // namespace osier
