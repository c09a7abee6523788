#include "validate/shape.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/json_reader.hpp"

namespace osier::validate {

std::optional<ShapeSpec> shape_of(const Trial& trial, Problems& problems) {
  Json json = trial.spec->shape.value;
  if (!trial.run->shape.value.is_null()) {
    if (json.is_null()) json = Json::object();
    json.merge_patch(trial.run->shape.value);
  }
  if (json.is_null()) return {};
  const std::string at = trial.spec->file.filename().string() + "/shape";
  ShapeSpec shape;
  JsonReader reader(json, at, problems);
  reader.read(json, at, shape, FieldInfo{});
  const bool has_curve = !shape.points.empty() || shape.x.given() || shape.y.given() || shape.z.given();
  if (!has_curve) return {};
  if (trial.spec->resolution) {
    const std::vector<int>& values = trial.spec->resolution->values;
    if (!shape.resolution) problems.add(at, "`resolution` is missing", "say which one is drawn");
    else if (std::find(values.begin(), values.end(), *shape.resolution) == values.end())
      problems.add(at + "/resolution", fmt::format("{} is not a resolution of this case", *shape.resolution), "use one of those");
  }
  if (shape.resolution != trial.resolution) return {};
  return shape;
}

std::vector<Vec3d> curve_of(const ShapeSpec& shape, const Values& parameters, Problems& problems) {
  if (!shape.points.empty()) return shape.points;
  constexpr int kPieces = 120;
  std::vector<Vec3d> points;
  Values values = parameters;
  const double to = shape.to.given() ? shape.to.value(values, problems) : 1;
  const auto at = [&](const Formula& f) { return f.given() ? f.value(values, problems) : 0.0; };
  const std::size_t before = problems.size();
  for (int i = 0; i <= kPieces && problems.size() == before; ++i) {
    values["s"] = to * i / kPieces;
    points.push_back({at(shape.x), at(shape.y), at(shape.z)});
  }
  return points;
}

std::vector<Vec3d> rod_of(const ShapeSpec& shape, const Scene& scene, const State& state) {
  Problems problems;
  const RodInfo* rod = find_rod(scene, shape.rod, "/shape/rod", problems);
  problems.throw_if_any();
  std::vector<Vec3d> points;
  for (Index v : rod->vertices) points.push_back(state.vertex_position[v]);
  if (rod->closed) points.push_back(points.front());
  return points;
}

static std::vector<std::array<double, 2>> flatten(const std::vector<Vec3d>& points, const std::string& axes) {
  std::vector<std::array<double, 2>> flat;
  const auto along = [](const Vec3d& p, char axis) { return axis == 'x' ? p.x : axis == 'y' ? p.y : p.z; };
  for (const Vec3d& p : points) flat.push_back({along(p, axes[0]), along(p, axes[1])});
  return flat;
}

void add_to_figures(const Trial& trial, const Outcome& outcome, std::vector<ValidationFigure>& figures) {
  if (!trial.shape || outcome.rod.empty()) return;
  const ShapeSpec& s = *trial.shape;
  auto figure = std::find_if(figures.begin(), figures.end(), [&](const ValidationFigure& f) { return f.title == s.figure; });
  if (figure == figures.end()) {
    figures.push_back({.title = s.figure, .axes = s.axes, .resolution = trial.resolution, .curves = {}});
    figure = figures.end() - 1;
  }
  Problems ignored;  // told before anything ran
  figure->curves.push_back({.run = trial.run->name,
                            .computed = flatten(outcome.rod, s.axes),
                            .reference = flatten(curve_of(s, trial.parameters, ignored), s.axes)});
}

}  // namespace osier::validate
