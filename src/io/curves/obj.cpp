// .obj: `v` points, `l` lines and `p` single points, with names from `o` and `g`. Faces, normals, texture coordinates and
// materials are no curves and are passed over; so is a `p` at a point of a line, which is there already.
#include <fmt/format.h>

#include "io/curves/chain.hpp"
#include "io/curves/registry.hpp"
#include "io/curves/scan.hpp"

namespace osier {

namespace {

class ObjReader {
 public:
  explicit ObjReader(const CurveSource& source) : source_(source), lines_(source.text()) { soup_.group_names = {""}; }

  CurveSet run() {
    for (std::string_view line; next(line);) {
      line = line.substr(0, line.find('#'));
      const std::string_view word = next_word(line);
      if (word == "v") soup_.points.push_back(take_point(line, source_, number_));
      else if (word == "l") add_line(line);
      else if (word == "p") add_points(line);
      else if (word == "o" || word == "g") start_group(trimmed(line));
    }
    if (soup_.lines.empty() && !soup_.points.empty())
      source_.fail(fmt::format("has {} points (`v`) but no lines (`l`) or single points (`p`)", soup_.points.size()),
                   "export curves or edges, not faces only");
    for (std::size_t i = 0; i < soup_.lines.size(); ++i)
      for (std::size_t c = soup_.lines[i].first; c < soup_.lines[i].last; ++c)
        if (soup_.corners[c] >= soup_.points.size())
          source_.fail_at_line(line_number_[i], fmt::format("point {} does not exist", soup_.corners[c] + 1),
                               fmt::format("the file has 1 to {}", soup_.points.size()));
    drop_points_of_lines();
    if (soup_.group_names.size() == 1 && soup_.group_names[0].empty()) soup_.group_names.clear();
    return chained(soup_);
  }

 private:
  /// A line; one that ends with a backslash goes on in the next.
  bool next(std::string_view& line) {
    if (!lines_.next(line)) return false;
    number_ = lines_.number();
    if (!line.ends_with('\\')) return true;
    joined_.clear();
    for (bool more = true; more;) {
      more = line.ends_with('\\');
      joined_ += more ? line.substr(0, line.size() - 1) : line;
      joined_ += ' ';
      more = more && lines_.next(line);
    }
    line = joined_;
    return true;
  }

  void start_group(std::string_view name) {
    if (soup_.lines.empty() || soup_.lines.back().group + 1 < soup_.group_names.size()) soup_.group_names.back() = name;
    else if (soup_.group_names.back() != name) soup_.group_names.emplace_back(name);
  }

  void take_corners(std::string_view line) {
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const std::optional<std::int64_t> index = whole_number_of(word.substr(0, word.find('/')));  // `point/texture`
      if (!index) source_.fail_at_line(number_, in_quotes(word) + " is not the number of a point", "write l 1 2 3 ... or p 1");
      const auto points = static_cast<std::int64_t>(soup_.points.size());
      const std::int64_t v = *index < 0 ? points + *index : *index - 1;
      if (*index == 0 || v < 0)
        source_.fail_at_line(number_, fmt::format("point {} does not exist", *index),
                             "points count from 1, or from -1 backwards");
      soup_.corners.push_back(static_cast<std::size_t>(v));
    }
  }

  void add(std::size_t first, std::size_t last, bool is_point) {
    soup_.lines.push_back({.first = first, .last = last, .group = soup_.group_names.size() - 1});
    line_number_.push_back(number_);
    is_point_.push_back(is_point);
  }

  void add_line(std::string_view line) {
    const std::size_t first = soup_.corners.size();
    take_corners(line);
    if (soup_.corners.size() == first) source_.fail_at_line(number_, "a line without points", "write l 1 2 3 ...");
    add(first, soup_.corners.size(), false);
  }

  void add_points(std::string_view line) {
    const std::size_t first = soup_.corners.size();
    take_corners(line);
    for (std::size_t c = first; c < soup_.corners.size(); ++c) add(c, c + 1, true);
  }

  void drop_points_of_lines() {
    std::vector<std::uint8_t> used(soup_.points.size(), 0);
    for (std::size_t i = 0; i < soup_.lines.size(); ++i)
      for (std::size_t c = soup_.lines[i].first; c < soup_.lines[i].last && !is_point_[i]; ++c) used[soup_.corners[c]] = 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < soup_.lines.size(); ++i)
      if (!is_point_[i] || !used[soup_.corners[soup_.lines[i].first]]) soup_.lines[kept++] = soup_.lines[i];
    soup_.lines.resize(kept);
  }

  const CurveSource& source_;
  LineScanner lines_;
  std::string joined_;
  std::size_t number_ = 0;
  LineSoup soup_;
  std::vector<std::size_t> line_number_;  ///< per line of the soup
  std::vector<std::uint8_t> is_point_;    ///< likewise
};

}  // namespace

CurveSet read_obj(const CurveSource& source, const CurveReadOptions&) { return ObjReader(source).run(); }

}  // namespace osier
