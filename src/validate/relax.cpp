#include "validate/relax.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/json_reader.hpp"
#include "scene/solver_spelling.hpp"
#include "solvers/solver.hpp"

namespace osier::validate {

bool is_static(const Json& scene) {
  const auto analysis = scene.find("analysis");
  return analysis != scene.end() && analysis->is_object() && analysis->value("type", "") == "static";
}

bool stops_at_instability(const Json& scene) { return is_static(scene) && scene["analysis"].value("stop_at_instability", false); }

/// The tolerance that a static case gives; 0 when it gives none.
static double own_tolerance(const Json& scene) {
  if (!is_static(scene)) return 0;
  const auto given = scene["analysis"].find("tolerance");
  return given != scene["analysis"].end() && given->is_number() ? std::max(0.0, given->get<double>()) : 0;
}

/// How long drag takes to bring a motion down to this fraction: it decays by exp(-rate t/2).
static double settling_time(double fraction, double rate) { return 2 * std::log(1 / fraction) / rate; }

/// Where keyframes end, in cases whose pseudo-time is their own; 0 elsewhere.
static double own_pseudo_time(const Json& scene) { return is_static(scene) ? scene["analysis"].value("duration", 0.0) : 0; }

Schedule schedule_of(const Json& scene, const std::string& solver) {
  Schedule s;
  const double tolerance = own_tolerance(scene);
  if (solver != solver_with(SolverRole::sweeps)) {
    s.step = 0.02;
    s.rest_tolerance = tolerance > 0 ? tolerance : StaticOptions{}.tolerance;
    s.duration = settling_time(s.rest_tolerance, s.drag_rate);
  } else if (tolerance > 0) {
    s.rest_tolerance = std::min(s.rest_tolerance, tolerance);
    s.duration = std::max(s.duration, settling_time(tolerance, s.drag_rate));
  }
  s.duration += own_pseudo_time(scene);
  return s;
}

Json as_dynamics(Json scene, const Schedule& schedule) {
  if (!is_static(scene)) return scene;
  scene["analysis"] = {{"type", "dynamic"}, {"step", schedule.step}, {"duration", schedule.duration}};
  scene.erase("solver");
  Json& forces = scene["forces"];
  if (!forces.is_array()) forces = Json::array();
  forces.push_back({{"type", "drag"}, {"rate", schedule.drag_rate}});
  return scene;
}

Json with_four_sweeps(Json scene) {
  const std::string sweeps = solver_with(SolverRole::sweeps);
  const Schedule schedule = schedule_of(scene, sweeps);
  scene = as_dynamics(std::move(scene), schedule);
  // Other settings of the sweeps, such as how lambda is found, belong to the case and stay.
  Json solver = solver_name_of(scene) == sweeps ? scene["solver"] : Json::object();
  for (const char* key : {"method", "tolerance", "max_iterations"}) solver.erase(key);
  solver["name"] = sweeps;
  solver["iterations"] = 4;
  scene["solver"] = solver;
  Json& execution = scene["execution"];
  if (!solver.contains("precision") && !execution.contains("precision"))
    execution["precision"] = Choices<Precision>::names[static_cast<std::size_t>(Precision::single_precision)];
  for (const char* key : {"tolerance", "iterations"}) scene["analysis"].erase(key);
  return scene;
}

static bool can_solve_statics(const std::string& solver) {
  for (const auto& entry : registry<SolverSettings>())
    if (solver == entry.name) return make_settings(solver)->traits().statics;
  return false;
}

/// Whether a solver has a setting of this name. Those that iterate nothing have no tolerance.
static bool has_setting(const std::string& solver, const char* key, const Json& value) {
  const Json json{{"name", solver}, {key, value}};
  Problems problems;
  JsonReader reader(json, "/solver", problems);
  reader.know("name");
  for (const auto& entry : registry<SolverSettings>())
    if (solver == entry.name) entry.read(reader);
  reader.finish();
  return !problems.mentions(std::string("/solver/") + key);
}

Json with_solver(Json scene, const std::string& solver) {
  if (!can_solve_statics(solver)) {
    const Schedule schedule = schedule_of(scene, solver);
    scene = as_dynamics(std::move(scene), schedule);
  }
  const Json own = scene.value("solver", Json::object());
  scene["solver"] = solver_called(solver);
  for (const char* key : {"tolerance", "max_iterations"})
    if (own.contains(key) && !own[key].is_null() && has_setting(solver, key, own[key])) scene["solver"][key] = own[key];
  scene.erase("execution");
  if (!is_static(scene))
    for (const char* key : {"tolerance", "iterations"}) scene["analysis"].erase(key);
  return scene;
}

bool RestWatch::at_rest(const State& state) {
  constexpr double kInterval = 0.5;
  if (state.time < next_) return false;
  next_ = state.time + kInterval;
  bool rest = !position_.empty();
  double size = 0;
  for (const Vec3d& x : state.vertex_position) size = std::max(size, norm(x - state.vertex_position.front()));
  for (std::size_t v = 0; v < position_.size() && rest; ++v)
    rest = norm(state.vertex_position[v] - position_[v]) <= tolerance_ * size;
  for (std::size_t s = 0; s < frame_.size() && rest; ++s)
    rest = 2 * norm(imag(state.frame_rotation[s] * conj(frame_[s]))) <= tolerance_;
  position_ = state.vertex_position;
  frame_ = state.frame_rotation;
  return rest;
}

static std::string schedule_text(const std::string& solver) {
  const Schedule s = schedule_of(Json::object(), solver);
  const bool small_steps = solver == solver_with(SolverRole::sweeps);
  const std::string duration = small_steps
                                   ? fmt::format(
                                         "{:g} s of simulated time (2 ln(1/t) s where the case has a tolerance t and that "
                                         "is longer)",
                                         s.duration)
                                   : fmt::format(
                                         "2 ln(1/t) s of simulated time (t: the tolerance of statics, {:g} where the case "
                                         "gives none)",
                                         s.rest_tolerance);
  return fmt::format(
      "full load from the start, or by the case's own pseudo-time, step {:g} s, drag {:g}/s, until nothing moves or for {} more; "
      "what has not settled by then counts as error",
      s.step, s.drag_rate, duration);
}

std::string solver_protocol(const std::string& solver) {
  const std::string settings = fmt::format(
      "Every case is run by `{}` with its default settings, and with the tolerance of a step where both the case and the solver "
      "have one.",
      solver);
  if (can_solve_statics(solver)) return settings;
  return fmt::format("{} It has no statics, so static cases are run as dynamics: {}.", settings, schedule_text(solver));
}

std::string four_sweeps_protocol() {
  const std::string sweeps = solver_with(SolverRole::sweeps);
  return fmt::format(
      "The column \"4 sweeps\" is the error of the same quantity when `{}` runs the same problem as in its paper, with four "
      "sweeps per step in single precision. Statics become dynamics for that, up to resolution {}: {}.",
      sweeps, kRelaxedResolution, schedule_text(sweeps));
}

}  // namespace osier::validate
