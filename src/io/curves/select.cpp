// "0-99,wool*": which curves of a set.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

#include "core/text.hpp"
#include "io/curves/edit.hpp"
#include "io/curves/point_groups.hpp"
#include "io/curves/scan.hpp"

namespace osier {

namespace {

/// `*` stands for any text, `?` for any one byte. Linear but for backtracking to the last star.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') ++p, ++t;
    else if (p < pattern.size() && pattern[p] == '*') star = p++, from = t;
    else if (star != std::string_view::npos) p = star + 1, t = ++from;
    else return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

struct Range {
  std::int64_t first, last;
};

/// `7`, `7-9` or `7-`; anything else is a name.
std::optional<Range> range_of(std::string_view item) {
  Range r{};
  const char* end = item.data() + item.size();
  auto [at, error] = std::from_chars(item.data(), end, r.first);
  if (error != std::errc()) return {};
  r.last = r.first;
  if (at == end) return r;
  if (*at++ != '-') return {};
  if (at == end) return Range{r.first, std::numeric_limits<std::int64_t>::max()};
  const auto [rest, wrong] = std::from_chars(at, end, r.last);
  if (wrong != std::errc() || rest != end) return {};
  return r;
}

std::string what_there_is(const CurveSet& curves, bool number) {
  if (curves.size() == 0) return "there are no curves";
  if (!number) {
    if (curves.names.empty()) return "these curves have no names: use numbers";
    std::vector<std::string> some;
    for (std::size_t k = 0; k < curves.size() && k < 8; ++k) some.push_back(shorten(curves.names[k], 30));
    return "there are " + join(some, ", ") + (curves.size() > 8 ? ", ..." : "");
  }
  if (curves.ids.empty()) return fmt::format("there are 0 to {}", curves.size() - 1);
  const auto [low, high] = std::minmax_element(curves.ids.begin(), curves.ids.end());
  return fmt::format("ids run from {} to {}", *low, *high);
}

}  // namespace

CurveSet selected(const CurveSet& curves, const std::string& select, Problems& problems) {
  std::vector<std::uint8_t> keep(curves.size(), 0);
  for (std::size_t at = 0; at <= select.size();) {
    const std::size_t comma = std::min(select.find(',', at), select.size());
    const std::string_view item = trimmed(std::string_view(select).substr(at, comma - at));
    at = comma + 1;
    const std::optional<Range> range = range_of(item);
    bool found = false;
    for (std::size_t k = 0; k < curves.size(); ++k) {
      const std::int64_t number = curves.ids.empty() ? static_cast<std::int64_t>(k) : curves.ids[k];
      const bool hit = range ? range->first <= number && number <= range->last
                             : !curves.names.empty() && matches(item, curves.names[k]) && !item.empty();
      if (hit) keep[k] = 1, found = true;
    }
    if (!found)
      problems.add("/select", item.empty() ? "has an empty item" : fmt::format("`{}` is not a curve", shorten(std::string(item))),
                   item.empty() ? "write names or numbers with commas between them" : what_there_is(curves, range.has_value()));
  }
  CurveSet result;
  result.up = curves.up;
  std::vector<std::size_t> shift(curves.size(), 0);  // how far the points of a kept curve move down
  for (std::size_t k = 0; k < curves.size(); ++k) {
    if (!keep[k]) continue;
    shift[k] = curves.start[k] - result.points.size();
    copy_traits(curves, k, result);
    const auto first = static_cast<std::ptrdiff_t>(curves.start[k]), last = static_cast<std::ptrdiff_t>(curves.start[k + 1]);
    result.points.insert(result.points.end(), curves.points.begin() + first, curves.points.begin() + last);
    if (!curves.widths.empty())
      result.widths.insert(result.widths.end(), curves.widths.begin() + first, curves.widths.begin() + last);
    result.start.push_back(result.points.size());
  }
  result.welds = renumbered(curves.welds, [&](std::size_t p) {
    const std::size_t k = curve_of(curves, p);
    return keep[k] ? p - shift[k] : kGone;
  });
  return result;
}

}  // namespace osier
