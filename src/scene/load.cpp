// File -> JSON -> overrides -> SceneSpec -> compiled Scene.
#include "scene/load.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

#include "core/json_reader.hpp"
#include "core/schema_builder.hpp"
#include "osier/scene.hpp"
#include "scene/needs.hpp"
#include "scene/parse_json.hpp"
#include "scene/setup.hpp"
#include "scene/solver_spelling.hpp"
#include "scene/unresisted.hpp"

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

/// /analysis/iterations and /analysis/tolerance belong to the solver.
void pass_to_solver(Json& json, const std::string& key, Problems& problems) {
  if (!json["solver"].is_object()) return;  // reported when the solver is read
  const Json& value = json["analysis"][key];
  const std::string solver = word_at(json, "solver", "name"), from = "/analysis/" + key;
  if (!solver_has(solver, key)) {
    problems.add(from, fmt::format("the solver `{}` has no `{}`", solver, key), "leave it out, or choose another solver");
    return;
  }
  Json& place = json["solver"][key];
  if (!place.is_null() && place != value)
    problems.add(from, fmt::format("says {} but /solver/{} says {}", shorten(value), key, shorten(place)), "keep one of them");
  place = value;
}

/// --threads, --simd, --precision and --device are keys of `execution`, and win.
void set_execution(Json& json, const LoadOptions& options, WrittenPlaces& places) {
  const auto set = [&](const char* key, const Json& value) {
    if (json.contains("execution") && !json["execution"].is_object()) return;  // reported when it is read
    json["execution"][key] = value;
    places.moved(std::string("/execution/") + key, std::string("--") + key);
  };
  if (!options.precision.empty()) set("precision", options.precision);
  if (options.threads) set("threads", *options.threads);
  if (!options.simd.empty()) set("simd", options.simd);
  if (!options.device.empty()) set("device", options.device);
}

/// --solver: its own defaults, and of `execution` what it can do.
void replace_solver(Json& json, const std::string& name, std::vector<std::string>& warnings) {
  if (solver_name_of(json) != name) json["solver"] = solver_called(name);
  const auto known = registry<SolverSettings>();
  const auto execution = json.find("execution");
  const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto& e) { return name == e.name; });
  if (!is_known || execution == json.end() || !execution->is_object()) return;
  const Traits traits = make_settings(name)->traits();
  const Json plain = {{"precision", "double"}, {"threads", 1}};
  const auto leave_out = [&](const char* key, bool can) {
    if (can || !execution->contains(key) || (*execution)[key] == plain[key]) return;
    execution->erase(key);
    warnings.push_back(fmt::format("the solver `{}` cannot do what /execution/{} asks for, which is left out", name, key));
  };
  leave_out("precision", traits.single_precision);
  leave_out("threads", traits.threads);
}

/// A solver that an override chooses has its own defaults: so many sweeps are not as many Gauss-Newton iterations.
void forget_replaced_solver(Json& json, const LoadOptions& options) {
  std::string before = solver_name_of(json);
  bool replaced = !options.solver.empty() && before != options.solver;
  for (const std::string& o : options.overrides)
    for (const char* key : {"method", "name"}) {
      const std::string start = std::string("/solver/") + key + "=";
      if (!o.starts_with(start)) continue;
      Json wanted = {{"solver", {{key, o.substr(start.size())}}}};
      if (wanted["solver"].contains("name") && wanted["solver"]["name"].get<std::string>() == before) continue;
      replaced = replaced || solver_name_of(wanted) != before;
    }
  if (!replaced) return;
  const bool is_static = word_at(json, "analysis", "type") == "static";
  if (json.contains("solver") && json["solver"].is_object())
    for (const char* key : {"iterations", "tolerance", "max_iterations", "order", "lambda"}) json["solver"].erase(key);
  if (!is_static && json.contains("analysis") && json["analysis"].is_object())
    for (const char* key : {"iterations", "tolerance"}) json["analysis"].erase(key);
}

/// Whether steps end after so many iterations, whatever is left.
bool ends_by_count(const Json& solver, const SolverSettings& settings) {
  if (!solver.is_object() || solver.contains("tolerance")) return false;
  return settings.role() == SolverRole::sweeps || solver.contains("iterations");
}

void settle_solver(Json& json, const LoadOptions& options, WrittenPlaces& places, Problems& problems,
                   std::vector<std::string>& warnings) {
  const bool is_static = word_at(json, "analysis", "type") == "static";
  translate_spellings(json, places, problems, warnings);
  set_execution(json, options, places);
  for (const char* key : {"iterations", "tolerance"})
    if (!is_static && json["analysis"].is_object() && json["analysis"].contains(key)) pass_to_solver(json, key, problems);
  if (is_static && json["solver"].is_object())
    for (const char* key : {"tolerance", "max_iterations"})
      if (json["solver"].contains(key))
        problems.add(std::string("/solver/") + key, "has no effect on statics", std::string("use /analysis/") + key);
}

/// The result is the same for any number: only speed is at stake.
void choose_threads(const Json& json, int most, Setup& setup) {
  const auto execution = json.find("execution");
  const bool given = execution != json.end() && execution->is_object() && execution->contains("threads");
  if (given || !setup.spec.solver || !setup.spec.solver->traits().threads) return;
  constexpr Index kSegmentsEach = 256;  // loops over fewer are not shared, see exec/parallel.hpp
  setup.spec.execution.threads = std::clamp(setup.model.segment_count() / kSegmentsEach, 1, std::max(most, 1));
}

/// Frames and steps must fit into an int long before they could ever run.
void check_times(const DynamicAnalysis* d, Problems& problems) {
  if (!d || problems.mentions("/analysis")) return;
  // As doubles: the numbers of the analysis itself would overflow.
  const double fps = d->fps.value_or(30), steps = d->frame_steps ? *d->frame_steps : std::ceil(1 / (fps * d->step));
  const double frames = d->duration * (d->frame_steps ? d->frames_per_second() : fps);
  if (!(steps < 2e9))
    problems.add("/analysis/step", fmt::format("gives {:.3g} steps per frame", steps), "use a longer step or more fps");
  else if (!(frames < 2e9))
    problems.add("/analysis/duration", fmt::format("gives {:.3g} frames", frames), "use a shorter duration or fewer fps");
}

/// The guard of contact follows straight motions from the start of a step to its end, which only implicit Euler has.
void check_contact(const SceneSpec& spec, Problems& problems) {
  if (!spec.contact) return;
  if (spec.statics())
    problems.add("/contact", "a static analysis does not support contact", "use dynamics with `drag` until everything rests");
  const DynamicAnalysis* d = spec.dynamic();
  if (d && d->integrator && *d->integrator != IntegratorKind::implicit_euler)
    problems.add("/analysis/integrator", "contact goes with implicit_euler alone", "leave it out");
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
  return compile_json(parse_json(text, source.empty() ? name : source), name, folder, options, source);
}

Scene compile_json(Json json, const std::string& name, const std::filesystem::path& folder, const LoadOptions& options,
                   const std::filesystem::path& source) {
  if (!json.is_object()) fail("", "the scene is not an object", "start with {");
  Problems problems;
  auto setup = std::make_shared<Setup>();
  WrittenPlaces places;
  forget_replaced_solver(json, options);
  if (!options.solver.empty()) replace_solver(json, options.solver, setup->warnings);  // settings given by --set stay
  for (const std::string& o : options.overrides) apply_override(json, o, problems);
  if (!json.contains("analysis")) json["analysis"] = {{"type", "dynamic"}};
  settle_solver(json, options, places, problems, setup->warnings);

  SceneSpec& spec = setup->spec;
  JsonReader reader(json, "", problems);
  spec.fields(reader);
  reader.finish();
  setup->name = spec.name.empty() ? name : spec.name;
  setup->source = source, setup->folder = folder, setup->options = options;
  check_name(setup->name, problems);
  check_times(spec.dynamic(), problems);
  spec.execution.check(problems);
  check_contact(spec, problems);
  compile_scene(*setup, problems);
  bool driven = false;
  for (const auto& c : spec.constraints) {
    const auto* motor = dynamic_cast<const Motor*>(c.get());
    driven = driven || (motor && motor->torque_speed.given());
  }
  choose_threads(json, options.default_threads, *setup);
  if (spec.solver) {
    spec.solver->execution = spec.execution;
    setup->ends_by_count = spec.dynamic() && ends_by_count(json["solver"], *spec.solver);
    refuse(*spec.solver, needs_of(*setup), problems);
    spec.solver->check(setup->model, driven, problems);
  }
  problems.tell_at([&](const std::string& where) { return places.of(where); });
  problems.throw_if_any();
  warn_of_unresisted_couples(*setup);
  if (spec.dynamic()) spec.solver->warn(setup->model, spec.dynamic()->time_step(), driven, setup->warnings);
  setup->json = json.dump(2, ' ', false, Json::error_handler_t::replace);

  return Scene(std::move(setup));
}

const std::string& Scene::name() const { return setup_->name; }
const std::string& Scene::json() const { return setup_->json; }
const std::vector<std::string>& Scene::warnings() const { return setup_->warnings; }
const Model& Scene::model() const { return setup_->model; }

template <class List>
static std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item->name);
  return names;
}
static std::optional<std::size_t> place_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  return static_cast<std::size_t>(found - names.begin());
}
std::vector<std::string> Scene::constraint_names() const { return names_of(setup_->spec.constraints); }
std::vector<std::string> Scene::obstacle_names() const { return names_of(setup_->spec.obstacles); }
std::optional<std::size_t> Scene::constraint(const std::string& name) const { return place_of(constraint_names(), name); }
std::optional<std::size_t> Scene::obstacle(const std::string& name) const { return place_of(obstacle_names(), name); }

bool begin_alike(const Scene& a, const Scene& b) {
  const auto same = [](const Vec3d& p, const Vec3d& q) { return p.x == q.x && p.y == q.y && p.z == q.z; };
  const auto &x = a.initial_state().vertex_position, &y = b.initial_state().vertex_position;
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), same) &&
         a.model().segment_rest_length == b.model().segment_rest_length;
}
const State& Scene::initial_state() const { return setup_->initial; }

}  // namespace osier
