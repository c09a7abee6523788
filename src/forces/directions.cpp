#include "forces/directions.hpp"

#include <cmath>

#include "core/fields.hpp"
#include "core/text.hpp"

namespace osier {

namespace {

const char* const kRemedy = R"(write letters like "xy", a vector, or a list of vectors that are perpendicular to each other)";

bool is_vector(const Json& j) {
  return j.is_array() && j.size() == 3 && j[0].is_number() && j[1].is_number() && j[2].is_number();
}

}  // namespace

bool Directions::read_short(const Json& j, const std::string& at, Problems& problems) {
  where = at;
  list.clear();
  const auto add = [&](const Vec3d& direction, const std::string& here) {
    if (!(norm2(direction) > 0) || !std::isfinite(norm2(direction))) {
      problems.add(here, "is not a direction", kRemedy);
      return;
    }
    const Vec3d unit = normalized(direction);
    for (const Vec3d& other : list)
      if (std::abs(dot(unit, other)) > 1e-6) {
        problems.add(here, "is not perpendicular to the others", kRemedy);
        return;
      }
    list.push_back(unit);
  };
  if (j.is_string() && !j.get<std::string>().empty()) {
    for (const char letter : j.get<std::string>()) {
      if (letter < 'x' || letter > 'z') {
        problems.add(at, shorten(j) + " is not a set of axes", kRemedy);
        return true;
      }
      add({letter == 'x' ? 1.0 : 0.0, letter == 'y' ? 1.0 : 0.0, letter == 'z' ? 1.0 : 0.0}, at);
    }
  } else if (is_vector(j)) {
    add({j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}, at);
  } else if (j.is_array() && !j.empty()) {
    for (std::size_t i = 0; i < j.size(); ++i) {
      const std::string here = at + "/" + std::to_string(i);
      if (is_vector(j[i])) add({j[i][0].get<double>(), j[i][1].get<double>(), j[i][2].get<double>()}, here);
      else problems.add(here, shorten(j[i]) + " is not a vector", kRemedy);
    }
  } else {
    problems.add(at, shorten(j) + " is not a set of axes", kRemedy);
  }
  return true;
}

OrderedJson Directions::short_schema(FieldDoc& doc) {
  doc.type = "letters like `\"xy\"`, a vector, or a list of vectors";
  const OrderedJson vector = {{"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 3}, {"maxItems", 3}};
  return {{"anyOf",
           {{{"type", "string"}, {"pattern", "^[xyz]{1,3}$"}},
            vector,
            {{"type", "array"}, {"items", vector}, {"minItems", 1}, {"maxItems", 3}}}}};
}

}  // namespace osier
