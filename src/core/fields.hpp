// Self-describing parameters. A settings struct says once, in
//
//   template <class F> void fields(F& f) {
//     f("rate", rate, "How fast ...", {.unit = "1/s", .min = 0});
//   }
//
// what each member is called, means, measures and may be. JsonReader reads it from JSON and reports every problem with its
// pointer; SchemaBuilder turns the same text into the JSON Schema and the reference page. Defaults are the member initialisers.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/text.hpp"
#include "core/track.hpp"
#include "math/quat.hpp"
#include "osier/error.hpp"

namespace osier {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// A JSON value for a message, not too long and never throwing.
std::string shorten(const Json& j);

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
template <>
struct Choices<Interpolation> {
  static constexpr std::array<const char*, 3> names{"linear", "smooth", "step"};
};

template <class T>
concept HasFields = requires(T t) {
  t.kind();
};

/// One way to build a Base from JSON, chosen by a tag ("type" or "name"). Registries are plain ordered arrays of these.
class JsonReader;
class SchemaBuilder;
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

// ---------------------------------------------------------------------------------------------------------------- reading

class JsonReader {
 public:
  JsonReader(const Json& json, std::string pointer, Problems& problems)
      : json_(json), pointer_(std::move(pointer)), problems_(problems) {}

  template <class T>
  void operator()(const char* name, T& value, const char* /*help*/, const FieldInfo& info = {}) {
    known_.emplace_back(name);
    if (!json_.is_object()) return;
    const auto it = json_.find(name);
    if (it == json_.end()) {
      if (info.required) problems_.add(pointer_, std::string("`") + name + "` is missing", "add it");
      return;
    }
    read(*it, pointer_ + "/" + escape_pointer(name), value, info);
  }

  /// Remembers where this object stands, for checks that come later.
  void where(std::string& pointer) { pointer = pointer_; }
  const std::string& pointer() const { return pointer_; }
  const Json& json() const { return json_; }
  Problems& problems() { return problems_; }
  bool has(const char* name) const { return json_.is_object() && json_.contains(name); }
  void know(const char* name) { known_.emplace_back(name); }

  void problem(const std::string& what, const std::string& remedy = {}) { problems_.add(pointer_, what, remedy); }

  /// Of these keys one, and only one, must be there.
  void exactly_one(const std::vector<std::string>& keys) {
    int given = 0;
    for (const std::string& key : keys) given += has(key.c_str()) ? 1 : 0;
    if (given != 1) problem("needs exactly one of " + join(keys, ", "), "keep one");
  }

  /// Reports keys that nothing asked for. Call after all fields.
  void finish() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const std::string guess = closest(key, known_);
      problems_.add(pointer_ + "/" + shorten(escape_pointer(key)), "unknown key",
                    guess.empty() ? "known here: " + join(known_, ", ") : "did you mean `" + guess + "`?");
    }
  }

  void read(const Json& j, const std::string& at, double& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, int& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, bool& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, std::string& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, AxisPair& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, Vec3d& v, const FieldInfo& info);
  void read(const Json& j, const std::string& at, Quatd& v, const FieldInfo& info);

  template <class Enum>
  requires std::is_enum_v<Enum>
  void read(const Json& j, const std::string& at, Enum& v, const FieldInfo&) {
    const auto& names = Choices<Enum>::names;
    std::vector<std::string> list(names.begin(), names.end());
    if (!j.is_string()) {
      wrong_type(j, at, "one of " + join(list, ", "));
      return;
    }
    for (std::size_t i = 0; i < list.size(); ++i)
      if (j.get<std::string>() == list[i]) {
        v = static_cast<Enum>(i);
        return;
      }
    const std::string guess = closest(j.get<std::string>(), list);
    problems_.add(at, shorten(j) + " is not a choice",
                  guess.empty() ? "use one of " + join(list, ", ") : "did you mean `" + guess + "`?");
  }

  template <class T>
  void read(const Json& j, const std::string& at, std::optional<T>& v, const FieldInfo& info) {
    T value{};
    if (v) value = *v;
    const std::size_t before = problems_.size();
    read(j, at, value, info);
    if (problems_.size() == before) v = std::move(value);
  }

  template <class T>
  void read(const Json& j, const std::string& at, std::vector<T>& v, const FieldInfo& info) {
    if (!j.is_array()) {
      wrong_type(j, at, "a list");
      return;
    }
    v.clear();
    for (std::size_t i = 0; i < j.size(); ++i) {
      T item{};
      read(j[i], at + "/" + std::to_string(i), item, info);
      v.push_back(std::move(item));
    }
  }

  template <class T>
  void read(const Json& j, const std::string& at, std::map<std::string, T>& v, const FieldInfo& info) {
    if (!j.is_object()) {
      wrong_type(j, at, "an object");
      return;
    }
    for (const auto& [key, item] : j.items()) read(item, at + "/" + escape_pointer(key), v[key], info);
  }

  /// A value, or {"keys": [[time, value], ...], "interpolation": "linear"}; instead of time it may be a fraction of a length.
  template <class T>
  void read(const Json& j, const std::string& at, Track<T>& v, const FieldInfo& info) {
    if (!j.is_object()) {
      T constant{};
      read(j, at, constant, info);
      v = Track<T>(constant);
      return;
    }
    v.keys.clear();
    JsonReader inner(j, at, problems_);
    inner("interpolation", v.interpolation, "");
    inner.know("keys");
    inner.finish();
    const auto keys = j.find("keys");
    if (keys == j.end() || !keys->is_array() || keys->empty()) {
      problems_.add(at, "keyframes need a list `keys`", std::string(R"(write {"keys": [[)") + info.over + ", value], ...]}");
      return;
    }
    for (std::size_t i = 0; i < keys->size(); ++i) {
      const std::string here = at + "/keys/" + std::to_string(i);
      const Json& key = (*keys)[i];
      if (!key.is_array() || key.size() != 2) {
        wrong_type(key, here, std::string("a pair [") + info.over + ", value]");
        continue;
      }
      typename Track<T>::Key k{};
      read(key[0], here + "/0", k.time, info.over_fraction() ? FieldInfo{.min = 0, .max = 1} : FieldInfo{.unit = "s"});
      read(key[1], here + "/1", k.value, info);
      if (!v.keys.empty() && k.time <= v.keys.back().time)
        problems_.add(here + "/0", std::string(info.over) + " does not increase", std::string("sort the keys by ") + info.over);
      v.keys.push_back(k);
    }
  }

  /// A nested settings struct.
  template <HasFields T>
  void read(const Json& j, const std::string& at, T& v, const FieldInfo&) {
    if constexpr (requires { T::only_short; }) {
      v.read_short(j, at, problems_);
    } else {
      if constexpr (requires { v.read_short(j, at, problems_); }) {
        if (v.read_short(j, at, problems_)) return;  // a short spelling, like a material's name
      }
      if (!j.is_object()) {
        const bool has_short = requires { v.read_short(j, at, problems_); };
        wrong_type(
            j, at,
            has_short ? std::string("a name or an object (") + v.kind() + ")" : std::string("an object (") + v.kind() + ")");
        return;
      }
      JsonReader inner(j, at, problems_);
      v.fields(inner);
      inner.finish();
    }
  }

  /// One of a registry's types, chosen by its tag.
  template <class Base>
  void read(const Json& j, const std::string& at, std::unique_ptr<Base>& v, const FieldInfo&) {
    constexpr const char* tag = RegistryTraits<Base>::tag;
    if (!j.is_object()) {
      wrong_type(j, at, std::string("an object with `") + tag + "`");
      return;
    }
    std::vector<std::string> names;
    for (const auto& entry : registry<Base>()) names.emplace_back(entry.name);
    const auto it = j.find(tag);
    if (it == j.end() || !it->is_string()) {
      problems_.add(at, std::string("`") + tag + "` is missing or not a word", "use one of " + join(names, ", "));
      return;
    }
    for (const auto& entry : registry<Base>()) {
      if (*it != entry.name) continue;
      JsonReader inner(j, at, problems_);
      inner.know(tag);
      v = entry.read(inner);
      inner.finish();
      return;
    }
    const std::string guess = closest(it->get<std::string>(), names);
    problems_.add(at + "/" + tag, shorten(*it) + " is unknown",
                  guess.empty() ? "use one of " + join(names, ", ") : "did you mean `" + guess + "`?");
  }

 private:
  void wrong_type(const Json& j, const std::string& at, const std::string& expected);
  void check_range(const Json& j, const std::string& at, double v, const FieldInfo& info);

  const Json& json_;
  std::string pointer_;
  Problems& problems_;
  std::vector<std::string> known_;
};

// -------------------------------------------------------------------------------------------------------------- describing

/// One object kind of the scene language, as the schema and the reference page see it.
struct FieldDoc {
  std::string name, type, unit, fallback, help;
  bool required = false;
  OrderedJson schema;
};
struct ObjectDoc {
  std::string kind, help, tag_name, tag_value;
  bool tag_required = true;
  std::vector<FieldDoc> fields;
  std::vector<std::string> exactly_one = {};
};

class SchemaBuilder {
 public:
  /// Describes T and everything it refers to; returns the reference {"$ref": ...} to put in place of it.
  template <HasFields T>
  OrderedJson object(const std::string& tag_name = {}, const std::string& tag_value = {}, bool tag_required = true) {
    T sample{};
    const std::string kind = sample.kind();
    if (seen_.insert(kind).second) {
      ObjectDoc doc{.kind = kind,
                    .help = sample.help(),
                    .tag_name = tag_name,
                    .tag_value = tag_value,
                    .tag_required = tag_required,
                    .fields = {}};
      const std::size_t slot = objects.size();
      objects.emplace_back();
      ObjectDoc* outer = current_;
      current_ = &doc;
      sample.fields(*this);
      current_ = outer;
      objects[slot] = std::move(doc);
    }
    return {{"$ref", "#/$defs/" + kind}};
  }

  template <class T>
  void operator()(const char* name, T& value, const char* help, const FieldInfo& info = {}) {
    FieldDoc doc{
        .name = name, .type = {}, .unit = info.unit, .fallback = {}, .help = help, .required = info.required, .schema = {}};
    doc.schema = describe(value, doc, info);
    doc.schema["description"] = std::string(help) + (*info.unit ? std::string(" [") + info.unit + "]" : "");
    if (info.required) doc.fallback.clear();
    current_->fields.push_back(std::move(doc));
  }

  void where(std::string&) {}
  void know(const char*) {}
  void finish() {}
  void problem(const std::string&, const std::string& = {}) {}
  void exactly_one(const std::vector<std::string>& keys) { current_->exactly_one = keys; }
  bool has(const char*) const { return false; }

  std::vector<ObjectDoc> objects;

  OrderedJson schema(const std::string& root) const;
  std::string markdown() const;

 private:
  OrderedJson describe(double& v, FieldDoc& doc, const FieldInfo& info);
  OrderedJson describe(int& v, FieldDoc& doc, const FieldInfo& info);
  OrderedJson describe(bool& v, FieldDoc& doc, const FieldInfo& info);
  OrderedJson describe(std::string& v, FieldDoc& doc, const FieldInfo& info);
  OrderedJson describe(AxisPair& v, FieldDoc& doc, const FieldInfo& info);
  OrderedJson describe(Vec3d& v, FieldDoc& doc, const FieldInfo& info);
  OrderedJson describe(Quatd& v, FieldDoc& doc, const FieldInfo& info);

  template <class Enum>
  requires std::is_enum_v<Enum> OrderedJson describe(Enum& v, FieldDoc& doc, const FieldInfo&) {
    const auto& names = Choices<Enum>::names;
    std::vector<std::string> list(names.begin(), names.end());
    doc.type = "`" + join(list, "` \\| `") + "`";
    doc.fallback = list[static_cast<std::size_t>(v)];
    return {{"enum", list}};
  }
  template <class T>
  OrderedJson describe(std::optional<T>& v, FieldDoc& doc, const FieldInfo& info) {
    T sample{};
    if (v) sample = *v;
    OrderedJson schema = describe(sample, doc, info);
    if (!v) doc.fallback.clear();
    return schema;
  }
  template <class T>
  OrderedJson describe(std::vector<T>&, FieldDoc& doc, const FieldInfo& info) {
    T sample{};
    OrderedJson items = describe(sample, doc, info);
    doc.type = "list of " + doc.type;
    doc.fallback.clear();
    return {{"type", "array"}, {"items", items}};
  }
  template <class T>
  OrderedJson describe(std::map<std::string, T>&, FieldDoc& doc, const FieldInfo& info) {
    T sample{};
    OrderedJson items = describe(sample, doc, info);
    doc.type = "names → " + doc.type;
    doc.fallback.clear();
    return {{"type", "object"}, {"additionalProperties", items}};
  }
  template <class T>
  OrderedJson describe(Track<T>& v, FieldDoc& doc, const FieldInfo& info) {
    T sample = v.at(0);
    OrderedJson value = describe(sample, doc, info);
    if (!v.given()) doc.fallback.clear();
    doc.type += info.over_fraction()                    ? " or keyframes over the fraction"
                : std::string_view(info.over) == "time" ? " or keyframes"
                                                        : std::string(" or keyframes over ") + info.over;
    OrderedJson argument = {{"type", "number"}};
    if (info.over_fraction()) argument["minimum"] = 0, argument["maximum"] = 1;
    std::vector<std::string> modes(Choices<Interpolation>::names.begin(), Choices<Interpolation>::names.end());
    const OrderedJson key = {{"type", "array"}, {"prefixItems", {argument, value}}, {"minItems", 2}, {"maxItems", 2}};
    const OrderedJson keyed = {
        {"type", "object"},
        {"properties", {{"keys", {{"type", "array"}, {"minItems", 1}, {"items", key}}}, {"interpolation", {{"enum", modes}}}}},
        {"required", {"keys"}},
        {"additionalProperties", false}};
    return {{"anyOf", {value, keyed}}};
  }
  template <HasFields T>
  OrderedJson describe(T& v, FieldDoc& doc, const FieldInfo&) {
    if constexpr (requires { T::only_short; }) {
      return T::short_schema(doc);
    } else {
      doc.type = std::string("[") + v.kind() + "](#" + v.kind() + ")";
      OrderedJson ref = object<T>();
      if constexpr (requires { T::short_schema(doc); }) return {{"anyOf", {T::short_schema(doc), ref}}};
      else return ref;
    }
  }
  template <class Base>
  OrderedJson describe(std::unique_ptr<Base>&, FieldDoc& doc, const FieldInfo&) {
    OrderedJson any = OrderedJson::array();
    std::vector<std::string> links;
    for (const auto& entry : registry<Base>()) {
      current_tag_ = {RegistryTraits<Base>::tag, entry.name, std::string_view(RegistryTraits<Base>::fallback) != entry.name};
      entry.describe(*this);
      any.push_back(last_ref_);
      links.push_back(std::string("[") + entry.name + "](#" + last_ref_["$ref"].get<std::string>().substr(8) + ")");
    }
    doc.type = join(links, " \\| ");
    return {{"anyOf", any}};
  }

 public:
  /// Used by registry entries.
  template <HasFields T>
  void tagged_object() {
    const auto [name, value, required] = current_tag_;
    last_ref_ = object<T>(name, value, required);
  }

 private:
  ObjectDoc* current_ = nullptr;
  std::set<std::string> seen_;
  std::tuple<std::string, std::string, bool> current_tag_;  ///< key, word, whether it is required
  OrderedJson last_ref_;
};

/// The registry line of a type with fields() that becomes a Base through Make(T&&).
template <class Base, class Derived>
constexpr RegistryEntry<Base> registry_entry(const char* name, const char* help) {
  return {name, help,
          [](JsonReader& reader) -> std::unique_ptr<Base> {
            auto made = std::make_unique<Derived>();
            made->fields(reader);
            return made;
          },
          [](SchemaBuilder& builder) { builder.tagged_object<Derived>(); }};
}

}  // namespace osier
