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

Schedule schedule_of(const Json& scene) {
  Schedule s;
  if (!is_static(scene) || !scene["analysis"].contains("tolerance")) return s;
  const double tolerance = scene["analysis"].value("tolerance", s.rest_tolerance);
  if (!(tolerance > 0)) return s;
  s.duration = std::max(s.duration, 2 * std::log(1 / tolerance) / s.drag_rate);  // motion decays by exp(-rate t/2)
  s.rest_tolerance = std::min(s.rest_tolerance, tolerance);
  return s;
}

Json as_dynamics(Json scene) {
  if (!is_static(scene)) return scene;
  const Schedule schedule = schedule_of(scene);
  scene["analysis"] = {{"type", "dynamic"}, {"step", schedule.step}, {"duration", schedule.duration}};
  scene.erase("solver");
  Json& forces = scene["forces"];
  if (!forces.is_array()) forces = Json::array();
  forces.push_back({{"type", "drag"}, {"rate", schedule.drag_rate}});
  return scene;
}

Json with_four_sweeps(Json scene) {
  scene = as_dynamics(std::move(scene));
  const std::string sweeps = solver_with(SolverRole::sweeps);
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

Json with_solver(Json scene, const std::string& solver) {
  if (!can_solve_statics(solver)) scene = as_dynamics(std::move(scene));
  const Json own = scene.value("solver", Json::object());
  scene["solver"] = solver_called(solver);
  for (const char* key : {"tolerance", "max_iterations"})
    if (own.contains(key) && !own[key].is_null()) scene["solver"][key] = own[key];
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

static std::string schedule_text() {
  const Schedule s;
  return fmt::format(
      "full load from the start, step {:g} s, drag {:g}/s, until nothing moves or for {:g} s of simulated time (2 ln(1/t) s "
      "where the "
      "case has a tolerance t and that is longer); what has not settled by then counts as error",
      s.step, s.drag_rate, s.duration);
}

std::string solver_protocol(const std::string& solver) {
  const std::string settings = fmt::format(
      "Every case is run by `{}` with its default settings, and with the tolerance of a step where the case has one.", solver);
  if (can_solve_statics(solver)) return settings;
  return fmt::format("{} It has no statics, so static cases are run as dynamics: {}.", settings, schedule_text());
}

std::string four_sweeps_protocol() {
  return fmt::format(
      "The column \"4 sweeps\" is the error of the same quantity when `{}` runs the same problem as in its paper, with four "
      "sweeps per step in single precision. Statics become dynamics for that, up to resolution {}: {}.",
      solver_with(SolverRole::sweeps), kRelaxedResolution, schedule_text());
}

}  // namespace osier::validate
