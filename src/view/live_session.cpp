#include "view/live_session.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <new>

#include "core/fields.hpp"
#include "math/vec3.hpp"
#include "scene/setup.hpp"
#include "scene/solver_spelling.hpp"
#include "sim/measure.hpp"
#include "sim/probes.hpp"
#include "sim/recorder.hpp"
#include "view/packet.hpp"

namespace osier::view {

namespace {

/// Where settings of the solver are given a second time, the solver's own stay.
Json without_short_spellings(Json scene) {
  if (scene["analysis"].is_object() && scene["analysis"].value("type", "dynamic") == "dynamic")
    for (const char* key : {"iterations", "tolerance"}) scene["analysis"].erase(key);
  // Nothing is recorded. Moments are measured when somebody looks at them: all that sections hold costs more than a frame.
  scene["output"] = Json::object();
  return scene;
}

}  // namespace

LiveSession::LiveSession(const Scene& scene, std::filesystem::path folder, bool playing, int threads)
    : folder_(std::move(folder)),
      threads_(threads),
      json_(Json::parse(scene.json())),
      output_(json_.value("output", Json::object())),
      scene_(Scene::parse((json_ = without_short_spellings(json_)).dump(), scene.name(), folder_, load_options())),
      simulation_(std::make_unique<Simulation>(scene_)),
      parameters_(parameters_of(json_)),
      playing_(playing) {
  take_model(model_message(*simulation_, scene_));
}

Message LiveSession::hello() {
  OrderedJson forces = OrderedJson::array(), solvers = OrderedJson::array();
  for (std::size_t i = 0; json_.contains("forces") && i < json_["forces"].size(); ++i)
    forces.push_back({{"pointer", fmt::format("/forces/{}", i)},
                      {"type", json_["forces"][i].value("type", "")},
                      {"on", !forces_off_.contains(i)}});
  for (const auto& entry : registry<SolverSettings>()) solvers.push_back(entry.name);
  const auto* dynamic = scene_.setup().spec.dynamic();
  return text_message({{"type", "hello"},
                       {"protocol", 1},
                       {"mode", "live"},
                       {"version", version()},
                       {"scene", scene_.name()},
                       {"time_step", simulation_->time_step()},
                       {"steps_per_frame", simulation_->steps_per_frame()},
                       {"fps", dynamic ? OrderedJson(dynamic->frames_per_second()) : OrderedJson(nullptr)},
                       {"is_static", simulation_->is_static()},
                       {"parameters", to_json(parameters_)},
                       {"forces", forces},
                       {"solvers", solvers},
                       {"solver", json_["solver"].value("name", "")},
                       {"probe_columns", probe_columns(scene_.setup())},
                       {"warnings", scene_.warnings()}});
}

std::vector<Message> LiveSession::models() { return {model_packet_}; }

Message LiveSession::model_message(const Simulation& simulation, const Scene& scene) {
  ModelText text = model_text(run_info(scene.setup()), true);
  text.contacts = scene.setup().spec.contact.has_value();
  return binary_message(model_packet(simulation.model(), text));
}

/// Sliders move often, and what a model packet holds seldom changes with them.
void LiveSession::take_model(Message packet) {
  if (model_packet_.data && *model_packet_.data == *packet.data) return;
  model_packet_ = std::move(packet);
  joints_ = joints_between_segments(simulation_->model());
  ++model_version_;
}

OrderedJson LiveSession::status() const {
  const Diagnostics d = simulation_->diagnostics();
  std::vector<double> measured;
  probe_values(scene_.setup(), *simulation_, measured);
  OrderedJson probes = OrderedJson::array();  // NaN, as a reaction is before the first step, becomes null
  for (const double v : measured) probes.push_back(std::isfinite(v) ? OrderedJson(v) : OrderedJson(nullptr));
  const auto text = [](const std::string& t) { return t.empty() ? OrderedJson(nullptr) : OrderedJson(t); };
  return {{"type", "status"},
          {"time", d.time},
          {"frame", frame_},
          {"playing", playing_},
          {"speed", speed_},
          {"ms_per_frame", ms_per_frame_},
          {"kinetic", d.kinetic},
          {"stretch_shear", d.stretch_shear},
          {"bend_twist", d.bend_twist},
          {"external", d.external},
          {"total", d.total()},
          {"residual_relative", d.residual_relative >= 0 ? OrderedJson(d.residual_relative) : OrderedJson(nullptr)},
          {"iterations", d.iterations},
          {"vertices_alive", d.vertices_alive},
          {"probes", probes},
          {"error", text(error_)},
          {"note", text(note_)}};
}

std::span<const Vec3d> LiveSession::measure_moments() {
  moments_.assign(static_cast<std::size_t>(simulation_->model().joint_count()), Vec3d{});
  for (const Index j : joints_)
    moments_[static_cast<std::size_t>(j)] = joint_moment_material(simulation_->model(), simulation_->state(), j);
  return moments_;
}

std::vector<Message> LiveSession::frames_for(Client& client) {
  const FrameParts &wanted = client.parts, &seen = client.parts_seen;
  const bool more =
      (wanted.frame && !seen.frame) || (wanted.joint_moment && !seen.joint_moment) || (wanted.contacts && !seen.contacts);
  if (client.frame_seen[0] == serial_ && !more) return {};
  client.frame_seen[0] = serial_, client.parts_seen = client.parts;
  client.ready = 0;
  if (!seen_) seen_ = true, due_ = Clock::now();
  if (packed_ != serial_ || packed_parts_ != client.parts) {
    packed_ = serial_, packed_parts_ = client.parts;
    simulation_->show_contacts(client.parts.contacts);
    Frame frame = simulation_->frame(frame_);
    if (client.parts.joint_moment) frame.joint_moment = measure_moments();
    packed_frame_ = binary_message(frame_packet(frame, 0, joints_, client.parts));
    packed_status_ = text_message(status());
  }
  return {packed_frame_, packed_status_};
}

std::optional<Session::Clock::time_point> LiveSession::advance() {
  if (!playing_ || !seen_) return {};
  const Clock::time_point now = Clock::now();
  if (speed_ > 0 && due_ > now) return due_;
  next_frame();
  if (!playing_) return {};
  if (speed_ == 0) return now;
  const double frame = simulation_->is_static() ? 1.0 / 30 : simulation_->time_step() * simulation_->steps_per_frame();
  due_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(frame / speed_, 3600.0)));
  // What cannot keep up runs as fast as it can; a pause is not made up for.
  constexpr auto kBehind = std::chrono::milliseconds(100);
  due_ = std::max(due_, Clock::now() - kBehind);
  return due_;
}

void LiveSession::next_frame() {
  const bool done = simulation_->finished() || (simulation_->is_static() && frame_ >= simulation_->frame_count());
  if (done) {
    note_ = "the analysis is complete; reset to see it again";
    playing_ = false, ++serial_;
    return;
  }
  double seconds = 0;
  try {
    const int steps = simulation_->steps_per_frame();
    for (int i = 0; i < steps; ++i) {
      if (stopping()) return;
      seconds += simulation_->step(i + 1 == steps).seconds;
    }
    error_.clear();
    ++frame_;
  } catch (const RunError& e) {
    error_ = e.what();
    playing_ = false;
  } catch (const std::bad_alloc&) {
    error_ = "not enough memory for this step";
    playing_ = false;
  }
  ms_per_frame_ = 1e3 * seconds;
  ++serial_;
}

void LiveSession::play(bool on) {
  playing_ = on;
  due_ = Clock::now();
  note_.clear();
  ++serial_;
}

void LiveSession::restart() {
  simulation_ = std::make_unique<Simulation>(scene_);
  begin_again();
}

/// What goes with a simulation that is at its start.
void LiveSession::begin_again() {
  for (const std::size_t i : forces_off_) simulation_->enable_force(i, false);
  frame_ = 0, ms_per_frame_ = 0;
  error_.clear(), note_.clear();
  ++serial_;
}

void LiveSession::handle(Client& client, const std::string& type, const Json& command) {
  static const std::vector<std::string> kKnown{"play",    "pause", "step",  "reset",  "speed", "drag",
                                               "release", "set",   "force", "solver", "want",  "scene"};
  if (type == "play" || type == "pause") {
    play(type == "play");
  } else if (type == "step") {
    play(false);
    next_frame();
    if (!error_.empty()) throw RunError(error_);
  } else if (type == "reset") {
    restart();
  } else if (type == "speed") {
    const double value = number_of(command, "value");
    if (value < 0) refuse("value", fmt::format("{} is negative", value), "use 0 for as fast as possible, 1 for real time");
    speed_ = value, due_ = Clock::now(), ++serial_;
  } else if (type == "drag") {
    Vec3d target;
    Problems problems;
    JsonReader reader(command, "", problems);
    reader("to", target, "", {.required = true});
    problems.throw_if_any();
    simulation_->pull(whole_number_of(command, "vertex"), target);
  } else if (type == "release") {
    simulation_->stop_pulling();
  } else if (type == "set") {
    set(command);
  } else if (type == "force") {
    choose_force(command);
  } else if (type == "solver") {
    choose_solver(command);
  } else if (type == "scene") {
    client.reply = {{"name", scene_.name()}, {"scene", scene_text(changed_scene())}};
  } else if (type == "seek") {
    refuse("seek", "a running simulation has no frames to go to", "use step or reset");
  } else {
    const std::string guess = closest(type, kKnown);
    refuse("type", shorten(type) + " is unknown",
           guess.empty() ? "use one of " + join(kKnown, ", ") : "did you mean `" + guess + "`?");
  }
}

LoadOptions LiveSession::load_options() const {
  LoadOptions options;
  options.default_threads = threads_;
  return options;
}

/// The scene of now, changed: goes on from the present state where the graph is the same.
/// `known` are parameters whose ranges have been announced before.
void LiveSession::rebuild(const Json& json, std::vector<Parameter> known, const LoadOptions& options) {
  const Scene scene = Scene::parse(json.dump(), scene_.name(), folder_, options);
  auto next = std::make_unique<Simulation>(scene);
  const bool same_shape = begin_alike(scene, scene_), continues = same_shape && next->continue_from(*simulation_);
  Json changed = without_short_spellings(Json::parse(scene.json()));
  std::vector<Parameter> parameters = std::move(known);
  update_parameters(parameters, changed);
  Message model = model_message(*next, scene);
  // Everything that takes memory has been made: either all of it becomes the session's, or nothing.
  json_ = std::move(changed), scene_ = scene, parameters_ = std::move(parameters);
  simulation_ = std::move(next);
  if (continues) {
    note_.clear();
  } else {
    begin_again();
    note_ = same_shape ? "the change makes another graph of rods: the simulation has been started again"
                       : "the change makes rods of another shape: the simulation has been started again";
  }
  error_.clear();
  take_model(std::move(model));
  ++hello_version_, ++serial_;
}

void LiveSession::set(const Json& command) {
  const std::string pointer = word_of(command, "pointer");
  const auto p = std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& q) { return q.pointer == pointer; });
  if (p == parameters_.end()) refuse(shorten(pointer), "is not a parameter of this view", "use one that `hello` lists");
  // Beyond the range a step may take hours, in which nobody is answered. A slider's end may miss the range by rounding.
  const double value = number_of(command, "value"), slack = 1e-9 * (p->max - p->min);
  const bool above_least = value >= p->min - slack, below_most = value <= p->max + slack;
  if (!above_least || !below_most)
    refuse(shorten(pointer), fmt::format("{:.6g} is outside the range of this view", value),
           above_least ? fmt::format("use a value of at most {:.6g}, or change the scene itself", p->max)
                       : fmt::format("use a value of at least {:.6g}, or change the scene itself", p->min));
  Json json = json_;
  set_parameter(json, *p, std::clamp(value, p->min, p->max));
  rebuild(json, parameters_, load_options());
}

void LiveSession::choose_force(const Json& command) {
  const std::string pointer = word_of(command, "pointer");
  const bool on = flag_of(command, "on");
  const std::size_t count = json_.contains("forces") ? json_["forces"].size() : 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (pointer != fmt::format("/forces/{}", i)) continue;
    if (on) forces_off_.erase(i);
    else forces_off_.insert(i);
    simulation_->enable_force(i, on);
    ++hello_version_, ++serial_;
    return;
  }
  refuse(shorten(pointer), "is not a force of this scene", "use one that `hello` lists");
}

/// What the user would have to write to get this simulation: sliders, switched-off forces and the solver as they stand.
Json LiveSession::changed_scene() const {
  Json json = json_;
  json["output"] = output_;
  if (output_.empty()) json.erase("output");
  for (auto i = forces_off_.rbegin(); i != forces_off_.rend(); ++i) json["forces"].erase(*i);
  return json;
}

/// The solver as it was used last, or with its defaults; `execution` keeps what that solver can do.
void LiveSession::choose_solver(const Json& command) {
  const std::string name = word_of(command, "name");
  Json json = json_;
  json["solver"] = solver_called(name);
  const std::string wanted = solver_name_of(json);
  const std::string present = json_["solver"].value("name", "");
  used_[present] = {{{"solver", json_["solver"]}, {"execution", json_.value("execution", Json::object())}}, parameters_};
  std::vector<Parameter> known = parameters_;
  if (const auto before = used_.find(wanted); before != used_.end())
    json.update(before->second.settings), known = before->second.parameters;
  LoadOptions options = load_options();
  options.solver = wanted;
  rebuild(json, std::move(known), options);
}

}  // namespace osier::view
