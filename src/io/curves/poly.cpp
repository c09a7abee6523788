// .poly: POINTS with lines `label: x y z`, POLYS with lines `label: a b c ...` of labels of points (`<` at the end closes), END.
#include <fmt/format.h>
#include <unordered_map>

#include "io/curves/chain.hpp"
#include "io/curves/registry.hpp"
#include "io/curves/scan.hpp"

namespace osier {

namespace {

class PolyReader {
 public:
  explicit PolyReader(const CurveSource& source) : source_(source) { soup_.has_ids = true; }

  CurveSet run() {
    LineScanner lines(source_.text());
    for (std::string_view line; lines.next(line);) {
      number_ = lines.number();
      line = trimmed(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      if (ended_) source_.fail_at_line(number_, "something follows END", "remove it");
      if (line == "POINTS" && part_ == Part::none) part_ = Part::points;
      else if (line == "POLYS" && part_ == Part::points) part_ = Part::polys;
      else if (line == "END" && part_ == Part::polys) ended_ = true;
      else if (part_ == Part::points) add_point(line);
      else if (part_ == Part::polys) add_poly(line);
      else source_.fail_at_line(number_, in_quotes(line) + " stands before POINTS", "begin with POINTS");
    }
    if (!ended_) source_.fail_at_line(number_ + 1, "the file ends without END", "it is cut off: copy it again");
    return chained(soup_);
  }

 private:
  enum class Part { none, points, polys };

  std::int64_t take_label(std::string_view& line) const {
    const std::size_t colon = line.find(':');
    const auto label = whole_number_of(trimmed(line.substr(0, colon)));
    if (colon == std::string_view::npos || !label)
      source_.fail_at_line(number_, in_quotes(line) + " does not begin with a number and a colon",
                           part_ == Part::points ? "write 1: x y z" : "write 1: a b c");
    line.remove_prefix(colon + 1);
    return *label;
  }

  void add_point(std::string_view line) {
    const std::int64_t label = take_label(line);
    if (!point_.emplace(label, soup_.points.size()).second)
      source_.fail_at_line(number_, fmt::format("point {} is there twice", label), "give each its own number");
    soup_.points.push_back(take_point(line, source_, number_));
    if (const std::string_view more = next_word(line); !more.empty())
      source_.fail_at_line(number_, in_quotes(more) + " is more than a point", "write 1: x y z");
  }

  void add_poly(std::string_view line) {
    LineSoup::Line poly{.first = soup_.corners.size(), .last = 0, .group = 0, .id = take_label(line), .closed = false};
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (poly.closed) source_.fail_at_line(number_, "something follows `<`", "let it be the last");
      if (word == "<") {
        poly.closed = true;
        continue;
      }
      const auto label = whole_number_of(word);
      const auto found = label ? point_.find(*label) : point_.end();
      if (found == point_.end())
        source_.fail_at_line(number_, fmt::format("point {} does not exist", in_quotes(word)), "use the number of a point");
      soup_.corners.push_back(found->second);
    }
    poly.last = soup_.corners.size();
    soup_.lines.push_back(poly);
  }

  const CurveSource& source_;
  LineSoup soup_;
  std::unordered_map<std::int64_t, std::size_t> point_;  ///< by label
  Part part_ = Part::none;
  bool ended_ = false;
  std::size_t number_ = 0;
};

}  // namespace

CurveSet read_poly(const CurveSource& source, const CurveReadOptions&) { return PolyReader(source).run(); }

}  // namespace osier
