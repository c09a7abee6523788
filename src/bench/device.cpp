// Whole frames on a CUDA device: the state stays there, and the host waits for the end of every frame. The error stands beside
// the time: that of a part of the scene which moves in the same way, from the converged positions of steps of a millisecond or
// less.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "bench/run_timed.hpp"
#include "bench/suites.hpp"
#include "exec/cuda_device.hpp"
#include "osier/simulation.hpp"

namespace osier::bench {

namespace {

struct DeviceScene {
  std::string name;
  Subject whole, part;
  Variant variant;
  double step = 0;  ///< instead of the scene's own [s]
};

/// Real hair: E = 3.8 GPa, radius 40 um, 1320 kg/m^3, as stiffnesses of the generator.
Subject keratin(Subject hair) {
  for (const char* change : {"/structures/0/stretch_shear=19.1", "/structures/0/bend_twist=7.64e-9",
                             "/structures/0/line_density=6.635e-6", "/structures/0/radius=4e-5"})
    hair = hair.with(change);
  return hair;
}

/// The paper's coil, so many times.
Subject slinkies(int count) {
  std::string rods, ends;
  for (int i = 0; i < count; ++i) {
    const char* comma = i > 0 ? ", " : "";
    rods += fmt::format(R"({}{{"name": "c{}", "shape": {{"type": "coil", "outline": "teapot"}}, "material": "coil"}})", comma, i);
    ends += fmt::format(R"({}"c{}:start", "c{}:end")", comma, i, i);
  }
  return {.name = fmt::format("slinky x {}", count),
          .text = R"({"materials": {"coil": {"stretch_shear": 1000, "bend_twist": 1000, "line_density": 0.15, "radius": 0.01}},
    "rods": [)" + rods +
                  R"(], "constraints": [{"type": "pin", "vertices": [)" + ends + R"(]}, {"type": "fix", "segments": [)" + ends +
                  R"(]}], "forces": [{"type": "gravity", "acceleration": [0, -9.8, 0]}, {"type": "drag", "rate": 0.4314}],
    "analysis": {"type": "dynamic", "step": 0.0003, "fps": 30}})",
          .file = {},
          .overrides = {}};
}

Subject file_of(const char* name) { return {.name = name, .text = {}, .file = std::string("paper/") + name, .overrides = {}}; }
Subject with_strands(const Subject& hair, int strands) { return hair.with(fmt::format("/structures/0/strands={}", strands)); }

std::vector<DeviceScene> device_scenes(bool quick) {
  constexpr Precision kFloat = Precision::single_precision;
  const Subject hair = quick ? with_strands(file_of("hair_afro"), 40) : file_of("hair_afro"),
                part = with_strands(hair, quick ? 40 : 458);
  const Subject trees = file_of("trees");
  const auto grown = [&](int count) { return trees.with(fmt::format("/structures/0/count={}", count)); };
  std::vector<DeviceScene> list = {
      {"hair_afro", hair, part, sweeps(8, kFloat), 0},
      {"hair_afro keratin", keratin(hair), keratin(part), direct(2, kFloat), 1.0 / 120},
      {"hair_afro keratin", keratin(hair), keratin(part), direct(3, kFloat), 1.0 / 30},
      {"slinky x 1000", slinkies(quick ? 1 : 1000), slinkies(1), sweeps(8, kFloat), 0},
      {"trees x 300", grown(quick ? 1 : 300), grown(1), sweeps(4, kFloat), 0},
  };
  return list;
}

Scene load_on(const Subject& subject, const DeviceScene& s, Device device, const Context& c) {
  Variant variant = s.variant;
  variant.device = device;
  return load(s.step > 0 ? subject.with(fmt::format("/analysis/step={:.17g}", s.step)) : subject, variant, c.options.folder);
}

/// ms of every frame after some to warm up.
std::vector<double> time_frames(const Scene& scene, int warm_up, int frames, Context& c) {
  using Clock = std::chrono::steady_clock;
  Simulation simulation(scene);
  if (const std::string why = simulation.why_no_run_ahead(); !why.empty())
    c.say("device: the state comes back to the host after every step: " + why);
  std::vector<double> ms;
  for (int f = -warm_up; f < frames; ++f) {
    const Clock::time_point start = Clock::now();
    simulation.advance_frame();
    if (f >= 0) ms.push_back(1e3 * std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(ms.begin(), ms.end());
  return ms;
}

void device_row(Context& c, const DeviceScene& s, Device device) {
  const bool quick = c.options.quick;
  c.say(fmt::format("device: {}, {}", s.name, s.variant.name()));
  const Scene scene = load_on(s.whole, s, device, c);
  BenchRow row = row_for("device", "device", s.name, scene, s.variant);
  row.device = device == Device::cuda ? cuda_device().name : "cuda_twin";
  const std::vector<double> ms = time_frames(scene, quick ? 0 : 10, quick ? 1 : 60, c);
  row.ms_per_frame_min = ms.front();
  row.ms_per_frame_median = ms[ms.size() / 2];
  row.steps_per_frame = Simulation(load_on(s.part, s, Device::cpu, c)).steps_per_frame();
  row.iterations = s.variant.iterations;
  row.ns_per_vertex_iteration =
      1e6 * *row.ms_per_frame_median / (static_cast<double>(row.vertices) * row.steps_per_frame * s.variant.iterations);
  c.say(fmt::format("device: {}, {}: {:.3f} ms per frame; its error", s.name, s.variant.name(), *row.ms_per_frame_median));
  const int frames = quick ? 1 : 3;
  const TimedRun exact = run_timed(load(s.part, converged(), c.options.folder), frames, false, 0);
  put_error(run_timed(load_on(s.part, s, device, c), frames, false, 0), exact, row);
  c.rows.push_back(row);
}

}  // namespace

std::vector<std::string> scenes_of_device() {
  std::vector<std::string> names;
  for (const DeviceScene& s : device_scenes(false))
    if (std::find(names.begin(), names.end(), s.name) == names.end()) names.push_back(s.name);
  return names;
}

void run_device(Context& c) {
  const Device device = c.options.device == "cuda_twin" ? Device::cuda_twin : Device::cuda;
  if (!device_available(device)) {
    c.say("device: left out, no CUDA device");
    return;
  }
  for (const DeviceScene& s : device_scenes(c.options.quick))
    if (c.wants(s.name)) device_row(c, s, device);
}

}  // namespace osier::bench
