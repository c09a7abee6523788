// osier modes: frequencies and shapes of vibration about a state, or the loads at which rods buckle.
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "commands.hpp"
#include "core/json.hpp"
#include "osier/osier.hpp"
#include "scene/setup.hpp"
#include "scene_option.hpp"
#include "sim/modes.hpp"
#include "sim/recorder.hpp"

namespace osier::cli {

namespace {

struct ModesArguments {
  SceneOption scene;
  std::string folder;
  int count = 6;
  bool buckling = false, json = false;
};

constexpr double kShare = 1e-3;  ///< of the loads, under which their effect on the stiffness is measured

void settle(Simulation& s) {
  for (int i = 0; i < s.frame_count() && !s.finished(); ++i) s.step();
}

/// The modes of a scene: about the equilibrium of a static one, about the initial state of a dynamic one.
std::vector<Mode> find_modes(const ModesArguments& o, const Scene& scene) {
  if (!o.buckling) {
    Simulation s(scene);
    if (s.is_static()) settle(s);
    return vibration_modes(s, o.count);
  }
  if (!scene.setup().spec.statics())
    throw InputError({{"--buckling", "needs loads that grow, and the scene is dynamic", "set /analysis/type to static"}});
  SceneOption little = o.scene;
  little.sets.push_back(fmt::format("/analysis/load_steps={}", std::lround(1 / kShare)));
  little.sets.emplace_back("/analysis/branch=follow");
  little.sets.emplace_back("/analysis/stop_at_instability=false");
  const Scene beginning = little.load();
  Simulation unloaded(beginning), loaded(beginning);
  loaded.step();
  return buckling_modes(unloaded, loaded, kShare, o.count);
}

/// One period of a mode, as a film of curves.
void write_shape(const std::filesystem::path& file, const Scene& scene, const Simulation& s, const Mode& mode) {
  constexpr int kFrames = 24;
  constexpr double kAmplitude = 0.1;  // of the extent
  const std::vector<Vec3d>& rest = s.state().vertex_position;
  double extent = 0;
  for (const Vec3d& x : rest) extent = std::max(extent, norm(x - rest.front()));
  const std::unique_ptr<Writer> writer = find_format("usda")->make(WriteTarget::at(file));
  writer->begin(s.model(), run_info(scene.setup()));
  std::vector<Vec3d> x(rest.size());
  for (int i = 0; i <= kFrames; ++i) {
    const double share = kAmplitude * extent * std::sin(2 * std::numbers::pi * i / kFrames);
    for (std::size_t v = 0; v < x.size(); ++v) x[v] = rest[v] + share * mode.shift[v];
    Frame frame = s.frame(i);
    frame.index = i;
    frame.time = static_cast<double>(i) / kFrames;
    frame.vertex_position = x;
    writer->write(frame);
  }
  writer->end();
}

int modes(const ModesArguments& o) {
  const Scene scene = o.scene.load();
  print_warnings(scene);
  const std::vector<Mode> found = find_modes(o, scene);
  const char* what = o.buckling ? "load_factor" : "frequency_hz";
  OrderedJson list = OrderedJson::array();
  std::string csv = fmt::format("mode,{},stable\n", what);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double value = found[i].value;
    const double shown = o.buckling ? value : std::sqrt(std::abs(value)) / (2 * std::numbers::pi);
    const bool stable = o.buckling || value >= 0;
    csv += fmt::format("{},{:.12g},{}\n", i + 1, shown, stable ? 1 : 0);
    list.push_back({{"mode", i + 1}, {what, shown}, {"stable", stable}});
    if (o.json) continue;
    if (o.buckling) fmt::print("mode {:2}: buckles at {:.6g} times the loads\n", i + 1, shown);
    else if (stable) fmt::print("mode {:2}: {:.6g} Hz\n", i + 1, shown);
    else fmt::print("mode {:2}: unstable, grows by a factor of e in {:.4g} s\n", i + 1, 1 / std::sqrt(-value));
  }
  if (found.empty() && !o.json) fmt::print("no load factor is positive: these loads do not buckle the rods\n");
  if (o.json) fmt::print("{}\n", list.dump(2));
  if (o.folder.empty()) return kDone;
  const std::filesystem::path folder = o.folder;
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "modes.csv");
  out << csv;
  if (!out.flush()) throw RunError((folder / "modes.csv").string() + ": cannot be written");
  Simulation s(scene);
  if (s.is_static() && !o.buckling) settle(s);
  for (std::size_t i = 0; i < found.size(); ++i) write_shape(folder / fmt::format("mode_{:02}.usda", i + 1), scene, s, found[i]);
  if (!o.json) fmt::print("modes.csv and {} shapes, one period each -> {}\n", found.size(), folder.string());
  return kDone;
}

}  // namespace

Command add_modes(CLI::App& app) {
  auto o = std::make_shared<ModesArguments>();
  CLI::App* sub = app.add_subcommand("modes", "Vibration modes about the equilibrium or the initial state, or buckling loads");
  o->scene.add_to(*sub);
  sub->add_option("-n,--count", o->count, "Number of modes")->check(CLI::Range(1, 1000));
  sub->add_flag("--buckling", o->buckling, "Factors on the loads of a static scene at which it buckles, by linear theory");
  sub->add_option("-o,--output", o->folder, "Folder for modes.csv and the shapes, as films of curves (USD)");
  sub->add_flag("--json", o->json, "Print as JSON");
  return {sub, [o] { return modes(*o); }};
}

}  // namespace osier::cli
