#include "scene/generators/point_shapes.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>

namespace osier {

namespace {

/// Indices of the points that lie on their predecessor (for a closed curve also n - 1 when it lies on point 0).
/// "On" is relative to the whole curve: a segment of 1e-12 of its length has no usable direction.
std::vector<std::size_t> coincident_points(const std::vector<Vec3d>& points, bool closed) {
  const double tolerance = 1e-12 * polyline_length(points, closed);
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (norm(points[i] - points[i - 1]) <= tolerance) found.push_back(i);
  if (closed && points.size() > 2 && norm(points.back() - points.front()) <= tolerance) found.push_back(points.size() - 1);
  return found;
}

bool is_separator(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

/// All numbers of a line; nothing when some word is not a number. std::from_chars ignores the locale, unlike stod.
std::optional<std::vector<double>> numbers_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<double> numbers;
  const char *at = line.data(), *end = at + line.size();
  for (;;) {
    while (at != end && is_separator(*at)) ++at;
    if (at == end) return numbers;
    if (*at == '+' && at + 1 != end && at[1] != '-') ++at;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (next != end && !is_separator(*next))) return {};
    numbers.push_back(value);
    at = next;
  }
}

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

void PolylineShape::prepare(const std::string& folder, Problems& problems) {
  points_.clear();
  const std::filesystem::path path = std::filesystem::path(folder) / file;
  std::ifstream in(path);
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(path, ignored)) {
    problems.add(where + "/file", "cannot read " + path.string(), "check the name; relative names start at the scene's folder");
    return;
  }
  std::vector<int> line_of_point;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto numbers = numbers_of(line);
    if (numbers && numbers->empty()) continue;
    const std::string at = path.string() + ", line " + std::to_string(number);
    if (!numbers || numbers->size() != 3) {
      problems.add(where + "/file", at + " is not a point", "write three numbers: x y z");
      return;
    }
    points_.push_back({(*numbers)[0], (*numbers)[1], (*numbers)[2]});
    line_of_point.push_back(number);
    if (!is_finite(points_.back())) {
      problems.add(where + "/file", at + " is not finite", "use finite numbers");
      return;
    }
  }
  const std::size_t least = is_closed ? 3 : 2;
  if (points_.size() < least) {
    problems.add(where + "/file", path.string() + " has " + std::to_string(points_.size()) + " points",
                 "give at least " + std::to_string(least));
    return;
  }
  for (std::size_t i : coincident_points(points_, is_closed))
    problems.add(where + "/file",
                 path.string() + ", line " + std::to_string(line_of_point[i]) + " coincides with a neighbouring point",
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
