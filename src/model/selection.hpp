// How a scene points at vertices, segments and joints: 12, "beam:end", "beam:3..7", "beam:*", or a list of these.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/describe.hpp"
#include "core/json.hpp"
#include "osier/error.hpp"
#include "osier/model.hpp"

namespace osier {

struct Selection {
  std::vector<std::variant<int, std::string>> items;
  std::string where;

  static constexpr bool only_short = true;
  static const char* kind() { return "selection"; }
  bool read_short(const Json& j, const std::string& at, Problems& problems);
  static OrderedJson short_schema(FieldDoc& doc);
  bool empty() const { return items.empty(); }
};

enum class Element { vertex, segment, joint };

/// Looks selections up in a graph's named rods.
class Names {
 public:
  /// `missing`: rods and structures that could not be built; selections of theirs are passed over in silence.
  Names(const std::vector<RodInfo>& rods, Index vertices, Index segments, Index joints, std::vector<std::string> missing = {})
      : rods_(rods), counts_{vertices, segments, joints}, missing_(std::move(missing)) {}

  /// Each element once. Problems carry the selection's pointer and say what exists.
  std::vector<Index> find(const Selection& selection, Element kind, Problems& problems) const;
  Index find_one(const Selection& selection, Element kind, Problems& problems) const;
  /// A rod by its name; null with a problem at `at`, or in silence when it is missing.
  const RodInfo* find_rod(const std::string& name, const std::string& at, Problems& problems) const;

 private:
  const RodInfo* lookup(const std::string& rod) const;
  bool is_missing(const std::string& rod) const;
  std::string known_rods(const std::string& wrong) const;  ///< a remedy
  void find_named(const std::string& text, const std::string& at, Element kind, Problems& problems,
                  std::vector<Index>& out) const;
  const std::vector<RodInfo>& rods_;
  Index counts_[3];
  std::vector<std::string> missing_;
};

}  // namespace osier
