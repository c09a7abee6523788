// What a scene holds, before it runs.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/rod_count.hpp"
#include "osier/simulation.hpp"
#include "scene/setup.hpp"
#include "sim/memory.hpp"

namespace osier {

namespace {

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double v) { low = std::min(low, v), high = std::max(high, v); }
};

OrderedJson range_json(const Range& r) {
  return r.high < r.low ? OrderedJson(nullptr) : OrderedJson{{"min", r.low}, {"max", r.high}};
}

struct Quantity {
  const char *key, *label, *unit;
  double (*of)(const Section&);
};
const Quantity kQuantities[] = {
    {"EA", "EA", "N", [](const Section& s) { return s.stretch_shear.d3; }},
    {"GA1", "GA1", "N", [](const Section& s) { return s.stretch_shear.d1; }},
    {"GA2", "GA2", "N", [](const Section& s) { return s.stretch_shear.d2; }},
    {"EI1", "EI1", "N·m²", [](const Section& s) { return s.bend_twist.d1; }},
    {"EI2", "EI2", "N·m²", [](const Section& s) { return s.bend_twist.d2; }},
    {"GJ", "GJ", "N·m²", [](const Section& s) { return s.bend_twist.d3; }},
    {"line_density", "line density", "kg/m", [](const Section& s) { return s.line_density; }},
    {"inertia_1", "inertia about d1", "kg·m", [](const Section& s) { return s.inertia.d1; }},
    {"inertia_2", "d2", "kg·m", [](const Section& s) { return s.inertia.d2; }},
    {"inertia_3", "d3", "kg·m", [](const Section& s) { return s.inertia.d3; }},
};

/// Each material in use, with the range of every quantity along tapered rods.
OrderedJson materials_json(const Setup& setup) {
  OrderedJson list = OrderedJson::array();
  for (const MaterialUse& use : setup.materials) {
    const Section thin = scaled(use.section, use.thinnest), thick = scaled(use.section, use.thickest);
    OrderedJson entry = {{"name", use.name}, {"segments", use.segments}};
    for (const Quantity& q : kQuantities) entry[q.key] = {{"min", q.of(thin)}, {"max", q.of(thick)}};
    list.push_back(entry);
  }
  return list;
}

std::string material_text(const OrderedJson& m) {
  const auto value = [&](const Quantity& q) {
    const double low = m[q.key]["min"].get<double>(), high = m[q.key]["max"].get<double>();
    return low == high ? fmt::format("{} {:.5g} {}", q.label, low, q.unit)
                       : fmt::format("{} {:.5g} … {:.5g} {}", q.label, low, high, q.unit);
  };
  const auto line = [&](std::size_t from, std::size_t to) {
    std::string text = "   ";
    for (std::size_t i = from; i < to; ++i) text += (i > from ? ", " : " ") + value(kQuantities[i]);
    return text + "\n";
  };
  return fmt::format("  material {}, {} segments\n", m["name"].get<std::string>(), m["segments"].get<int>()) + line(0, 3) +
         line(3, 6) + line(6, std::size(kQuantities));
}

OrderedJson info(const Scene& scene) {
  const Model& m = scene.model();
  const Setup& setup = scene.setup();
  const Simulation simulation(scene);
  const SolverPlan plan = setup.spec.solver->plan(m, simulation.control(), simulation.time_step());
  Range length, stretch, bend, twist, mass;
  double total_mass = 0;
  for (Index v = 0; v < m.vertex_count(); ++v) mass.add(m.vertex_mass[v]), total_mass += m.vertex_mass[v];
  for (Index s = 0; s < m.segment_count(); ++s) {
    length.add(m.segment_rest_length[s]);
    stretch.add(m.segment_stiffness[s].d3 / m.segment_rest_length[s]);
  }
  Index joints = 0, half_joints = 0;
  for (Index j = 0; j < m.joint_count(); ++j) {
    const PerAxis k = (m.joint_length[j] / 4) * m.joint_stiffness[j];
    bend.add(k.d1), bend.add(k.d2), twist.add(k.d3);
    ++(m.joint_is_clamp[j] ? half_joints : joints);
  }
  const MemoryEstimate memory = estimate_memory(scene, simulation);
  return {{"name", scene.name()},
          {"vertices", m.vertex_count()},
          {"segments", m.segment_count()},
          {"joints", joints},
          {"clamp_half_joints", half_joints},
          {"rods", rod_count(m)},
          {"vertex_colors", m.vertex_colors.count()},
          {"segment_colors", m.segment_colors.count()},
          {"solver", setup.spec.solver->name()},
          {"method", plan.solver.empty() ? OrderedJson(nullptr) : OrderedJson(plan.solver)},
          {"method_reason", plan.why.empty() ? OrderedJson(nullptr) : OrderedJson(plan.why)},
          {"analysis", simulation.is_static() ? "static" : "dynamic"},
          {"time_step", simulation.time_step()},
          {"frames", simulation.frame_count()},
          {"steps_per_frame", simulation.steps_per_frame()},
          {"mass_total", total_mass},
          {"vertex_mass", range_json(mass)},
          {"segment_length", range_json(length)},
          {"stretch_shear", range_json(stretch)},
          {"bend_twist", range_json(bend)},
          {"twist", range_json(twist)},
          {"materials", materials_json(setup)},
          {"stiffness_ratio_R",
           simulation.is_static() ? OrderedJson(nullptr) : OrderedJson(m.stiffness_ratio(simulation.time_step()))},
          {"bytes_estimate", memory.total()},
          {"bytes",
           {{"scene", memory.scene},
            {"simulation", memory.simulation},
            {"output", memory.output},
            {"solver", memory.solver ? OrderedJson(*memory.solver) : OrderedJson(nullptr)}}}};
}

}  // namespace

std::string scene_info_json(const Scene& scene) { return info(scene).dump(2) + "\n"; }

std::string scene_info_text(const Scene& scene) {
  const OrderedJson j = info(scene);
  const auto range = [&](const char* key, const char* unit) {
    if (j[key].is_null()) return std::string("none");
    return fmt::format("{:.4g} … {:.4g} {}", j[key]["min"].get<double>(), j[key]["max"].get<double>(), unit);
  };
  std::string text = fmt::format("{}\n", scene.name());
  text += fmt::format("  vertices {}, segments {}, joints {} (+ {} half-joints of clamps), rods {}\n", j["vertices"].get<int>(),
                      j["segments"].get<int>(), j["joints"].get<int>(), j["clamp_half_joints"].get<int>(), j["rods"].get<int>());
  text +=
      fmt::format("  colours: {} for vertices, {} for segments\n", j["vertex_colors"].get<int>(), j["segment_colors"].get<int>());
  text += fmt::format("  mass {:.4g} kg, per vertex {}\n", j["mass_total"].get<double>(), range("vertex_mass", "kg"));
  text += fmt::format("  segment length {}\n", range("segment_length", "m"));
  text += fmt::format("  stretch EA {}\n", range("stretch_shear", "N"));
  text += fmt::format("  bend EI {}, twist GJ {}\n", range("bend_twist", "N·m²"), range("twist", "N·m²"));
  for (const OrderedJson& m : j["materials"]) text += material_text(m);
  if (j["analysis"] == "dynamic") {
    text += fmt::format("  dynamic: step {:.4g} s, {} steps per frame, {} frames\n", j["time_step"].get<double>(),
                        j["steps_per_frame"].get<int>(), j["frames"].get<int>());
    text += fmt::format("  stiffness ratio R = (EA/l)/(m/h²) = {:.4g}\n", j["stiffness_ratio_R"].get<double>());
  } else {
    text += fmt::format("  static: {} load steps\n", j["frames"].get<int>());
  }
  if (!j["method"].is_null())
    text += fmt::format("  method {}: {}\n", j["method"].get<std::string>(), j["method_reason"].get<std::string>());
  const double vertices = j["vertices"].get<double>();
  const OrderedJson& of_solver = j["bytes"]["solver"];
  const auto megabytes = [&](const char* key) {
    return j["bytes"][key].is_null() ? std::string("unknown") : fmt::format("{:.1f}", j["bytes"][key].get<double>() / 1e6);
  };
  text += fmt::format("  solver {}: {} bytes per vertex\n", j["solver"].get<std::string>(),
                      of_solver.is_null() ? "unknown" : fmt::format("{:.0f}", of_solver.get<double>() / vertices));
  text += fmt::format("  memory about {:.1f} MB: scene {}, simulation {}, output {}, solver {}\n",
                      j["bytes_estimate"].get<double>() / 1e6, megabytes("scene"), megabytes("simulation"), megabytes("output"),
                      megabytes("solver"));
  for (const std::string& warning : scene.warnings()) text += "  warning: " + warning + "\n";
  return text;
}

}  // namespace osier
