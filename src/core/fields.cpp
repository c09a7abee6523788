#include "core/fields.hpp"

#include <fmt/format.h>

namespace osier {

std::string shorten(const Json& j) { return shorten(j.dump(-1, ' ', false, Json::error_handler_t::replace)); }

void JsonReader::wrong_type(const Json& j, const std::string& at, const std::string& expected) {
  problems_.add(at, shorten(j) + " is not " + expected, "write " + expected);
}

void JsonReader::check_range(const Json& j, const std::string& at, double v, const FieldInfo& info) {
  const std::string unit = *info.unit ? std::string(" ") + info.unit : "";
  if (!std::isfinite(v)) {
    problems_.add(at, shorten(j) + " is not finite", "use a finite number");
  } else if (info.min && (v < *info.min || (info.above_min && v == *info.min))) {
    problems_.add(at, shorten(j) + unit,
                  fmt::format("use a value {} {}{}", info.above_min ? "above" : "of at least", *info.min, unit));
  } else if (info.max && v > *info.max) {
    problems_.add(at, shorten(j) + unit, fmt::format("use a value of at most {}{}", *info.max, unit));
  }
}

void JsonReader::read(const Json& j, const std::string& at, double& v, const FieldInfo& info) {
  if (!j.is_number()) {
    wrong_type(j, at, *info.unit ? std::string("a number [") + info.unit + "]" : std::string("a number"));
    return;
  }
  v = j.get<double>();
  check_range(j, at, v, info);
}

void JsonReader::read(const Json& j, const std::string& at, int& v, const FieldInfo& info) {
  // 1e3 is a whole number too, though JSON libraries read it as floating point.
  if (!j.is_number() || std::nearbyint(j.get<double>()) != j.get<double>() || std::abs(j.get<double>()) > 2e9) {
    wrong_type(j, at, "a whole number");
    return;
  }
  v = static_cast<int>(j.get<double>());
  check_range(j, at, v, info);
}

void JsonReader::read(const Json& j, const std::string& at, bool& v, const FieldInfo&) {
  if (!j.is_boolean()) wrong_type(j, at, "true or false");
  else v = j.get<bool>();
}

void JsonReader::read(const Json& j, const std::string& at, std::string& v, const FieldInfo&) {
  if (!j.is_string()) wrong_type(j, at, "text in quotes");
  else v = j.get<std::string>();
}

static bool numbers(const Json& j, std::size_t n) {
  return j.is_array() && j.size() == n &&
         std::all_of(j.begin(), j.end(), [](const Json& e) { return e.is_number() && std::isfinite(e.get<double>()); });
}

void JsonReader::read(const Json& j, const std::string& at, AxisPair& v, const FieldInfo& info) {
  if (j.is_number()) {
    read(j, at, v.d1, info);
    v.d2 = v.d1;
  } else if (j.is_array() && j.size() == 2 && j[0].is_number() && j[1].is_number()) {
    read(j[0], at + "/0", v.d1, info);
    read(j[1], at + "/1", v.d2, info);
  } else {
    wrong_type(j, at, std::string("a number or a pair") + (*info.unit ? std::string(" [") + info.unit + "]" : ""));
  }
}

void JsonReader::read(const Json& j, const std::string& at, Vec3d& v, const FieldInfo&) {
  if (!numbers(j, 3)) wrong_type(j, at, "three finite numbers [x, y, z]");
  else v = {j[0], j[1], j[2]};
}

void JsonReader::read(const Json& j, const std::string& at, Quatd& v, const FieldInfo&) {
  if (!numbers(j, 4)) {
    wrong_type(j, at, "four finite numbers [x, y, z, w]");
    return;
  }
  v = {j[0], j[1], j[2], j[3]};
  if (norm2(v) < 1e-12) problems_.add(at, "is a zero quaternion", "use [0, 0, 0, 1] for no rotation");
  else v = normalized(v);
}

static void add_range(OrderedJson& schema, const FieldInfo& info) {
  if (info.min) schema[info.above_min ? "exclusiveMinimum" : "minimum"] = *info.min;
  if (info.max) schema["maximum"] = *info.max;
}

OrderedJson SchemaBuilder::describe(double& v, FieldDoc& doc, const FieldInfo& info) {
  doc.type = "number";
  doc.fallback = fmt::format("{}", v);
  OrderedJson schema = {{"type", "number"}};
  add_range(schema, info);
  return schema;
}

OrderedJson SchemaBuilder::describe(int& v, FieldDoc& doc, const FieldInfo& info) {
  doc.type = "whole number";
  doc.fallback = fmt::format("{}", v);
  OrderedJson schema = {{"type", "integer"}};
  add_range(schema, info);
  return schema;
}

OrderedJson SchemaBuilder::describe(bool& v, FieldDoc& doc, const FieldInfo&) {
  doc.type = "`true` \\| `false`";
  doc.fallback = v ? "true" : "false";
  return {{"type", "boolean"}};
}

OrderedJson SchemaBuilder::describe(std::string& v, FieldDoc& doc, const FieldInfo&) {
  doc.type = "text";
  doc.fallback = v;
  return {{"type", "string"}};
}

static OrderedJson tuple_schema(int n) {
  return {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", n}, {"maxItems", n}};
}

OrderedJson SchemaBuilder::describe(AxisPair&, FieldDoc& doc, const FieldInfo& info) {
  double sample = 0;
  const OrderedJson number = describe(sample, doc, info);
  doc.type = "number or [number, number]";
  doc.fallback.clear();
  return {{"anyOf", {number, {{"type", "array"}, {"items", number}, {"minItems", 2}, {"maxItems", 2}}}}};
}

OrderedJson SchemaBuilder::describe(Vec3d& v, FieldDoc& doc, const FieldInfo&) {
  doc.type = "[x, y, z]";
  doc.fallback = fmt::format("[{}, {}, {}]", v.x, v.y, v.z);
  return tuple_schema(3);
}

OrderedJson SchemaBuilder::describe(Quatd& v, FieldDoc& doc, const FieldInfo&) {
  doc.type = "[x, y, z, w]";
  doc.fallback = fmt::format("[{}, {}, {}, {}]", v.x, v.y, v.z, v.w);
  return tuple_schema(4);
}

OrderedJson SchemaBuilder::schema(const std::string& root) const {
  OrderedJson result = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                        {"title", "Osier scene"},
                        {"$ref", "#/$defs/" + root},
                        {"$defs", OrderedJson::object()}};
  for (const ObjectDoc& doc : objects) {
    OrderedJson properties = OrderedJson::object(), required = OrderedJson::array();
    if (!doc.tag_name.empty()) {
      properties[doc.tag_name] = {{"const", doc.tag_value}};
      if (doc.tag_required) required.push_back(doc.tag_name);
    }
    for (const FieldDoc& field : doc.fields) {
      properties[field.name] = field.schema;
      if (field.required) required.push_back(field.name);
    }
    OrderedJson def = {
        {"type", "object"}, {"description", doc.help}, {"properties", properties}, {"additionalProperties", false}};
    if (!required.empty()) def["required"] = required;
    for (const std::string& key : doc.exactly_one) def["oneOf"].push_back({{"required", {key}}});
    for (const std::string& key : doc.at_least_one) def["anyOf"].push_back({{"required", {key}}});
    result["$defs"][doc.kind] = def;
  }
  return result;
}

/// A bar ends a cell of a Markdown table.
static std::string table_cell(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string SchemaBuilder::markdown() const {
  std::string text;
  for (const ObjectDoc& doc : objects) {
    text += fmt::format("\n## {}\n\n{}\n\n", doc.kind, doc.help);
    if (!doc.tag_name.empty())
      text += fmt::format("Chosen by `\"{0}\": \"{1}\"`{2}.\n\n", doc.tag_name, doc.tag_value,
                          doc.tag_required ? "" : fmt::format(", or where `{}` is left out", doc.tag_name));
    if (doc.fields.empty()) continue;
    text += "| key | value | unit | default | meaning |\n|---|---|---|---|---|\n";
    for (const FieldDoc& f : doc.fields)
      text += fmt::format("| `{}` | {} | {} | {} | {} |\n", f.name, f.type, f.unit,
                          f.required ? "**required**" : (f.fallback.empty() ? "–" : "`" + f.fallback + "`"), table_cell(f.help));
  }
  return text;
}

}  // namespace osier
