#include "osier/model_builder.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "math/vec3.hpp"
#include "scene/load.hpp"
#include "scene/parse_json.hpp"

namespace osier {

struct ModelBuilder::Impl {
  Json scene = Json::object();
  Json& list(const char* key) {
    if (!scene[key].is_array()) scene[key] = Json::array();
    return scene[key];
  }
};

static Json to_json(const Vec3d& x) { return Json::array({x.x, x.y, x.z}); }

static Json to_json(std::span<const Vec3d> points) {
  Json list = Json::array();
  list.get_ref<Json::array_t&>().reserve(points.size());
  for (const Vec3d& x : points) list.push_back(to_json(x));
  return list;
}

static Json shape_through(std::span<const Vec3d> points, bool closed) {
  return {{"type", "points"}, {"points", to_json(points)}, {"closed", closed}};
}

ModelBuilder::ModelBuilder(const std::string& scene) : impl_(std::make_unique<Impl>()) {
  if (scene.empty()) return;
  impl_->scene = parse_json(scene, "scene");
  if (!impl_->scene.is_object()) throw InputError({{"", "the scene is not an object", "start with {"}});
}
ModelBuilder::~ModelBuilder() = default;
ModelBuilder::ModelBuilder(ModelBuilder&&) noexcept = default;
ModelBuilder& ModelBuilder::operator=(ModelBuilder&&) noexcept = default;

ModelBuilder& ModelBuilder::material(const std::string& name, const RodMaterial& m) {
  Json made = Json::object();
  const std::pair<const char*, const std::optional<double>*> fields[] = {{"young", &m.young},
                                                                         {"poisson", &m.poisson},
                                                                         {"shear_modulus", &m.shear_modulus},
                                                                         {"density", &m.density},
                                                                         {"radius", &m.radius},
                                                                         {"stretch_shear", &m.stretch_shear},
                                                                         {"bend_twist", &m.bend_twist},
                                                                         {"line_density", &m.line_density},
                                                                         {"stretch", &m.stretch},
                                                                         {"shear", &m.shear},
                                                                         {"bend", &m.bend},
                                                                         {"twist", &m.twist},
                                                                         {"tau_stretch", &m.tau_stretch},
                                                                         {"tau_shear", &m.tau_shear},
                                                                         {"tau_bend", &m.tau_bend},
                                                                         {"tau_twist", &m.tau_twist},
                                                                         {"friction", &m.friction}};
  for (const auto& [key, value] : fields)
    if (*value) made[key] = **value;
  impl_->scene["materials"][name] = std::move(made);
  return *this;
}

/// Keys in the middles of segments, where the taper of a rod is read.
static Json taper_through(const RodArrays& rod) {
  const std::size_t n = rod.points.size(), segments = rod.scale.size();
  std::vector<double> middle(segments);
  double length = 0;
  for (std::size_t i = 0; i < segments; ++i) {
    const double l = norm(rod.points[(i + 1) % n] - rod.points[i]);
    middle[i] = length + 0.5 * l;
    length += l;
  }
  Json keys = Json::array();
  for (std::size_t i = 0; i < segments; ++i) keys.push_back(Json::array({middle[i] / length, rod.scale[i]}));
  return {{"keys", std::move(keys)}};
}

ModelBuilder& ModelBuilder::rod(const RodArrays& rod) {
  Json& rods = impl_->list("rods");
  const std::string where = fmt::format("/rods/{}", rods.size());
  const std::size_t n = rod.points.size(), segments = rod.closed ? n : n - 1;
  Problems problems;
  if (n < 2) problems.add(where + "/points", fmt::format("has {} points", n), "give at least two");
  if (!rod.pose.empty() && rod.pose.size() != n)
    problems.add(where + "/pose", fmt::format("has {} points, and the rest shape has {}", rod.pose.size(), n),
                 "give as many, or none");
  if (!rod.scale.empty() && rod.scale.size() != segments)
    problems.add(where + "/scale", fmt::format("has {} numbers for {} segments", rod.scale.size(), segments),
                 "give one for each segment, or none");
  const auto finite = [](const Vec3d& x) { return is_finite(x); };
  if (!std::all_of(rod.points.begin(), rod.points.end(), finite) || !std::all_of(rod.pose.begin(), rod.pose.end(), finite))
    problems.add(where, "has coordinates that are not finite", "use finite ones");
  problems.throw_if_any();
  Json made = {{"shape", shape_through(rod.points, rod.closed)}, {"material", rod.material}};
  if (!rod.name.empty()) made["name"] = rod.name;
  if (!rod.pose.empty()) made["pose"] = shape_through(rod.pose, rod.closed);
  if (!rod.scale.empty()) made["taper"] = taper_through(rod);
  if (rod.up) made["up"] = to_json(*rod.up);
  if (rod.velocity) made["velocity"] = {{"linear", to_json(*rod.velocity)}};
  rods.push_back(std::move(made));
  return *this;
}

static Json holder(const char* type, const std::string& vertices, const std::string& name) {
  Json made = {{"type", type}, {"vertices", vertices}};
  if (!name.empty()) made["name"] = name;
  return made;
}

ModelBuilder& ModelBuilder::pin(const std::string& vertices, const std::string& name) {
  impl_->list("constraints").push_back(holder("pin", vertices, name));
  return *this;
}
ModelBuilder& ModelBuilder::clamp(const std::string& vertices, const std::string& name) {
  impl_->list("constraints").push_back(holder("clamp", vertices, name));
  return *this;
}
ModelBuilder& ModelBuilder::weld(const std::string& a, const std::string& b) {
  impl_->list("welds").push_back({{"vertices", Json::array({a, b})}});
  return *this;
}
ModelBuilder& ModelBuilder::gravity(const Vec3d& acceleration) {
  impl_->list("forces").push_back({{"type", "gravity"}, {"acceleration", to_json(acceleration)}});
  return *this;
}
ModelBuilder& ModelBuilder::dynamics(double step, double duration) {
  impl_->scene["analysis"] = {{"type", "dynamic"}, {"step", step}, {"duration", duration}};
  return *this;
}
ModelBuilder& ModelBuilder::statics(int load_steps) {
  impl_->scene["analysis"] = {{"type", "static"}, {"load_steps", load_steps}};
  return *this;
}
ModelBuilder& ModelBuilder::contact(double friction) {
  impl_->scene["contact"] = {{"friction", friction}};
  return *this;
}
ModelBuilder& ModelBuilder::add(const std::string& list, const std::string& json) {
  Json& items = impl_->list(list.c_str());
  items.push_back(parse_json(json, fmt::format("/{}/{}", list, items.size())));
  return *this;
}
ModelBuilder& ModelBuilder::set(const std::string& pointer, const std::string& json) {
  Problems problems;
  apply_override(impl_->scene, pointer + "=" + json, problems);
  problems.throw_if_any();
  return *this;
}

std::string ModelBuilder::json() const { return impl_->scene.dump(2, ' ', false, Json::error_handler_t::replace); }

Scene ModelBuilder::build(const std::string& name, const LoadOptions& options) const {
  return compile_json(impl_->scene, name, ".", options);
}

}  // namespace osier
