// A step of many equal fibres by the damped exponential integrator, against what an explicit step of the same network costs: how
// many times as long as the longest explicit step its own has to be before it pays.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "bench/suites.hpp"
#include "exec/aligned.hpp"
#include "exec/simd_dispatch.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"
#include "solvers/deti/fibre_memory.hpp"
#include "solvers/deti/fibre_plan.hpp"
#include "solvers/deti/fibre_springs.hpp"
#include "solvers/deti/kernels.hpp"

namespace osier::bench {

namespace {

constexpr const char* kName = "fibres";
constexpr double kStep = 0.004;

Subject hair(int fibres, int sections) {
  std::string rods, roots;
  for (int i = 0; i < fibres; ++i) {
    const std::string_view comma = i > 0 ? "," : "";
    rods += fmt::format(R"({}{{"name": "f{}", "material": "hair", "segments": {}, "shape": {{"type": "helix", "axis": [0, -1, 0],
        "center": [{:.3f}, 0, 0], "radius": 0.01, "pitch": 0.05, "turns": 3}}}})",
                        comma, i, sections - 1, 0.02 * i);
    roots += fmt::format(R"({}"f{}:start")", comma, i);
  }
  return {.name = kName,
          .text = fmt::format(R"({{
    "materials": {{"hair": {{"young": 3.58e9, "shear_modulus": 1.07e9, "density": 1107, "radius": 3e-5}}}},
    "rods": [{}],
    "constraints": [{{"type": "clamp", "vertices": [{}]}}],
    "forces": [{{"type": "gravity"}}, {{"type": "drag", "rate": 2}}],
    "analysis": {{"type": "dynamic", "step": {}, "duration": 10, "steps_per_frame": 1}}}})",
                              rods, roots, kStep),
          .file = {},
          .overrides = {}};
}

/// What an explicit step needs of a fibre: the time of its forces in lanes, per section, and its largest frequency.
struct Explicit {
  double seconds_per_section = 0;
  double longest_step = 0;  ///< 2/w_max [s]
};

Explicit explicit_step(const Scene& scene, Simd simd, bool quick) {
  const deti::FibrePlan plan = deti::plan_fibres(scene.setup().model, deti::Settings{});
  const deti::Chain& c = plan.chains.front();
  const deti::FibreKernel& kernel =
      with_simd(simd, []<Simd S>() -> const deti::FibreKernel& { return deti::fibre_kernel_for<S>(); });
  const auto fill = [&](const deti::FibreView& v) {
    for (int lane = 0; lane < v.lanes; ++lane) {
      deti::load_fibre(c.fibre, v, lane);
      for (Index k = 0; k < v.sections; ++k) {
        double u[deti::kUnknowns];
        const auto at = static_cast<std::size_t>(k);
        deti::put_section(c.rest.position[at], c.rest.frame[at], c.fibre.side, u);
        for (Index i = 0; i < deti::kUnknowns; ++i) {
          const Index place = (k * deti::kUnknowns + i) * v.lanes + lane;
          v.y[place] = u[i];
          v.free[place] = 1;
        }
      }
    }
  };
  const auto view_in = [&](int lanes, AlignedArray<double>& model, AlignedArray<double>& step) {
    model.assign(deti::model_numbers(c.fibre.size(), lanes), 0.0);
    step.assign(deti::step_numbers(c.fibre.size(), lanes, deti::Variant::double_pole), 0.0);
    const deti::FibreView v = deti::view_of(c.fibre.size(), lanes, deti::Variant::double_pole, model.data(), step.data());
    fill(v);
    return v;
  };
  AlignedArray<double> model, step;
  const deti::FibreView lanes = view_in(kernel.lanes, model, step);
  Explicit result;
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < (quick ? 1 : 20); ++turn) {
    constexpr int kTimes = 200;
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) kernel.forces(lanes);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count() / kTimes);
  }
  result.seconds_per_section = best / (static_cast<double>(lanes.sections) * lanes.lanes);
  // The largest eigenvalue of M^-1 K by powers.
  AlignedArray<double> model1, step1;
  const deti::FibreView one = view_in(1, model1, step1);
  const auto n = static_cast<std::size_t>(deti::kUnknowns * one.sections);
  std::vector<double> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(1 + 1.3 * static_cast<double>(i));
  double lambda = 0;
  for (int power = 0; power < (quick ? 20 : 300); ++power) {
    deti::Springs<double>{one}.product<deti::Stiffness::gauss_newton>(1.0, x.data(), y.data());
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] /= c.fibre.mass[i / deti::kUnknowns];
      size += y[i] * y[i];
    }
    lambda = std::sqrt(size);
    for (std::size_t i = 0; i < n; ++i) x[i] = y[i] / lambda;
  }
  result.longest_step = 2 / std::sqrt(lambda);
  return result;
}

}  // namespace

std::vector<std::string> scenes_of_fibres() { return {kName}; }

void run_fibres(Context& c) {
  if (!c.wants(kName)) return;
  const bool quick = c.options.quick;
  const int fibres = quick ? 16 : 500, sections = quick ? 10 : 50;
  std::vector<int> threads{1};
  if (!quick && c.options.threads.value_or(1) > 1) threads.push_back(*c.options.threads);
  for (const int count : threads)
    for (const Simd simd : {Simd::off, Simd::sse2, Simd::avx2, Simd::avx512}) {
      if (!simd_available(simd)) continue;
      const Variant v{.role = SolverRole::other, .solver = "deti", .threads = count, .simd = simd};
      // It has neither a tolerance nor an integrator to choose, which load() would set.
      LoadOptions options;
      options.overrides = {R"(/solver={"name": "deti"})",
                           fmt::format(R"(/execution={{"threads": {}, "simd": "{}"}})", count, simd_name(simd))};
      const Scene scene = Scene::parse(hair(fibres, sections).text, kName, ".", options);
      BenchRow row = row_for("fibres", "fibres", kName, scene, v);
      if (row.simd != simd_name(simd)) continue;
      c.say(fmt::format("fibres: {} x {}, {}, {} thread{}", fibres, sections, row.simd, count, count > 1 ? "s" : ""));
      Simulation simulation(scene);
      std::vector<double> seconds;
      for (int i = 0; i < (quick ? 2 : 24); ++i) seconds.push_back(simulation.step(false).seconds);
      std::sort(seconds.begin(), seconds.end());
      row.ms_per_frame_min = 1e3 * seconds.front();
      row.ms_per_frame_median = 1e3 * seconds[seconds.size() / 2];
      row.iterations = 1;
      row.ns_per_vertex_iteration = 1e9 * seconds.front() / row.vertices;
      const Explicit other = explicit_step(scene, simd, quick);
      row.explicit_ns = 1e9 * other.seconds_per_section;
      row.explicit_step = other.longest_step;
      c.rows.push_back(row);
    }
}

}  // namespace osier::bench
