#include "io/guides.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "math/vec3.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

/// Numbers in [0, 1) that depend on where they are used alone, so that exports repeat.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  double roll() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

/// Triangles around a root: pairs of neighbours that follow one another around it and see it under less than half a turn, as in
/// a Delaunay triangulation of the few nearest roots; the scalp is a surface in space, so the turn is measured in its plane.
std::vector<std::array<std::size_t, 2>> triangles_around(std::size_t g, const std::vector<Vec3d>& root,
                                                         const std::vector<std::size_t>& near) {
  Vec3d normal{};
  for (std::size_t i = 0; i < near.size(); ++i)
    for (std::size_t j = i + 1; j < near.size(); ++j) {
      const Vec3d n = cross(root[near[i]] - root[g], root[near[j]] - root[g]);
      normal += dot(n, normal) < 0 ? -n : n;
    }
  normal = normalized(normal);
  if (norm2(normal) < 0.5) return {};
  const Vec3d side = normalized(root[near[0]] - root[g]), up = cross(normal, side);
  std::vector<std::pair<double, std::size_t>> around;
  for (const std::size_t h : near) around.emplace_back(std::atan2(dot(root[h] - root[g], up), dot(root[h] - root[g], side)), h);
  std::sort(around.begin(), around.end());
  std::vector<std::array<std::size_t, 2>> pairs;
  for (std::size_t i = 0; i < around.size(); ++i) {
    const auto& [a, first] = around[i];
    const auto& [b, second] = around[(i + 1) % around.size()];
    const double turn = i + 1 < around.size() ? b - a : b - a + 2 * 3.141592653589793;
    if (first != second && turn > 1e-3 && turn < 3.1) pairs.push_back({first, second});
  }
  return pairs;
}

/// A point of a curve at the fraction f of its points.
Vec3d at_fraction(std::span<const Vec3d> x, double f) {
  const double place = f * static_cast<double>(x.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(place), x.size() - 1), j = std::min(i + 1, x.size() - 1);
  const double t = place - static_cast<double>(i);
  return (1 - t) * x[i] + t * x[j];
}

}  // namespace

GuideStrands::GuideStrands(const CurveFrame& first, int strands_per_guide, double reach) : guides_(first.curves.size()) {
  const CurveSet& c = first.curves;
  Problems problems;
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    problems.add("--strands-per-guide", what, remedy);
  };
  if (c.size() < 3)
    refuse(fmt::format("there are {} guides, and a strand blends three", c.size()), "use a file with more of them");
  for (std::size_t k = 0; k < c.size() && problems.empty(); ++k) {
    if (c.closed[k]) refuse(fmt::format("curve {} is closed and has no root", k), "use --split-closed or --select");
    if (c.curve(k).empty()) refuse(fmt::format("curve {} has no points", k), "leave it out with --select");
  }
  problems.throw_if_any();
  std::vector<Vec3d> root;
  for (std::size_t k = 0; k < guides_; ++k) root.push_back(c.curve(k)[0]);

  // Neighbours through a grid of about two roots a cell, since a head has thousands of guides.
  Vec3d low = root[0], high = root[0];
  for (const Vec3d& r : root) {
    low = {std::min(low.x, r.x), std::min(low.y, r.y), std::min(low.z, r.z)};
    high = {std::max(high.x, r.x), std::max(high.y, r.y), std::max(high.z, r.z)};
  }
  const double size = std::max({high.x - low.x, high.y - low.y, high.z - low.z, 1e-30});
  const int cells = std::max(1, static_cast<int>(std::sqrt(static_cast<double>(guides_) / 2)));
  const auto cell = [&](double v, double from) { return std::min(cells - 1, static_cast<int>((v - from) / size * cells)); };
  const auto key = [&](int x, int y, int z) { return (static_cast<std::int64_t>(x) * cells + y) * cells + z; };
  std::vector<std::pair<std::int64_t, std::size_t>> sorted;
  for (std::size_t k = 0; k < guides_; ++k)
    sorted.emplace_back(key(cell(root[k].x, low.x), cell(root[k].y, low.y), cell(root[k].z, low.z)), k);
  std::sort(sorted.begin(), sorted.end());
  const auto near = [&](std::size_t g) {
    constexpr std::size_t kNeighbours = 6;
    std::vector<std::pair<double, std::size_t>> found;
    const int x = cell(root[g].x, low.x), y = cell(root[g].y, low.y), z = cell(root[g].z, low.z);
    for (int ring = 1;; ring *= 2) {
      found.clear();
      for (int i = std::max(0, x - ring); i <= std::min(cells - 1, x + ring); ++i)
        for (int j = std::max(0, y - ring); j <= std::min(cells - 1, y + ring); ++j) {
          const auto from =
              std::lower_bound(sorted.begin(), sorted.end(), std::pair{key(i, j, std::max(0, z - ring)), std::size_t{0}});
          for (auto at = from; at != sorted.end() && at->first <= key(i, j, std::min(cells - 1, z + ring)); ++at)
            if (const double d = norm(root[at->second] - root[g]); at->second != g && d > 0) found.emplace_back(d, at->second);
        }
      // Those within the ring are certainly the nearest.
      std::sort(found.begin(), found.end());
      const bool certain = found.size() >= kNeighbours && found[kNeighbours - 1].first <= ring * size / cells;
      if (certain || ring >= cells) break;
    }
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < std::min(found.size(), kNeighbours); ++i) list.push_back(found[i].second);
    return list;
  };

  for (std::size_t g = 0; g < guides_; ++g) {
    const std::vector<std::size_t> neighbours = near(g);
    const auto pairs = neighbours.size() < 2 ? std::vector<std::array<std::size_t, 2>>{} : triangles_around(g, root, neighbours);
    Dice dice(g);
    for (int i = 0; i < strands_per_guide; ++i) {
      // Uniform in the triangle, then turned so that the guide itself has the largest share.
      double u = dice.roll(), v = dice.roll();
      const auto pick = static_cast<std::size_t>(dice.roll() * static_cast<double>(std::max<std::size_t>(pairs.size(), 1)));
      if (u + v > 1) u = 1 - u, v = 1 - v;
      std::array<double, 3> w{1 - u - v, u, v};
      std::swap(w[0], *std::max_element(w.begin(), w.end()));
      Strand strand{{g, g, g}, w};
      if (!pairs.empty()) strand.guide = {g, pairs[pick][0], pairs[pick][1]};
      else if (!neighbours.empty()) strand.guide = {g, neighbours[pick % neighbours.size()], g};  // roots in a row
      for (std::size_t j = 1; j < 3; ++j)
        if (reach > 0 && norm(root[strand.guide[j]] - root[g]) > reach) strand.guide[j] = g;
      strands_.push_back(strand);
    }
  }
}

CurveFrame GuideStrands::strands(const CurveFrame& frame) const {
  const CurveSet& c = frame.curves;
  if (c.size() != guides_) throw RunError("strands: a frame has other guides than the first");
  CurveFrame out{.index = frame.index, .time = frame.time, .curves = {}, .normals = {}, .velocities = {}};
  std::vector<std::size_t> number(guides_, 0);
  for (const Strand& strand : strands_) {
    const std::size_t g = strand.guide[0], n = c.curve(g).size();
    for (std::size_t i = 0; i < n; ++i) {
      const double f = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
      Vec3d x{}, d{};
      for (std::size_t j = 0; j < 3; ++j) {
        const std::size_t h = strand.guide[j], m = c.curve(h).size();
        x += strand.weight[j] * at_fraction(c.curve(h), f);
        if (!frame.normals.empty()) d += strand.weight[j] * at_fraction(std::span(frame.normals).subspan(c.start[h], m), f);
      }
      out.curves.points.push_back(x);
      if (!frame.normals.empty()) out.normals.push_back(norm2(d) > 1e-12 ? normalized(d) : frame.normals[c.start[g] + i]);
      if (!c.widths.empty()) out.curves.widths.push_back(c.widths[c.start[g] + i]);
    }
    out.curves.start.push_back(out.curves.points.size());
    out.curves.closed.push_back(0);
    out.curves.ids.push_back(static_cast<std::int64_t>(out.curves.ids.size()));
    if (!c.names.empty()) out.curves.names.push_back(fmt::format("{}/{}", c.names[g], number[g]));
    ++number[g];
  }
  return out;
}

}  // namespace osier
