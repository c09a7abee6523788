#include "io/curves/chain.hpp"

#include <map>

#include "io/curves/point_groups.hpp"

namespace osier {

namespace {

/// One line, walked in one direction.
struct Walk {
  std::size_t line;
  bool forward;
  bool operator==(const Walk&) const = default;
};
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

class Chainer {
 public:
  explicit Chainer(const LineSoup& soup) : soup_(soup), first_group_(soup.points.size()), done_(soup.lines.size(), 0) {
    for (std::size_t i = 0; i < soup.lines.size(); ++i) {
      const auto& [first, last, group, id, closed] = soup.lines[i];
      const bool open = !closed && last - first > 1;
      for (std::size_t c = first; c < last; ++c) {
        Uses& u = uses(soup.corners[c], group);
        if (open && c == first) u.add({i, true});
        else if (open && c + 1 == last) u.add({i, false});
        else u.count += 3;  // inside a line: nothing is chained here
      }
    }
  }

  CurveSet run() {
    for (std::size_t i = 0; i < soup_.lines.size(); ++i)
      if (!done_[i]) follow(i);
    weld();
    return std::move(set_);
  }

 private:
  /// The lines of a group that start (true) or end (false) at a point.
  struct Uses {
    Walk end[2]{{kNone, true}, {kNone, true}};
    std::size_t count = 0, group = 0;
    void add(const Walk& w) {
      if (count < 2) end[count] = w;
      ++count;
    }
  };

  /// Most points belong to one group, which has its place in an array.
  Uses& uses(std::size_t point, std::size_t group) {
    Uses& u = first_group_[point];
    if (u.count == 0) u.group = group;
    return u.group == group ? u : other_groups_[{point, group}];
  }

  std::size_t corner(const Walk& w, bool at_end) const {
    const auto& line = soup_.lines[w.line];
    return soup_.corners[w.forward == at_end ? line.last - 1 : line.first];
  }

  /// The line that goes on where `w` ends, or none.
  Walk next(const Walk& w) {
    const auto& line = soup_.lines[w.line];
    if (line.closed || line.last - line.first < 2) return {kNone, true};
    const Uses& u = uses(corner(w, true), line.group);
    if (u.count != 2) return {kNone, true};
    const Walk arrived{w.line, !w.forward};  // as seen from the point: walking forward arrives at a line's end
    return u.end[0] == arrived ? u.end[1] : u.end[0];
  }

  void follow(std::size_t seed) {
    // Back to where the chain begins, which for a loop is the seed itself.
    Walk at{seed, false};
    bool loop = false;
    for (Walk before = next(at); before.line != kNone; before = next(at)) {
      if (before == Walk{seed, false}) {
        loop = true;
        break;
      }
      at = before;
    }
    Walk walk = loop ? Walk{seed, true} : Walk{at.line, !at.forward};
    const auto& line = soup_.lines[seed];
    set_.closed.push_back(line.closed);
    if (!soup_.group_names.empty()) set_.names.push_back(soup_.group_names[line.group]);
    if (soup_.has_ids) set_.ids.push_back(line.id);
    const std::size_t begin = set_.points.size();
    for (bool fresh = true; walk.line != kNone && !done_[walk.line]; walk = next(walk), fresh = false) append(walk, fresh);
    // A loop has come back to its first point, which a closed curve does not repeat; two lines between the same two points
    // enclose nothing and stay open.
    if (loop && set_.points.size() - begin > 3) {
      set_.points.pop_back(), vertex_.pop_back();
      set_.closed.back() = 1;
    }
    set_.start.push_back(set_.points.size());
  }

  void append(const Walk& walk, bool with_first) {
    done_[walk.line] = 1;
    const auto& line = soup_.lines[walk.line];
    const std::size_t n = line.last - line.first;
    for (std::size_t i = with_first ? 0 : 1; i < n; ++i) {
      const std::size_t v = soup_.corners[walk.forward ? line.first + i : line.last - 1 - i];
      set_.points.push_back(soup_.points[v]);
      vertex_.push_back(v);
    }
  }

  void weld() {
    std::vector<std::size_t> seen(soup_.points.size(), kNone);
    PointGroups groups;
    for (std::size_t p = 0; p < vertex_.size(); ++p) {
      if (!soup_.widths.empty()) set_.widths.push_back(soup_.widths[vertex_[p]]);
      std::size_t& first = seen[vertex_[p]];
      if (first == kNone) first = p;
      else groups.join(first, p);
    }
    set_.welds = groups.welds();
  }

  const LineSoup& soup_;
  std::vector<Uses> first_group_;
  std::map<std::pair<std::size_t, std::size_t>, Uses> other_groups_;  ///< by point and group
  std::vector<std::uint8_t> done_;
  CurveSet set_;
  std::vector<std::size_t> vertex_;  ///< of the soup, per point of the set
};

}  // namespace

CurveSet chained(const LineSoup& soup) { return Chainer(soup).run(); }

}  // namespace osier
