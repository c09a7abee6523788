#include "sim/compare_runs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <span>

namespace osier {

namespace {

/// A list of numbers, `width` for each element.
struct RunQuantity {
  const char* name;
  const char* element;  ///< or null
  std::span<const double> values;
  std::size_t width;
  bool turns = false;  ///< quaternions: q and -q are the same
};

template <class T>
RunQuantity list_quantity(const char* name, const char* element, std::span<const T> list) {
  return {name,
          element,
          {reinterpret_cast<const double*>(list.data()), list.size() * sizeof(T) / sizeof(double)},
          sizeof(T) / sizeof(double),
          sizeof(T) == sizeof(Quatd)};
}

/// What a frame holds beside vectors, as numbers.
struct FrameNumbers {
  std::vector<double> alive, energy, count, contact, segments;
};

std::vector<RunQuantity> quantities(const Frame& f, FrameNumbers& n) {
  n = {};
  n.alive.assign(f.segment_alive.begin(), f.segment_alive.end());
  for (const ContactPoint& c : f.contacts) {
    n.segments.insert(n.segments.end(), {static_cast<double>(c.a), static_cast<double>(c.b)});
    for (const Vec3d& x : {c.position, c.normal_force, c.friction_force}) n.contact.insert(n.contact.end(), {x.x, x.y, x.z});
    n.contact.push_back(c.gap);
  }
  n.count = {static_cast<double>(f.contacts.size())};
  std::vector<RunQuantity> list{
      {"time", nullptr, {&f.time, 1}, 1},
      list_quantity("position", "vertex", f.vertex_position),
      list_quantity("velocity", "vertex", f.vertex_velocity),
      list_quantity("frame", "segment", f.segment_frame),
      {"segment_alive", "segment", n.alive, 1},
      list_quantity("clamp_frame", "clamp", f.clamp_frame),
      list_quantity("angular_velocity", "segment", f.segment_spin),
      list_quantity("segment_force", "segment", f.segment_force),
      list_quantity("segment_strain", "segment", f.segment_strain),
      list_quantity("joint_moment", "joint", f.joint_moment),
      list_quantity("joint_curvature", "joint", f.joint_curvature),
      list_quantity("obstacle_position", "point", f.obstacle_points),
      {"contacts/count", nullptr, n.count, 1},
      {"contacts/segments", "contact", n.segments, 2},
      {"contacts", "contact", n.contact, 10},
  };
  if (f.report) {
    n.energy = {f.report->kinetic,  f.report->stretch_shear,     f.report->bend_twist,
                f.report->external, f.report->residual_relative, static_cast<double>(f.report->iterations)};
    list.push_back({"energy", nullptr, std::span<const double>(n.energy).first(4), 4});
    list.push_back({"residual_relative", nullptr, std::span<const double>(n.energy).subspan(4, 1), 1});
    list.push_back({"iterations", nullptr, std::span<const double>(n.energy).subspan(5, 1), 1});
  }
  return list;
}

std::string shown(std::span<const double> values) {
  std::string text;
  for (const double x : values) text += fmt::format("{}{:.17g}", text.empty() ? "" : ", ", x);
  return values.size() == 1 ? text : "(" + text + ")";
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// The first element that differs and the one that differs most; nothing where the tolerance holds.
void compare(const RunQuantity& a, const RunQuantity& b, double tolerance, const Frame& frame, std::vector<Difference>& first,
             std::vector<Difference>& largest) {
  if (a.values.size() != b.values.size()) {
    first.push_back({frame.index, frame.time, a.name, "", fmt::format("{} numbers", a.values.size()),
                     fmt::format("{} numbers", b.values.size()), 0});
    return;
  }
  double scale = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) scale = std::max({scale, std::abs(a.values[i]), std::abs(b.values[i])});
  const double allowed = tolerance * scale;
  const Difference* found = nullptr;
  for (std::size_t at = 0; at < a.values.size(); at += a.width) {
    const auto x = a.values.subspan(at, a.width), y = b.values.subspan(at, a.width);
    double apart = 0, apart_negative = 0;
    bool same = true;
    for (std::size_t i = 0; i < a.width; ++i) {
      same = same && same_bits(x[i], y[i]);
      apart = std::max(apart, std::abs(x[i] - y[i]));
      apart_negative = std::max(apart_negative, std::abs(x[i] + y[i]));
    }
    const bool is_number = apart == apart;
    if (a.turns && tolerance > 0) apart = std::min(apart, apart_negative);
    if (same || (tolerance > 0 && is_number && apart <= allowed)) continue;
    const Difference d{frame.index, frame.time, a.name, a.element ? fmt::format("{} {}", a.element, at / a.width) : "",
                       shown(x),    shown(y),   apart};
    if (!found) {
      first.push_back(d);
      found = &first.back();
    }
    const auto known =
        std::find_if(largest.begin(), largest.end(), [&](const Difference& l) { return l.quantity == d.quantity; });
    if (known == largest.end()) largest.push_back(d);
    else if (!(d.size <= known->size)) *known = d;
  }
}

}  // namespace

RunComparison compare_runs(Trajectory& a, Trajectory& b, double tolerance) {
  RunComparison out;
  out.frames_first = a.frame_count(), out.frames_second = b.frame_count();
  out.frames = std::min(out.frames_first, out.frames_second);
  const Model &m = a.model(), &n = b.model();
  const auto unlike = [&](const char* what, auto x, auto y) {
    if (out.unlike.empty() && x != y) out.unlike = fmt::format("the first run has {} {}, the second {}", x, what, y);
  };
  unlike("vertices", m.vertex_count(), n.vertex_count());
  unlike("segments", m.segment_count(), n.segment_count());
  unlike("joints", m.joint_count(), n.joint_count());
  if (out.unlike.empty() && m.segment_vertices != n.segment_vertices) out.unlike = "segments join other vertices";
  if (!out.unlike.empty()) return out;
  const bool bits = tolerance == 0;
  FrameNumbers of_a, of_b;
  for (int f = 0; f < out.frames; ++f) {
    const Frame x = a.read(f), y = b.read(f);
    const std::vector<RunQuantity> p = quantities(x, of_a), q = quantities(y, of_b);
    std::vector<Difference> here;
    for (std::size_t i = 0; i < std::min(p.size(), q.size()); ++i) compare(p[i], q[i], tolerance, x, here, out.largest);
    const bool hashed = x.report && y.report && x.report->state_hash != 0 && y.report->state_hash != 0;
    if (bits && hashed && x.report->state_hash != y.report->state_hash)
      here.push_back({f, x.time, "state_hash", "", fmt::format("{:016x}", x.report->state_hash),
                      fmt::format("{:016x}", y.report->state_hash), 0});
    if (out.first.empty()) out.first = std::move(here);
  }
  return out;
}

}  // namespace osier
