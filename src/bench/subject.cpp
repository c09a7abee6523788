#include "bench/subject.hpp"

#include <fmt/format.h>
#include <numbers>

namespace osier::bench {

Subject Subject::with(std::string override) const {
  Subject s = *this;
  s.overrides.push_back(std::move(override));
  return s;
}

const char* method_name(SolverRole role) {
  switch (role) {
    case SolverRole::sweeps:
      return "sweep";
    case SolverRole::converging:
      return "direct";
    case SolverRole::automatic:
      return "auto";
    case SolverRole::reference:
      return "newton";
    case SolverRole::other:
      break;
  }
  return "other";
}

Variant sweeps(int iterations, Precision precision, int threads) {
  return {.role = SolverRole::sweeps, .iterations = iterations, .precision = precision, .threads = threads};
}
Variant direct(int iterations, Precision precision, int threads) {
  return {.role = SolverRole::converging, .iterations = iterations, .precision = precision, .threads = threads};
}
Variant projective(int iterations, Precision precision, int threads) {
  return {
      .role = SolverRole::other, .solver = "projective", .iterations = iterations, .precision = precision, .threads = threads};
}
Variant boundary_values() { return {.role = SolverRole::other, .solver = "generalized_alpha", .tolerance = 1e-8}; }
Variant automatic(Precision precision, int threads) {
  return {.role = SolverRole::automatic, .precision = precision, .threads = threads};
}
Variant converged() { return {.role = SolverRole::converging, .tolerance = 1e-11}; }
Variant reference(double tolerance) { return {.role = SolverRole::reference, .tolerance = tolerance}; }

Json Variant::solver_json() const {
  Json json = {{"name", *solver ? solver : solver_with(role)}};
  if (iterations > 0) json["iterations"] = iterations;
  else json["tolerance"] = tolerance;
  if (role == SolverRole::sweeps) json["lambda"] = lambda;
  if (name() == std::string("projective") && iterations > 0) json["iteration"] = "sweeps";
  return json;
}

Execution Variant::execution() const { return {.threads = threads, .simd = simd, .precision = precision, .device = device}; }

Scene load(const Subject& subject, const Variant& variant, const std::filesystem::path& folder) {
  LoadOptions options;
  options.overrides = subject.overrides;
  options.overrides.push_back("/solver=" + variant.solver_json().dump());
  const Execution execution = variant.execution();
  const Json json = {{"threads", execution.threads},
                     {"simd", simd_name(execution.simd)},
                     {"precision", execution.precision_name()},
                     {"device", execution.device_name()}};
  options.overrides.push_back("/execution=" + json.dump());
  // One integrator for all methods, so that they solve the same steps; but for those that bring their own.
  if (make_settings(*variant.solver ? variant.solver : solver_with(variant.role))->traits().integrator_choice)
    options.overrides.push_back("/analysis/integrator=implicit_euler");
  if (!subject.text.empty()) return Scene::parse(subject.text, subject.name, folder, options);
  return Scene::load(folder / ((subject.file.empty() ? subject.name : subject.file) + ".json"), options);
}

Subject cantilever(const std::string& name, int segments, double young) {
  constexpr double r = 0.01, area = std::numbers::pi * r * r;
  return {.name = name,
          .text = fmt::format(R"({{
    "rods": [{{"name": "beam", "shape": {{"type": "line", "from": [0, 0, 0], "to": [1, 0, 0]}}, "segments": {},
               "material": {{"stretch_shear": {}, "bend_twist": {}, "line_density": {}, "radius": {}}}}}],
    "constraints": [{{"type": "pin", "vertices": "beam:start"}}, {{"type": "fix", "segments": "beam:start"}}],
    "forces": [{{"type": "gravity"}}],
    "analysis": {{"type": "dynamic", "step": 0.001, "fps": 30}}}})",
                              segments, young * area, young * area * r * r / 4, 1000 * area, r),
          .file = {},
          .overrides = {}};
}

Subject chain(int vertices) {
  constexpr double l = 0.01, density = 0.1, h = 1e-3;
  return {.name = "chain",
          .text = fmt::format(R"({{
    "rods": [{{"name": "chain", "shape": {{"type": "line", "from": [0, 0, 0], "to": [{}, 0, 0]}}, "segments": {},
               "material": {{"stretch_shear": {}, "bend_twist": {}, "line_density": {}, "radius": 0.001}}}}],
    "constraints": [{{"type": "pin", "vertices": ["chain:start", "chain:end"]}}],
    "forces": [{{"type": "gravity"}}],
    "analysis": {{"type": "dynamic", "step": {}, "fps": 30}}}})",
                              (vertices - 1) * l, vertices - 1, density * l * l / (h * h), density * l * l * l * l / (h * h),
                              density, h),
          .file = {},
          .overrides = {}};
}

Subject strands(int vertices) {
  return {.name = "strands",
          .text = {},
          .file = "hair_wisp",
          .overrides = {fmt::format("/structures/0/strands={}", std::max(1, vertices / 32))}};
}

Subject curls(int count) {
  std::string rods, roots;
  for (int i = 0; i < count; ++i) {
    const std::string_view comma = i > 0 ? ",\n" : "";
    rods += fmt::format(R"({}{{"name": "c{}", "material": "hair", "segments": 100, "shape": {{"type": "helix", "axis": [1, 0, 0],
        "start": [0, 0.001, {}], "radius": {}, "pitch": 0.05, "turns": 1.7}}}})",
                        comma, i, 0.003 * i, 0.02 + 0.0005 * (i % 7));
    roots += fmt::format(R"({}"c{}:start")", comma, i);
  }
  return {.name = "curls",
          .text = fmt::format(R"({{
    "materials": {{"hair": {{"stretch_shear": 10.12, "bend": 2.2775e-9, "twist": 1.3614e-9, "line_density": 3.13e-6, "radius": 3e-5}}}},
    "rods": [{0}],
    "constraints": [{{"type": "clamp", "vertices": [{1}]}}],
    "forces": [{{"type": "gravity"}}],
    "analysis": {{"type": "dynamic", "step": 0.004166666666666667, "fps": 30}}}})",
                              rods, roots),
          .file = {},
          .overrides = {}};
}

Subject strands_anisotropic(int vertices) {
  std::string rods, roots;
  for (int i = 0; i < std::max(1, vertices / 32); ++i) {
    const std::string_view comma = i > 0 ? ",\n" : "";
    const int column = i % 40, row = i / 40;
    rods += fmt::format(R"({}{{"name": "s{}", "material": "hair", "segments": 31, "shape": {{"type": "helix", "axis": [0, {}, 1],
        "center": [{}, {}, 0], "radius": {}, "pitch": 0.08, "turns": 3}}}})",
                        comma, i, 0.01 * (i % 7), 0.001 * column, 0.001 * row, 0.004 + 0.0005 * (i % 5));
    roots += fmt::format(R"({}"s{}:start")", comma, i);
  }
  return {.name = "strands_anisotropic",
          .text = fmt::format(R"({{
    "materials": {{"hair": {{"young": 3.5e9, "poisson": 0.4, "density": 1320, "radius": 4e-5}}}},
    "rods": [{0}],
    "constraints": [{{"type": "pin", "vertices": [{1}]}}, {{"type": "fix", "segments": [{1}]}}],
    "forces": [{{"type": "gravity"}}, {{"type": "drag", "rate": 2}}],
    "analysis": {{"type": "dynamic", "step": 0.001, "fps": 30}}}})",
                              rods, roots),
          .file = {},
          .overrides = {}};
}

}  // namespace osier::bench
