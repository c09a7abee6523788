#include "forces/file_motion.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "core/fields.hpp"
#include "io/curves/edit.hpp"
#include "math/vec3.hpp"

namespace osier {

namespace {

Vec3d blend(const std::vector<Vec3d>& values, const SampleWeights& w) {
  Vec3d sum{};
  for (int k = 0; k < 4; ++k)
    if (w.weight[k] != 0) sum = sum + w.weight[k] * values[w.at[k]];
  return sum;
}

Quatd blend(const std::vector<Quatd>& values, const SampleWeights& w) {
  Quatd sum{0, 0, 0, 0};
  for (int k = 0; k < 4; ++k) {
    const Quatd& q = values[w.at[k]];
    const double s = w.weight[k];
    sum = {sum.x + s * q.x, sum.y + s * q.y, sum.z + s * q.z, sum.w + s * q.w};
  }
  return normalized(sum);
}

/// Where a curve goes at one of its points.
Vec3d direction(const CurveSet& set, std::size_t point) {
  const std::size_t k = curve_of(set, point), first = set.start[k], last = set.start[k + 1] - 1;
  if (point < last) return normalized(set.points[point + 1] - set.points[point]);
  return first < last ? normalized(set.points[point] - set.points[point - 1]) : Vec3d{};
}

/// Finds the nearest of many points by the cells of a grid as wide as the largest distance asked for.
class PointGrid {
 public:
  PointGrid(const std::vector<Vec3d>& points, double reach) : points_(points), width_(std::max(reach, 1e-9)) {
    for (std::size_t p = 0; p < points.size(); ++p) cells_[cell(points[p])].push_back(p);
  }
  /// Within the reach, or nothing.
  std::optional<std::size_t> nearest(const Vec3d& x) const {
    std::optional<std::size_t> best;
    double least = width_ * width_;
    const Cell c = cell(x);
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k) {
          const auto found = cells_.find({c[0] + i, c[1] + j, c[2] + k});
          if (found == cells_.end()) continue;
          for (const std::size_t p : found->second)
            if (const double d = norm2(points_[p] - x); d < least || (d == least && !best)) least = d, best = p;
        }
    return best;
  }

 private:
  using Cell = std::array<std::int64_t, 3>;
  Cell cell(const Vec3d& x) const {
    const auto index = [&](double v) { return static_cast<std::int64_t>(std::clamp(std::floor(v / width_), -4e18, 4e18)); };
    return {index(x.x), index(x.y), index(x.z)};
  }
  const std::vector<Vec3d>& points_;
  double width_;
  std::map<Cell, std::vector<std::size_t>> cells_;
};

}  // namespace

SampleWeights sample_weights(const std::vector<double>& times, double time, SampleInterpolation how) {
  SampleWeights w;
  const auto next = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), time) - times.begin());
  if (next == 0) return w;
  if (next == times.size()) {
    w.at[0] = times.size() - 1;
    return w;
  }
  const std::size_t b = next - 1, c = next, a = b > 0 ? b - 1 : b, d = c + 1 < times.size() ? c + 1 : c;
  const double span = times[c] - times[b], s = (time - times[b]) / span;
  w.at[0] = a, w.at[1] = b, w.at[2] = c, w.at[3] = d;
  w.weight[0] = w.weight[3] = 0;
  if (how == SampleInterpolation::linear) {
    w.weight[1] = 1 - s, w.weight[2] = s;
    return w;
  }
  // Hermite: h00 x_b + h10 span m_b + h01 x_c + h11 span m_c, with the slopes m of parabolas, or of lines at the ends.
  const double s2 = s * s, s3 = s2 * s;
  const double h00 = 2 * s3 - 3 * s2 + 1, h10 = s3 - 2 * s2 + s, h01 = 3 * s2 - 2 * s3, h11 = s3 - s2;
  w.weight[1] = h00, w.weight[2] = h01;
  const auto add_slope = [&](double factor, int before, int middle, int after) {
    const double t0 = times[w.at[before]], t1 = times[w.at[middle]], t2 = times[w.at[after]];
    const double left = t1 - t0, right = t2 - t1;
    if (left == 0 || right == 0) {  // an end: the slope of the line
      const int from = left == 0 ? middle : before, to = left == 0 ? after : middle;
      const double length = left == 0 ? right : left;
      w.weight[from] -= factor / length, w.weight[to] += factor / length;
      return;
    }
    const double whole = left + right;
    w.weight[before] -= factor * right / (left * whole);
    w.weight[middle] += factor * (right - left) / (left * right);
    w.weight[after] += factor * left / (right * whole);
  };
  add_slope(h10 * span, 0, 1, 2);
  add_slope(h11 * span, 1, 2, 3);
  return w;
}

bool FileMotion::read_short(const Json& j, const std::string& at, Problems&) {
  if (!j.is_string()) return false;
  file = j.get<std::string>();
  where = at;
  return true;
}

OrderedJson FileMotion::short_schema(FieldDoc& doc) {
  doc.type = "a file, or a [motion_file](#motion_file)";
  return {{"type", "string"}};
}

void FileMotion::load(const std::string& folder, Problems& problems) {
  recorded_ = {};
  followed_.clear();
  try {
    recorded_ = read_motion(std::filesystem::path(folder) / file, {.prim = prim, .up = up, .scale = scale});
  } catch (const InputError& error) {
    for (const Problem& p : error.problems()) problems.add(where, p.where + ": " + p.what, p.remedy);
    return;
  }
  if (is_of_body() && !select.empty()) problems.add(where + "/select", "has no effect on a body", "leave it out");
  if (!select.empty() && !is_of_body()) {
    const std::size_t before = problems.size();
    for (CurveSet& set : recorded_.curves) {
      Problems inner;
      set = selected(set, select, inner);
      if (inner.empty()) continue;
      problems.add(where + "/select", "\"" + shorten(select) + "\" does not select curves of the file", "see `osier info FILE`");
      break;
    }
    if (problems.size() != before) return;
  }
  at_start_ = sample_weights(recorded_.times, start, interpolation);
}

void FileMotion::follow(const std::vector<Vec3d>& places, bool turning, Problems& problems) {
  if (recorded_.times.empty() || is_of_body()) return;
  constexpr int kMostProblems = 5;
  std::vector<Vec3d> points;
  for (std::size_t p = 0; p < recorded_.curves[0].points.size(); ++p) {
    Vec3d sum{};
    for (int k = 0; k < 4; ++k) sum = sum + at_start_.weight[k] * recorded_.curves[at_start_.at[k]].points[p];
    points.push_back(sum);
  }
  const PointGrid grid(points, tolerance);
  int lost = 0;
  for (const Vec3d& x : places) {
    const auto found = grid.nearest(x);
    if (!found) {
      if (lost++ < kMostProblems)
        problems.add(where,
                     fmt::format("no point of the curves lies within {:g} m of a held vertex at ({:.4g}, {:.4g}, {:.4g})",
                                 tolerance, x.x, x.y, x.z),
                     "hold the vertices where the curves begin, check `scale`, `up` and `start`, or raise `tolerance`");
      continue;
    }
    Followed f;
    Vec3d before{};
    for (std::size_t i = 0; i < recorded_.curves.size(); ++i) {
      const CurveSet& set = recorded_.curves[i];
      f.place.push_back(set.points[*found]);
      if (!turning) continue;
      const Vec3d now = direction(set, *found);
      if (i == 0) f.turn.emplace_back();
      else f.turn.push_back(normalized(rotation_between(before, now) * f.turn.back()));
      before = now;
    }
    f.place_at_start = blend(f.place, at_start_);
    if (turning) f.turn_at_start = blend(f.turn, at_start_);
    followed_.push_back(std::move(f));
  }
  if (lost > 0) followed_.clear();
}

FileMotion::Moment FileMotion::at(double time) const {
  Moment m;
  if (recorded_.times.empty()) return m;
  m.now = sample_weights(recorded_.times, start + time, interpolation);
  if (!is_of_body()) {
    if (!followed_.empty()) m.points = this;
    return m;
  }
  m.center = blend(recorded_.position, at_start_);
  m.shift = blend(recorded_.position, m.now) - m.center;
  m.turn = normalized(blend(recorded_.rotation, m.now) * conj(blend(recorded_.rotation, at_start_)));
  return m;
}

Vec3d FileMotion::Moment::place(const Vec3d& x, std::size_t item) const {
  if (!points) return center + shift + rotate(turn, x - center);
  const Followed& f = points->followed_[item];
  return x + (blend(f.place, now) - f.place_at_start);
}

Quatd FileMotion::Moment::turn_of(std::size_t item) const {
  if (!points) return turn;
  const Followed& f = points->followed_[item];
  return f.turn.empty() ? Quatd{} : normalized(blend(f.turn, now) * conj(f.turn_at_start));
}

}  // namespace osier
