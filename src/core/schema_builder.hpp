// Turns self-describing parameters (core/describe.hpp) into the JSON Schema and the reference page.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "core/track.hpp"
#include "math/quat.hpp"

namespace osier {

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
  std::vector<std::string> exactly_one = {}, at_least_one = {};
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
  void at_least_one(const std::vector<std::string>& keys) { current_->at_least_one = keys; }
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

}  // namespace osier
