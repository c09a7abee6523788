// osier info: what a scene, a recorded run or a curve file holds.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "core/json.hpp"
#include "math/vec3.hpp"
#include "model/rod_count.hpp"
#include "osier/osier.hpp"
#include "osier/trajectory.hpp"
#include "recording.hpp"
#include "scene_option.hpp"

namespace osier::cli {

namespace {

struct InfoArguments {
  SceneOption scene;
  bool json = false;
};

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double v) { low = std::min(low, v), high = std::max(high, v); }
  OrderedJson json() const { return high < low ? OrderedJson(nullptr) : OrderedJson{{"min", low}, {"max", high}}; }
};

std::string text_of(const OrderedJson& range, const char* unit) {
  if (range.is_null()) return "none";
  return fmt::format("{:.4g} … {:.4g} {}", range["min"].get<double>(), range["max"].get<double>(), unit);
}

OrderedJson box_of(std::span<const Vec3d> points) {
  Range x, y, z;
  for (const Vec3d& p : points) x.add(p.x), y.add(p.y), z.add(p.z);
  return {{"x", x.json()}, {"y", y.json()}, {"z", z.json()}};
}

std::string text_of_box(const OrderedJson& box) {
  return fmt::format("x {}, y {}, z {}", text_of(box["x"], "m"), text_of(box["y"], "m"), text_of(box["z"], "m"));
}

OrderedJson describe(Trajectory& run) {
  const Model& m = run.model();
  Range time, length, radius;
  for (int f = 0; f < run.frame_count(); ++f) time.add(run.time(f));
  for (const double l : m.segment_rest_length) length.add(l);
  for (const double r : m.vertex_radius) radius.add(r);
  const auto clamps = std::count(m.joint_is_clamp.begin(), m.joint_is_clamp.end(), std::uint8_t{1});
  double mass = 0;
  for (const double v : m.vertex_mass) mass += v;
  return {{"name", run.name()},
          {"file", run.path().string()},
          {"version", run.info().version},
          {"frames", run.frame_count()},
          {"time", time.json()},
          {"vertices", m.vertex_count()},
          {"segments", m.segment_count()},
          {"joints", m.joint_count() - clamps},
          {"clamp_half_joints", clamps},
          {"rods", rod_count(m)},
          {"materials", run.info().materials},
          {"mass_total", run.has_rest() ? OrderedJson(mass) : OrderedJson(nullptr)},
          {"segment_length", length.json()},
          {"radius", radius.json()},
          {"box", run.frame_count() > 0 ? box_of(run.positions(run.frame_count() - 1)) : OrderedJson(nullptr)},
          {"double_precision", run.double_precision()},
          {"sections", run.has_sections()}};
}

std::string run_text(const OrderedJson& j) {
  std::string text = fmt::format("{}: a recorded run, {}\n", j["name"].get<std::string>(), j["file"].get<std::string>());
  text += fmt::format("  frames {}, time {}\n", j["frames"].get<int>(), text_of(j["time"], "s"));
  text += fmt::format("  vertices {}, segments {}, joints {} (+ {} half-joints of clamps), rods {}\n", j["vertices"].get<int>(),
                      j["segments"].get<int>(), j["joints"].get<int>(), j["clamp_half_joints"].get<int>(), j["rods"].get<int>());
  if (!j["mass_total"].is_null()) text += fmt::format("  mass {:.4g} kg\n", j["mass_total"].get<double>());
  text += fmt::format("  segment length {}, radius {}\n", text_of(j["segment_length"], "m"), text_of(j["radius"], "m"));
  if (!j["box"].is_null()) text += fmt::format("  last frame within {}\n", text_of_box(j["box"]));
  if (!j["materials"].empty())
    text += fmt::format("  materials {}\n", join(j["materials"].get<std::vector<std::string>>(), ", "));
  text += fmt::format("  numbers in {} precision, {} forces and moments of sections; written by osier {}\n",
                      j["double_precision"].get<bool>() ? "double" : "single", j["sections"].get<bool>() ? "with" : "without",
                      j["version"].get<std::string>());
  return text;
}

OrderedJson describe(const std::string& file, const CurveSet& curves) {
  Range length, width;
  double total = 0;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const auto points = curves.curve(k);
    double l = 0;
    for (std::size_t i = 1; i < points.size(); ++i) l += norm(points[i] - points[i - 1]);
    if (curves.closed[k] && points.size() > 1) l += norm(points.front() - points.back());
    length.add(l), total += l;
  }
  for (const double w : curves.widths) width.add(w);
  return {{"file", file},
          {"curves", curves.size()},
          {"closed", std::count_if(curves.closed.begin(), curves.closed.end(), [](auto c) { return c != 0; })},
          {"points", curves.points.size()},
          {"welds", curves.welds.size()},
          {"length_total", total},
          {"length", length.json()},
          {"width", width.json()},
          {"names", !curves.names.empty()},
          {"box", box_of(curves.points)}};
}

std::string curves_text(const OrderedJson& j) {
  std::string text = fmt::format("{}: curves\n", j["file"].get<std::string>());
  text += fmt::format("  curves {} ({} closed), points {}, welded pairs of points {}\n", j["curves"].get<std::size_t>(),
                      j["closed"].get<std::size_t>(), j["points"].get<std::size_t>(), j["welds"].get<std::size_t>());
  text += fmt::format("  length {:.4g} m in all, of a curve {}\n", j["length_total"].get<double>(), text_of(j["length"], "m"));
  text += fmt::format("  width {}\n  within {}\n", text_of(j["width"], "m"), text_of_box(j["box"]));
  text += j["names"].get<bool>() ? "  with names\n" : "  without names\n";
  return text;
}

void print(const OrderedJson& told, bool as_json, std::string (*text)(const OrderedJson&)) {
  const auto replace = OrderedJson::error_handler_t::replace;
  fmt::print("{}", as_json ? told.dump(2, ' ', false, replace) + "\n" : text(told));
}

int info(const InfoArguments& o) {
  if (!is_recording(o.scene.file)) {
    const Scene scene = o.scene.load();
    fmt::print("{}", o.json ? scene_info_json(scene) : scene_info_text(scene));
    return kDone;
  }
  if (o.scene.changes_something())
    throw InputError({{o.scene.file, "is not a scene, so --solver, --set and the like cannot change it", "leave them out"}});
  if (Trajectory::is_meant(o.scene.file)) {
    Trajectory run = Trajectory::open(o.scene.file);
    print(describe(run), o.json, run_text);
  } else {
    print(describe(o.scene.file, read_curves(o.scene.file)), o.json, curves_text);
  }
  return kDone;
}

}  // namespace

Command add_info(CLI::App& app) {
  auto o = std::make_shared<InfoArguments>();
  CLI::App* sub = app.add_subcommand("info", "What a scene, a recorded run or a curve file holds: counts, sizes, memory");
  sub->add_option("SCENE|TRAJECTORY|CURVES", o->scene.file,
                  "Scene file (JSON), folder of a run, its trajectory.h5, or a curve file")
      ->required();
  o->scene.add_changes_to(*sub);
  sub->add_flag("--json", o->json, "As JSON");
  return {sub, [o] { return info(*o); }};
}

}  // namespace osier::cli
