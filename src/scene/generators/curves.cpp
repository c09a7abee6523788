#include "scene/generators/curves.hpp"

#include <fmt/format.h>
#include <map>
#include <set>

#include "core/folders.hpp"
#include "io/curves/edit.hpp"
#include "scene/generators/curve_source.hpp"
#include "scene/shape.hpp"

namespace osier {

namespace {

/// Ten thousand curves can be wrong in the same way; a few of them are enough.
constexpr int kMostProblems = 5;

/// The segments that meet at a shared vertex, by the curve that brings them there: two, or one at a curve's end.
using Meeting = std::vector<std::vector<Index>>;

/// Every segment of one curve keeps its angle with every segment of another.
void tie(RodGraph& graph, const Meeting& passes) {
  for (std::size_t i = 0; i < passes.size(); ++i)
    for (std::size_t j = i + 1; j < passes.size(); ++j)
      for (Index s : passes[i])
        for (Index t : passes[j])
          if (s != t && graph.segments[s].section.bends() && graph.segments[t].section.bends()) graph.add_joint(s, t);
}

}  // namespace

std::size_t Curves::segment_count(std::size_t k) const {
  const std::size_t points = set_.curve(k).size();
  return set_.closed[k] ? points : points - 1;
}

void Curves::prepare(const StructureContext& context, Problems& problems) {
  const Section section = context.section(material);
  std::optional<CurveSet> set =
      edited_curves([&] { return read_curves(file_of_scene(context.folder, file, file), reading); }, edits, where, problems);
  if (!set) return;
  set_ = std::move(*set);
  for (Vec3d& p : set_.points) p = p + move;
  check_curves(section, problems);
  if (!problems.mentions(where)) make_sections(context, section);
}

/// Where n curves share a point, each brings up to two segments, and each of these is joined with those of every other.
GraphSize Curves::size() const {
  GraphSize size{.segments = 0, .joints = 0, .rods = static_cast<double>(set_.size())};
  for (std::size_t k = 0; k < set_.size(); ++k) size.segments += static_cast<double>(set_.curve(k).size());
  std::map<std::size_t, double> others;  // of a shared point
  for (const auto& [low, other] : set_.welds) ++others[low];
  size.joints = size.segments;
  for (const auto& [low, n] : others) size.joints += knots ? 2 * n * (n + 1) : 0;
  return size;
}

void Curves::check_curves(const Section& section, Problems& problems) const {
  if (set_.size() == 0) problems.add(where + "/file", file + " has no curves", "choose another file");
  int bad = 0;
  for (std::size_t k = 0; k < set_.size() && bad < kMostProblems; ++k) {
    const std::string title = "curve " + curve_title(set_, k);
    const std::vector<Vec3d> points(set_.curve(k).begin(), set_.curve(k).end());
    const bool closed = set_.closed[k] != 0;
    const std::size_t least = closed ? 3 : 2;
    if (points.size() < least) {
      problems.add(where + "/file", fmt::format("{} has {} points, a rod needs {}", title, points.size(), least),
                   "leave it out with `select`");
      ++bad;
      continue;
    }
    if (!std::isfinite(polyline_length(points, closed))) {
      problems.add(where + "/file", title + " is not of finite length", "use a smaller `scale`");
      ++bad;
    }
    if (const auto same = coincident_points(points, closed); !same.empty()) {
      problems.add(where + "/file", fmt::format("point {} of {} coincides with a neighbouring point", same[0], title),
                   "resample with `segment_length` or `segments`");
      ++bad;
    }
  }
  if (radius != RadiusSource::from_file) return;
  if (set_.widths.empty()) problems.add(where + "/radius", file + " has no widths", "use the material's radius");
  else if (!(section.radius > 0)) problems.add(where + "/radius", "has nothing to scale", "give the material a radius");
  for (std::size_t k = 0; k < set_.size() && bad < kMostProblems && !set_.widths.empty(); ++k)
    for (std::size_t p = set_.start[k]; p < set_.start[k + 1]; ++p)
      if (!(set_.widths[p] > 0)) {
        problems.add(where + "/radius", fmt::format("point {} of curve {} has no width", p - set_.start[k], curve_title(set_, k)),
                     "use the material's radius");
        ++bad;
        break;
      }
}

void Curves::make_sections(const StructureContext& context, const Section& section) {
  sections_.clear();
  for (std::size_t k = 0; k < set_.size(); ++k)
    for (std::size_t i = 0, n = set_.curve(k).size(); i < segment_count(k); ++i) {
      double scale = 1;
      if (radius == RadiusSource::from_file) {
        const double* width = set_.widths.data() + set_.start[k];
        scale = 0.25 * (width[i] + width[(i + 1) % n]) / section.radius;
      }
      context.note_use(material, section, scale);
      sections_.push_back(scaled(section, scale));
    }
}

std::vector<std::string> Curves::piece_names() const {
  std::vector<std::string> names;
  const bool unique_ids = std::set(set_.ids.begin(), set_.ids.end()).size() == set_.size();
  for (std::size_t k = 0; k < set_.size(); ++k) {
    std::string word = set_.names.empty() ? "" : set_.names[k];
    for (char& c : word)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
    names.push_back(!word.empty() ? word : unique_ids ? std::to_string(set_.ids[k]) : std::to_string(k));
  }
  std::map<std::string, int> count, used;
  for (const std::string& word : names) ++count[word];
  std::set<std::string> taken(names.begin(), names.end());
  taken.insert({"starts", "ends"});
  for (std::string& word : names) {
    if (count[word] == 1 && word != "starts" && word != "ends") continue;
    std::string numbered;
    do numbered = fmt::format("{}_{}", word, used[word]++);
    while (taken.contains(numbered));
    taken.insert(numbered);
    word = std::move(numbered);
  }
  return names;
}

void Curves::build(RodGraph& graph, const std::string& prefix) const {
  // A welded point takes the vertex of the lowest point of its star.
  std::map<std::size_t, std::size_t> star;
  for (const auto& [low, other] : set_.welds) star[other] = low;
  std::vector<Index> vertex(set_.points.size());
  for (std::size_t p = 0; p < set_.points.size(); ++p) {
    const auto at = star.find(p);
    vertex[p] = at == star.end() ? graph.add_vertex(set_.points[p]) : vertex[at->second];
  }
  const std::vector<std::string> names = piece_names();
  RodInfo starts{.name = prefix + ".starts", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  RodInfo ends{.name = prefix + ".ends", .vertices = {}, .segments = {}, .joints = {}, .closed = false};
  std::map<Index, Meeting> meeting;  // by shared vertex
  for (const auto& [low, other] : set_.welds) meeting[vertex[low]];
  std::vector<Index> path;
  for (std::size_t k = 0, first = 0; k < set_.size(); first += segment_count(k), ++k) {
    path.assign(vertex.begin() + static_cast<std::ptrdiff_t>(set_.start[k]),
                vertex.begin() + static_cast<std::ptrdiff_t>(set_.start[k + 1]));
    const bool closed = set_.closed[k] != 0;
    const RodInfo& rod =
        graph.rods[graph.add_chain(prefix + "." + names[k], path, std::span(sections_).subspan(first, segment_count(k)), closed)];
    const std::size_t n = rod.segments.size();
    for (std::size_t i = 0; i < path.size(); ++i) {
      const auto shared = meeting.find(path[i]);
      if (shared == meeting.end()) continue;
      std::vector<Index>& here = shared->second.emplace_back();
      if (closed || i > 0) here.push_back(rod.segments[(i + n - 1) % n]);
      if (closed || i + 1 < path.size()) here.push_back(rod.segments[i]);
    }
    if (closed) continue;
    starts.vertices.push_back(rod.vertices.front()), starts.segments.push_back(rod.segments.front());
    ends.vertices.push_back(rod.vertices.back()), ends.segments.push_back(rod.segments.back());
  }
  if (knots)
    for (const auto& [v, passes] : meeting) tie(graph, passes);
  graph.rods.push_back(std::move(starts));
  graph.rods.push_back(std::move(ends));
}

}  // namespace osier
