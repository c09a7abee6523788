// Self-describing parameters. A settings struct says once, in
//
//   template <class F> void fields(F& f) {
//     f("rate", rate, "How fast ...", {.unit = "1/s", .min = 0});
//   }
//
// what each member is called, means, measures and may be. Defaults are the member initialisers. This header is all that such a
// struct needs; who reads JSON into it, or describes it, includes core/fields.hpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace osier {

struct FieldInfo {
  const char* unit = "";
  std::optional<double> min = {};
  std::optional<double> max = {};
  bool above_min = false;  ///< strictly greater than min
  bool required = false;
  const char* over = "time";  ///< what keyframes run over; a "fraction" lies between 0 and 1
  bool over_fraction() const { return std::string_view(over) == "fraction"; }
};

/// One number for both axes of a section, or one for each: 3 or [3, 4].
struct AxisPair {
  double d1 = 0, d2 = 0;
};

/// Words for an enum, in order of its values.
template <class Enum>
struct Choices;  // specialise with: static constexpr std::array<const char*, N> names

template <class T>
concept HasFields = requires(T t) {
  t.kind();
};

class JsonReader;
class SchemaBuilder;
struct FieldDoc;

/// One way to build a Base from JSON, chosen by a tag ("type" or "name"). Registries are plain ordered arrays of these.
template <class Base>
struct RegistryEntry {
  const char* name;
  const char* help;
  std::unique_ptr<Base> (*read)(JsonReader&);
  void (*describe)(SchemaBuilder&);
};

/// A member that is one of a registry's types.
template <class Base>
using Tagged = std::unique_ptr<Base>;
template <class Base>
std::span<const RegistryEntry<Base>> registry();  // specialise per Base
template <class Base>
struct RegistryTraits {  ///< specialise to rename the tag or to let it be left out
  static constexpr const char* tag = "type";
  static constexpr const char* fallback = "";  ///< the type without a tag, which the one who loads puts in
};

}  // namespace osier
