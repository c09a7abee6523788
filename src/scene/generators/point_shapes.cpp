#include "scene/generators/point_shapes.hpp"

#include <filesystem>
#include <fmt/format.h>

#include "io/curves/csv.hpp"
#include "math/vec3.hpp"
#include "scene/generators/curve_source.hpp"

namespace osier {

namespace {

constexpr std::array<std::array<int, 2>, 43> kTeapot{
    {{0, 28},   {2, 21},   {7, 19},   {12, 18},  {20, 18},  {29, 18},  {31, 13},  {39, 13},  {48, 11}, {55, 8},   {52, 3},
     {59, 1},   {66, 3},   {63, 9},   {72, 11},  {80, 13},  {88, 14},  {93, 22},  {95, 28},  {98, 34}, {104, 31}, {108, 26},
     {109, 20}, {115, 14}, {126, 14}, {119, 19}, {115, 25}, {113, 32}, {111, 39}, {106, 45}, {98, 50}, {93, 56},  {86, 61},
     {77, 62},  {67, 62},  {55, 62},  {43, 62},  {31, 61},  {25, 56},  {21, 50},  {12, 46},  {6, 41},  {3, 36}}};

}  // namespace

void PointsShape::prepare(const std::string&, Problems& problems) {
  const std::size_t least = is_closed ? 3 : 2;
  if (points.size() < least) {
    problems.add(where + "/points", std::to_string(points.size()) + " points do not make a curve",
                 "give at least " + std::to_string(least));
    return;
  }
  for (std::size_t i : coincident_points(points, is_closed))
    problems.add(where + "/points/" + std::to_string(i), "coincides with a neighbouring point", "leave one of the two out");
}

/// Text is read here and not by read_curves, to know the lines of its points, and because blank lines do not cut it.
CurveSet PolylineShape::read(const std::filesystem::path& path) {
  line_of_point_.clear();
  const CurveFormat* format = find_curve_format(path.extension().string());
  if (format && format->read != read_csv) return read_curves(path, reading);
  const std::vector<std::byte> bytes = read_bytes(path);
  const CurveSource source{bytes, path.string()};
  check_read_options(source, *find_curve_format(".csv"), reading);
  std::vector<std::size_t> lines;
  CurveSet set = read_csv_lines(source, reading, lines);
  if (!edits.select.empty() || !set.names.empty() || !set.ids.empty()) return set;
  line_of_point_ = std::move(lines);
  set.start = {0, set.points.size()};
  set.closed.resize(1, 0);
  return set;
}

void PolylineShape::prepare(const std::string& folder, Problems& problems) {
  const std::filesystem::path path = std::filesystem::path(folder) / file;
  std::optional<CurveSet> read_set = edited_curves([&] { return read(path); }, edits, where, problems);
  if (!read_set) return;
  CurveSet& set = *read_set;
  if (set.size() != 1) {
    const std::string at = where + (edits.select.empty() ? "/file" : "/select");
    problems.add(at, fmt::format("{} has {} curves", path.string(), set.size()), "name one of them with `select`");
    return;
  }
  points_ = std::move(set.points);
  closed_ = is_closed.value_or(set.closed[0] != 0);
  if (set.closed[0] && !closed_ && !points_.empty()) points_.push_back(points_.front());  // opened, nothing of it lost
  const std::size_t least = closed_ ? 3 : 2;
  if (points_.size() < least) {
    problems.add(where + "/file", path.string() + " has " + std::to_string(points_.size()) + " points",
                 "give at least " + std::to_string(least));
    return;
  }
  for (std::size_t i : coincident_points(points_, closed_))
    problems.add(where + "/file",
                 fmt::format("{}, {} coincides with a neighbouring point", path.string(),
                             line_of_point_.empty() ? fmt::format("point {}", i) : fmt::format("line {}", line_of_point_[i])),
                 "leave one of the two out");
}

std::vector<Vec3d> CoilShape::list() const {
  const std::size_t n = kTeapot.size();
  std::vector<Vec3d> flat;
  for (const auto& [x, y] : kTeapot) flat.push_back({scale * x, -scale * y, 0});
  const double perimeter = polyline_length(flat, true);
  std::vector<double> fraction{0};
  for (std::size_t k = 1; k < n; ++k) fraction.push_back(fraction.back() + norm(flat[k] - flat[k - 1]) / perimeter);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < static_cast<std::size_t>(vertices); ++i) {
    const std::size_t whole_turns = i / n;
    const double turns = static_cast<double>(whole_turns) + fraction[i % n];
    points.push_back({flat[i % n].x, flat[i % n].y, rise * turns});
  }
  return points;
}

}  // namespace osier
