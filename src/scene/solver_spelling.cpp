#include "scene/solver_spelling.hpp"

#include <array>
#include <fmt/format.h>

#include "solvers/solver.hpp"

namespace osier {

namespace {

/// The one solver whose old spelling had methods, and the names that these have become.
constexpr const char* kOfMethods = "stable_cosserat";
constexpr std::array<std::pair<const char*, const char*>, 3> kMethods{
    {{"sweep", kOfMethods}, {"direct", "direct"}, {"auto", "automatic"}}};

bool is_static(const Json& scene) {
  const auto analysis = scene.find("analysis");
  return analysis != scene.end() && analysis->is_object() && analysis->value("type", Json()) == "static";
}

bool has_any(const Json& object, std::initializer_list<const char*> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return object.contains(key); });
}

void move_execution(Json& scene, WrittenPlaces& places, Problems& problems) {
  Json& solver = scene["solver"];
  if (scene.contains("execution") && !scene["execution"].is_object()) return;  // reported when it is read
  for (const char* key : {"threads", "simd", "precision"}) {
    const auto value = solver.find(key);
    if (value == solver.end()) continue;
    const std::string now = std::string("/execution/") + key, written = std::string("/solver/") + key;
    Json& execution = scene["execution"];
    if (execution.contains(key) && execution[key] != *value)
      problems.add(written, fmt::format("says {} but {} says {}", shorten(*value), now, shorten(execution[key])),
                   "keep one of them");
    if (!execution.contains(key)) places.moved(now, written);
    execution[key] = *value;
    solver.erase(value);
  }
}

std::string name_of_method(Json& solver, Problems& problems) {
  const Json method = solver["method"];
  solver.erase("method");
  const bool names_sweeps = has_any(solver, {"order", "lambda"});
  if (method == "auto" && names_sweeps) return kOfMethods;
  for (const auto& [word, name] : kMethods)
    if (method == word) return name;
  std::vector<std::string> words;
  for (const auto& [word, name] : kMethods) words.emplace_back(word);
  const std::string guess = method.is_string() ? closest(method.get<std::string>(), words) : "";
  problems.add("/solver/method", shorten(method) + " is not a choice",
               guess.empty() ? "use one of " + join(words, ", ") : "did you mean `" + guess + "`?");
  return RegistryTraits<SolverSettings>::fallback;
}

void name_solver(Json& scene, WrittenPlaces& places, Problems& problems, std::vector<std::string>& warnings) {
  Json& solver = scene["solver"];
  const bool named = solver.contains("name");
  const Json name = named ? solver["name"] : Json();
  const bool had_methods = std::any_of(kMethods.begin(), kMethods.end(), [&](const auto& m) { return name == m.second; });
  if (solver.contains("method") && (!named || had_methods)) {
    places.moved("/solver/name", "/solver/method");
    solver["name"] = name_of_method(solver, problems);
  } else if (!named) {
    places.moved("/solver/name", "/solver");
    solver["name"] = has_any(solver, {"order", "lambda"}) ? kOfMethods : RegistryTraits<SolverSettings>::fallback;
  } else if (name == kOfMethods && !has_any(solver, {"order", "lambda"})) {
    // It used to choose by itself, and files that say no more than its name keep their results.
    const Json analysis = scene.value("analysis", Json::object());
    const bool says_more = has_any(solver, {"iterations", "tolerance", "max_iterations"}) ||
                           (analysis.is_object() && has_any(analysis, {"iterations", "tolerance"}));
    if (says_more && !is_static(scene)) return;
    solver["name"] = RegistryTraits<SolverSettings>::fallback;
    warnings.push_back(
        fmt::format("the solver `stable_cosserat` {}, so that `automatic` runs; write that name{}",
                    is_static(scene) ? "cannot solve statics" : "used to choose the method where nothing else is said",
                    is_static(scene) ? "" : ", or `iterations` for so many sweeps per step"));
  }
}

}  // namespace

std::string WrittenPlaces::of(const std::string& pointer) const {
  for (const auto& [now, written] : written_)
    if (pointer == now || pointer.starts_with(now + "/")) return written + pointer.substr(now.size());
  return pointer;
}

void translate_spellings(Json& scene, WrittenPlaces& places, Problems& problems, std::vector<std::string>& warnings) {
  if (!scene.contains("solver")) scene["solver"] = Json::object();
  if (!scene["solver"].is_object()) return;  // reported when it is read
  move_execution(scene, places, problems);
  name_solver(scene, places, problems, warnings);
}

Json solver_called(const std::string& name) {
  Json solver = {{"name", name}};
  if (name == kOfMethods) solver["method"] = kMethods.front().first;  // its name alone stands for `automatic`
  return solver;
}

std::string solver_name_of(const Json& scene) {
  Json copy = Json::object();
  for (const char* key : {"solver", "analysis"})
    if (scene.contains(key)) copy[key] = scene[key];
  WrittenPlaces places;
  Problems problems;
  std::vector<std::string> warnings;
  translate_spellings(copy, places, problems, warnings);
  return copy["solver"].is_object() && copy["solver"]["name"].is_string() ? copy["solver"]["name"].get<std::string>() : "";
}

}  // namespace osier
