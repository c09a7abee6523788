// File -> JSON -> overrides -> SceneSpec -> compiled Scene.
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "core/json_reader.hpp"
#include "core/schema_builder.hpp"
#include "osier/scene.hpp"
#include "scene/parse_json.hpp"
#include "scene/setup.hpp"

namespace osier {

namespace {

[[noreturn]] void fail(std::string where, std::string what, std::string remedy = {}) {
  throw InputError({{std::move(where), std::move(what), std::move(remedy)}});
}

std::string word_at(const Json& json, const char* object, const char* key) {
  const auto o = json.find(object);
  if (o == json.end() || !o->is_object()) return {};
  const auto k = o->find(key);
  return k != o->end() && k->is_string() ? k->get<std::string>() : std::string{};
}

/// Whether a solver has a setting of this name, by its own description.
bool solver_has(const std::string& solver, const std::string& key) {
  for (const auto& entry : registry<SolverSettings>()) {
    if (solver != entry.name) continue;
    SchemaBuilder builder;
    entry.describe(builder);
    for (const FieldDoc& f : builder.objects.front().fields)
      if (f.name == key) return true;
    return false;
  }
  return true;  // an unknown solver is reported by its name, not by its settings
}

/// A setting that reaches the solver by another way: /analysis/iterations, --precision, --threads, --simd.
void pass_to_solver(Json& json, const std::string& key, const Json& value, const std::string& from, Problems& problems) {
  if (!json["solver"].is_object()) return;  // reported when the solver is read
  const std::string solver = word_at(json, "solver", "name");
  if (!solver_has(solver, key)) {
    problems.add(from, fmt::format("the solver `{}` has no `{}`", solver, key), "leave it out, or choose another solver");
    return;
  }
  Json& place = json["solver"][key];
  if (from[0] == '/' && !place.is_null() && place != value)
    problems.add(from, fmt::format("says {} but /solver/{} says {}", shorten(value), key, shorten(place)), "keep one of them");
  place = value;
}

/// A solver without a name is the usual one. Written down, since recorded scenes are read by others.
void name_solver(Json& json) {
  if (!json.contains("solver")) json["solver"] = Json::object();
  Json& solver = json["solver"];
  if (solver.is_object() && !solver.contains("name")) solver["name"] = RegistryTraits<SolverSettings>::fallback;
}

void settle_solver(Json& json, const LoadOptions& options, Problems& problems) {
  const bool is_static = word_at(json, "analysis", "type") == "static";
  name_solver(json);
  if (!options.precision.empty()) pass_to_solver(json, "precision", options.precision, "--precision", problems);
  if (options.threads) pass_to_solver(json, "threads", *options.threads, "--threads", problems);
  if (!options.simd.empty()) pass_to_solver(json, "simd", options.simd, "--simd", problems);
  for (const char* key : {"iterations", "tolerance"})
    if (!is_static && json["analysis"].is_object() && json["analysis"].contains(key))
      pass_to_solver(json, key, json["analysis"][key], std::string("/analysis/") + key, problems);
  if (is_static && json["solver"].is_object())
    for (const char* key : {"tolerance", "max_iterations"})
      if (json["solver"].contains(key))
        problems.add(std::string("/solver/") + key, "has no effect on statics", std::string("use /analysis/") + key);
}

/// Frames and steps must fit into an int long before they could ever run.
void check_times(const Analysis* analysis, Problems& problems) {
  const auto* d = dynamic_cast<const DynamicAnalysis*>(analysis);
  if (!d || problems.mentions("/analysis")) return;
  const double steps = std::ceil(1 / (d->fps * d->step)), frames = d->duration / (std::max(steps, 1.0) * d->step);
  if (!(steps < 2e9))
    problems.add("/analysis/step", fmt::format("gives {:.3g} steps per frame", steps), "use a longer step or more fps");
  else if (!(frames < 2e9))
    problems.add("/analysis/duration", fmt::format("gives {:.3g} frames", frames), "use a shorter duration or fewer fps");
}

/// A scene's name becomes a folder.
void check_name(const std::string& name, Problems& problems) {
  if (name == "." || name == ".." || name.find('/') != std::string::npos || has_control_characters(name))
    problems.add("/name", fmt::format("\"{}\" cannot name a folder", shorten(name)), "leave out slashes and control characters");
}

}  // namespace

Scene Scene::load(const std::filesystem::path& file, const LoadOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) fail(file.string(), "is a folder", "name a scene file");
  std::ifstream in(file, std::ios::binary);
  if (!in)
    fail(file.string(), "cannot be opened",
         std::filesystem::exists(file, error) ? "check its permissions" : "there is no such file; check the path");
  std::stringstream text;
  text << in.rdbuf();
  return parse(text.str(), file.stem().string(), file.has_parent_path() ? file.parent_path() : ".", options, file.string());
}

Scene Scene::parse(const std::string& text, const std::string& name, const std::filesystem::path& folder,
                   const LoadOptions& options, const std::string& source) {
  Json json = parse_json(text, source.empty() ? name : source);
  if (!json.is_object()) fail("", "the scene is not an object", "start with {");
  Problems problems;
  name_solver(json);  // before --solver: settings of the solver that it names stay
  if (!options.solver.empty() && word_at(json, "solver", "name") != options.solver) json["solver"] = {{"name", options.solver}};
  for (const std::string& o : options.overrides) apply_override(json, o, problems);
  if (!json.contains("analysis")) json["analysis"] = {{"type", "dynamic"}};
  settle_solver(json, options, problems);

  auto setup = std::make_shared<Setup>();
  JsonReader reader(json, "", problems);
  setup->spec.fields(reader);
  reader.finish();
  setup->name = setup->spec.name.empty() ? name : setup->spec.name;
  check_name(setup->name, problems);
  check_times(setup->spec.analysis.get(), problems);
  const SolverSettings* solver = setup->spec.solver.get();
  if (dynamic_cast<StaticAnalysis*>(setup->spec.analysis.get()) && solver && !solver->can_solve_statics()) {
    const Problem reason = solver->no_statics();
    problems.add(reason.where, reason.what, reason.remedy);
  }
  compile_scene(*setup, folder.string(), problems);
  bool driven = false;
  for (const auto& c : setup->spec.constraints) {
    const auto* motor = dynamic_cast<const Motor*>(c.get());
    driven = driven || (motor && motor->torque_speed.given());
  }
  if (setup->spec.solver) setup->spec.solver->check(setup->model, driven, problems);
  problems.throw_if_any();
  if (const auto* dynamic = dynamic_cast<const DynamicAnalysis*>(setup->spec.analysis.get()))
    setup->spec.solver->warn(setup->model, dynamic->step, driven, setup->warnings);
  setup->json = json.dump(2, ' ', false, Json::error_handler_t::replace);

  Scene scene;
  scene.setup_ = std::move(setup);
  return scene;
}

const std::string& Scene::name() const { return setup_->name; }
const std::string& Scene::json() const { return setup_->json; }
const std::vector<std::string>& Scene::warnings() const { return setup_->warnings; }
const Model& Scene::model() const { return setup_->model; }
const State& Scene::initial_state() const { return setup_->initial; }

}  // namespace osier
