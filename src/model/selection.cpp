#include "model/selection.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "core/fields.hpp"
#include "math/vec3.hpp"

namespace osier {

static const char* word(Element kind) {
  return kind == Element::vertex ? "vertex" : kind == Element::segment ? "segment" : "joint";
}
static const char* plural(Element kind) {
  return kind == Element::vertex ? "vertices" : kind == Element::segment ? "segments" : "joints";
}

bool Region::contains(const Vec3d& x) const {
  if (shape == Shape::ball) return norm2(x - center) <= radius * radius;
  return x.x >= center.x && x.y >= center.y && x.z >= center.z && x.x <= upper.x && x.y <= upper.y && x.z <= upper.z;
}

void ElementPlaces::add_segment(const std::array<Index, 2>& ends) {
  segment.push_back(0.5 * (vertex[ends[0]] + vertex[ends[1]]));
}

void ElementPlaces::add_joint(const std::array<Index, 2>& segments, const std::array<Index, 2>& a,
                              const std::array<Index, 2>& b) {
  const bool first = a[0] == b[0] || a[0] == b[1], meet = first || a[1] == b[0] || a[1] == b[1];
  joint.push_back(meet ? vertex[first ? a[0] : a[1]] : 0.5 * (segment[segments[0]] + segment[segments[1]]));
}

namespace {

struct BallSpec {
  Vec3d center;
  double radius = 0;
  static const char* kind() { return "ball"; }
  template <class F>
  void fields(F& f) {
    f("center", center, "", {.required = true});
    f("radius", radius, "", {.unit = "m", .min = 0, .required = true});
  }
};

struct BoxSpec {
  Vec3d from, to;
  static const char* kind() { return "box"; }
  template <class F>
  void fields(F& f) {
    f("from", from, "", {.required = true});
    f("to", to, "", {.required = true});
  }
};

}  // namespace

/// {"ball": {"center": [x, y, z], "radius": r}}, {"box": {"from": [x, y, z], "to": [x, y, z]}} or {"nearest": [x, y, z]}, each
/// with or without "of".
void Selection::read_region(const Json& j, const std::string& at, Problems& problems) {
  const std::size_t before = problems.size();
  JsonReader reader(j, at, problems);
  Region region;
  BallSpec ball;
  BoxSpec box;
  reader("ball", ball, "");
  reader("box", box, "");
  reader("nearest", region.center, "");
  reader("of", region.of, "");
  reader.exactly_one({"ball", "box", "nearest"});
  reader.finish();
  if (problems.size() != before) return;
  if (reader.has("ball")) {
    region.shape = Region::Shape::ball, region.center = ball.center, region.radius = ball.radius;
  } else if (reader.has("box")) {
    const Vec3d &a = box.from, &b = box.to;
    region.shape = Region::Shape::box;
    region.center = {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
    region.upper = {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
  } else {
    region.shape = Region::Shape::nearest;
  }
  items.emplace_back(std::move(region));
}

bool Selection::read_short(const Json& j, const std::string& at, Problems& problems) {
  where = at;
  items.clear();
  const auto one = [&](const Json& e, const std::string& here) {
    // 3.0 is a whole number too; anything beyond int cannot be an index and must not wrap around into one.
    const double number = e.is_number() ? e.get<double>() : 0.5;
    if (e.is_string()) items.emplace_back(e.get<std::string>());
    else if (e.contains("ball") || e.contains("box") || e.contains("nearest")) read_region(e, here, problems);
    else if (number == std::nearbyint(number) && std::abs(number) < 2e9) items.emplace_back(static_cast<int>(number));
    else
      problems.add(here, shorten(e) + " does not select anything",
                   R"(write an index or "rod:place", e.g. "beam:end" or "beam:0..4", or a ball, a box or a nearest point)");
  };
  if (j.is_array()) {
    for (std::size_t i = 0; i < j.size(); ++i) one(j[i], at + "/" + std::to_string(i));
    if (j.empty()) problems.add(at, "selects nothing", "name at least one element");
  } else {
    one(j, at);
  }
  return true;
}

OrderedJson Selection::short_schema(FieldDoc& doc) {
  doc.type = "[selection](#selections)";
  const OrderedJson number = {{"type", "number"}};
  const OrderedJson point = {{"type", "array"}, {"items", number}, {"minItems", 3}, {"maxItems", 3}};
  const auto object = [](const OrderedJson& properties, const OrderedJson& required) {
    return OrderedJson{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}};
  };
  const OrderedJson length = {{"type", "number"}, {"minimum", 0}}, name = {{"type", "string"}};
  const OrderedJson ball =
      object({{"ball", object({{"center", point}, {"radius", length}}, {"center", "radius"})}, {"of", name}}, {"ball"});
  const OrderedJson box = object({{"box", object({{"from", point}, {"to", point}}, {"from", "to"})}, {"of", name}}, {"box"});
  const OrderedJson nearest = object({{"nearest", point}, {"of", name}}, {"nearest"});
  const OrderedJson one = {{"anyOf", {{{"type", "integer"}, {"minimum", 0}}, {{"type", "string"}}, ball, box, nearest}}};
  return {{"anyOf", {one, {{"type", "array"}, {"items", one}, {"minItems", 1}}}}};
}

/// "start", "end", "mid" or a number; negative numbers count from the end. -1 on failure.
static Index place(std::string_view text, Index count) {
  if (text == "start") return 0;
  if (text == "end") return count - 1;
  if (text == "mid") return count / 2;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return -1;
  if (value < 0) value += count;
  return value >= 0 && value < count ? value : -1;
}

/// What somebody means who uses another word for a place; empty where that is not clear.
static std::string_view place_for(std::string_view text) {
  if (text == "first" || text == "begin" || text == "beginning" || text == "front") return "start";
  if (text == "last" || text == "back" || text == "tip") return "end";
  if (text == "middle" || text == "center" || text == "centre") return "mid";
  return {};
}

Names::Names(const std::vector<RodInfo>& rods, Index vertices, Index segments, Index joints,
             const std::vector<std::string>& missing, std::function<ElementPlaces()> places)
    : rods_(rods), counts_{vertices, segments, joints}, missing_(missing.begin(), missing.end()), places_(std::move(places)) {
  by_name_.reserve(rods.size());
  for (const RodInfo& r : rods) by_name_[r.name] = &r;  // of several with one name the last
}

const RodInfo* Names::lookup(std::string_view rod) const {
  const auto found = by_name_.find(rod);
  return found == by_name_.end() ? nullptr : found->second;
}

/// A piece of a missing structure is called `<structure>.<piece>`.
bool Names::is_missing(const std::string& rod) const {
  for (std::size_t end = rod.size(); !missing_.empty(); end = rod.rfind('.', end - 1)) {
    if (missing_.contains(std::string_view(rod).substr(0, end))) return true;
    if (end == 0 || rod.rfind('.', end - 1) == std::string::npos) break;
  }
  return false;
}

std::string Names::known_rods(const std::string& wrong) const {
  std::vector<std::string> names;
  const std::string many = fmt::format("{} rods have names", rods_.size());
  if (guesses_left_-- <= 0) return many;
  for (const RodInfo& r : rods_) names.push_back(r.name);
  const std::string guess = closest(wrong, names);
  if (!guess.empty() && guess != wrong) return "did you mean `" + guess + "`?";
  return names.size() <= 8 ? "rods: " + join(names, ", ") : many;
}

const RodInfo* Names::find_rod(const std::string& name, const std::string& at, Problems& problems) const {
  const RodInfo* rod = lookup(name);
  if (!rod && !is_missing(name)) problems.add(at, fmt::format("there is no rod \"{}\"", shorten(name)), known_rods(name));
  return rod;
}

static const std::vector<Index>& elements(const RodInfo& rod, Element kind) {
  return kind == Element::vertex ? rod.vertices : kind == Element::segment ? rod.segments : rod.joints;
}

void Names::find_named(const std::string& text, const std::string& at, Element kind, Problems& problems,
                       std::vector<Index>& out) const {
  const std::size_t colon = text.rfind(':');
  const std::string rod_name = text.substr(0, colon);
  const RodInfo* rod = lookup(rod_name);
  if (!rod && is_missing(rod_name)) return;  // what it names could not be built, and that has been said
  if (!rod || colon == std::string::npos) {
    problems.add(at, fmt::format("\"{}\" names no {}", shorten(text), word(kind)),
                 rod ? "add a place, e.g. `" + rod_name + ":end` or `" + rod_name + ":*`" : known_rods(rod_name));
    return;
  }
  const std::vector<Index>& list = elements(*rod, kind);
  const Index count = static_cast<Index>(list.size());
  const std::string_view rest = std::string_view(text).substr(colon + 1);
  Index first = 0, last = count - 1;
  if (rest != "*") {
    const std::size_t dots = rest.find("..");
    first = place(rest.substr(0, dots), count);
    last = dots == std::string_view::npos ? first : place(rest.substr(dots + 2), count);
  }
  if (count == 0 || first < 0 || last < first) {
    if (const std::string_view meant = place_for(rest); !meant.empty()) {
      problems.add(at, fmt::format("\"{}\" names no {}", text, word(kind)), fmt::format("write `{}:{}`", rod_name, meant));
      return;
    }
    problems.add(
        at, fmt::format("\"{}\" is out of range: `{}` has {} {}", text, rod_name, count, count == 1 ? word(kind) : plural(kind)),
        count > 0 ? fmt::format("use 0 to {}, start, mid, end, a..b or *", count - 1) : std::string{});
    return;
  }
  out.insert(out.end(), list.begin() + first, list.begin() + last + 1);
}

/// What lies there, in ascending order. Of several that are equally near, the first.
void Names::find_in(const Region& region, const std::string& at, Element kind, Problems& problems,
                    std::vector<Index>& out) const {
  const RodInfo* rod = nullptr;
  if (!region.of.empty()) {
    rod = find_rod(region.of, at + "/of", problems);
    if (!rod) return;
  }
  if (!known_places_) known_places_ = places_ ? places_() : ElementPlaces{};
  const std::vector<Vec3d>& places = kind == Element::vertex    ? known_places_->vertex
                                     : kind == Element::segment ? known_places_->segment
                                                                : known_places_->joint;
  const std::size_t before = out.size(), count = rod ? elements(*rod, kind).size() : places.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const Index element = rod ? elements(*rod, kind)[i] : static_cast<Index>(i);
    const Vec3d& x = places[static_cast<std::size_t>(element)];
    if (region.shape != Region::Shape::nearest) {
      if (region.contains(x)) out.push_back(element);
    } else if (const double d = norm2(x - region.center); d < least) {
      least = d;
      out.resize(before);
      out.push_back(element);
    }
  }
  if (out.size() == before && missing_.empty())
    problems.add(at, fmt::format("no {} lies there", word(kind)), "move or widen it; the initial pose counts");
}

std::vector<Index> Names::find(const Selection& selection, Element kind, Problems& problems) const {
  std::vector<Index> out;
  for (std::size_t i = 0; i < selection.items.size(); ++i) {
    const std::string at = selection.items.size() > 1 ? selection.where + "/" + std::to_string(i) : selection.where;
    const auto& item = selection.items[i];
    if (const int* index = std::get_if<int>(&item)) {
      const Index count = counts_[static_cast<int>(kind)];
      if (!missing_.empty() && *index >= count) continue;  // cannot be judged
      if (*index < 0 || *index >= count)
        problems.add(at, fmt::format("{} {} does not exist", word(kind), *index),
                     fmt::format("the scene has 0 to {}", count - 1));
      else out.push_back(*index);
    } else if (const Region* region = std::get_if<Region>(&item)) {
      find_in(*region, at, kind, problems, out);
    } else {
      find_named(std::get<std::string>(item), at, kind, problems, out);
    }
  }
  std::vector<Index> once;  // "beam:0" and "beam:*" overlap
  Seen& seen = seen_[static_cast<std::size_t>(kind)];
  seen.in.resize(static_cast<std::size_t>(counts_[static_cast<int>(kind)]), 0);
  ++seen.selection;
  for (Index i : out)
    if (std::exchange(seen.in[static_cast<std::size_t>(i)], seen.selection) != seen.selection) once.push_back(i);
  return once;
}

Index Names::find_one(const Selection& selection, Element kind, Problems& problems) const {
  const std::size_t before = problems.size();
  const std::vector<Index> found = find(selection, kind, problems);
  if (found.size() == 1) return found[0];
  if (problems.size() == before && (missing_.empty() || !found.empty()))
    problems.add(selection.where, fmt::format("selects {} elements", found.size()),
                 fmt::format("name exactly one {}", word(kind)));
  return -1;
}

}  // namespace osier
