#include "view/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/fields.hpp"
#include "scene/spec.hpp"

namespace osier::view {

namespace {

template <class Base>
std::vector<FieldDoc> fields_of(const std::string& type) {
  for (const auto& entry : registry<Base>()) {
    if (type != entry.name) continue;
    SchemaBuilder builder;
    entry.describe(builder);
    return builder.objects.front().fields;
  }
  return {};
}

template <HasFields T>
std::vector<FieldDoc> fields_of() {
  SchemaBuilder builder;
  builder.object<T>();
  return builder.objects.front().fields;
}

bool is_numbers(const Json& j) {
  return j.is_array() && !j.empty() && j.size() <= 3 &&
         std::all_of(j.begin(), j.end(), [](const Json& x) { return x.is_number(); });
}

/// Whether the field is a number or a vector; a selection, which may be a number too, is not.
bool is_quantity(const FieldDoc& field) {
  const OrderedJson& s = field.schema.contains("anyOf") ? field.schema["anyOf"].front() : field.schema;
  if (!s.contains("type")) return false;
  const OrderedJson& type = s["type"];
  return type == "number" || type == "integer" || (type == "array" && s.contains("minItems") && s["items"]["type"] == "number");
}

/// Sizes that must be positive are tried out over decades, the others over a few times what they are.
void choose_range(Parameter& p, const OrderedJson& schema, double size) {
  const OrderedJson& s = schema.contains("anyOf") ? schema["anyOf"].front() : schema;
  const auto bound = [&](const char* key) {
    return s.contains(key) ? std::optional<double>(s[key].get<double>()) : std::nullopt;
  };
  const auto above = bound("exclusiveMinimum"), least = bound("minimum"), most = bound("maximum");
  p.whole = s.contains("type") && s["type"] == "integer";
  p.log = p.value > 0 && !most && !p.whole && (above || p.unit.starts_with("N"));
  if (p.log) {
    p.min = p.value / 100, p.max = p.value * 100;
    return;
  }
  const double reach = p.unit == "s" ? std::max(3 * size, 0.1) : size > 0 ? 3 * size : 1;
  p.min = above ? *above : least ? *least : -reach;
  p.max = most && (least || above) && *most - p.min < 1e3 ? *most : std::max(reach, p.min + 1e-9);
  if (p.whole) p.max = std::max(std::ceil(p.max), p.min + 10);
}

class Lister {
 public:
  std::vector<Parameter> list;

  void object(const Json& json, const std::string& pointer, const std::string& group, const std::vector<FieldDoc>& fields,
              bool defaults) {
    for (const FieldDoc& field : fields) {
      if (!is_quantity(field)) continue;
      const auto it = json.find(field.name);
      Json value = it != json.end() ? *it : defaults ? Json::parse(field.fallback, nullptr, false) : Json();
      if (it == json.end() && defaults) value = preset_value(json, field.name, std::move(value));
      const std::string at = pointer + "/" + escape_pointer(field.name);
      Parameter p{.pointer = at,
                  .label = field.name,
                  .group = group,
                  .unit = field.unit,
                  .help = field.help,
                  .list_pointer = {},
                  .list = {}};
      if (value.is_number()) {
        p.value = value.get<double>();
        choose_range(p, field.schema, std::abs(p.value));
        list.push_back(p);
      } else if (is_numbers(value)) {
        components(p, value, field.schema, it == json.end());
      }
    }
  }

  void material(const Json& json, const std::string& pointer, const std::string& name) {
    if (!json.is_object()) return;
    static const std::vector<FieldDoc> fields = fields_of<Material>();
    object(json, pointer, "material " + name, fields, true);
    if (const auto section = json.find("section"); section != json.end() && section->is_object())
      object(*section, pointer + "/section", "section of " + name, fields_of<SectionShape>(section->value("type", "")), false);
  }

  /// How it is made of first, as with materials; then what it looks like, where a change starts the run again.
  void structure(const Json& json, const std::string& pointer) {
    if (!json.is_object()) return;
    const std::string type = json.value("type", ""), name = json.value("name", type);
    std::vector<FieldDoc> fields = fields_of<Structure>(type);
    const auto shape = std::stable_partition(fields.begin(), fields.end(), [](const FieldDoc& f) {
      return f.unit.starts_with("N") || f.unit == "kg/m" || f.unit == "s" || f.name.ends_with("radius") ||
             f.name.ends_with("_limit");
    });
    object(json, pointer, name, {fields.begin(), shape}, true);
    if (const auto m = json.find("material"); m != json.end()) material(*m, pointer + "/material", name);
    object(json, pointer, "shape of " + name, {shape, fields.end()}, true);
  }

 private:
  void components(const Parameter& whole, const Json& value, const OrderedJson& schema, bool missing) {
    double size = 0;
    for (const Json& x : value) size = std::max(size, std::abs(x.get<double>()));
    static constexpr const char* kAxes[] = {"x", "y", "z"};
    for (std::size_t i = 0; i < value.size(); ++i) {
      Parameter p = whole;
      p.pointer += fmt::format("/{}", i);
      p.label += value.size() == 3 ? fmt::format(" {}", kAxes[i]) : fmt::format(" {}", i + 1);
      p.value = value[i].get<double>();
      if (missing) p.list_pointer = whole.pointer, p.list = value;
      choose_range(p, value.size() == 3 ? OrderedJson::object() : schema, size);
      list.push_back(p);
    }
  }

  static Json preset_value(const Json& json, const std::string& key, Json otherwise) {
    const auto name = json.find("preset");
    if (name == json.end() || !name->is_string()) return otherwise;
    for (const Preset& preset : presets()) {
      if (*name != preset.name) continue;
      if (key == "young") return preset.young;
      if (key == "density" && !json.contains("line_density")) return preset.density;
      if (key == "shear_modulus" && !json.contains("poisson")) return preset.shear_modulus;
      if (key == "radius" && preset.radius && !json.contains("section")) return *preset.radius;
    }
    return otherwise;
  }
};

Json::json_pointer place(const std::string& pointer) { return Json::json_pointer(pointer); }

}  // namespace

std::vector<Parameter> parameters_of(const Json& scene) {
  Lister lister;
  if (const auto m = scene.find("materials"); m != scene.end() && m->is_object())
    for (const auto& [name, material] : m->items()) lister.material(material, "/materials/" + escape_pointer(name), name);
  if (const auto rods = scene.find("rods"); rods != scene.end() && rods->is_array())
    for (std::size_t i = 0; i < rods->size(); ++i)
      if ((*rods)[i].is_object() && (*rods)[i].contains("material"))
        lister.material((*rods)[i]["material"], fmt::format("/rods/{}/material", i),
                        (*rods)[i].value("name", fmt::format("rod{}", i)));
  if (const auto structures = scene.find("structures"); structures != scene.end() && structures->is_array())
    for (std::size_t i = 0; i < structures->size(); ++i) lister.structure((*structures)[i], fmt::format("/structures/{}", i));
  if (const auto forces = scene.find("forces"); forces != scene.end() && forces->is_array())
    for (std::size_t i = 0; i < forces->size(); ++i) {
      const std::string type = (*forces)[i].value("type", "");
      lister.object((*forces)[i], fmt::format("/forces/{}", i), fmt::format("{} {}", type, i), fields_of<Force>(type), true);
    }
  if (const auto f = scene.find("fracture"); f != scene.end() && f->is_object())
    lister.object(*f, "/fracture", "fracture", fields_of<FractureSpec>(), false);
  if (const auto a = scene.find("analysis"); a != scene.end() && a->is_object() && a->contains("step")) {
    std::vector<FieldDoc> step = fields_of<Analysis>(a->value("type", ""));
    std::erase_if(step, [](const FieldDoc& f) { return f.name != "step"; });
    lister.object(*a, "/analysis", "time", step, false);
  }
  if (const auto s = scene.find("solver"); s != scene.end() && s->is_object())
    lister.object(*s, "/solver", "solver", fields_of<SolverSettings>(s->value("name", "")), false);
  if (const auto e = scene.find("execution"); e != scene.end() && e->is_object())
    lister.object(*e, "/execution", "execution", fields_of<Execution>(), false);
  return lister.list;
}

void set_parameter(Json& scene, const Parameter& p, double value) {
  if (!p.list_pointer.empty() && !scene.contains(place(p.list_pointer))) scene[place(p.list_pointer)] = p.list;
  if (p.whole && std::nearbyint(value) == value && std::abs(value) < 2e9) scene[place(p.pointer)] = static_cast<int>(value);
  else scene[place(p.pointer)] = value;
}

void update_parameters(std::vector<Parameter>& parameters, const Json& scene) {
  std::vector<Parameter> now = parameters_of(scene);
  for (Parameter& p : now)
    for (const Parameter& before : parameters)
      if (p.pointer == before.pointer) {
        p.min = std::min(before.min, p.value), p.max = std::max(before.max, p.value), p.log = before.log && p.min > 0;
        break;
      }
  parameters = std::move(now);
}

std::string scene_text(const Json& scene) {
  OrderedJson ordered = OrderedJson::object();
  for (const FieldDoc& field : fields_of<SceneSpec>())
    if (scene.contains(field.name)) ordered[field.name] = OrderedJson::parse(scene[field.name].dump());
  return ordered.dump(2) + "\n";
}

OrderedJson to_json(const std::vector<Parameter>& parameters) {
  OrderedJson list = OrderedJson::array();
  for (const Parameter& p : parameters)
    list.push_back({{"pointer", p.pointer},
                    {"label", p.label},
                    {"group", p.group},
                    {"unit", p.unit},
                    {"help", p.help},
                    {"value", p.value},
                    {"min", p.min},
                    {"max", p.max},
                    {"log", p.log},
                    {"whole", p.whole}});
  return list;
}

}  // namespace osier::view
