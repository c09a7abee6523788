#include "model/selection.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "core/fields.hpp"

namespace osier {

static const char* word(Element kind) {
  return kind == Element::vertex ? "vertex" : kind == Element::segment ? "segment" : "joint";
}

bool Selection::read_short(const Json& j, const std::string& at, Problems& problems) {
  where = at;
  items.clear();
  const auto one = [&](const Json& e, const std::string& here) {
    // 3.0 is a whole number too; anything beyond int cannot be an index and must not wrap around into one.
    const double number = e.is_number() ? e.get<double>() : 0.5;
    if (e.is_string()) items.emplace_back(e.get<std::string>());
    else if (number == std::nearbyint(number) && std::abs(number) < 2e9) items.emplace_back(static_cast<int>(number));
    else
      problems.add(here, shorten(e) + " does not select anything",
                   R"(write an index or "rod:place", e.g. "beam:end" or "beam:0..4")");
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
  const OrderedJson one = {{"anyOf", {{{"type", "integer"}, {"minimum", 0}}, {{"type", "string"}}}}};
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

Names::Names(const std::vector<RodInfo>& rods, Index vertices, Index segments, Index joints,
             const std::vector<std::string>& missing)
    : rods_(rods), counts_{vertices, segments, joints}, missing_(missing.begin(), missing.end()) {
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
  const std::vector<Index>& list = kind == Element::vertex    ? rod->vertices
                                   : kind == Element::segment ? rod->segments
                                                              : rod->joints;
  const Index count = static_cast<Index>(list.size());
  const std::string_view rest = std::string_view(text).substr(colon + 1);
  Index first = 0, last = count - 1;
  if (rest != "*") {
    const std::size_t dots = rest.find("..");
    first = place(rest.substr(0, dots), count);
    last = dots == std::string_view::npos ? first : place(rest.substr(dots + 2), count);
  }
  if (count == 0 || first < 0 || last < first) {
    problems.add(at,
                 fmt::format("\"{}\" is out of range: `{}` has {} {}{}", text, rod_name, count, word(kind),
                             count == 1 ? "" : (kind == Element::vertex ? " (vertices)" : "s")),
                 count > 0 ? fmt::format("use 0 to {}, start, mid, end, a..b or *", count - 1) : std::string{});
    return;
  }
  out.insert(out.end(), list.begin() + first, list.begin() + last + 1);
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
