#include "model/rod_family.hpp"

#include <map>

namespace osier {

static std::string without_numbers(const std::string& name) {
  std::string text;
  for (const char c : name)
    if (c < '0' || c > '9') text += c;
  return text.empty() ? name : text;
}

RodFamilies rod_families(const Model& model, const std::vector<Index>& rod_of_segment) {
  std::vector<std::uint8_t> named(model.rods.size(), 0);
  for (const Index r : rod_of_segment)
    if (r >= 0) named[static_cast<std::size_t>(r)] = 1;
  RodFamilies families;
  families.of_rod.resize(model.rods.size(), 0), families.place.resize(model.rods.size(), 0);
  std::map<std::string, unsigned> known;
  std::vector<unsigned> members;
  for (std::size_t r = 0; r < model.rods.size(); ++r) {
    if (!named[r]) continue;
    const std::string word = without_numbers(model.rods[r].name);
    const auto [at, is_new] = known.try_emplace(word, static_cast<unsigned>(families.names.size()));
    if (is_new) families.names.push_back(word), members.push_back(0);
    families.of_rod[r] = at->second, families.place[r] = members[at->second]++;
  }
  return families;
}

}  // namespace osier
