#include "io/yarn.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "io/tubes.hpp"
#include "math/quat.hpp"
#include "osier/error.hpp"

namespace osier {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kMostPoints = 1e8;  ///< more is a slip of the pen

/// Catmull-Rom through four points, from the second to the third.
Vec3d smooth(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d, double t) {
  const Vec3d m0 = 0.5 * (c - a), m1 = 0.5 * (d - b);
  const double t2 = t * t, t3 = t2 * t;
  return (2 * t3 - 3 * t2 + 1) * b + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * c + (t3 - t2) * m1;
}

}  // namespace

Yarn::Yarn(const CurveFrame& first, const YarnOptions& options) : options_(options), width_(usual_width(first.curves)) {
  const CurveSet& c = first.curves;
  double points = 0;
  for (std::size_t k = 0; k < c.size(); ++k) {
    Strand strand{{}, options.ply_twist, options.fibre_twist};
    const auto x = c.curve(k);
    const std::size_t n = x.size();
    const bool closed = c.closed[k] && n > 2;
    const std::size_t segments = n < 2 ? 0 : closed ? n : n - 1;
    double length = 0, width = 0;
    for (std::size_t i = 0; i < segments; ++i) length += norm(x[(i + 1) % n] - x[i]);
    for (std::size_t p = c.start[k]; p < c.start[k + 1]; ++p)
      width += (c.widths.empty() ? width_ : c.widths[p]) / static_cast<double>(n);
    if (strand.ply_turns == 0 && width > 0) strand.ply_turns = 1 / (8 * width);
    if (strand.fibre_turns == 0) strand.fibre_turns = -strand.ply_turns;
    if (closed && length > 0)
      for (double* turns : {&strand.ply_turns, &strand.fibre_turns}) *turns = std::round(*turns * length) / length;
    const double turns = std::max(std::abs(strand.ply_turns), std::abs(strand.fibre_turns));
    double s = 0;
    for (std::size_t i = 0; i < segments; ++i) {
      const double l = norm(x[(i + 1) % n] - x[i]);
      const double pieces = std::max(1.0, std::ceil(l * turns * options.samples_per_turn));
      points += pieces * options.plies * options.fibres;
      if (points > kMostPoints)
        throw InputError(
            {{"--plies",
              fmt::format("{} plies of {} fibres make more than {:.0e} points", options.plies, options.fibres, kMostPoints),
              "use fewer fibres, less twist or --select"}});
      for (double j = 0; j < pieces; ++j) strand.places.push_back({i, j / pieces, s + l * j / pieces});
      s += l;
    }
    if (!closed && segments > 0) strand.places.push_back({segments - 1, 1, s});
    strands_.push_back(std::move(strand));
  }
}

CurveFrame Yarn::fibres(const CurveFrame& frame) const {
  const CurveSet& c = frame.curves;
  if (c.size() != strands_.size()) throw RunError("yarn: a frame has other curves than the first");
  const std::vector<Vec3d> normals = frame.normals.empty() ? untwisted_normals(c) : frame.normals;
  CurveFrame out{.index = frame.index, .time = frame.time, .curves = {}, .normals = {}, .velocities = {}};
  // Round plies side by side fill a round yarn: their radius r and that of their circle, R - r.
  const double sine = options_.plies > 1 ? std::sin(std::numbers::pi / options_.plies) : 0;
  const double ply_radius = options_.plies > 1 ? sine / (1 + sine) : 1;  // in units of the yarn's
  const double fibre_radius = ply_radius * std::sqrt(0.65 / options_.fibres);
  const double golden = kTurn * (1 - 1 / std::numbers::phi);
  std::int64_t id = 0;
  for (std::size_t k = 0; k < c.size(); ++k) {
    const Strand& strand = strands_[k];
    const auto x = c.curve(k);
    const std::size_t n = x.size(), first = c.start[k];
    const bool closed = c.closed[k] && n > 2;
    if (strand.places.empty()) continue;
    // The centre line, its radius and its axes at every place.
    struct Station {
      Vec3d centre, d1, d2;
      double radius;
    };
    std::vector<Station> stations;
    for (const Place& place : strand.places) {
      const std::size_t i = place.segment, next = (i + 1) % n;
      const std::size_t before = closed   ? (i + n - 1) % n
                                 : i == 0 ? i
                                          : i - 1,
                        after = closed ? (i + 2) % n : std::min(i + 2, n - 1);
      const auto width = [&](std::size_t p) { return c.widths.empty() ? width_ : c.widths[first + p]; };
      Station station;
      station.centre = smooth(x[before], x[i], x[next], x[after], place.t);
      const double h = 1e-3;
      Vec3d t = normalized(smooth(x[before], x[i], x[next], x[after], std::min(1.0, place.t + h)) -
                           smooth(x[before], x[i], x[next], x[after], std::max(0.0, place.t - h)));
      if (norm2(t) < 0.5) t = {0, 0, 1};
      const Vec3d d = (1 - place.t) * normals[first + i] + place.t * normals[first + next];
      station.d1 = normalized(d - dot(d, t) * t);
      if (norm2(station.d1) < 0.5) station.d1 = normalized(cross(t, std::abs(t.x) < 0.7 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}));
      station.d2 = cross(t, station.d1);
      station.radius = 0.5 * ((1 - place.t) * width(i) + place.t * width(next));
      stations.push_back(station);
    }
    for (int ply = 0; ply < options_.plies; ++ply)
      for (int fibre = 0; fibre < options_.fibres; ++fibre) {
        const double rho = options_.fibres == 1 ? 0 : (ply_radius - fibre_radius) * std::sqrt((fibre + 0.5) / options_.fibres);
        for (std::size_t j = 0; j < stations.size(); ++j) {
          const Station& at = stations[j];
          const double s = strand.places[j].s;
          const double a = kTurn * (static_cast<double>(ply) / options_.plies + strand.ply_turns * s);
          const double b = a + golden * fibre + kTurn * (strand.fibre_turns - strand.ply_turns) * s;
          const double u = (1 - ply_radius) * std::cos(a) + rho * std::cos(b),
                       v = (1 - ply_radius) * std::sin(a) + rho * std::sin(b);
          const Vec3d offset = u * at.d1 + v * at.d2;
          out.curves.points.push_back(at.centre + at.radius * offset);
          out.curves.widths.push_back(2 * fibre_radius * at.radius);
          const Vec3d radial = normalized(std::cos(b) * at.d1 + std::sin(b) * at.d2);
          out.normals.push_back(radial);
        }
        out.curves.start.push_back(out.curves.points.size());
        out.curves.closed.push_back(closed ? 1 : 0);
        out.curves.ids.push_back(id++);
        if (!c.names.empty()) out.curves.names.push_back(fmt::format("{}/{}/{}", c.names[k], ply, fibre));
      }
  }
  return out;
}

}  // namespace osier
