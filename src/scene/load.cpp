// Text -> JSON (with comments) -> overrides -> SceneSpec -> compiled Scene.
#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

#include "osier/scene.hpp"
#include "scene/setup.hpp"

namespace osier {

namespace {

[[noreturn]] void fail(std::string where, std::string what, std::string remedy = {}) {
  throw InputError({{std::move(where), std::move(what), std::move(remedy)}});
}

/// nlohmann keeps the last of two equal keys in silence; a user who wrote both should hear of it.
Json parse_json(const std::string& text, const std::string& source) {
  std::vector<std::set<std::string>> keys;
  std::vector<std::string> doubled;
  const auto callback = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      doubled.push_back(value.get<std::string>());
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, callback, true, true);
  } catch (const Json::parse_error& e) {
    const std::size_t end = std::min<std::size_t>(e.byte > 0 ? e.byte - 1 : 0, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    const std::size_t start = end == 0 ? 0 : text.rfind('\n', end - 1) + 1;
    std::string why = e.what();
    if (const std::size_t at = why.find(": "); at != std::string::npos) why = why.substr(at + 2);
    fail(fmt::format("{}:{}:{}", source, line, end - start + 1), "not valid JSON: " + why,
         "JSON has no NaN or Infinity, wants double quotes and no comma after the last item; // comments are fine");
  } catch (const Json::exception& e) {
    fail(source, std::string("cannot be read: ") + e.what(), "use finite numbers of ordinary size");
  }
  Problems problems;
  for (const std::string& key : doubled) problems.add(source, fmt::format("the key `{}` appears twice in one object", key), "keep one");
  problems.throw_if_any();
  return json;
}

void apply_override(Json& json, const Override& o) {
  Json value = Json::parse(o.value, nullptr, false);
  if (value.is_discarded()) value = o.value;
  try {
    json[Json::json_pointer(o.pointer)] = value;
  } catch (const Json::exception&) {
    fail("--set " + o.pointer, "is not a place in this scene", "write a JSON pointer such as /analysis/step");
  }
}

/// Settings that may stand in /analysis or in /solver go to the solver, once.
void move_shortcuts(Json& json, Problems& problems) {
  if (!json.is_object() || !json.contains("analysis") || !json["analysis"].is_object()) return;
  Json& analysis = json["analysis"];
  if (!analysis.contains("type") || analysis["type"] != "dynamic") return;
  for (const char* key : {"iterations", "tolerance"}) {
    if (!analysis.contains(key)) continue;
    Json& solver = json["solver"];
    if (solver.is_null()) solver = {{"name", "stable_cosserat"}};
    if (!solver.is_object()) return;
    if (solver.contains(key) && solver[key] != analysis[key])
      problems.add(fmt::format("/analysis/{}", key), fmt::format("says {} but /solver/{} says {}", analysis[key].dump(), key, solver[key].dump()),
                   "keep one of them");
    solver[key] = analysis[key];
  }
}

}  // namespace

Override Override::parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.empty() || text[0] != '/')
    fail("--set " + text, "is not pointer=value", "write e.g. --set /analysis/step=0.001");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Scene Scene::load(const std::filesystem::path& file, const LoadOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) fail(file.string(), "is a folder", "name a scene file");
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(file.string(), "cannot be opened", std::filesystem::exists(file, error) ? "check its permissions" : "there is no such file; check the path");
  std::stringstream text;
  text << in.rdbuf();
  return parse(text.str(), file.stem().string(), file.has_parent_path() ? file.parent_path() : ".", options);
}

Scene Scene::parse(const std::string& text, const std::string& name, const std::filesystem::path& folder, const LoadOptions& options) {
  Json json = parse_json(text, name);
  Problems problems;
  if (!json.is_object()) fail("", "the scene is not an object", "start with {");
  for (const Override& o : options.overrides) apply_override(json, o);
  if (!options.solver.empty() && (!json.contains("solver") || !json["solver"].is_object() || json["solver"].value("name", "") != options.solver))
    json["solver"] = {{"name", options.solver}};
  if (!json.contains("analysis")) json["analysis"] = {{"type", "dynamic"}};
  if (!json.contains("solver")) {
    const bool is_static = json["analysis"].is_object() && json["analysis"].contains("type") && json["analysis"]["type"] == "static";
    json["solver"] = {{"name", is_static ? "newton" : "stable_cosserat"}};
  }
  for (const Override& o : options.solver_settings)
    if (json["solver"].is_object()) json["solver"][o.pointer] = Json::parse(o.value);
  move_shortcuts(json, problems);

  auto setup = std::make_shared<Setup>();
  JsonReader reader(json, "", problems);
  setup->spec.fields(reader);
  reader.finish();
  setup->name = setup->spec.name.empty() ? name : setup->spec.name;
  setup->json = json.dump(2, ' ', false, Json::error_handler_t::replace);
  if (dynamic_cast<StaticAnalysis*>(setup->spec.analysis.get()) && setup->spec.solver && !setup->spec.solver->can_solve_statics())
    problems.add("/solver/name", fmt::format("`{}` cannot solve statics", setup->spec.solver->name()), "use `newton`");
  compile_scene(*setup, folder.string(), problems);
  problems.throw_if_any();

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
