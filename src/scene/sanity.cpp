#include "scene/sanity.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "forces/loads.hpp"
#include "math/quat.hpp"

namespace osier {

namespace {

/// The worst of one kind, and how many rods or structures have it.
class Oddity {
 public:
  void add(const std::string& where, double badness, const std::string& text) {
    places_.insert(where);
    if (badness <= worst_) return;
    worst_ = badness;
    where_ = where, text_ = text;
  }
  void tell(std::vector<std::string>& list) const {
    if (places_.empty()) return;
    const std::size_t others = places_.size() - 1;
    list.push_back(where_ + ": " + text_ + (others > 0 ? fmt::format(" ({} more like this)", others) : ""));
  }

 private:
  std::set<std::string> places_;
  double worst_ = 0;
  std::string where_, text_;
};

/// Of the section across its thinner side: a strip of metal is as thin as its thickness.
double thin_radius(const Section& section) {
  const double bend = std::min(section.bend_twist.d1, section.bend_twist.d2), stretch = section.stretch_shear.d3;
  return bend > 0 && stretch > 0 ? std::min(section.radius, 2 * std::sqrt(bend / stretch)) : section.radius;
}

using Origin = std::function<const std::string&(Index)>;

void look_at_sizes(const RodGraph& graph, const Origin& origin, std::vector<std::string>& list) {
  constexpr double kThickest = 1, kLongest = 1000;  // [m]
  Oddity short_segment, millimetres;
  for (std::size_t s = 0; s < graph.segments.size(); ++s) {
    const GraphSegment& segment = graph.segments[s];
    constexpr double kRounding = 1e-9;
    const double r = thin_radius(segment.section), l = segment.rest_length;
    const std::string& where = origin(static_cast<Index>(s));
    if (r > l * (1 + kRounding) && l > 0)
      short_segment.add(
          where, r / l,
          fmt::format("a segment of {:.3g} m is shorter than the rod's radius, {:.3g} m; use fewer segments, or check "
                      "the radius",
                      l, r));
    if (const double whole = segment.section.radius; whole >= kThickest)
      millimetres.add(where, whole,
                      fmt::format("a rod of radius {:.3g} m; lengths are in metres, were these millimetres?", whole));
  }
  for (const RodInfo& rod : graph.rods) {
    double length = 0;
    for (const Index s : rod.segments) length += graph.segments[s].rest_length;
    const bool one_rod = !rod.segments.empty() && rod.vertices.size() == rod.segments.size() + (rod.closed ? 0 : 1);
    if (one_rod && length >= kLongest)
      millimetres.add(origin(rod.segments.front()), length,
                      fmt::format("a rod of {:.3g} m; lengths are in metres, were these millimetres?", length));
  }
  short_segment.tell(list);
  millimetres.tell(list);
}

/// A round section of radius r cannot follow a centreline of radius less than r.
void look_at_curvature(const RodGraph& graph, const Origin& origin, std::vector<std::string>& list) {
  Oddity tight;
  for (const GraphJoint& joint : graph.joints) {
    const GraphSegment &a = graph.segments[joint.a], &b = graph.segments[joint.b];
    const Vec3d u = graph.direction(joint.a), v = graph.direction(joint.b);
    const double turn = std::atan2(norm(cross(u, v)), dot(u, v)), r = std::max(thin_radius(a.section), thin_radius(b.section));
    if (turn > kCornerAngle || !(joint.length > 0) || !(turn * r > joint.length)) continue;
    tight.add(origin(joint.a), turn * r / joint.length,
              fmt::format("the rod is bent at rest to a radius of {:.3g} m, less than its own, {:.3g} m; check the radius",
                          joint.length / turn, r));
  }
  tight.tell(list);
}

/// Parts of the graph that gravity takes away.
void look_at_gravity(const Setup& setup, const RodGraph& graph, const Origin& origin, std::vector<std::string>& list) {
  if (!setup.spec.dynamic() || setup.spec.contact) return;  // a static analysis refuses them, and others may catch them
  const Force* gravity = nullptr;
  for (const auto& f : setup.spec.forces)
    if (const auto* g = dynamic_cast<const Gravity*>(f.get()); g && !gravity)
      for (const auto& key : g->acceleration.keys)
        if (norm2(key.value) > 0) gravity = g;
  if (!gravity) return;
  std::vector<Index> part(graph.vertices.size());
  std::iota(part.begin(), part.end(), 0);
  const auto root = [&](Index v) {
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
  };
  for (const GraphSegment& s : graph.segments) part[root(s.a)] = root(s.b);
  for (const GraphJoint& j : graph.joints) part[root(graph.segments[j.a].a)] = root(graph.segments[j.b].a);
  std::set<Index> held;
  for (const auto& c : setup.spec.constraints) {
    std::vector<Index> vertices, frames;
    if (c && !c->yields()) c->list_held(vertices, frames);  // a plane may be one in which everything falls
    for (const Index v : vertices)
      if (v >= 0) held.insert(root(v));
  }
  Oddity falling;
  std::set<Index> loose;
  for (std::size_t s = 0; s < graph.segments.size(); ++s)
    if (const Index r = root(graph.segments[s].a); !held.contains(r) && loose.insert(r).second)
      falling.add(origin(static_cast<Index>(s)), 1,
                  "nothing holds it, and gravity acts: it falls freely; pin a vertex, or leave gravity out");
  falling.tell(list);
}

}  // namespace

std::vector<std::string> oddities(const Setup& setup, const RodGraph& graph, const Origin& origin) {
  std::vector<std::string> list;
  look_at_sizes(graph, origin, list);
  look_at_curvature(graph, origin, list);
  look_at_gravity(setup, graph, origin, list);
  return list;
}

std::string oddity_of_modulus(const std::string& where, double young) {
  constexpr double kSoftest = 1e3, kStiffest = 1e12;  // [Pa]: softer than jelly, stiffer than diamond
  if (young >= kSoftest && young <= kStiffest) return {};
  return fmt::format(
      "{}: Young's modulus of {:.3g} Pa, {}; moduli are in pascal", where, young,
      young < kSoftest ? "softer than any solid (rubber has 1e6 to 1e8)" : "stiffer than any solid (steel has 2e11)");
}

}  // namespace osier
