#include "render/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "render/centerline.hpp"

namespace osier::render {

namespace {

constexpr double kChordError = 0.15;  ///< farthest a piece may be from the curve [pixels]
constexpr double kThinnest = 0.32;    ///< least radius [pixels]
/// The same of hair, which may be wider as its coverage makes up for it: narrower lines look like strings of beads where they
/// cross from one row of pixels to the next.
constexpr double kThinnestHair = 0.6;
constexpr int kMostPieces = 96;  ///< of one span, however near the camera is
constexpr double kTwoPi = 2 * std::numbers::pi;

/// Pieces for an arc of length l that turns by the angle: its sagitta is l angle / (8 pieces^2).
int pieces_of_arc(double length, double angle, double tolerance) {
  return std::clamp(static_cast<int>(std::ceil(std::sqrt(length * angle / (8 * tolerance)))), 1, kMostPieces);
}

struct Builder {
  const Camera& camera;
  const GeometryOptions& options;
  std::uint32_t fiber = 0;  ///< number of the strand at hand
  Geometry out{};

  double pixel_at(const Vec3d& p) const { return std::max(camera.pixel_size(p), 1e-12); }
  double radius_at(const CurvePoint& p) const {
    return std::max(options.thickness * p.radius, (is_hair() ? kThinnestHair : kThinnest) * pixel_at(p.position));
  }
  bool is_hair() const { return options.style == Style::hair; }

  void add_point(const Vec3d& position, double radius, const Vec3d& tangent, const Rgb& color) {
    const Vec3f p = cast<float>(position);
    out.point.push_back({p.x, p.y, p.z, static_cast<float>(radius)});
    out.tangent.push_back(cast<float>(tangent));
    out.color.push_back(color);
  }

  /// Joins the points from `first` on. Where a closed strand meets itself two balls cover the seam.
  void add_pieces(std::size_t first) {
    const std::size_t count = out.point.size() - first;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      out.piece.push_back(static_cast<std::uint32_t>(first + i));
      if (is_hair()) out.fiber.push_back(fiber);
      out.neighbors.push_back(static_cast<std::uint8_t>((i > 0 ? 1 : 0) | (i + 2 < count ? 2 : 0)));
    }
  }

  void add_tube(const Centerline& line) {
    std::size_t first = out.point.size();
    const auto add = [&](const CurvePoint& p) {
      const double radius = radius_at(p);
      add_point(p.position, radius, p.tangent, p.color);
      if (is_hair()) out.coverage.push_back(static_cast<float>(options.thickness * p.radius / radius));
    };
    for (std::size_t i = 0; i < line.spans(); ++i) {
      if (i > 0 && line.corner_before(i)) add_pieces(first), first = out.point.size();
      const int pieces = pieces_of_arc(line.span_length(i), line.span_turn(i), kChordError * pixel_at(line.vertex(i)));
      if (out.point.size() == first) add(line.at(i, 0));
      for (int k = 1; k <= pieces; ++k) add(line.at(i, static_cast<double>(k) / pieces));
    }
    add_pieces(first);
  }

  /// Plies wind around the middle by the material coordinate, starting from d1: what the rod twists, the plies show.
  void add_yarn(const Centerline& line) {
    const int plies = options.plies;
    const double share = plies == 1 ? 1 : std::sin(kTwoPi / 2 / plies) / (1 + std::sin(kTwoPi / 2 / plies));
    double turns_per_length = 1 / (options.pitch * options.thickness * std::max(line.radius(0), 1e-9));
    // Around a closed rod every ply must meet one.
    if (line.closed())
      turns_per_length = std::max(1.0, std::round(turns_per_length * line.length() * plies)) / (line.length() * plies);
    for (int ply = 0; ply < plies; ++ply) {
      const std::size_t first = out.point.size();
      for (std::size_t i = 0; i < line.spans(); ++i) {
        const double tolerance = kChordError * pixel_at(line.vertex(i));
        const double angle = kTwoPi * turns_per_length * line.span_rest_length(i);
        const double offset = (1 - share) * options.thickness * line.radius(i);
        const int pieces = std::min(kMostPieces, std::max(pieces_of_arc(line.span_length(i), line.span_turn(i), tolerance),
                                                          pieces_of_arc(offset * angle, angle, tolerance)));
        for (int k = i == 0 ? 0 : 1; k <= pieces; ++k)
          add_ply_point(line.at(i, static_cast<double>(k) / pieces), ply, share, turns_per_length);
      }
      smooth_tangents(first);
      add_pieces(first);
    }
  }

  void add_ply_point(const CurvePoint& p, int ply, double share, double turns_per_length) {
    const double turns = p.along * turns_per_length + static_cast<double>(ply) / options.plies, angle = kTwoPi * turns;
    const Vec3d outward = std::cos(angle) * p.d1 + std::sin(angle) * cross(p.tangent, p.d1);
    const double radius = radius_at(p);
    add_point(p.position + ((1 - share) * radius) * outward, share * radius, p.tangent, p.color);
    out.outward.push_back(cast<float>(outward));
    out.turns.push_back(static_cast<float>(turns));
  }

  /// A ply's own direction, from its points.
  void smooth_tangents(std::size_t first) {
    const std::size_t last = out.point.size() - 1;
    const auto place = [&](std::size_t i) { return Vec3f{out.point[i][0], out.point[i][1], out.point[i][2]}; };
    for (std::size_t i = first; i <= last; ++i) {
      const Vec3f t = normalized(place(std::min(i + 1, last)) - place(i > first ? i - 1 : first));
      if (norm2(t) > 0) out.tangent[i] = t;
    }
  }
};

/// One after the other, with room taken once: there may be millions of points.
template <class T>
void join(std::vector<Geometry>& parts, Geometry& all, std::vector<T> Geometry::*list) {
  std::size_t size = 0;
  for (const Geometry& part : parts) size += (part.*list).size();
  (all.*list).reserve(size);
  for (Geometry& part : parts) {
    (all.*list).insert((all.*list).end(), (part.*list).begin(), (part.*list).end());
    part.*list = {};
  }
}

}  // namespace

Geometry build_geometry(const Model& model, const Frame& frame, const std::vector<Strand>& strands,
                        const std::vector<Rgb>& segment_color, const Camera& camera, const GeometryOptions& options,
                        const Executor& executor) {
  // In batches of fixed size, so that the order does not depend on the threads.
  constexpr std::size_t kBatch = 64;
  const std::size_t batches = (strands.size() + kBatch - 1) / kBatch;
  std::vector<Geometry> parts(batches);
  executor.for_each_job(batches, [&](std::size_t b) {
    Builder builder{.camera = camera, .options = options};
    for (std::size_t i = b * kBatch; i < std::min((b + 1) * kBatch, strands.size()); ++i) {
      const Centerline line(model, frame, strands[i], segment_color);
      builder.fiber = static_cast<std::uint32_t>(i);
      if (options.style == Style::yarn) builder.add_yarn(line);
      else builder.add_tube(line);
    }
    parts[b] = std::move(builder.out);
  });
  std::uint32_t points = 0;
  for (Geometry& part : parts) {
    for (std::uint32_t& p : part.piece) p += points;
    points += static_cast<std::uint32_t>(part.point.size());
  }
  Geometry all;
  join(parts, all, &Geometry::point), join(parts, all, &Geometry::tangent), join(parts, all, &Geometry::color);
  join(parts, all, &Geometry::piece), join(parts, all, &Geometry::neighbors);
  join(parts, all, &Geometry::outward), join(parts, all, &Geometry::turns);
  join(parts, all, &Geometry::coverage), join(parts, all, &Geometry::fiber);
  const auto whole = [](float c) { return c > 0.999F; };
  if (std::all_of(all.coverage.begin(), all.coverage.end(), whole)) all.coverage.clear(), all.fiber.clear();
  return all;
}

void add_obstacles(const std::vector<osier::Surface>& obstacles, const std::vector<Vec3d>& points,
                   const std::vector<std::uint8_t>& leave_out, Geometry& g) {
  constexpr float kSharp = 0.75F;  // cosine: edges between flatter triangles are smooth
  for (const Vec3d& p : points) g.corner.push_back(cast<float>(p));
  for (const bool inside : {false, true}) {
    std::uint32_t first = 0;
    for (std::size_t o = 0; o < obstacles.size(); first += static_cast<std::uint32_t>(obstacles[o++].points.size())) {
      const osier::Surface& s = obstacles[o];
      if (s.from_inside != inside || leave_out[o] || first + s.points.size() > g.corner.size()) continue;
      std::vector<std::vector<std::size_t>> around(s.points.size());
      const std::size_t begin = g.triangle.size();
      for (const auto& [a, b, c] : s.triangles) {
        for (const Index v : {a, b, c}) around[static_cast<std::size_t>(v)].push_back(g.triangle.size());
        g.triangle.push_back({first + static_cast<std::uint32_t>(a), first + static_cast<std::uint32_t>(b),
                              first + static_cast<std::uint32_t>(c)});
        const Vec3f &p = g.corner[g.triangle.back()[0]], &q = g.corner[g.triangle.back()[1]], &r = g.corner[g.triangle.back()[2]];
        g.flat_normal.push_back(normalized(cross(q - p, r - p)));
      }
      for (std::size_t t = begin; t < g.triangle.size(); ++t) {
        std::array<Vec3f, 3> normals;
        for (std::size_t k = 0; k < 3; ++k) {
          Vec3f sum;
          for (const std::size_t other : around[g.triangle[t][k] - first])
            if (dot(g.flat_normal[other], g.flat_normal[t]) > kSharp) sum += g.flat_normal[other];
          normals[k] = normalized(sum);
        }
        g.corner_normal.push_back(normals);
      }
    }
    if (!inside) g.solid_triangles = g.triangle.size();
  }
}

}  // namespace osier::render
