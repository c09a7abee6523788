// SceneSpec -> Setup: rods and structures into one graph, welds, joints, constraints, selections.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <numeric>
#include <set>

#include "core/free_memory.hpp"
#include "core/text.hpp"
#include "forces/loads.hpp"
#include "osier/io.hpp"
#include "scene/compile_contact.hpp"
#include "scene/sanity.hpp"
#include "scene/setup.hpp"
#include "scene/start.hpp"

namespace osier {

namespace {

class Compiler {
 public:
  Compiler(Setup& setup, Problems& problems) : setup_(setup), spec_(setup.spec), folder_(setup.folder.string()), problems_(problems) {}

  void run();

 private:
  bool affords(const std::string& where, const GraphSize& more);
  void check_plain(const std::string& name, const std::string& where);
  Section section_of(const MaterialRef& ref);
  Index note_use(const MaterialRef& ref, const Section& section, double scale);
  void note_structure(const std::string& name, std::size_t first);
  void check_up(const RodSpec& rod, const std::vector<Vec3d>& rest, int segments);
  void add_rod(RodSpec& rod, std::size_t index);
  std::optional<std::vector<Vec3d>> sample(Shape& shape, const RodSpec& rod, int segments);
  int segment_count(const RodSpec& rod, const Shape& shape);
  void weld();
  void extra_joints();
  void timed_welds();
  void check_timed_welds(const AttachmentContext& context);
  void check_graph();
  const std::string& origin_of(Index segment) const;
  std::string name_of(Index segment) const;
  void build_structures();
  void build(const Structure& structure);
  void bind();
  std::map<Index, Quatd> start(const StartSpec& start);
  void bind_probe(const ProbeSpec& probe, const Names& lookup);
  void bind_place(const ProbeSpec& probe, const Names& lookup);
  void bind_reaction(const ProbeSpec& probe);
  void prepare_obstacles();
  Names names() const {
    return Names(graph_.rods, static_cast<Index>(graph_.vertices.size()), static_cast<Index>(graph_.segments.size()),
                 static_cast<Index>(graph_.joints.size()), missing_, [this] { return places(); });
  }
  ElementPlaces places() const;
  void check_names();
  void check_statics();
  void check_path();
  void add_inertia();
  void add_point_masses(const Names& lookup);

  Setup& setup_;
  SceneSpec& spec_;
  const std::string folder_;
  Problems& problems_;
  RodGraph graph_;
  std::vector<std::string> origin_;                                 ///< per entry of graph_.rods, the JSON pointer it comes from
  std::map<std::string, std::shared_ptr<const Carrier>> carriers_;  ///< obstacles by name
  std::map<std::string, std::size_t> use_;                          ///< of a material's name, where it stands in setup_.materials
  std::vector<std::string> missing_;                                ///< rods and structures that could not be built
  std::vector<Index> structure_material_;                           ///< of the structure at hand, as it noted them
  /// The simulation and its solver take as much again as the scene.
  const double budget_ = 0.5 * static_cast<double>(free_memory());
  GraphSize size_;          ///< of all that has been asked for
  int guesses_left_ = 100;  ///< each is a comparison with every material
  static constexpr std::size_t kMostOddities = 10;
  std::set<std::string> odd_moduli_;
};

/// Whether that much more can be built; a problem when not. Called before anything is allocated for it.
bool Compiler::affords(const std::string& where, const GraphSize& more) {
  // Measured: what a scene takes at its peak while it is compiled [bytes].
  constexpr double kSegment = 750, kJoint = 200, kRod = 500;
  size_.segments += more.segments, size_.joints += more.joints, size_.rods += more.rods;
  const double bytes = kSegment * size_.segments + kJoint * size_.joints + kRod * size_.rods;
  if (size_.segments > kMostSegments) {
    problems_.add(where, fmt::format("makes the scene one of {:.3g} segments", size_.segments), "stay below ten million");
    return false;
  }
  if (bytes <= budget_) return true;
  problems_.add(where,
                fmt::format("makes the scene one of {:.3g} segments and {:.3g} joints, which take about {:.2g} GB while it is "
                            "built; {:.2g} GB are free, and the simulation takes as much again",
                            size_.segments, size_.joints, bytes / 1e9, 2 * budget_ / 1e9),
                "use fewer");
  return false;
}

/// Names become columns of a table and lines of a message, and every name of a run is given the room of the longest.
void Compiler::check_plain(const std::string& name, const std::string& where) {
  constexpr std::size_t kLongest = 255;
  if (has_control_characters(name)) problems_.add(where, "has control characters", "use plain text");
  if (name.size() > kLongest)
    problems_.add(where, fmt::format("is a name of {} bytes", name.size()), fmt::format("use at most {}", kLongest));
}

Section Compiler::section_of(const MaterialRef& ref) {
  const Material* material = ref.own ? &*ref.own : nullptr;
  if (ref.name) {
    const auto it = spec_.materials.find(*ref.name);
    if (it == spec_.materials.end()) {
      std::vector<std::string> known;
      if (guesses_left_-- > 0)
        for (const auto& [name, m] : spec_.materials) known.push_back(name);
      const std::string guess = closest(*ref.name, known);
      problems_.add(ref.where, fmt::format("there is no material \"{}\"", shorten(*ref.name)),
                    guess.empty() ? (known.empty() ? "define it in /materials" : "known: " + shorten(join(known, ", "), 300))
                                  : "did you mean `" + guess + "`?");
      return {};
    }
    material = &it->second;
  }
  if (!material) return {};  // already reported as missing
  if (material->young && *material->young > 0)
    if (const std::string odd =
            oddity_of_modulus((ref.name ? "/materials/" + escape_pointer(*ref.name) : ref.where) + "/young", *material->young);
        !odd.empty() && odd_moduli_.insert(odd).second && odd_moduli_.size() <= kMostOddities)
      setup_.warnings.push_back(odd);
  return material->section(problems_);
}

/// Counts a segment for `osier info`; returns where its material stands in setup_.materials.
Index Compiler::note_use(const MaterialRef& ref, const Section& section, double scale) {
  const std::string& name = ref.name ? *ref.name : ref.where;
  const auto [place, fresh] = use_.try_emplace(name, setup_.materials.size());
  if (fresh) {
    const Material* material = ref.own ? &*ref.own : nullptr;
    if (const auto known = ref.name ? spec_.materials.find(*ref.name) : spec_.materials.end(); known != spec_.materials.end())
      material = &known->second;
    setup_.materials.push_back({.name = name,
                                .section = section,
                                .thinnest = scale,
                                .thickest = scale,
                                .segments = 0,
                                .friction = material ? material->friction : std::nullopt,
                                .young_over_time = material ? material->young_over_time : Track<double>{},
                                .shear_over_time = material ? material->shear_over_time : Track<double>{}});
  }
  MaterialUse& use = setup_.materials[place->second];
  use.thinnest = std::min(use.thinnest, scale);
  use.thickest = std::max(use.thickest, scale);
  ++use.segments;
  return static_cast<Index>(place->second);
}

/// What the segments from `first` on are made of: what the structure noted for each of them, or the structure itself.
void Compiler::note_structure(const std::string& name, std::size_t first) {
  const std::size_t made = graph_.segments.size() - first;
  setup_.segment_material.resize(graph_.segments.size(), -1);
  if (made > 0 && structure_material_.size() == made)
    std::copy(structure_material_.begin(), structure_material_.end(),
              setup_.segment_material.begin() + static_cast<std::ptrdiff_t>(first));
  else if (made > 0) setup_.structures.push_back({name, static_cast<Index>(first), static_cast<Index>(made)});
}

/// Turns a missing or useless direction of the frames into problems.
void Compiler::check_up(const RodSpec& rod, const std::vector<Vec3d>& rest, int segments) {
  if (rod.frame == FrameRule::up && !rod.up && !problems_.mentions(rod.where + "/up"))
    problems_.add(rod.where, "`frame` up without `up`", "add `up`, the direction that d1 follows");
  if (!rod.up) return;
  const int count = rod.frame == FrameRule::up ? segments : 1;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (norm(cross(normalized(*rod.up), normalized(rest[(at + 1) % rest.size()] - rest[at]))) >= 1e-9) continue;
    if (i == 0) problems_.add(rod.where + "/up", "is zero or along the rod", "give a direction across the first segment");
    else problems_.add(rod.where + "/up", fmt::format("runs along segment {}", i), "use another direction, or `frame` transport");
    return;
  }
}

int Compiler::segment_count(const RodSpec& rod, const Shape& shape) {
  if (rod.segments && rod.segment_length) {
    problems_.add(rod.where, "both `segments` and `segment_length` are given", "keep one of them");
    return 0;
  }
  if (rod.segments) {
    if (*rod.segments > kMostSegments) return 0;  // said by the field's range
    if (shape.closed() && *rod.segments < 3) {
      problems_.add(rod.where + "/segments", fmt::format("{} segments cannot close a loop", *rod.segments), "use at least 3");
      return 0;
    }
    return *rod.segments;
  }
  if (rod.segment_length) {
    const double n = std::max(shape.closed() ? 3.0 : 1.0, std::round(shape.length() / *rod.segment_length));
    if (!(n <= kMostSegments)) {
      problems_.add(rod.where + "/segment_length", fmt::format("gives {:.3g} segments", n), "use a longer one");
      return 0;
    }
    return static_cast<int>(n);
  }
  if (!shape.own_points() && !problems_.mentions(rod.where + "/segments") && !problems_.mentions(rod.where + "/segment_length"))
    problems_.add(rod.where, "the curve needs a sampling", "give `segments` or `segment_length`");
  return 0;
}

/// The middle of each segment, as a fraction of the rest length.
static std::vector<double> middles(const std::vector<Vec3d>& rest, int segments) {
  std::vector<double> at(static_cast<std::size_t>(segments));
  double length = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double l = norm(rest[(i + 1) % rest.size()] - rest[i]);
    at[i] = length + 0.5 * l;
    length += l;
  }
  for (double& s : at) s = length > 0 ? s / length : 0;
  return at;
}

void Compiler::add_rod(RodSpec& rod, std::size_t index) {
  if (rod.name.empty()) rod.name = fmt::format("rod{}", index);
  check_plain(rod.name, rod.where + "/name");
  const Section section = section_of(rod.material);
  std::vector<Section> exceptions;
  for (const SegmentMaterial& m : rod.segment_materials) exceptions.push_back(section_of(m.material));
  missing_.push_back(rod.name);  // until the rod stands
  if (!rod.shape) return;
  const std::size_t before = problems_.size();
  if (problems_.mentions(rod.shape->where) || (rod.pose && problems_.mentions(rod.pose->where))) return;
  rod.shape->prepare(folder_, problems_);
  if (rod.pose) rod.pose->prepare(folder_, problems_);
  if (problems_.size() != before) return;

  const int wanted = segment_count(rod, *rod.shape);
  if (problems_.size() != before || (wanted == 0 && !rod.shape->own_points())) return;
  if (!std::isfinite(rod.shape->length())) {
    problems_.add(rod.shape->where, "is not of finite length", "use smaller coordinates");
    return;
  }
  const double planned = wanted > 0 ? wanted : static_cast<double>(rod.shape->own_points()->size());
  if (!affords(rod.where, {.segments = planned, .joints = planned, .rods = 1})) return;
  const std::vector<Vec3d> rest = wanted > 0 ? rod.shape->sample(wanted) : *rod.shape->own_points();
  const bool closed = rod.shape->closed();
  const int segments = static_cast<int>(rest.size()) - (closed ? 0 : 1);
  check_up(rod, rest, segments);

  std::vector<Section> sections(static_cast<std::size_t>(segments), section);
  std::vector<const MaterialRef*> made_of(sections.size(), &rod.material);
  for (std::size_t i = 0; i < exceptions.size(); ++i) {
    const SegmentMaterial& m = rod.segment_materials[i];
    const int first = m.first < 0 ? m.first + segments : m.first, last = m.last < 0 ? m.last + segments : m.last;
    if (first < 0 || last >= segments || first > last) {
      problems_.add(m.where, fmt::format("segments {} to {} do not exist", m.first, m.last),
                    fmt::format("the rod has 0 to {}", segments - 1));
      continue;
    }
    for (int s = first; s <= last; ++s)
      sections[static_cast<std::size_t>(s)] = exceptions[i], made_of[static_cast<std::size_t>(s)] = &m.material;
  }
  const std::vector<double> middle = middles(rest, segments);
  std::vector<Index> material(sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const double scale = rod.taper.given() ? rod.taper.at(middle[i]) : 1;
    material[i] = note_use(*made_of[i], sections[i], scale);
    sections[i] = scaled(sections[i], scale);
  }

  std::vector<Vec3d> pose = rest;
  if (rod.pose) {
    if (rod.pose->closed() != closed) {
      problems_.add(rod.pose->where, closed ? "is open but the rest shape is closed" : "is closed but the rest shape is open",
                    "make them alike");
      return;
    }
    const auto own = rod.pose->own_points();
    pose = own && own->size() == rest.size() ? *own : rod.pose->sample(segments);
  }

  // Growing lists would hold a long rod twice. Not for each of many short ones: that would move them again and again.
  if (rest.size() > graph_.vertices.size()) {
    graph_.vertices.reserve(graph_.vertices.size() + rest.size());
    graph_.segments.reserve(graph_.segments.size() + rest.size());
    graph_.joints.reserve(graph_.joints.size() + rest.size());
  }
  RodInfo info{.name = rod.name, .vertices = {}, .segments = {}, .joints = {}, .closed = closed};
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Index v = graph_.add_vertex(rest[i]);
    GraphVertex& vertex = graph_.vertices[v];
    vertex.position = pose[i];
    vertex.velocity = rod.velocity.linear + cross(rod.velocity.angular, pose[i] - rod.velocity.about);
    info.vertices.push_back(v);
  }
  for (int i = 0; i < segments; ++i) {
    std::optional<Index> like;
    if (i > 0 && rod.frame == FrameRule::transport) like = info.segments.back();
    const auto at = static_cast<std::size_t>(i);
    info.segments.push_back(
        graph_.add_segment(info.vertices[at], info.vertices[(at + 1) % rest.size()], sections[at], like, rod.up));
    graph_.segments[info.segments.back()].pose_twist = rod.pose_twist.at(middle[at]) * std::numbers::pi / 180;
    graph_.segments[info.segments.back()].angular_velocity = rod.velocity.angular;
    setup_.segment_material.resize(graph_.segments.size(), -1);
    setup_.segment_material.back() = material[at];
  }
  const int joints = closed ? segments : segments - 1;
  for (int i = 0; i < joints; ++i) {
    const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>((i + 1) % segments);
    if (sections[a].bends() && sections[b].bends()) info.joints.push_back(graph_.add_joint(info.segments[a], info.segments[b]));
  }
  for (int i = 0, bad = 0; i < segments; ++i) {
    const GraphSegment& s = graph_.segments[info.segments[static_cast<std::size_t>(i)]];
    if (s.rest_length > 0 && std::isfinite(s.rest_length)) continue;
    if (++bad == 1)
      problems_.add(rod.where, fmt::format("segment {} has no length", i), "remove the double point, or use fewer segments");
  }
  graph_.rods.push_back(std::move(info));
  missing_.pop_back();
}

/// Renumbers the graph so that welded vertices become one, then joins the segments that meet there.
void Compiler::weld() {
  std::vector<Index> owner(graph_.vertices.size());
  std::iota(owner.begin(), owner.end(), 0);
  const auto root = [&](Index v) {
    while (owner[v] != v) v = owner[v];
    return v;
  };
  // Welds that keep angles may share vertices: what hangs together is one knot.
  std::vector<Index> knot(owner);
  const auto knot_of = [&](Index v) {
    while (knot[v] != v) v = knot[v];
    return v;
  };
  struct Knot {
    std::vector<Index> vertices;
    std::optional<double> bend_twist;
  };
  std::map<Index, Knot> knots;
  bool welded = false;
  const Names lookup = names();
  for (const WeldSpec& w : spec_.welds) {
    const std::vector<Index> list = lookup.find(w.vertices, Element::vertex, problems_);
    if (w.is_timed()) continue;
    if (list.size() < 2) {
      if (!w.vertices.empty() && list.size() == 1 && missing_.empty())
        problems_.add(w.where + "/vertices", "names one vertex", "name at least two");
      continue;
    }
    for (std::size_t i = 1; i < list.size(); ++i) {
      const double rest_gap = norm(graph_.vertices[list[i]].rest - graph_.vertices[list[0]].rest);
      const double gap = norm(graph_.vertices[list[i]].position - graph_.vertices[list[0]].position);
      if (std::max(rest_gap, gap) > w.tolerance)
        problems_.add(w.where, fmt::format("vertices {} and {} are {:.4g} m apart", list[0], list[i], std::max(rest_gap, gap)),
                      "let the rods meet there (with `keep` points an arc or helix ends on its curve), or raise `tolerance`");
      const Index a = root(list[0]), b = root(list[i]);
      owner[std::max(a, b)] = std::min(a, b);
      if (!w.joint) continue;
      const Index c = knot_of(list[0]), d = knot_of(list[i]);
      if (c != d && knots[std::max(c, d)].bend_twist && !knots[std::min(c, d)].bend_twist)
        knots[std::min(c, d)].bend_twist = knots[std::max(c, d)].bend_twist;
      knot[std::max(c, d)] = std::min(c, d);
    }
    welded = true;
    if (!w.joint && w.bend_twist)
      problems_.add(w.where + "/bend_twist", "has no effect without a joint", "set `joint` to true, or leave it out");
    if (w.joint && w.bend_twist) knots[knot_of(list[0])].bend_twist = w.bend_twist;
  }
  if (!welded) return;
  for (Index v = 0; v < static_cast<Index>(knot.size()); ++v) knots[knot_of(v)].vertices.push_back(v);

  std::vector<Index> renumber(graph_.vertices.size(), -1);
  std::vector<GraphVertex> kept;
  for (Index v = 0; v < static_cast<Index>(owner.size()); ++v) {
    const Index r = root(v);
    if (r == v) {
      renumber[v] = static_cast<Index>(kept.size());
      kept.push_back(graph_.vertices[v]);
    } else {
      renumber[v] = renumber[r];
      GraphVertex& k = kept[renumber[r]];
      const GraphVertex& add = graph_.vertices[v];
      if (k.mass + add.mass > 0)
        k.velocity = (1 / (k.mass + add.mass)) * (k.mass * k.velocity + add.mass * add.velocity);  // momentum stays
      k.mass += graph_.vertices[v].mass;
      k.radius = std::max(k.radius, graph_.vertices[v].radius);
    }
  }
  // Segments at a welded place, by the rod they came from, before the numbers change.
  std::set<std::pair<Index, Index>> joined;
  for (const GraphJoint& j : graph_.joints) joined.insert(std::minmax(j.a, j.b));
  std::vector<std::vector<Index>> touching(owner.size());
  for (Index s = 0; s < static_cast<Index>(graph_.segments.size()); ++s)
    for (Index v : {graph_.segments[s].a, graph_.segments[s].b}) touching[v].push_back(s);
  // Every segment at a knot with every other: a hundred thousand vertices at one place would be billions.
  double pairs = 0;
  for (const auto& [first, k] : knots) {
    double segments = 0;
    for (const Index v : k.vertices) segments += static_cast<double>(touching[v].size());
    pairs += k.vertices.size() > 1 ? segments * segments / 2 : 0;
  }
  const double most = 1e5 + 20 * static_cast<double>(graph_.segments.size());
  if (pairs > most) {
    problems_.add("/welds", fmt::format("join {:.2g} pairs of segments, since so many meet at one place", pairs),
                  "weld fewer vertices, or set `joint` to false");
    return;
  }
  if (!affords("/welds", {.segments = 0, .joints = pairs, .rods = 0})) return;
  for (const auto& [first, k] : knots)
    for (std::size_t i = 0; i < k.vertices.size(); ++i)
      for (std::size_t j = i + 1; j < k.vertices.size(); ++j)
        for (Index s : touching[k.vertices[i]])
          for (Index t : touching[k.vertices[j]]) {
            if (!k.bend_twist && !(graph_.segments[s].section.bends() && graph_.segments[t].section.bends()))
              continue;                                                        // a cable hangs freely
            if (s == t || !joined.insert(std::minmax(s, t)).second) continue;  // welding twice is not twice as stiff
            graph_.add_joint(s, t, k.bend_twist);
          }
  graph_.vertices = std::move(kept);
  for (GraphSegment& s : graph_.segments) s.a = renumber[s.a], s.b = renumber[s.b];
  for (RodInfo& r : graph_.rods)
    for (Index& v : r.vertices) v = renumber[v];
}

/// Where everything is in the initial pose.
ElementPlaces Compiler::places() const {
  ElementPlaces at;
  for (const GraphVertex& v : graph_.vertices) at.vertex.push_back(v.position);
  for (const GraphSegment& s : graph_.segments) at.add_segment({s.a, s.b});
  for (const GraphJoint& j : graph_.joints) {
    const GraphSegment &a = graph_.segments[j.a], &b = graph_.segments[j.b];
    at.add_joint({j.a, j.b}, {a.a, a.b}, {b.a, b.b});
  }
  return at;
}

void Compiler::extra_joints() {
  const Names lookup = names();
  for (const JointSpec& j : spec_.joints) {
    const std::vector<Index> list = lookup.find(j.segments, Element::segment, problems_);
    if (list.size() != 2 || list[0] == list[1]) {
      if ((!list.empty() || j.segments.empty()) && missing_.empty())
        problems_.add(j.where + "/segments", fmt::format("names {} segments", list.size()), "name two different ones");
      continue;
    }
    if (!j.bend_twist && !(graph_.segments[list[0]].section.bends() && graph_.segments[list[1]].section.bends())) {
      problems_.add(j.where, "a segment without bending stiffness", "give the joint its own `bend_twist`");
      continue;
    }
    const Index joint = graph_.add_joint(list[0], list[1], j.bend_twist, j.rest_rotation);
    if (!j.close && !j.open) continue;
    TimedJoint timed;
    timed.joints = {joint};
    timed.close = j.close, timed.open = j.open;
    timed.keeps_rest = j.rest_rotation.has_value() || !j.close;
    setup_.timed_joints.push_back(timed);
  }
}

/// Welds that close or open during the run: their vertices stay two, and their joints wait.
void Compiler::timed_welds() {
  const Names lookup = names();
  for (const WeldSpec& w : spec_.welds) {
    if (!w.is_timed()) continue;
    const std::vector<Index> list = lookup.find(w.vertices, Element::vertex, problems_);
    if (list.size() != 2) {
      if (!list.empty() && missing_.empty())
        problems_.add(w.where + "/vertices", fmt::format("names {} vertices", list.size()),
                      "a weld that closes or opens joins two");
      continue;
    }
    if (spec_.contact)
      problems_.add(w.where, "closes or opens where rods may touch, which is not there yet", "leave out `contact`, or the times");
    if (!w.joint && w.bend_twist)
      problems_.add(w.where + "/bend_twist", "has no effect without a joint", "set `joint` to true, or leave it out");
    TimedJoint timed;
    timed.a = list[0], timed.b = list[1];
    timed.close = w.close, timed.open = w.open;
    const bool closed = !w.close && !w.within;
    const double gap = norm(graph_.vertices[list[1]].position - graph_.vertices[list[0]].position);
    if (closed && gap > w.tolerance)
      problems_.add(w.where, fmt::format("vertices {} and {} are {:.4g} m apart", list[0], list[1], gap),
                    "let the rods meet there, or say when the weld closes");
    std::array<std::vector<Index>, 2> touching;
    double shortest = std::numeric_limits<double>::infinity();
    for (Index s = 0; s < static_cast<Index>(graph_.segments.size()); ++s)
      for (const Index v : {graph_.segments[s].a, graph_.segments[s].b})
        for (std::size_t side = 0; side < 2; ++side)
          if (v == list[side]) {
            touching[side].push_back(s);
            shortest = std::min(shortest, graph_.segments[s].rest_length);
          }
    for (const Index s : touching[0])
      if (std::find(touching[1].begin(), touching[1].end(), s) != touching[1].end()) {
        problems_.add(w.where + "/vertices", fmt::format("both are ends of segment {}", s),
                      "weld vertices of different segments");
        return;
      }
    timed.within = w.within ? *w.within : closed ? std::max(w.tolerance, gap) : 0.1 * shortest;
    if (w.joint)
      for (const Index s : touching[0])
        for (const Index t : touching[1])
          if (w.bend_twist || (graph_.segments[s].section.bends() && graph_.segments[t].section.bends()))
            timed.joints.push_back(graph_.add_joint(s, t, w.bend_twist));
    timed.keeps_rest = closed;
    setup_.timed_joints.push_back(timed);
  }
}

/// Vertices that become one can be held only once, and by one weld.
void Compiler::check_timed_welds(const AttachmentContext& context) {
  std::set<Index> welded;
  for (TimedJoint& t : setup_.timed_joints) {
    if (t.a < 0) continue;
    const auto is_held = [&](Index v) { return !context.vertex_holder[v].empty() || context.vertex_directions.contains(v); };
    if (is_held(t.a) && is_held(t.b))
      problems_.add("/welds", fmt::format("vertices {} and {} are both held by constraints", t.a, t.b), "hold one of them");
    if (is_held(t.b)) std::swap(t.a, t.b);
    for (const Index v : {t.a, t.b})
      if (!welded.insert(v).second)
        problems_.add("/welds", fmt::format("vertex {} is in two welds that close or open", v), "use another vertex for each");
  }
}

/// The rod or structure that a segment comes from.
const std::string& Compiler::origin_of(Index segment) const {
  static const std::string kNowhere = "/structures";
  const auto places = graph_.places_of(segment);
  return places.empty() ? kNowhere : origin_[places.front().rod];
}

void Compiler::check_graph() {
  if (graph_.segments.empty() && missing_.empty()) problems_.add("/rods", "the scene has no rods", "add `rods` or `structures`");
  for (GraphSegment& s : graph_.segments) {
    const double l = s.rest_length;
    if (!(s.stretch_stiffness.largest() / (l * l) < 1e300 && s.section.bend_twist.largest() / l < 1e300))
      problems_.add(
          origin_of(static_cast<Index>(&s - graph_.segments.data())),
          fmt::format("a segment of {:.3g} m with EA = {:.3g} N is beyond double arithmetic", l, s.section.stretch_shear.d3),
          "use sensible stiffness and lengths");
    if (s.a == s.b)
      problems_.add("/welds", fmt::format("both ends of a segment become vertex {}", s.a), "weld vertices of different rods");
    if (!spec_.fracture) continue;
    const auto take = [](const std::optional<double>& limit, double& own) {
      if (limit && std::isinf(own)) own = *limit;
    };
    take(spec_.fracture->strain_limit, s.section.strain_limit);
    take(spec_.fracture->curvature_limit, s.section.curvature_limit);
    take(spec_.fracture->twist_limit, s.section.twist_limit);
  }
}

/// Sections' inertia times lengths, and the spin that goes with a rod's initial velocity.
void Compiler::add_inertia() {
  std::set<std::string> said;
  std::vector<std::string> owner(graph_.segments.size());
  for (std::size_t r = 0; r < graph_.rods.size(); ++r)
    for (Index s : graph_.rods[r].segments) owner[s] = origin_[r];
  for (std::size_t s = 0; s < graph_.segments.size(); ++s) {
    const GraphSegment& segment = graph_.segments[s];
    setup_.model.segment_inertia[s] = segment.rest_length * segment.section.inertia;
    setup_.initial.frame_velocity[s] = segment.angular_velocity;
    if (segment.section.inertia.any() || !said.insert(owner[s]).second) continue;
    const bool rod = owner[s].starts_with("/rods");
    problems_.add(owner[s], "has no rotational inertia, which `rotational_inertia` asks for",
                  rod ? "give its material a section (`radius` or `section`)" : "leave `rotational_inertia` out");
  }
}

/// What only dynamics knows.
void Compiler::check_statics() {
  if (spec_.rotational_inertia) problems_.add("/rotational_inertia", "has no effect on statics", "leave it out");
  for (const auto& f : spec_.forces)
    if (dynamic_cast<const Drag*>(f.get())) problems_.add(f->where, "drag has no effect on statics", "leave it out");
  for (const RodSpec& r : spec_.rods)
    if (norm2(r.velocity.linear) + norm2(r.velocity.angular) > 0)
      problems_.add(r.where + "/velocity", "has no effect on statics", "leave it out");
}

/// Along a path the pseudo-time goes forth and back, and nothing can happen at one of its moments.
void Compiler::check_path() {
  const StaticAnalysis* statics = spec_.statics();
  if (!statics || !statics->by_arc_length()) return;
  const std::string remedy = "leave it out, or set /analysis/control to load";
  for (const auto& c : spec_.constraints)
    if (c && c->release)
      problems_.add(c->where + "/release", "has no meaning by arc length, where the load goes forth and back", remedy);
  if (!setup_.timed_joints.empty())
    problems_.add("/analysis/control", "is arc_length, and welds or joints close or open in time",
                  "set it to load, or leave their times out");
}

void Compiler::check_names() {
  std::set<std::string> seen;
  for (const FormatName& f : spec_.output.formats)
    if (!seen.insert(f.name).second) problems_.add(f.where, fmt::format("\"{}\" is listed twice", f.name), "keep one");
  const auto holds_sections = [](const FormatName& f) {
    const FormatEntry* format = find_format(f.name);
    return !format || format->holds_sections;  // an unknown one has been reported
  };
  if (spec_.output.sections && std::none_of(spec_.output.formats.begin(), spec_.output.formats.end(), holds_sections))
    problems_.add(spec_.output.where + "/sections", "no format of this run can hold them", "add `hdf5` or `vtp` to `formats`");
  const auto holds_contacts = [](const FormatName& f) {
    const FormatEntry* format = find_format(f.name);
    return !format || format->holds_contacts;
  };
  if (spec_.output.contacts && !spec_.contact)
    problems_.add(spec_.output.where + "/contacts", "rods pass through each other in this scene",
                  "add `contact`, or leave `contacts` out");
  else if (spec_.output.contacts && std::none_of(spec_.output.formats.begin(), spec_.output.formats.end(), holds_contacts))
    problems_.add(spec_.output.where + "/contacts", "no format of this run can hold them",
                  "add `hdf5`, `usda` or `gltf` to `formats`");
  seen.clear();
  for (std::size_t i = 0; i < graph_.rods.size(); ++i)
    if (const std::string& name = graph_.rods[i].name; !seen.insert(name).second)
      problems_.add(origin_[i] + "/name", fmt::format("\"{}\" is used twice, by rods or pieces of structures", shorten(name)),
                    "give each its own name");
  seen.clear();
  for (const ProbeSpec& p : spec_.probes) {
    if (has_control_characters(p.name) || p.name.find_first_of(",\"") != std::string::npos)
      problems_.add(p.where + "/name", "would break the table", "leave out commas, quotes and line breaks");
    if (!seen.insert(p.name).second)
      problems_.add(p.where + "/name", fmt::format("\"{}\" is used twice", shorten(p.name)), "give each probe its own name");
  }
}

/// Returns what clamps held in the run that this one starts from.
std::map<Index, Quatd> Compiler::start(const StartSpec& start) {
  if (!start.run.empty()) {
    auto clamps = start_from_run(start, folder_, setup_.model, setup_.initial, setup_.warnings, problems_);
    // Selections in space and messages speak of where things are now.
    for (std::size_t v = 0; v < graph_.vertices.size(); ++v) graph_.vertices[v].position = setup_.initial.vertex_position[v];
    if (spec_.statics()) std::fill(setup_.initial.vertex_velocity.begin(), setup_.initial.vertex_velocity.end(), Vec3d{});
    return clamps;
  }
  if (problems_.mentions(start.where)) return {};
  if (spec_.statics()) problems_.add(start.where, "a static analysis finds an equilibrium by itself", "leave it out");
  if (spec_.contact)
    problems_.add(start.where, "an equilibrium with contact cannot be computed yet", "start from a run in which everything has come to rest");
  for (const auto& c : spec_.constraints)
    if (const auto* motor = dynamic_cast<const Motor*>(c.get()); motor && motor->torque_speed.given())
      problems_.add(start.where, fmt::format("the motor at {} has no equilibrium, its torque depends on a speed", c->where),
                    "start in the initial pose, or from a run");
  return {};
}

void Compiler::add_point_masses(const Names& lookup) {
  for (const PointMassSpec& p : spec_.point_masses) {
    if (!p.vertices.empty())
      for (const Index v : lookup.find(p.vertices, Element::vertex, problems_)) setup_.model.vertex_mass[v] += p.mass;
    if (!p.inertia || p.segments.empty()) continue;
    const Vec3d& J = *p.inertia;
    // A body's moments obey the triangle inequality.
    const double sum = J.x + J.y + J.z, most = std::max({J.x, J.y, J.z});
    if (!(std::min({J.x, J.y, J.z}) >= 0) || !(2 * most <= sum * (1 + 1e-9))) {
      problems_.add(p.where + "/inertia", "is not that of any rigid body", "give three moments, none larger than the sum of the others");
      continue;
    }
    if (!spec_.rotational_inertia) {
      problems_.add(p.where + "/inertia", "has no effect without `rotational_inertia`", "set /rotational_inertia to true");
      continue;
    }
    for (const Index s : lookup.find(p.segments, Element::segment, problems_))
      setup_.model.segment_inertia[s] = setup_.model.segment_inertia[s] + PerAxis{J.x, J.y, J.z};
  }
}

void Compiler::bind() {
  setup_.model = compile_graph(graph_);
  for (const TimedJoint& t : setup_.timed_joints)
    for (const Index j : t.joints) setup_.model.joint_alive[j] = 0;
  if (!setup_.timed_joints.empty()) update_topology(setup_.model);
  setup_.initial = initial_state(graph_, setup_.model);
  if (spec_.rotational_inertia) add_inertia();
  std::map<Index, Quatd> earlier_clamps;
  if (spec_.analysis && spec_.analysis->start) earlier_clamps = start(*spec_.analysis->start);
  const Names lookup = names();
  add_point_masses(lookup);
  std::vector<std::string> vertex_holder(graph_.vertices.size()), frame_holder(graph_.segments.size());
  const bool is_static = spec_.statics() != nullptr;
  AttachmentContext context{graph_,    setup_.model,  setup_.initial, lookup,         problems_, folder_,
                            is_static, vertex_holder, frame_holder,   earlier_clamps, carriers_};
  std::set<std::string> named;
  for (std::size_t i = 0; i < spec_.constraints.size(); ++i) {
    const auto& c = spec_.constraints[i];
    if (!c) continue;
    if (c->name.empty()) c->name = fmt::format("{}{}", c->type(), i);
    if (!named.insert(c->name).second)
      problems_.add(c->where + "/name", fmt::format("\"{}\" is used twice", shorten(c->name)),
                    "give each constraint its own name");
    if (carriers_.contains(c->name))
      problems_.add(c->where + "/name", fmt::format("\"{}\" is an obstacle as well", shorten(c->name)),
                    "a `reaction` could not tell them apart: call it something else");
  }
  for (const bool yields : {false, true})
    for (auto& c : spec_.constraints)
      if (c && c->yields() == yields) c->bind(context);
  check_timed_welds(context);
  update_topology(setup_.model);
  for (auto& f : spec_.forces)
    if (f) f->bind(lookup, problems_), f->check(setup_.model, problems_);
  if (is_static) check_statics(), check_path();
  for (const ProbeSpec& p : spec_.probes) bind_probe(p, lookup);
  if (problems_.empty())
    for (std::string& odd : oddities(setup_, graph_, [this](Index s) -> const std::string& { return origin_of(s); }))
      setup_.warnings.push_back(std::move(odd));
  compile_contact(
      setup_, [this](Index s) { return name_of(s); }, problems_);
}

/// "segment 3 of knot", for messages.
std::string Compiler::name_of(Index segment) const {
  const auto places = graph_.places_of(segment);
  if (places.empty()) return fmt::format("segment {}", segment);
  return fmt::format("segment {} of {}", places.front().place, shorten(graph_.rods[places.front().rod].name));
}

void Compiler::bind_probe(const ProbeSpec& p, const Names& lookup) {
  if (p.at && !p.rod && !problems_.mentions(p.where + "/rod"))
    problems_.add(p.where + "/at", "has no effect without `rod`", "give `rod`, or leave it out");
  if (!p.vertex.empty() + !p.segment.empty() + !p.joint.empty() + !p.clamp.empty() + p.rod.has_value() + p.reaction.has_value() !=
      1)
    return;  // said when it was read
  if (p.rod) {
    bind_place(p, lookup);
  } else if (p.reaction) {
    bind_reaction(p);
  } else if (!p.clamp.empty()) {
    const Index v = lookup.find_one(p.clamp, Element::vertex, problems_);
    const auto& clamped = setup_.model.anchor_vertex;
    if (v >= 0 && std::find(clamped.begin(), clamped.end(), v) == clamped.end())
      problems_.add(p.where + "/clamp", fmt::format("vertex {} has no clamp", v), "name a vertex that a `clamp` holds");
    setup_.probes.push_back({p.name, ProbeKind::clamp, v});
  } else if (!p.vertex.empty()) {
    setup_.probes.push_back({p.name, ProbeKind::vertex, lookup.find_one(p.vertex, Element::vertex, problems_)});
  } else if (!p.segment.empty()) {
    setup_.probes.push_back({p.name, ProbeKind::segment, lookup.find_one(p.segment, Element::segment, problems_)});
  } else {
    const Index joint = lookup.find_one(p.joint, Element::joint, problems_);
    const auto& timed = setup_.timed_joints;
    const bool waits = std::any_of(timed.begin(), timed.end(), [&](const TimedJoint& t) {
      return std::find(t.joints.begin(), t.joints.end(), joint) != t.joints.end();
    });
    if (joint >= 0 && !setup_.model.joint_alive[joint] && !waits)
      problems_.add(p.where + "/joint", fmt::format("joint {} is replaced by a clamp at its vertex", joint),
                    "probe a place with `rod` and `at`, or a neighbouring joint");
    setup_.probes.push_back({p.name, ProbeKind::joint, joint});
  }
}

/// Before anything refers to them.
void Compiler::prepare_obstacles() {
  std::set<std::string> named;
  for (std::size_t i = 0; i < spec_.obstacles.size(); ++i) {
    ObstacleSpec* obstacle = spec_.obstacles[i].get();
    if (!obstacle) continue;
    if (obstacle->name.empty()) obstacle->name = fmt::format("{}{}", obstacle->type(), i);
    check_plain(obstacle->name, obstacle->where + "/name");
    if (!named.insert(obstacle->name).second)
      problems_.add(obstacle->where + "/name", fmt::format("\"{}\" is used twice", shorten(obstacle->name)),
                    "give each obstacle its own name");
    if (obstacle->motion.with)
      problems_.add(obstacle->where + "/motion/with", "one obstacle cannot carry another one", "repeat its `motion` here");
    if (obstacle->motion.file) {
      obstacle->motion.file->load(folder_, problems_);
      if (!problems_.mentions(obstacle->where) && !obstacle->motion.file->is_of_body())
        problems_.add(obstacle->where + "/motion/file", "an obstacle moves as one body, and curves do not",
                      "name a `prim`, or use a table");
    }
    if (!problems_.mentions(obstacle->where)) obstacle->prepare(folder_, problems_);
    carriers_.emplace(obstacle->name, std::make_shared<Carrier>(Carrier{obstacle->motion, obstacle->center()}));
  }
}

void Compiler::bind_reaction(const ProbeSpec& p) {
  const auto& obstacles = spec_.obstacles;
  const auto other = std::find_if(obstacles.begin(), obstacles.end(), [&](const auto& o) { return o && o->name == *p.reaction; });
  if (other != obstacles.end()) {
    if (p.axes == ProbeAxes::material) problems_.add(p.where + "/axes", "an obstacle has no material axes", "leave it out");
    setup_.probes.push_back({p.name, ProbeKind::obstacle, static_cast<Index>(other - obstacles.begin())});
    return;
  }
  const auto& list = spec_.constraints;
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& c) { return c && c->name == *p.reaction; });
  if (found == list.end()) {
    std::vector<std::string> known;
    for (const auto& c : list)
      if (c) known.push_back(c->name);
    for (const auto& o : obstacles)
      if (o) known.push_back(o->name);
    const std::string guess = closest(*p.reaction, known);
    problems_.add(p.where + "/reaction", fmt::format("there is no constraint or obstacle \"{}\"", shorten(*p.reaction)),
                  !guess.empty()  ? "did you mean `" + guess + "`?"
                  : known.empty() ? "add it to `constraints` or `obstacles`"
                                  : "known: " + join(known, ", "));
    return;
  }
  const auto index = static_cast<Index>(found - list.begin());
  setup_.probes.push_back({p.name, ProbeKind::reaction, index, 0, p.axes == ProbeAxes::material});
}

/// A fraction of a rod's rest length becomes a place on one of its segments; a vertex belongs to the segment that follows it.
void Compiler::bind_place(const ProbeSpec& p, const Names& lookup) {
  const RodInfo* rod = lookup.find_rod(*p.rod, p.where + "/rod", problems_);
  if (!p.at) {
    if (!problems_.mentions(p.where + "/at")) problems_.add(p.where, "`rod` needs `at`", "give a fraction of its length, 0 to 1");
    return;
  }
  if (!rod) return;
  const std::size_t n = rod->segments.size(), vertices = rod->vertices.size();
  bool chain = n > 0 && vertices == n + (rod->closed ? 0 : 1);
  for (std::size_t i = 0; chain && i < n; ++i)
    chain = setup_.model.segment_vertices[rod->segments[i]] == std::array{rod->vertices[i], rod->vertices[(i + 1) % vertices]};
  if (!chain) {
    problems_.add(p.where + "/rod", fmt::format("\"{}\" is a group of pieces, not one rod", shorten(*p.rod)),
                  "name a single rod, or probe a `segment`");
    return;
  }
  double length = 0;
  for (Index s : rod->segments) length += setup_.model.segment_rest_length[s];
  double left = *p.at * length;
  std::size_t i = 0;
  for (; i + 1 < n; ++i) {
    const double l = setup_.model.segment_rest_length[rod->segments[i]];
    if (left < (1 - 1e-9) * l) break;
    left -= l;
  }
  const Index s = rod->segments[i];
  setup_.probes.push_back({p.name, ProbeKind::place, s, std::clamp(left / setup_.model.segment_rest_length[s], 0.0, 1.0)});
}

void Compiler::run() {
  const auto is_of_obstacle = [&](const std::string& name) {
    return std::any_of(spec_.obstacles.begin(), spec_.obstacles.end(), [&](const auto& o) { return o && o->material == name; });
  };
  for (auto& [name, material] : spec_.materials) {
    check_plain(name, "/materials/" + shorten(escape_pointer(name)));
    // An unused material must be right too; that of an obstacle needs no more than friction. Rods that use it look at it.
    if (!is_of_obstacle(name)) material.section(problems_);
  }
  prepare_obstacles();
  for (std::size_t i = 0; i < spec_.rods.size(); ++i) {
    add_rod(spec_.rods[i], i);
    origin_.resize(graph_.rods.size(), spec_.rods[i].where);
  }
  build_structures();
  check_names();
  weld();
  extra_joints();
  timed_welds();
  check_graph();
  if (!graph_.segments.empty()) bind();
}

void Compiler::build_structures() {
  const StructureContext context{
      folder_, [this](const MaterialRef& m) { return section_of(m); },
      [this](const MaterialRef& m, const Section& s, double scale) { structure_material_.push_back(note_use(m, s, scale)); }};
  for (auto& s : spec_.structures) {
    if (s && s->name.empty()) s->name = s->type();
    const std::size_t before = problems_.size(), first = graph_.segments.size();
    structure_material_.clear();
    if (s && !problems_.mentions(s->where)) s->prepare(context, problems_);
    if (s && !problems_.mentions(s->where)) s->check(problems_);
    if (s) check_plain(s->name, s->where + "/name");
    if (s && problems_.size() == before && !problems_.mentions(s->where) && affords(s->where, s->size())) build(*s);
    if (s && problems_.size() == before) note_structure(s->name, first);
    else missing_.push_back(s ? s->name : "");
    origin_.resize(graph_.rods.size(), s ? s->where : "");
  }
}

/// Some structures know only when they are built how large they become.
void Compiler::build(const Structure& structure) {
  try {
    structure.build(graph_, structure.name);
  } catch (const InputError& e) {
    for (const Problem& p : e.problems()) problems_.add(p.where, p.what, p.remedy);
  }
}

}  // namespace

Names Setup::names() const {
  // Half-joints of clamps come last, and have no names.
  const auto joints = std::count(model.joint_is_clamp.begin(), model.joint_is_clamp.end(), 0);
  return Names(model.rods, model.vertex_count(), model.segment_count(), static_cast<Index>(joints), {}, [this] {
    ElementPlaces at;
    at.vertex = initial.vertex_position;
    for (const auto& ends : model.segment_vertices) at.add_segment(ends);
    for (std::size_t j = 0; j < model.joint_frames.size() && !model.joint_is_clamp[j]; ++j) {
      const auto [a, b] = model.joint_frames[j];
      at.add_joint({a, b}, model.segment_vertices[a], model.segment_vertices[b]);
    }
    return at;
  });
}

void compile_scene(Setup& setup, Problems& problems) { Compiler(setup, problems).run(); }

}  // namespace osier
