// How a scene points at vertices, segments and joints: 12, "beam:end", "beam:3..7", "beam:*", a place in space, or a list of
// these.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "osier/error.hpp"
#include "osier/model.hpp"

namespace osier {

/// Everything in a ball or a box, or what is nearest to a point, in the initial pose; of one rod or group, or of the scene.
struct Region {
  enum class Shape : std::uint8_t { ball, box, nearest } shape = Shape::ball;
  Vec3d center;       ///< of the ball; the point of `nearest`; the lower corner of the box
  Vec3d upper;        ///< of the box
  double radius = 0;  ///< of the ball
  std::string of;     ///< a rod, or empty
  bool contains(const Vec3d& x) const;
};

/// Where the elements of a graph are: a vertex at itself, a segment at its middle, a joint at the vertex that its segments share
/// or in the middle between them.
struct ElementPlaces {
  std::vector<Vec3d> vertex, segment, joint;
  void add_segment(const std::array<Index, 2>& ends);
  /// Of two segments, with their ends.
  void add_joint(const std::array<Index, 2>& segments, const std::array<Index, 2>& a, const std::array<Index, 2>& b);
};

struct Selection {
  std::vector<std::variant<int, std::string, Region>> items;
  std::string where;

  static constexpr bool only_short = true;
  static const char* kind() { return "selection"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
  bool empty() const { return items.empty(); }

 private:
  void read_region(const Json& j, const std::string& at, Problems& problems);
};

enum class Element { vertex, segment, joint };

/// Looks selections up in a graph's named rods.
class Names {
 public:
  /// `missing`: rods and structures that could not be built; selections of theirs are passed over in silence.
  /// `rods` stay as they are and where they are for as long as names are looked up. `places` is asked where a selection in space
  /// is met for the first time.
  Names(const std::vector<RodInfo>& rods, Index vertices, Index segments, Index joints,
        const std::vector<std::string>& missing = {}, std::function<ElementPlaces()> places = {});

  /// Each element once. Problems carry the selection's pointer and say what exists.
  std::vector<Index> find(const Selection& selection, Element kind, Problems& problems) const;
  Index find_one(const Selection& selection, Element kind, Problems& problems) const;
  /// A rod by its name; null with a problem at `at`, or in silence when it is missing.
  const RodInfo* find_rod(const std::string& name, const std::string& at, Problems& problems) const;

 private:
  /// A selection among a hundred thousand must not cost a look at all elements.
  struct Seen {
    std::vector<unsigned> in;  ///< of each element, the number of the last selection that had it
    unsigned selection = 0;
  };
  const RodInfo* lookup(std::string_view rod) const;
  bool is_missing(const std::string& rod) const;
  std::string known_rods(const std::string& wrong) const;  ///< a remedy
  void find_in(const Region& region, const std::string& at, Element kind, Problems& problems, std::vector<Index>& out) const;
  void find_named(const std::string& text, const std::string& at, Element kind, Problems& problems,
                  std::vector<Index>& out) const;
  const std::vector<RodInfo>& rods_;
  Index counts_[3];
  std::unordered_map<std::string_view, const RodInfo*> by_name_;
  std::set<std::string, std::less<>> missing_;
  std::function<ElementPlaces()> places_;
  mutable std::optional<ElementPlaces> known_places_;
  mutable std::array<Seen, 3> seen_;
  mutable int guesses_left_ = 100;  ///< each is a comparison with every rod
};

}  // namespace osier
